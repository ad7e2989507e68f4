//! The right-hand side of a system with its exact derivatives, for filters and sensitivity.

use percuss_laws::Memory;

use crate::Model;
use crate::model::Pair;

/// A number of the system that may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// Mass of one index, kg (the reduced masses of its contacts follow).
    Mass(usize),
    /// Linear stiffness of a spring, N/m (Rayleigh damping follows).
    SpringLinear(usize),
    /// Cubic stiffness of a spring, N/m^3.
    SpringCubic(usize),
    /// Coefficient of a damper, N s/m.
    Damper(usize),
    /// Stiffness of a contact.
    ContactStiffness(usize),
    /// Restitution of a contact.
    ContactRestitution(usize),
    /// Gap of a contact, m.
    ContactGap(usize),
}

/// Relative accelerations and their derivatives. Matrices are row by row: one row a mass.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tangent {
    /// Relative accelerations, m/s^2.
    pub acceleration: Vec<f64>,
    /// With respect to each displacement.
    pub by_displacement: Vec<f64>,
    /// With respect to each velocity.
    pub by_velocity: Vec<f64>,
    /// With respect to each parameter asked for.
    pub by_parameter: Vec<f64>,
}

impl Model {
    /// Accelerations and derivatives at a state. `memories` holds what each contact remembers.
    pub fn tangent(
        &self,
        ground: f64,
        u: &[f64],
        v: &[f64],
        memories: &[Memory],
        parameters: &[Parameter],
    ) -> Tangent {
        let n = self.masses();
        let states = self.contacts.iter().zip(memories).map(|(contact, memory)| {
            let (d, rate) = contact.indentation(u, v);
            (
                contact.impact.force(d, rate, memory),
                contact.impact.gradient(d, rate, memory),
            )
        });
        let (forces, gradients): (Vec<f64>, Vec<_>) = states.unzip();
        let mut tangent = Tangent {
            acceleration: vec![0.0; n],
            by_displacement: vec![0.0; n * n],
            by_velocity: vec![0.0; n * n],
            by_parameter: vec![0.0; n * parameters.len()],
        };
        self.acceleration(ground, u, v, &forces, &mut tangent.acceleration);
        let beta = self.rayleigh.stiffness_s;
        for spring in &self.springs {
            let stiffness = spring.linear + 3.0 * spring.cubic * spring.pair.difference(u).powi(2);
            self.add_slope(&mut tangent.by_displacement, spring.pair, stiffness);
            self.add_slope(&mut tangent.by_velocity, spring.pair, beta * spring.linear);
        }
        for &(pair, c) in &self.dampers {
            self.add_slope(&mut tangent.by_velocity, pair, c);
        }
        for (contact, gradient) in self.contacts.iter().zip(&gradients) {
            self.add_slope(
                &mut tangent.by_displacement,
                contact.pair,
                gradient.indentation,
            );
            self.add_slope(&mut tangent.by_velocity, contact.pair, gradient.rate);
        }
        for i in 0..n {
            tangent.by_velocity[i * n + i] -= self.rayleigh.mass_per_s;
        }
        let mut column = vec![0.0; n];
        for (at, &parameter) in parameters.iter().enumerate() {
            column.fill(0.0);
            match parameter {
                Parameter::Mass(mass) => {
                    // a = f/m - alpha v - ground, and reduced masses 1/(1/m1 + 1/m2) change by (reduced/m)^2
                    let alpha = self.rayleigh.mass_per_s;
                    let force_per_mass = tangent.acceleration[mass] + alpha * v[mass] + ground;
                    for (contact, gradient) in self.contacts.iter().zip(&gradients) {
                        if contact.pair.left == mass || contact.pair.right == mass {
                            let share =
                                (contact.impact.reduced_mass_kg() / self.masses[mass]).powi(2);
                            contact
                                .pair
                                .push_apart(gradient.reduced_mass * share, &mut column);
                        }
                    }
                    column[mass] -= force_per_mass;
                }
                Parameter::SpringLinear(index) => {
                    let pair = self.springs[index].pair;
                    pair.push_apart(pair.difference(u) + beta * pair.difference(v), &mut column);
                }
                Parameter::SpringCubic(index) => {
                    let pair = self.springs[index].pair;
                    pair.push_apart(pair.difference(u).powi(3), &mut column);
                }
                Parameter::Damper(index) => {
                    let pair = self.dampers[index].0;
                    pair.push_apart(pair.difference(v), &mut column);
                }
                Parameter::ContactStiffness(index) => {
                    self.contacts[index]
                        .pair
                        .push_apart(gradients[index].stiffness, &mut column);
                }
                Parameter::ContactRestitution(index) => {
                    self.contacts[index]
                        .pair
                        .push_apart(gradients[index].restitution, &mut column);
                }
                Parameter::ContactGap(index) => {
                    self.contacts[index]
                        .pair
                        .push_apart(-gradients[index].indentation, &mut column);
                }
            }
            for (i, (force, mass)) in column.iter().zip(&self.masses).enumerate() {
                tangent.by_parameter[i * parameters.len() + at] = force / mass;
            }
        }
        tangent
    }

    /// Add the accelerations per unit motion that an element of this slope gives.
    fn add_slope(&self, matrix: &mut [f64], pair: Pair, slope: f64) {
        let n = self.masses();
        for (i, sign_i) in [(pair.left, -1.0), (pair.right, 1.0)] {
            for (j, sign_j) in [(pair.left, 1.0), (pair.right, -1.0)] {
                if i < n && j < n {
                    matrix[i * n + j] += sign_i * sign_j * slope / self.masses[i];
                }
            }
        }
    }
}

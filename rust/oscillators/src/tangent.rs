//! The right-hand side of a system with its exact derivatives, for filters and sensitivity.

use percuss_laws::{Gradient, Memory, Past};

use crate::system::model::Pair;
use crate::{Model, Parameter};

/// What acts on the masses from outside at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Load<'a> {
    /// Acceleration of the base, m/s^2.
    pub base_m_s2: f64,
    /// Force on each mass, N; empty for none.
    pub forces_n: &'a [f64],
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
    /// Force of each contact and its derivatives, and the column of one parameter: room that is kept between calls.
    contacts: Vec<(f64, Gradient)>,
    column: Vec<f64>,
}

impl Model {
    /// Accelerations and derivatives at a state, for springs that remember nothing. `touching` holds what each contact remembers, None for an open one.
    pub fn tangent(
        &self,
        load: Load<'_>,
        u: &[f64],
        v: &[f64],
        touching: &[Option<Memory>],
        parameters: &[Parameter],
    ) -> Tangent {
        let mut tangent = Tangent::default();
        self.tangent_into(load, u, v, touching, parameters, &mut tangent);
        tangent
    }

    /// As [`Model::tangent`], into room that is there already.
    pub fn tangent_into(
        &self,
        load: Load<'_>,
        u: &[f64],
        v: &[f64],
        touching: &[Option<Memory>],
        parameters: &[Parameter],
        tangent: &mut Tangent,
    ) {
        let n = self.masses();
        self.motion_into(load, u, v, touching, tangent);
        for ((contact, remembered), known) in self
            .contacts
            .iter()
            .zip(touching)
            .zip(&mut tangent.contacts)
        {
            let (d, rate) = contact.indentation(u, v);
            let memory = remembered.unwrap_or(Memory::at_onset(rate));
            known.1 = contact.impact.gradient(d, rate, &memory);
            if remembered.is_none() {
                // a contact that begins here has this very rate as its approach speed
                known.1.rate += known.1.approach_speed;
            }
        }
        for (matrix, size) in [
            (&mut tangent.by_displacement, n * n),
            (&mut tangent.by_velocity, n * n),
            (&mut tangent.by_parameter, n * parameters.len()),
        ] {
            matrix.clear();
            matrix.resize(size, 0.0);
        }
        let beta = self.rayleigh.stiffness_s;
        for spring in &self.springs {
            let stiffness = spring.linear + 3.0 * spring.cubic * spring.pair.difference(u).powi(2);
            self.add_slope(&mut tangent.by_displacement, spring.pair, stiffness);
            self.add_slope(&mut tangent.by_velocity, spring.pair, beta * spring.linear);
        }
        for &(pair, c) in &self.dampers {
            self.add_slope(&mut tangent.by_velocity, pair, c);
        }
        for element in &self.elements {
            let (e, rate) = (element.pair.difference(u), element.pair.difference(v));
            let response = element.law.respond(&Past::default(), e, rate);
            let pair = element.pair;
            self.add_slope(&mut tangent.by_displacement, pair, response.by_elongation);
            self.add_slope(&mut tangent.by_velocity, pair, response.by_rate);
        }
        for (contact, (_, gradient)) in self.contacts.iter().zip(&tangent.contacts) {
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
        let mut column = std::mem::take(&mut tangent.column);
        column.resize(n, 0.0);
        for (at, &parameter) in parameters.iter().enumerate() {
            column.fill(0.0);
            match parameter {
                Parameter::Mass(mass) => {
                    // a = f/m - alpha v - ground, and reduced masses 1/(1/m1 + 1/m2) change by (reduced/m)^2
                    let alpha = self.rayleigh.mass_per_s;
                    let force_per_mass =
                        tangent.acceleration[mass] + alpha * v[mass] + load.base_m_s2;
                    for (contact, (_, gradient)) in self.contacts.iter().zip(&tangent.contacts) {
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
                        .push_apart(tangent.contacts[index].1.stiffness, &mut column);
                }
                Parameter::ContactRestitution(index) => {
                    self.contacts[index]
                        .pair
                        .push_apart(tangent.contacts[index].1.restitution, &mut column);
                }
                Parameter::ContactGap(index) => {
                    self.contacts[index]
                        .pair
                        .push_apart(-tangent.contacts[index].1.indentation, &mut column);
                }
            }
            for (i, (force, mass)) in column.iter().zip(&self.masses).enumerate() {
                tangent.by_parameter[i * parameters.len() + at] = force / mass;
            }
        }
        tangent.column = column;
    }

    /// Accelerations alone, into `tangent.acceleration`.
    pub fn motion_into(
        &self,
        load: Load<'_>,
        u: &[f64],
        v: &[f64],
        touching: &[Option<Memory>],
        tangent: &mut Tangent,
    ) {
        tangent.contacts.clear();
        tangent.acceleration.clear();
        tangent.acceleration.resize(self.masses(), 0.0);
        for (contact, remembered) in self.contacts.iter().zip(touching) {
            let (d, rate) = contact.indentation(u, v);
            let memory = remembered.unwrap_or(Memory::at_onset(rate));
            let force = contact.impact.force(d, rate, &memory);
            tangent.contacts.push((force, Gradient::default()));
        }
        let forces = tangent.contacts.iter().map(|(force, _)| *force);
        let past = Past::default();
        let elements = self.elements.iter().map(|element| {
            let (e, rate) = (element.pair.difference(u), element.pair.difference(v));
            element.law.respond(&past, e, rate).force
        });
        let out = &mut tangent.acceleration;
        self.add_accelerations(load.base_m_s2, u, v, forces, elements, out);
        for ((a, force), mass) in tangent
            .acceleration
            .iter_mut()
            .zip(load.forces_n)
            .zip(&self.masses)
        {
            *a += force / mass;
        }
    }

    /// What contacts remember after a step that ends in this state.
    pub fn remember(&self, u: &[f64], v: &[f64], touching: &mut [Option<Memory>]) {
        for (contact, remembered) in self.contacts.iter().zip(touching) {
            let (d, rate) = contact.indentation(u, v);
            *remembered = (d > 0.0).then(|| {
                let mut memory = remembered.unwrap_or(Memory::at_onset(rate.max(0.0)));
                if contact.impact.latches() {
                    memory.deepest_m = memory.deepest_m.max(d);
                }
                memory
            });
        }
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

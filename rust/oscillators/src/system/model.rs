//! A system whose numbers have been checked, ready for an integrator.

use nalgebra::{DMatrix, SymmetricEigen};
use percuss_laws::{Hysteresis, Impact};

use crate::{BaseMotion, Contact, Node, OscillatorError, Rayleigh, System};

/// Two nodes by index; an index past the masses is the base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pair {
    pub left: usize,
    pub right: usize,
}

const BASE: usize = usize::MAX;

impl Pair {
    /// Left value less right value; the base has zero.
    #[inline(always)]
    pub fn difference(self, x: &[f64]) -> f64 {
        let at = |i: usize| x.get(i).copied().unwrap_or(0.0);
        at(self.left) - at(self.right)
    }

    /// The pair seen from the other side.
    pub fn turned(self) -> Self {
        Self {
            left: self.right,
            right: self.left,
        }
    }

    /// Subtract `value` at the left and add it at the right: the action of a force that pushes the two apart.
    #[inline(always)]
    pub fn push_apart(self, value: f64, x: &mut [f64]) {
        if let Some(left) = x.get_mut(self.left) {
            *left -= value;
        }
        if let Some(right) = x.get_mut(self.right) {
            *right += value;
        }
    }
}

/// A spring of the model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elastic {
    pub pair: Pair,
    pub linear: f64,
    pub cubic: f64,
}

/// A spring with a law, or a damper that is not linear. Its pair is turned round, so that the difference of the
/// displacements is the elongation and a force pushed apart pulls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element {
    pub pair: Pair,
    pub law: Hysteresis,
    /// Place of its flowing variables among those of the model.
    pub flowing: Option<usize>,
}

/// A contact of the model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContactElement {
    pub pair: Pair,
    pub gap: f64,
    pub impact: Impact,
}

impl ContactElement {
    /// Indentation (positive when the masses overlap) and its rate.
    #[inline(always)]
    pub fn indentation(&self, u: &[f64], v: &[f64]) -> (f64, f64) {
        (self.pair.difference(u) - self.gap, self.pair.difference(v))
    }
}

/// A checked [`System`].
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) masses: Vec<f64>,
    pub(crate) springs: Vec<Elastic>,
    pub(crate) dampers: Vec<(Pair, f64)>,
    pub(crate) rayleigh: Rayleigh,
    pub(crate) contacts: Vec<ContactElement>,
    /// Springs with a law in the order of the springs, then dampers that are not linear.
    pub(crate) elements: Vec<Element>,
    /// Flowing variables of all elements.
    pub(crate) flowing: usize,
    pub(crate) base: BaseMotion,
    pub(crate) u0: Vec<f64>,
    pub(crate) v0: Vec<f64>,
}

fn all(
    what: &'static str,
    values: impl IntoIterator<Item = f64>,
    allowed: impl Fn(f64) -> bool,
    error: impl Fn(&'static str, usize, f64) -> OscillatorError,
) -> Result<(), OscillatorError> {
    match values
        .into_iter()
        .enumerate()
        .find(|&(_, value)| !(value.is_finite() && allowed(value)))
    {
        Some((index, value)) => Err(error(what, index, value)),
        None => Ok(()),
    }
}

fn not_positive(what: &'static str, index: usize, value: f64) -> OscillatorError {
    OscillatorError::NotPositive { what, index, value }
}

fn negative(what: &'static str, index: usize, value: f64) -> OscillatorError {
    OscillatorError::Negative { what, index, value }
}

fn not_finite(what: &'static str, index: usize, value: f64) -> OscillatorError {
    OscillatorError::NotFinite { what, index, value }
}

impl Model {
    /// Check a system and make its contacts ready.
    pub fn new(system: &System) -> Result<Self, OscillatorError> {
        let n = system.masses_kg.len();
        if n == 0 {
            return Err(OscillatorError::NoMass);
        }
        let pair = |what: &'static str, index: usize, nodes: [Node; 2]| {
            let place = |node: Node| match node {
                Node::Base => Ok(BASE),
                Node::Mass(i) if i < n => Ok(i),
                Node::Mass(node) => Err(OscillatorError::Node {
                    what,
                    index,
                    node,
                    last: n - 1,
                }),
            };
            let pair = Pair {
                left: place(nodes[0])?,
                right: place(nodes[1])?,
            };
            if pair.left == pair.right {
                Err(OscillatorError::SameNode { what, index })
            } else {
                Ok(pair)
            }
        };
        all(
            "mass",
            system.masses_kg.iter().copied(),
            |m| m > 0.0,
            not_positive,
        )?;
        let any = |_| true;
        all(
            "spring stiffness",
            system.springs.iter().map(|s| s.linear_n_per_m),
            any,
            not_finite,
        )?;
        all(
            "cubic spring stiffness",
            system.springs.iter().map(|s| s.cubic_n_per_m3),
            any,
            not_finite,
        )?;
        all(
            "damper",
            system.dampers.iter().map(|d| d.viscous_n_s_per_m),
            |c| c >= 0.0,
            negative,
        )?;
        let rayleigh = [system.rayleigh.mass_per_s, system.rayleigh.stiffness_s];
        all("Rayleigh damping factor", rayleigh, |c| c >= 0.0, negative)?;
        all(
            "contact gap",
            system.contacts.iter().map(|c| c.gap_m),
            any,
            not_finite,
        )?;
        for (what, list) in [
            ("initial displacement", &system.initial_displacement_m),
            ("initial velocity", &system.initial_velocity_m_s),
        ] {
            if list.len() != n {
                return Err(OscillatorError::Length {
                    what,
                    length: list.len(),
                    masses: n,
                });
            }
            all(what, list.iter().copied(), any, not_finite)?;
        }
        system.base.check()?;

        let springs = system.springs.iter().enumerate().map(|(index, spring)| {
            let pair = pair("spring", index, spring.nodes)?;
            Ok(Elastic {
                pair,
                linear: spring.law.map_or(spring.linear_n_per_m, |law| law.linear()),
                cubic: spring.cubic_n_per_m3,
            })
        });
        let springs = springs.collect::<Result<Vec<_>, OscillatorError>>()?;
        let mut elements: Vec<(Pair, Hysteresis)> = Vec::new();
        // Damping in proportion to stiffness keeps that before yielding: what the linear part lacks is a damper.
        let mut lacking: Vec<(Pair, f64)> = Vec::new();
        for (spring, elastic) in system.springs.iter().zip(&springs) {
            if let Some(law) = spring.law {
                elements.push((elastic.pair.turned(), law));
                let c = system.rayleigh.stiffness_s * (law.initial() - law.linear());
                if c != 0.0 {
                    lacking.push((elastic.pair, c));
                }
            }
        }
        let mut dampers = Vec::with_capacity(system.dampers.len());
        for (index, damper) in system.dampers.iter().enumerate() {
            let pair = pair("damper", index, damper.nodes)?;
            let coefficient = damper.viscous_n_s_per_m;
            if damper.exponent == 1.0 {
                dampers.push((pair, coefficient));
                continue;
            }
            // its place among the dampers is kept, so that the others have theirs
            dampers.push((pair, 0.0));
            let law = Hysteresis::power_damper(coefficient, damper.exponent)
                .map_err(|source| OscillatorError::Damper { index, source })?;
            elements.push((pair.turned(), law));
        }
        dampers.extend(lacking);
        let mut flowing = 0;
        let elements: Vec<Element> = elements
            .into_iter()
            .map(|(pair, law)| {
                let place = law.flows().then_some(flowing);
                flowing += if law.flows() { 2 } else { 0 };
                Element {
                    pair,
                    law,
                    flowing: place,
                }
            })
            .collect();
        let contacts = system.contacts.iter().enumerate().map(|(index, contact)| {
            let pair = pair("contact", index, [contact.left, contact.right])?;
            Self::contact(
                index,
                contact,
                pair,
                &system.masses_kg,
                &system.initial_displacement_m,
            )
        });
        Ok(Self {
            springs,
            dampers,
            elements,
            flowing,
            contacts: contacts.collect::<Result<_, OscillatorError>>()?,
            masses: system.masses_kg.clone(),
            rayleigh: system.rayleigh,
            base: system.base.clone(),
            u0: system.initial_displacement_m.clone(),
            v0: system.initial_velocity_m_s.clone(),
        })
    }

    fn contact(
        index: usize,
        contact: &Contact,
        pair: Pair,
        masses: &[f64],
        u0: &[f64],
    ) -> Result<ContactElement, OscillatorError> {
        let inverse = |i: usize| masses.get(i).map_or(0.0, |m| 1.0 / m);
        let reduced_mass = 1.0 / (inverse(pair.left) + inverse(pair.right));
        let impact = Impact::new(
            contact.law,
            contact.damping,
            contact.restitution,
            contact.stiffness,
            reduced_mass,
        )
        .map_err(|source| OscillatorError::Law {
            contact: index,
            source,
        })?;
        let overlap_m = pair.difference(u0) - contact.gap_m;
        if overlap_m > 0.0 {
            return Err(OscillatorError::Overlap {
                contact: index,
                overlap_m,
            });
        }
        Ok(ContactElement {
            pair,
            gap: contact.gap_m,
            impact,
        })
    }

    /// Number of masses.
    pub fn masses(&self) -> usize {
        self.masses.len()
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.contacts.len()
    }

    /// The first contact with the law that acts by impulse.
    pub fn rigid_contact(&self) -> Option<usize> {
        self.contacts.iter().position(|c| c.impact.is_rigid())
    }

    /// Number of springs with a law and of dampers that are not linear.
    pub fn elements(&self) -> usize {
        self.elements.len()
    }

    /// The first spring whose force hangs on its past, counted among those with a law.
    pub fn remembering_element(&self) -> Option<usize> {
        self.elements
            .iter()
            .position(|element| element.law.remembers())
    }

    /// Relative acceleration, m/s^2, for a base acceleration and given forces of contacts and of springs with a law.
    pub(crate) fn acceleration(
        &self,
        ground: f64,
        u: &[f64],
        v: &[f64],
        forces: &[f64],
        element_forces: &[f64],
        out: &mut [f64],
    ) {
        out.fill(0.0);
        let [forces, element_forces] =
            [forces, element_forces].map(|forces| forces.iter().copied());
        self.add_accelerations(ground, u, v, forces, element_forces, out);
    }

    /// As [`Model::acceleration`], onto zeros.
    #[inline]
    pub(crate) fn add_accelerations(
        &self,
        ground: f64,
        u: &[f64],
        v: &[f64],
        forces: impl Iterator<Item = f64>,
        element_forces: impl Iterator<Item = f64>,
        out: &mut [f64],
    ) {
        for spring in &self.springs {
            let e = spring.pair.difference(u);
            let rate = spring.pair.difference(v);
            let force =
                spring.linear * (e + self.rayleigh.stiffness_s * rate) + spring.cubic * e * e * e;
            spring.pair.push_apart(force, out);
        }
        for &(pair, c) in &self.dampers {
            pair.push_apart(c * pair.difference(v), out);
        }
        for (contact, force) in self.contacts.iter().zip(forces) {
            contact.pair.push_apart(force, out);
        }
        for (element, force) in self.elements.iter().zip(element_forces) {
            element.pair.push_apart(force, out);
        }
        for ((a, m), v) in out.iter_mut().zip(&self.masses).zip(v) {
            *a = *a / m - self.rayleigh.mass_per_s * v - ground;
        }
    }

    /// Kinetic energy relative to the base, J.
    pub(crate) fn kinetic(&self, v: &[f64]) -> f64 {
        self.masses
            .iter()
            .zip(v)
            .map(|(m, v)| 0.5 * m * v * v)
            .sum()
    }

    /// Energy of the springs, J.
    pub(crate) fn elastic(&self, u: &[f64]) -> f64 {
        let one = |spring: &Elastic| {
            let square = spring.pair.difference(u).powi(2);
            0.5 * spring.linear * square + 0.25 * spring.cubic * square * square
        };
        self.springs.iter().map(one).sum()
    }

    /// Power lost in dampers and by proportional damping, W.
    pub(crate) fn damped_power(&self, v: &[f64]) -> f64 {
        let dampers: f64 = self
            .dampers
            .iter()
            .map(|(pair, c)| c * pair.difference(v).powi(2))
            .sum();
        let springs: f64 = self
            .springs
            .iter()
            .map(|s| s.linear * s.pair.difference(v).powi(2))
            .sum();
        let masses: f64 = self.masses.iter().zip(v).map(|(m, v)| m * v * v).sum();
        dampers + self.rayleigh.stiffness_s * springs + self.rayleigh.mass_per_s * masses
    }

    /// Power the base puts in, W.
    pub(crate) fn base_power(&self, ground: f64, v: &[f64]) -> f64 {
        -ground * self.masses.iter().zip(v).map(|(m, v)| m * v).sum::<f64>()
    }

    /// Linear stiffness matrix, row by row, N/m.
    pub(crate) fn stiffness_matrix(&self) -> Vec<f64> {
        let mut matrix = vec![0.0; self.masses.len().pow(2)];
        for spring in &self.springs {
            self.add_element(&mut matrix, spring.pair, spring.linear);
        }
        matrix
    }

    /// Damping matrix, row by row, N s/m.
    pub(crate) fn damping_matrix(&self) -> Vec<f64> {
        let n = self.masses.len();
        let mut matrix: Vec<f64> = self
            .stiffness_matrix()
            .iter()
            .map(|k| self.rayleigh.stiffness_s * k)
            .collect();
        for (i, m) in self.masses.iter().enumerate() {
            matrix[i * n + i] += self.rayleigh.mass_per_s * m;
        }
        for &(pair, c) in &self.dampers {
            self.add_element(&mut matrix, pair, c);
        }
        matrix
    }

    fn add_element(&self, matrix: &mut [f64], pair: Pair, value: f64) {
        let n = self.masses.len();
        for (i, j, sign) in [
            (pair.left, pair.left, 1.0),
            (pair.right, pair.right, 1.0),
            (pair.left, pair.right, -1.0),
            (pair.right, pair.left, -1.0),
        ] {
            if i < n && j < n {
                matrix[i * n + j] += sign * value;
            }
        }
    }

    /// True when no spring or damper joins two masses: single frames side by side, which meet in contacts only.
    pub(crate) fn uncoupled(&self) -> bool {
        let between = |pair: Pair| pair.left != BASE && pair.right != BASE;
        !self.springs.iter().any(|spring| between(spring.pair))
            && !self.dampers.iter().any(|&(pair, _)| between(pair))
            && !self.elements.iter().any(|element| between(element.pair))
    }

    /// Largest circular frequency squared of the system before anything yields, with these contact stiffnesses added, 1/s^2.
    pub(crate) fn largest_frequency_squared(
        &self,
        contact_stiffness: impl Fn(usize) -> f64,
    ) -> f64 {
        let n = self.masses.len();
        let mut matrix = self.stiffness_matrix();
        for (index, contact) in self.contacts.iter().enumerate() {
            self.add_element(&mut matrix, contact.pair, contact_stiffness(index));
        }
        for element in &self.elements {
            let stiffness = element.law.initial() - element.law.linear();
            self.add_element(&mut matrix, element.pair, stiffness);
        }
        let scaled = DMatrix::from_fn(n, n, |i, j| {
            matrix[i * n + j] / (self.masses[i] * self.masses[j]).sqrt()
        });
        SymmetricEigen::new(scaled).eigenvalues.max().max(0.0)
    }
}

//! A system as its user describes it.

pub(crate) mod base_motion;
pub(crate) mod model;
pub(crate) mod parameter;
pub(crate) mod record;

use percuss_laws::{Damping, Hysteresis, Law};

use crate::BaseMotion;

/// An end of a spring, damper or contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// The moving base.
    Base,
    /// A mass, by index.
    Mass(usize),
}

/// A spring between two nodes: force `k e + k3 e^3` for the elongation `e`, or what its law says in place of `k e`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spring {
    /// Its two ends.
    pub nodes: [Node; 2],
    /// Linear stiffness, N/m.
    pub linear_n_per_m: f64,
    /// Cubic stiffness, N/m^3.
    pub cubic_n_per_m3: f64,
    /// Law in place of the linear force; its stiffness, not the linear one here, then counts.
    pub law: Option<Hysteresis>,
}

/// A viscous damper between two nodes: force `c v0 |v/v0|^a sign(v)`, `v0 = 1 m/s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Damper {
    /// Its two ends.
    pub nodes: [Node; 2],
    /// Coefficient, N s/m.
    pub viscous_n_s_per_m: f64,
    /// Exponent of the rate; 1 for a linear damper.
    pub exponent: f64,
}

/// Damping proportional to mass and to linear stiffness.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rayleigh {
    /// Factor of the mass matrix, 1/s.
    pub mass_per_s: f64,
    /// Factor of the linear stiffness matrix, s.
    pub stiffness_s: f64,
}

/// A contact: `left` meets `right` when its displacement exceeds that of `right` by the gap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// The node that comes from the left, moving in the positive direction.
    pub left: Node,
    /// The node on its right.
    pub right: Node,
    /// Distance at zero displacements, m.
    pub gap_m: f64,
    /// Impact law.
    pub law: Law,
    /// Exact or nominal damping.
    pub damping: Damping,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Stiffness, N/m to the exponent of the law; the rigid law ignores it.
    pub stiffness: f64,
}

/// Masses, what joins them, where they start and how their base moves.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct System {
    /// Masses, kg.
    pub masses_kg: Vec<f64>,
    /// Springs.
    pub springs: Vec<Spring>,
    /// Dampers.
    pub dampers: Vec<Damper>,
    /// Proportional damping.
    pub rayleigh: Rayleigh,
    /// Contacts.
    pub contacts: Vec<Contact>,
    /// Initial displacements relative to the base, m.
    pub initial_displacement_m: Vec<f64>,
    /// Initial velocities relative to the base, m/s.
    pub initial_velocity_m_s: Vec<f64>,
    /// Motion of the base.
    pub base: BaseMotion,
}

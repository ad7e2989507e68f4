//! The energy account: where every joule went, step by step.
//!
//! At theta = 1/2 the sum closes to rounding: kinetic plus potential energy is what bodies brought in at the start
//! and at their births (less what they took away), plus the work of loads, prescribed motions and stabilisation,
//! less impact, friction, fracture and damping dissipation; elastic energy counts as potential energy does. For other theta the
//! scheme itself takes the known quadrature term h m g . (theta - 1/2) (v_k - v_(k+1)) of each body, which is booked as
//! `scheme_j`; so is what springs that are not linear, or turn, store more or less than they were given, of third
//! order in h a step.

use crate::stored::numbered;

/// Energies now, and works since the start, in joules.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Energy {
    /// Kinetic energy of the bodies that are there.
    pub kinetic_j: f64,
    /// Their potential energy in gravity, zero at the origin.
    pub potential_j: f64,
    /// Energy stored in springs, bushings and stops.
    pub elastic_j: f64,
    /// Lost in the normal direction of contacts.
    pub impact_dissipation_j: f64,
    /// Lost by friction.
    pub friction_dissipation_j: f64,
    /// Spent on damaging and breaking bonds.
    pub fracture_dissipation_j: f64,
    /// Lost in dampers.
    pub damping_dissipation_j: f64,
    /// Work of loads and actuators.
    pub external_work_j: f64,
    /// Work of prescribed motions through contacts, joints and elements.
    pub motion_work_j: f64,
    /// Energy given by position stabilisation, and by the projections that keep joints together.
    pub stabilisation_work_j: f64,
    /// Quadrature terms of the scheme, zero at theta = 1/2 but for springs.
    pub scheme_j: f64,
    /// Energy of bodies born less that of bodies removed, the start included.
    pub brought_in_j: f64,
    /// Sum over steps and islands of what contacts gave instead of taking, where it exceeds the solver's tolerance.
    pub contact_gain_j: f64,
    /// Number of such steps.
    pub gain_steps: u64,
}

numbered!(Energy, 13 {
    kinetic_j,
    potential_j,
    elastic_j,
    impact_dissipation_j,
    friction_dissipation_j,
    fracture_dissipation_j,
    damping_dissipation_j,
    external_work_j,
    motion_work_j,
    stabilisation_work_j,
    scheme_j,
    brought_in_j,
    contact_gain_j,
} and { gain_steps });

numbered!(PairWork, 4 {
    impact_dissipation_j,
    friction_dissipation_j,
    normal_impulse_n_s,
    friction_impulse_n_s,
} and {});

impl Energy {
    /// Kinetic plus potential plus elastic energy.
    pub fn mechanical_j(&self) -> f64 {
        self.kinetic_j + self.potential_j + self.elastic_j
    }

    /// What the account fails to explain: rounding.
    pub fn closing_error_j(&self) -> f64 {
        self.mechanical_j()
            - self.brought_in_j
            - self.external_work_j
            - self.motion_work_j
            - self.stabilisation_work_j
            - self.scheme_j
            + self.impact_dissipation_j
            + self.friction_dissipation_j
            + self.fracture_dissipation_j
            + self.damping_dissipation_j
    }
}

/// What the contacts under one law did since the start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PairWork {
    /// Lost in the normal direction [J].
    pub impact_dissipation_j: f64,
    /// Lost by friction [J].
    pub friction_dissipation_j: f64,
    /// Sum of normal impulses [N s].
    pub normal_impulse_n_s: f64,
    /// Sum of the magnitudes of friction impulses [N s].
    pub friction_impulse_n_s: f64,
}

//! Newton's law for rigid bodies: the relative velocity turns at once, `v+ = -e v-`.
//!
//! No stiffness and no duration: the integrator applies an impulse. The only law here that delivers `e = 0`.

use crate::{Damping, LawFacts};

/// Name, summary and source.
pub const FACTS: LawFacts = LawFacts {
    name: "rigid",
    summary: "v+ = -e v-: an impulse of no duration",
    citation: "Newton; Goldsmith (1960), Impact; in pounding: Muthukumar and DesRoches (2006), Earthq. Eng. Struct. Dyn. 35, 811-828",
    exponent: 0.0,
    smallest_restitution: 0.0,
};

/// The restitution itself; one formula for both dampings.
pub fn restitution(_: Damping, restitution: f64) -> (f64, f64) {
    (restitution, 1.0)
}

/// Impulse, N s, that turns the approach speed of a reduced mass.
pub fn impulse(restitution: f64, reduced_mass: f64, approach_speed: f64) -> f64 {
    (1.0 + restitution) * reduced_mass * approach_speed
}

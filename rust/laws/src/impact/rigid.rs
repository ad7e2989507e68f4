//! Newton's law for rigid bodies: the relative velocity turns at once, `v+ = -e v-`.
//!
//! No stiffness and no duration: the integrator applies an impulse. The only law here that delivers `e = 0`.

use super::{
    Damping, Force, Gradient, ImpactLaw, LawFacts, Memory, Numbers, Scale, UNTIL_THE_MASSES_PART,
};

/// The law.
pub enum Rigid {}

impl ImpactLaw for Rigid {
    type Force = Self;

    const FACTS: LawFacts = LawFacts {
        name: "rigid",
        summary: "v+ = -e v-: an impulse of no duration",
        citation: "Newton; Goldsmith (1960), Impact; in pounding: Muthukumar and DesRoches (2006), Earthq. Eng. Struct. Dyn. 35, 811-828",
        exponent: 0.0,
        smallest_restitution: 0.0,
    };

    /// The restitution itself; one formula for both dampings.
    fn damping_number(_: Damping, restitution: f64) -> (f64, f64) {
        (restitution, 1.0)
    }
}

impl Force for Rigid {
    const BY_IMPULSE: bool = true;
    const LATCHES: bool = false;
    const SCALE: Scale = Scale::Dimensionless;

    #[inline]
    fn force(_: &Numbers, _: f64, _: f64, _: &Memory) -> f64 {
        0.0
    }

    #[inline]
    fn continued_force(_: &Numbers, _: f64, _: f64, _: &Memory, _: bool) -> f64 {
        0.0
    }

    fn gradient(_: &Numbers, _: f64, _: f64, _: &Memory) -> (Gradient, f64) {
        (Gradient::default(), 0.0)
    }

    fn push_plane(_: &Numbers, _: &Memory) -> [f64; 3] {
        UNTIL_THE_MASSES_PART
    }

    fn stored(_: &Numbers, _: f64, _: &Memory) -> Option<(f64, f64)> {
        None
    }

    fn tangent_stiffness(_: &Numbers, _: f64) -> f64 {
        0.0
    }

    fn constant_damper(_: &Numbers) -> f64 {
        0.0
    }
}

//! Kelvin-Voigt with its tension kept: `F = k d + c d'` until the masses part.
//!
//! The damper pulls at the end of the contact. With that pull kept the printed damping ratio
//! `z = -ln e / sqrt(pi^2 + ln^2 e)` (Anagnostopoulos 1988, 2004) is exact.

use std::f64::consts::PI;

use super::{
    Damping, Force, Gradient, ImpactLaw, LawFacts, Memory, Numbers, SMALLEST_RESTITUTION, Scale,
    UNTIL_THE_MASSES_PART,
};

/// The law.
pub enum KelvinVoigtTension {}

impl ImpactLaw for KelvinVoigtTension {
    type Force = Self;

    const FACTS: LawFacts = LawFacts {
        name: "kelvin-voigt-tension",
        summary: "F = k d + c d' with the damper's pull at the end kept",
        citation: "Anagnostopoulos (1988), Earthq. Eng. Struct. Dyn. 16, 443-456; (2004), 33, 897-902",
        exponent: 1.0,
        smallest_restitution: SMALLEST_RESTITUTION,
    };

    /// Damping ratio; one formula for both dampings.
    fn damping_number(_: Damping, restitution: f64) -> (f64, f64) {
        let log = restitution.ln();
        let square = PI * PI + log * log;
        let root = square.sqrt();
        // + 0.0 turns the negative zero of e = 1 into a plain one
        (-log / root + 0.0, -PI * PI / (restitution * square * root))
    }
}

impl Force for KelvinVoigtTension {
    const BY_IMPULSE: bool = false;
    const LATCHES: bool = false;
    const SCALE: Scale = Scale::Viscous;

    #[inline]
    fn force(with: &Numbers, d: f64, rate: f64, _: &Memory) -> f64 {
        with.stiffness * d + with.coefficient * rate
    }

    #[inline]
    fn continued_force(with: &Numbers, d: f64, rate: f64, _: &Memory, _: bool) -> f64 {
        with.stiffness * d + with.coefficient * rate
    }

    fn gradient(with: &Numbers, d: f64, rate: f64, _: &Memory) -> (Gradient, f64) {
        let gradient = Gradient {
            indentation: with.stiffness,
            rate: with.coefficient,
            stiffness: d,
            ..Gradient::default()
        };
        (gradient, rate)
    }

    fn push_plane(_: &Numbers, _: &Memory) -> [f64; 3] {
        UNTIL_THE_MASSES_PART
    }

    fn stored(_: &Numbers, d: f64, _: &Memory) -> Option<(f64, f64)> {
        Some((1.0, d))
    }

    fn tangent_stiffness(with: &Numbers, _: f64) -> f64 {
        with.stiffness
    }

    fn constant_damper(with: &Numbers) -> f64 {
        with.coefficient
    }
}

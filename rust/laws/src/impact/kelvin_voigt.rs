//! Kelvin-Voigt with its tension cut: `F = max(0, k d + c d')`.
//!
//! The modification of Komodromos et al. (2007) leaves out the damper's pull at the end of the contact. With the
//! printed damping ratio it then rebounds faster than asked (`e` 0.5 gives 0.550); the exact ratio solves
//! `e = exp(-2 z acos z / sqrt(1 - z^2))`.

use super::{
    Damping, Force, Gradient, ImpactLaw, LawFacts, Memory, Numbers, SMALLEST_RESTITUTION, Scale,
    kelvin_voigt_tension::KelvinVoigtTension,
};
use crate::viscous_relation;

/// The law.
pub enum KelvinVoigt {}

impl ImpactLaw for KelvinVoigt {
    type Force = Self;

    const FACTS: LawFacts = LawFacts {
        name: "kelvin-voigt",
        summary: "F = max(0, k d + c d'): the damper does not pull",
        citation: "Komodromos et al. (2007), Earthq. Eng. Struct. Dyn. 36, 1605-1622; damping: Anagnostopoulos (2004), 33, 897-902",
        exponent: 1.0,
        smallest_restitution: SMALLEST_RESTITUTION,
    };

    /// Damping ratio.
    fn damping_number(damping: Damping, restitution: f64) -> (f64, f64) {
        match damping {
            Damping::Exact => viscous_relation::ratio_of_restitution(restitution, 2.0),
            Damping::Nominal => KelvinVoigtTension::damping_number(damping, restitution),
        }
    }
}

impl Force for KelvinVoigt {
    const BY_IMPULSE: bool = false;
    const LATCHES: bool = false;
    const SCALE: Scale = Scale::Viscous;

    #[inline]
    fn force(with: &Numbers, d: f64, rate: f64, _: &Memory) -> f64 {
        (with.stiffness * d + with.coefficient * rate).max(0.0)
    }

    #[inline]
    fn continued_force(with: &Numbers, d: f64, rate: f64, _: &Memory, _: bool) -> f64 {
        with.stiffness * d + with.coefficient * rate
    }

    fn gradient(with: &Numbers, d: f64, rate: f64, memory: &Memory) -> (Gradient, f64) {
        if with.stiffness * d + with.coefficient * rate <= 0.0 {
            return (Gradient::default(), 0.0);
        }
        KelvinVoigtTension::gradient(with, d, rate, memory)
    }

    fn push_plane(with: &Numbers, _: &Memory) -> [f64; 3] {
        [with.stiffness, with.coefficient, 0.0]
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

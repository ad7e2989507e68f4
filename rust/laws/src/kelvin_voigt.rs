//! Kelvin-Voigt with its tension cut: `F = max(0, k d + c d')`.
//!
//! The modification of Komodromos et al. (2007) leaves out the damper's pull at the end of the contact. With the
//! printed damping ratio it then rebounds faster than asked (`e` 0.5 gives 0.550); the exact ratio solves
//! `e = exp(-2 z acos z / sqrt(1 - z^2))`.

use crate::{Damping, LawFacts, SMALLEST_RESTITUTION, kelvin_voigt_tension, viscous_relation};

/// Name, summary and source.
pub const FACTS: LawFacts = LawFacts {
    name: "kelvin-voigt",
    summary: "F = max(0, k d + c d'): the damper does not pull",
    citation: "Komodromos et al. (2007), Earthq. Eng. Struct. Dyn. 36, 1605-1622; damping: Anagnostopoulos (2004), 33, 897-902",
    exponent: 1.0,
    smallest_restitution: SMALLEST_RESTITUTION,
};

/// Damping ratio.
pub fn damping_ratio(damping: Damping, restitution: f64) -> (f64, f64) {
    match damping {
        Damping::Exact => viscous_relation::ratio_of_restitution(restitution, 2.0),
        Damping::Nominal => kelvin_voigt_tension::damping_ratio(damping, restitution),
    }
}

/// Force, N.
pub fn force(k: f64, c: f64, d: f64, rate: f64) -> f64 {
    (k * d + c * rate).max(0.0)
}

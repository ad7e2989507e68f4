//! Modified linear viscoelastic law of Mahmoud and Jankowski: damped while approaching, elastic while parting.
//!
//! `F = k d + c d'` for `d' > 0`, `F = k d` for `d' < 0`, `c = 2 xi sqrt(k m)`. Printed (2011) with
//! `xi = (1 - e^2) / (e (e (pi - 2) + 2))`; exact from `e = exp(-xi acos xi / sqrt(1 - xi^2))`.

use std::f64::consts::PI;

use crate::{Damping, LawFacts, SMALLEST_RESTITUTION, viscous_relation};

/// Name, summary and source.
pub const FACTS: LawFacts = LawFacts {
    name: "mahmoud-jankowski",
    summary: "F = k d + c d' approaching, k d parting",
    citation: "Mahmoud and Jankowski (2011), Iran. J. Sci. Technol. 35(C1), 51-62",
    exponent: 1.0,
    smallest_restitution: SMALLEST_RESTITUTION,
};

/// Damping ratio `xi`.
pub fn damping_ratio(damping: Damping, restitution: f64) -> (f64, f64) {
    match damping {
        Damping::Exact => viscous_relation::ratio_of_restitution(restitution, 1.0),
        Damping::Nominal => printed_ratio(1.0, PI - 2.0, 2.0, restitution),
    }
}

/// `a (1 - e^2) / (e (b e + c))` and its derivative: the form Mahmoud and Jankowski's ratios share.
pub(crate) fn printed_ratio(a: f64, b: f64, c: f64, e: f64) -> (f64, f64) {
    let below = e * (b * e + c);
    let above = a * (1.0 - e * e);
    (
        above / below,
        (-2.0 * a * e * below - above * (2.0 * b * e + c)) / (below * below),
    )
}

/// Force, N.
pub fn force(k: f64, c: f64, d: f64, rate: f64) -> f64 {
    k * d + c * rate.max(0.0)
}

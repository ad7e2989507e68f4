//! Nonlinear viscoelastic law of Jankowski: Hertz spring, damped while approaching, elastic while parting.
//!
//! `F = k d^1.5 + 2 xi sqrt(k sqrt(d) m) d'` for `d' > 0`, `F = k d^1.5` for `d' < 0` (Jankowski 2005). Printed (2006)
//! with `xi = (9 sqrt 5 / 2) (1 - e^2) / (e (e (9 pi - 16) + 16))`. In `y = d^(5/4)` the approach is a linear damped
//! oscillator with ratio `z = 2 xi / sqrt 5`, so the exact ratio comes from `e = exp(-z acos z / sqrt(1 - z^2))`.

use std::f64::consts::PI;

use crate::{
    Damping, LawFacts, SMALLEST_RESTITUTION, mahmoud_jankowski::printed_ratio, viscous_relation,
};

/// Name, summary and source.
pub const FACTS: LawFacts = LawFacts {
    name: "jankowski",
    summary: "F = k d^1.5 + c d^0.25 d' approaching, k d^1.5 parting",
    citation: "Jankowski (2005), Earthq. Eng. Struct. Dyn. 34, 595-611; damping: (2006), 35, 517-524",
    exponent: 1.5,
    smallest_restitution: SMALLEST_RESTITUTION,
};

/// Damping ratio `xi`.
pub fn damping_ratio(damping: Damping, restitution: f64) -> (f64, f64) {
    let root = 5.0_f64.sqrt();
    match damping {
        Damping::Exact => {
            let (z, slope) = viscous_relation::ratio_of_restitution(restitution, 1.0);
            (0.5 * root * z, 0.5 * root * slope)
        }
        Damping::Nominal => printed_ratio(4.5 * root, 9.0 * PI - 16.0, 16.0, restitution),
    }
}

/// Force, N; `c = 2 xi sqrt(k m)`.
pub fn force(k: f64, c: f64, d: f64, rate: f64) -> f64 {
    let root = d.sqrt();
    k * d * root + c * root.sqrt() * rate.max(0.0)
}

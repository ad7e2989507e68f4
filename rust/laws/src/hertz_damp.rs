//! Hertz spring with the nonlinear damper of Muthukumar and DesRoches: `F = k d^1.5 (1 + D d'/v)`.
//!
//! Printed (2006) as `D = 3 (1 - e^2) / 4`, which holds for `e` near 1 only (`e` 0.5 gives 0.725, 0.1 gives 0.665).
//! Exact `D` from `D (1 + e) = ln((1 + D) / (1 - D e))`. It pulls where
//! [`crate::ye`] does.

use crate::{Damping, LawFacts, SMALLEST_RESTITUTION, indentation_relation};

/// Name, summary and source.
pub const FACTS: LawFacts = LawFacts {
    name: "hertz-damp",
    summary: "F = k d^1.5 (1 + D d'/v); nominal D = 3 (1 - e^2)/4, poor below e = 0.8",
    citation: "Muthukumar and DesRoches (2006), Earthq. Eng. Struct. Dyn. 35, 811-828",
    exponent: 1.5,
    smallest_restitution: SMALLEST_RESTITUTION,
};

/// Factor `D` of `d'/v`.
pub fn damping_factor(damping: Damping, restitution: f64) -> (f64, f64) {
    match damping {
        Damping::Exact => indentation_relation::damping_of_restitution(restitution),
        Damping::Nominal => (0.75 * (1.0 - restitution * restitution), -1.5 * restitution),
    }
}

/// Force, N; `per_speed` is one over the approach speed.
pub fn force(k: f64, factor: f64, d: f64, rate: f64, per_speed: f64) -> f64 {
    k * d * d.sqrt() * (1.0 + factor * rate * per_speed)
}

//! Kelvin-Voigt with its tension kept: `F = k d + c d'` until the masses part.
//!
//! The damper pulls at the end of the contact. With that pull kept the printed damping ratio
//! `z = -ln e / sqrt(pi^2 + ln^2 e)` (Anagnostopoulos 1988, 2004) is exact.

use std::f64::consts::PI;

use crate::{Damping, LawFacts, SMALLEST_RESTITUTION};

/// Name, summary and source.
pub const FACTS: LawFacts = LawFacts {
    name: "kelvin-voigt-tension",
    summary: "F = k d + c d' with the damper's pull at the end kept",
    citation: "Anagnostopoulos (1988), Earthq. Eng. Struct. Dyn. 16, 443-456; (2004), 33, 897-902",
    exponent: 1.0,
    smallest_restitution: SMALLEST_RESTITUTION,
};

/// Damping ratio; one formula for both dampings.
pub fn damping_ratio(_: Damping, restitution: f64) -> (f64, f64) {
    let log = restitution.ln();
    let square = PI * PI + log * log;
    let root = square.sqrt();
    // + 0.0 turns the negative zero of e = 1 into a plain one
    (-log / root + 0.0, -PI * PI / (restitution * square * root))
}

/// Force, N.
pub fn force(k: f64, c: f64, d: f64, rate: f64) -> f64 {
    k * d + c * rate
}

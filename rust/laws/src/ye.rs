//! Ye's modified Kelvin model: `F = k d (1 + D d'/v)`, `v` the approach speed.
//!
//! Printed (Ye, Li and Zhu 2009) as `F = k d + xi d d'` with `xi = 3 k (1 - e) / (2 e v)`, that is
//! `D = 3 (1 - e) / (2 e)`, which gives too little rebound (`e` 0.1 gives 0.074). Exact `D` from
//! `D (1 + e) = ln((1 + D) / (1 - D e))`. In a free collision the force never pulls; where
//! springs tear the masses apart faster than `v / D` it does, and that pull is part of the law as printed. It takes
//! energy out of the motion, as all of the law's damping does.

use crate::{Damping, LawFacts, SMALLEST_RESTITUTION, indentation_relation};

/// Name, summary and source.
pub const FACTS: LawFacts = LawFacts {
    name: "ye",
    summary: "F = k d (1 + D d'/v)",
    citation: "Ye, Li and Zhu (2009), Earthq. Eng. Eng. Vib. 8, 433-446",
    exponent: 1.0,
    smallest_restitution: SMALLEST_RESTITUTION,
};

/// Factor `D` of `d'/v`.
pub fn damping_factor(damping: Damping, restitution: f64) -> (f64, f64) {
    match damping {
        Damping::Exact => indentation_relation::damping_of_restitution(restitution),
        Damping::Nominal => (
            1.5 * (1.0 - restitution) / restitution,
            -1.5 / (restitution * restitution),
        ),
    }
}

/// Force, N; `per_speed` is one over the approach speed.
pub fn force(k: f64, factor: f64, d: f64, rate: f64, per_speed: f64) -> f64 {
    k * d * (1.0 + factor * rate * per_speed)
}

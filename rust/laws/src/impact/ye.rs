//! Ye's modified Kelvin model: `F = k d (1 + D d'/v)`, `v` the approach speed.
//!
//! Printed (Ye, Li and Zhu 2009) as `F = k d + xi d d'` with `xi = 3 k (1 - e) / (2 e v)`, that is
//! `D = 3 (1 - e) / (2 e)`, which gives too little rebound (`e` 0.1 gives 0.074). Exact `D` from
//! `D (1 + e) = ln((1 + D) / (1 - D e))`. In a free collision the force never pulls; where
//! springs tear the masses apart faster than `v / D` it does, and that pull is part of the law as printed. It takes
//! energy out of the motion, as all of the law's damping does.

use super::{
    Damping, Force, Gradient, ImpactLaw, LawFacts, Memory, Numbers, SMALLEST_RESTITUTION, Scale,
    UNTIL_THE_MASSES_PART, indentation_relation,
};

/// The law.
pub enum Ye {}

impl ImpactLaw for Ye {
    type Force = Self;

    const FACTS: LawFacts = LawFacts {
        name: "ye",
        summary: "F = k d (1 + D d'/v)",
        citation: "Ye, Li and Zhu (2009), Earthq. Eng. Eng. Vib. 8, 433-446",
        exponent: 1.0,
        smallest_restitution: SMALLEST_RESTITUTION,
    };

    /// Factor `D` of `d'/v`.
    fn damping_number(damping: Damping, restitution: f64) -> (f64, f64) {
        match damping {
            Damping::Exact => indentation_relation::damping_of_restitution(restitution),
            Damping::Nominal => (
                1.5 * (1.0 - restitution) / restitution,
                -1.5 / (restitution * restitution),
            ),
        }
    }
}

impl Force for Ye {
    const BY_IMPULSE: bool = false;
    const LATCHES: bool = false;
    const SCALE: Scale = Scale::Dimensionless;

    #[inline]
    fn force(with: &Numbers, d: f64, rate: f64, memory: &Memory) -> f64 {
        let (k, c) = (with.stiffness, with.coefficient);
        k * d * (1.0 + c * rate * memory.per_approach_speed())
    }

    #[inline]
    fn continued_force(with: &Numbers, d: f64, rate: f64, memory: &Memory, _: bool) -> f64 {
        let (k, c) = (with.stiffness, with.coefficient);
        k * d * (1.0 + c * rate * memory.per_approach_speed())
    }

    fn gradient(with: &Numbers, d: f64, rate: f64, memory: &Memory) -> (Gradient, f64) {
        indentation_relation::gradient(with, d, rate, memory.per_approach_speed())
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

    fn constant_damper(_: &Numbers) -> f64 {
        0.0
    }
}

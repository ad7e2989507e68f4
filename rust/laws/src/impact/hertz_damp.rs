//! Hertz spring with the nonlinear damper of Muthukumar and DesRoches: `F = k d^1.5 (1 + D d'/v)`.
//!
//! Printed (2006) as `D = 3 (1 - e^2) / 4`, which holds for `e` near 1 only (`e` 0.5 gives 0.725, 0.1 gives 0.665).
//! Exact `D` from `D (1 + e) = ln((1 + D) / (1 - D e))`. It pulls where
//! [`super::ye`] does.

use super::{
    Damping, Force, Gradient, ImpactLaw, LawFacts, Memory, Numbers, SMALLEST_RESTITUTION, Scale,
    UNTIL_THE_MASSES_PART, indentation_relation, three_halves,
};

/// The law.
pub enum HertzDamp {}

impl ImpactLaw for HertzDamp {
    type Force = Self;

    const FACTS: LawFacts = LawFacts {
        name: "hertz-damp",
        summary: "F = k d^1.5 (1 + D d'/v); nominal D = 3 (1 - e^2)/4, poor below e = 0.8",
        citation: "Muthukumar and DesRoches (2006), Earthq. Eng. Struct. Dyn. 35, 811-828",
        exponent: 1.5,
        smallest_restitution: SMALLEST_RESTITUTION,
    };

    /// Factor `D` of `d'/v`.
    fn damping_number(damping: Damping, restitution: f64) -> (f64, f64) {
        match damping {
            Damping::Exact => indentation_relation::damping_of_restitution(restitution),
            Damping::Nominal => (0.75 * (1.0 - restitution * restitution), -1.5 * restitution),
        }
    }
}

impl Force for HertzDamp {
    const BY_IMPULSE: bool = false;
    const LATCHES: bool = false;
    const SCALE: Scale = Scale::Dimensionless;

    #[inline]
    fn force(with: &Numbers, d: f64, rate: f64, memory: &Memory) -> f64 {
        let (k, c) = (with.stiffness, with.coefficient);
        k * d * d.sqrt() * (1.0 + c * rate * memory.per_approach_speed())
    }

    #[inline]
    fn continued_force(with: &Numbers, d: f64, rate: f64, memory: &Memory, _: bool) -> f64 {
        let (k, c) = (with.stiffness, with.coefficient);
        k * three_halves(d) * (1.0 + c * rate * memory.per_approach_speed())
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

    fn tangent_stiffness(with: &Numbers, d: f64) -> f64 {
        1.5 * with.stiffness * d.max(0.0).sqrt()
    }

    fn constant_damper(_: &Numbers) -> f64 {
        0.0
    }
}

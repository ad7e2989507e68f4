//! Hertz spring that unloads on a steeper curve.
//!
//! Loading `F = k d^1.5` (Goldsmith 1960), elastic with nominal damping. To deliver `e < 1` it unloads from its
//! deepest point `D` along `F = k ((d - d0) / e^2)^1.5`, `d0 = (1 - e^2) D`, which gives back the share `e^2` of the
//! stored energy: the latching of [`super::linear`] with Hertz's exponent.

use super::{
    Damping, Force, Gradient, ImpactLaw, LawFacts, Memory, Numbers, SMALLEST_RESTITUTION, Scale,
    latching, linear::Linear, three_halves,
};

/// The law.
pub enum Hertz {}

impl ImpactLaw for Hertz {
    type Force = Self;

    const FACTS: LawFacts = LawFacts {
        name: "hertz",
        summary: "F = k d^1.5 loading; unloads from the deepest point along F = k ((d - d0)/e^2)^1.5",
        citation: "Goldsmith (1960), Impact; unloading after Walton and Braun (1986), J. Rheol. 30, 949-980",
        exponent: 1.5,
        smallest_restitution: SMALLEST_RESTITUTION,
    };

    /// Share of the stored energy given back, as for the linear spring.
    fn damping_number(damping: Damping, restitution: f64) -> (f64, f64) {
        Linear::damping_number(damping, restitution)
    }
}

impl Force for Hertz {
    const BY_IMPULSE: bool = false;
    const LATCHES: bool = true;
    const SCALE: Scale = Scale::Dimensionless;

    #[inline]
    fn force(with: &Numbers, d: f64, _: f64, memory: &Memory) -> f64 {
        let x = latching::equivalent_indentation(with.coefficient, d, memory.deepest_m);
        with.stiffness * x * x.sqrt()
    }

    #[inline]
    fn continued_force(with: &Numbers, d: f64, _: f64, memory: &Memory, loading: bool) -> f64 {
        let x = latching::continued(with.coefficient, d, memory.deepest_m, loading);
        with.stiffness * three_halves(x)
    }

    fn gradient(with: &Numbers, d: f64, _: f64, memory: &Memory) -> (Gradient, f64) {
        latching::gradient(with, d, memory.deepest_m)
    }

    fn push_plane(with: &Numbers, memory: &Memory) -> [f64; 3] {
        latching::push_plane(with, memory.deepest_m)
    }

    fn stored(with: &Numbers, d: f64, memory: &Memory) -> Option<(f64, f64)> {
        Some(latching::stored(with, d, memory.deepest_m))
    }

    fn tangent_stiffness(with: &Numbers, d: f64) -> f64 {
        1.5 * with.stiffness * d.max(0.0).sqrt() / with.coefficient
    }

    fn constant_damper(_: &Numbers) -> f64 {
        0.0
    }
}

//! Linear spring that unloads on a steeper line.
//!
//! Loading `F = k d`. The elastic spring of the pounding literature (Maison and Kasai 1990) gives back all it takes:
//! that is the nominal damping, with achieved restitution 1 whatever is asked. To deliver `e < 1` without a damper the
//! spring unloads from its deepest point `D` as the partially latching spring of Walton and Braun (1986) does:
//! `F = k (d - d0) / e^2`, `d0 = (1 - e^2) D`, which gives back the share `e^2` of the stored energy.

use super::{
    Damping, Force, Gradient, ImpactLaw, LawFacts, Memory, Numbers, SMALLEST_RESTITUTION, Scale,
    latching,
};

/// The law.
pub enum Linear {}

impl ImpactLaw for Linear {
    type Force = Self;

    const FACTS: LawFacts = LawFacts {
        name: "linear",
        summary: "F = k d loading; unloads from the deepest point along F = k (d - d0)/e^2",
        citation: "Maison and Kasai (1990), J. Struct. Eng. 116, 957-977; unloading: Walton and Braun (1986), J. Rheol. 30, 949-980",
        exponent: 1.0,
        smallest_restitution: SMALLEST_RESTITUTION,
    };

    /// Share of the stored energy given back: `e^2`, or 1 for the elastic spring as printed.
    fn damping_number(damping: Damping, restitution: f64) -> (f64, f64) {
        match damping {
            Damping::Exact => (restitution * restitution, 2.0 * restitution),
            Damping::Nominal => (1.0, 0.0),
        }
    }
}

impl Force for Linear {
    const BY_IMPULSE: bool = false;
    const LATCHES: bool = true;
    const SCALE: Scale = Scale::Dimensionless;

    #[inline]
    fn force(with: &Numbers, d: f64, _: f64, memory: &Memory) -> f64 {
        with.stiffness * latching::equivalent_indentation(with.coefficient, d, memory.deepest_m)
    }

    #[inline]
    fn continued_force(with: &Numbers, d: f64, _: f64, memory: &Memory, loading: bool) -> f64 {
        with.stiffness * latching::continued(with.coefficient, d, memory.deepest_m, loading)
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

    fn tangent_stiffness(with: &Numbers, _: f64) -> f64 {
        with.stiffness / with.coefficient
    }

    fn constant_damper(_: &Numbers) -> f64 {
        0.0
    }
}

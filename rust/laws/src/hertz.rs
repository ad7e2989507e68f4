//! Hertz spring that unloads on a steeper curve.
//!
//! Loading `F = k d^1.5` (Goldsmith 1960), elastic with nominal damping. To deliver `e < 1` it unloads from its
//! deepest point `D` along `F = k ((d - d0) / e^2)^1.5`, `d0 = (1 - e^2) D`, which gives back the share `e^2` of the
//! stored energy: the latching of [`crate::linear`] with Hertz's exponent.

use crate::{LawFacts, SMALLEST_RESTITUTION, linear};

/// Name, summary and source.
pub const FACTS: LawFacts = LawFacts {
    name: "hertz",
    summary: "F = k d^1.5 loading; unloads from the deepest point along F = k ((d - d0)/e^2)^1.5",
    citation: "Goldsmith (1960), Impact; unloading after Walton and Braun (1986), J. Rheol. 30, 949-980",
    exponent: 1.5,
    smallest_restitution: SMALLEST_RESTITUTION,
};

/// Force, N.
pub fn force(k: f64, share: f64, d: f64, deepest: f64) -> f64 {
    let x = linear::equivalent_indentation(share, d, deepest);
    k * x * x.sqrt()
}

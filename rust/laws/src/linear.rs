//! Linear spring that unloads on a steeper line.
//!
//! Loading `F = k d`. The elastic spring of the pounding literature (Maison and Kasai 1990) gives back all it takes:
//! that is the nominal damping, with achieved restitution 1 whatever is asked. To deliver `e < 1` without a damper the
//! spring unloads from its deepest point `D` as the partially latching spring of Walton and Braun (1986) does:
//! `F = k (d - d0) / e^2`, `d0 = (1 - e^2) D`, which gives back the share `e^2` of the stored energy.

use crate::{Damping, LawFacts, SMALLEST_RESTITUTION};

/// Name, summary and source.
pub const FACTS: LawFacts = LawFacts {
    name: "linear",
    summary: "F = k d loading; unloads from the deepest point along F = k (d - d0)/e^2",
    citation: "Maison and Kasai (1990), J. Struct. Eng. 116, 957-977; unloading: Walton and Braun (1986), J. Rheol. 30, 949-980",
    exponent: 1.0,
    smallest_restitution: SMALLEST_RESTITUTION,
};

/// Share of the stored energy given back: `e^2`, or 1 for the elastic spring as printed.
pub fn returned_share(damping: Damping, restitution: f64) -> (f64, f64) {
    match damping {
        Damping::Exact => (restitution * restitution, 2.0 * restitution),
        Damping::Nominal => (1.0, 0.0),
    }
}

/// Indentation that the spring's loading curve would need for the force at `d`, given the deepest point so far.
pub fn equivalent_indentation(share: f64, d: f64, deepest: f64) -> f64 {
    if d >= deepest {
        d
    } else {
        ((d - residual_indentation(share, deepest)) / share).max(0.0)
    }
}

/// Indentation at which the unloading spring lets go.
pub fn residual_indentation(share: f64, deepest: f64) -> f64 {
    (1.0 - share) * deepest
}

/// Force, N.
pub fn force(k: f64, share: f64, d: f64, deepest: f64) -> f64 {
    k * equivalent_indentation(share, d, deepest)
}

//! Modified linear viscoelastic law of Mahmoud and Jankowski: damped while approaching, elastic while parting.
//!
//! `F = k d + c d'` for `d' > 0`, `F = k d` for `d' < 0`, `c = 2 xi sqrt(k m)`. Printed (2011) with
//! `xi = (1 - e^2) / (e (e (pi - 2) + 2))`; exact from `e = exp(-xi acos xi / sqrt(1 - xi^2))`.

use std::f64::consts::PI;

use super::{
    Damping, Force, Gradient, ImpactLaw, LawFacts, Memory, Numbers, SMALLEST_RESTITUTION, Scale,
    UNTIL_THE_MASSES_PART,
};
use crate::viscous_relation;

/// The law.
pub enum MahmoudJankowski {}

impl ImpactLaw for MahmoudJankowski {
    type Force = Self;

    const FACTS: LawFacts = LawFacts {
        name: "mahmoud-jankowski",
        summary: "F = k d + c d' approaching, k d parting",
        citation: "Mahmoud and Jankowski (2011), Iran. J. Sci. Technol. 35(C1), 51-62",
        exponent: 1.0,
        smallest_restitution: SMALLEST_RESTITUTION,
    };

    /// Damping ratio `xi`.
    fn damping_number(damping: Damping, restitution: f64) -> (f64, f64) {
        match damping {
            Damping::Exact => viscous_relation::ratio_of_restitution(restitution, 1.0),
            Damping::Nominal => printed_ratio(1.0, PI - 2.0, 2.0, restitution),
        }
    }
}

impl Force for MahmoudJankowski {
    const BY_IMPULSE: bool = false;
    const LATCHES: bool = false;
    const SCALE: Scale = Scale::Viscous;

    #[inline]
    fn force(with: &Numbers, d: f64, rate: f64, _: &Memory) -> f64 {
        with.stiffness * d + with.coefficient * rate.max(0.0)
    }

    #[inline]
    fn continued_force(with: &Numbers, d: f64, rate: f64, _: &Memory, loading: bool) -> f64 {
        let damped = if loading {
            with.coefficient * rate
        } else {
            0.0
        };
        with.stiffness * d + damped
    }

    fn gradient(with: &Numbers, d: f64, rate: f64, _: &Memory) -> (Gradient, f64) {
        let gradient = Gradient {
            indentation: with.stiffness,
            rate: if rate > 0.0 { with.coefficient } else { 0.0 },
            stiffness: d,
            ..Gradient::default()
        };
        (gradient, rate.max(0.0))
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

    fn constant_damper(with: &Numbers) -> f64 {
        with.coefficient
    }
}

/// `a (1 - e^2) / (e (b e + c))` and its derivative: the form Mahmoud and Jankowski's ratios share.
pub(crate) fn printed_ratio(a: f64, b: f64, c: f64, e: f64) -> (f64, f64) {
    let below = e * (b * e + c);
    let above = a * (1.0 - e * e);
    (
        above / below,
        (-2.0 * a * e * below - above * (2.0 * b * e + c)) / (below * below),
    )
}

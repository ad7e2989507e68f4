//! Nonlinear viscoelastic law of Jankowski: Hertz spring, damped while approaching, elastic while parting.
//!
//! `F = k d^1.5 + 2 xi sqrt(k sqrt(d) m) d'` for `d' > 0`, `F = k d^1.5` for `d' < 0` (Jankowski 2005). Printed (2006)
//! with `xi = (9 sqrt 5 / 2) (1 - e^2) / (e (e (9 pi - 16) + 16))`. In `y = d^(5/4)` the approach is a linear damped
//! oscillator with ratio `z = 2 xi / sqrt 5`, so the exact ratio comes from `e = exp(-z acos z / sqrt(1 - z^2))`.

use std::f64::consts::PI;

use super::{
    Damping, Force, Gradient, ImpactLaw, LawFacts, Memory, Numbers, SMALLEST_RESTITUTION, Scale,
    UNTIL_THE_MASSES_PART, mahmoud_jankowski::printed_ratio, three_halves,
};
use crate::viscous_relation;

/// The law.
pub enum Jankowski {}

impl ImpactLaw for Jankowski {
    type Force = Self;

    const FACTS: LawFacts = LawFacts {
        name: "jankowski",
        summary: "F = k d^1.5 + c d^0.25 d' approaching, k d^1.5 parting",
        citation: "Jankowski (2005), Earthq. Eng. Struct. Dyn. 34, 595-611; damping: (2006), 35, 517-524",
        exponent: 1.5,
        smallest_restitution: SMALLEST_RESTITUTION,
    };

    /// Damping ratio `xi`.
    fn damping_number(damping: Damping, restitution: f64) -> (f64, f64) {
        let root = 5.0_f64.sqrt();
        match damping {
            Damping::Exact => {
                let (z, slope) = viscous_relation::ratio_of_restitution(restitution, 1.0);
                (0.5 * root * z, 0.5 * root * slope)
            }
            Damping::Nominal => printed_ratio(4.5 * root, 9.0 * PI - 16.0, 16.0, restitution),
        }
    }
}

impl Force for Jankowski {
    const BY_IMPULSE: bool = false;
    const LATCHES: bool = false;
    const SCALE: Scale = Scale::Viscous;

    #[inline]
    fn force(with: &Numbers, d: f64, rate: f64, _: &Memory) -> f64 {
        let root = d.sqrt();
        with.stiffness * d * root + with.coefficient * root.sqrt() * rate.max(0.0)
    }

    #[inline]
    fn continued_force(with: &Numbers, d: f64, rate: f64, _: &Memory, loading: bool) -> f64 {
        let damped = if loading {
            with.coefficient * rate
        } else {
            0.0
        };
        with.stiffness * three_halves(d) + d.max(0.0).sqrt().sqrt() * damped
    }

    fn gradient(with: &Numbers, d: f64, rate: f64, _: &Memory) -> (Gradient, f64) {
        let (k, c) = (with.stiffness, with.coefficient);
        let coming = rate.max(0.0);
        let root = d.sqrt();
        let fourth = root.sqrt();
        let gradient = Gradient {
            indentation: 1.5 * k * root + 0.25 * c * fourth * coming / d,
            rate: if rate > 0.0 { c * fourth } else { 0.0 },
            stiffness: d * root,
            ..Gradient::default()
        };
        (gradient, fourth * coming)
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

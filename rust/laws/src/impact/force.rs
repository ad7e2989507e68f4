//! What an impact law must say of itself. No method has a default: a new law decides each of them.

use super::{Damping, LawFacts, Memory};

/// An impact law: its facts and the damping that a restitution needs.
pub(super) trait ImpactLaw {
    /// The form of its force: its own, or that of the law it shares it with.
    type Force: Force;
    /// Name, summary and source.
    const FACTS: LawFacts;
    /// The law's dimensionless damping for a restitution, and its derivative with respect to it. What the number
    /// means is each law's own: damping ratio, share of energy given back, or factor of `d'/v`.
    fn damping_number(damping: Damping, restitution: f64) -> (f64, f64);
}

/// The force of a law in terms of indentation `d`, m, and its rate, m/s; only asked where `d > 0`, but for
/// [`Force::continued_force`] and [`Force::tangent_stiffness`].
pub(super) trait Force {
    /// Whether the law acts by an impulse of no duration instead of a force.
    const BY_IMPULSE: bool;
    /// Whether the spring unloads on a path of its own from the deepest point.
    const LATCHES: bool;
    /// What turns the dimensionless damping into [`Numbers::coefficient`].
    const SCALE: Scale;
    /// Force, N, positive when it pushes the masses apart.
    fn force(with: &Numbers, d: f64, rate: f64, memory: &Memory) -> f64;
    /// The branch that acts now, continued smoothly past its ends.
    fn continued_force(with: &Numbers, d: f64, rate: f64, memory: &Memory, loading: bool) -> f64;
    /// Partial derivatives with respect to `d`, its rate, the stiffness and what is remembered, and, as the second
    /// value, with respect to the coefficient.
    fn gradient(with: &Numbers, d: f64, rate: f64, memory: &Memory) -> (Gradient, f64);
    /// Coefficients of the plane `a d + b d' + c` below which the law lets go.
    fn push_plane(with: &Numbers, memory: &Memory) -> [f64; 3];
    /// The stored energy as (share `s`, indentation `x`) of `s k x^(n + 1) / (n + 1)`; none without a spring.
    fn stored(with: &Numbers, d: f64, memory: &Memory) -> Option<(f64, f64)>;
    /// Largest `dF/dd` at rest, N/m.
    fn tangent_stiffness(with: &Numbers, d: f64) -> f64;
    /// Viscous coefficient that does not depend on the state, N s/m.
    fn constant_damper(with: &Numbers) -> f64;
}

/// The numbers a force takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Numbers {
    /// Power `n` of the indentation. Kept as a value: with a constant the compiler turns `powf` into roots and
    /// products that round otherwise.
    pub exponent: f64,
    /// Stiffness `k`, N/m to the exponent.
    pub stiffness: f64,
    /// Damping as the force takes it: the law's number times its scale.
    pub coefficient: f64,
}

/// What turns a law's dimensionless damping into the coefficient of its force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// The number is the coefficient.
    Dimensionless,
    /// A damping ratio: the coefficient is `2 xi sqrt(k m)`.
    Viscous,
}

impl Scale {
    /// The factor, for a stiffness and a reduced mass.
    pub fn factor(self, stiffness: f64, reduced_mass_kg: f64) -> f64 {
        match self {
            Self::Dimensionless => 1.0,
            Self::Viscous => 2.0 * (stiffness * reduced_mass_kg).sqrt(),
        }
    }
}

/// The push plane of a law that acts until the masses part: `d` itself.
pub(super) const UNTIL_THE_MASSES_PART: [f64; 3] = [1.0, 0.0, 0.0];

/// `x^1.5`, continued by zero below zero.
#[inline]
pub(super) fn three_halves(x: f64) -> f64 {
    x * x.max(0.0).sqrt()
}

/// Partial derivatives of the force.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gradient {
    /// With respect to indentation, N/m.
    pub indentation: f64,
    /// With respect to the rate of indentation, N s/m.
    pub rate: f64,
    /// With respect to the stiffness, restitution held.
    pub stiffness: f64,
    /// With respect to the restitution.
    pub restitution: f64,
    /// With respect to the reduced mass, N/kg.
    pub reduced_mass: f64,
    /// With respect to the remembered approach speed, N s/m.
    pub approach_speed: f64,
    /// With respect to the remembered deepest indentation, N/m.
    pub deepest: f64,
}

//! The linear part of a fixed step.
//!
//! Every fixed-step scheme here advances by solving `left x = first a + second b` with constant matrices. Systems of
//! up to four masses use [`crate::matrices::dense`], whose sizes the compiler knows, or [`crate::matrices::diagonal`] where no spring joins
//! two masses; larger ones use [`crate::matrices::banded`].

use crate::system::model::Pair;

/// A vector with one entry a mass.
pub(crate) trait Vector: AsRef<[f64]> + AsMut<[f64]> + Clone {
    /// How a pair picks its two entries.
    type Pick;

    /// The pick of a pair.
    fn pick(pair: Pair) -> Self::Pick;

    /// Left entry less right entry.
    fn difference(&self, pick: &Self::Pick) -> f64;
}

/// A product with plus and minus one: no index, so the vector need not lie in memory.
impl<const N: usize> Vector for [f64; N] {
    type Pick = [f64; N];

    fn pick(pair: Pair) -> Self::Pick {
        let mut pick = [0.0; N];
        pair.push_apart(-1.0, &mut pick);
        pick
    }

    #[inline(always)]
    fn difference(&self, pick: &Self::Pick) -> f64 {
        let mut sum = pick[0] * self[0];
        for (p, x) in pick.iter().zip(self).skip(1) {
            sum += p * x;
        }
        sum
    }
}

impl Vector for Vec<f64> {
    type Pick = Pair;

    fn pick(pair: Pair) -> Self::Pick {
        pair
    }

    fn difference(&self, pick: &Self::Pick) -> f64 {
        pick.difference(self)
    }
}

/// The constant matrices of a scheme. Matrices are given row by row.
pub(crate) trait Propagator: Sized {
    /// Vectors of this size.
    type Vector: Vector;

    /// Factor `left`; none if it has no inverse.
    fn new(n: usize, left: &[f64], first: &[f64], second: &[f64], damping: &[f64]) -> Option<Self>;

    /// A vector of zeros.
    fn zeros(n: usize) -> Self::Vector;

    /// `out = left^-1 (first a + second b)`.
    fn apply(&self, a: &Self::Vector, b: &Self::Vector, out: &mut Self::Vector);

    /// `x = left^-1 x`.
    fn solve(&self, x: &mut Self::Vector);

    /// Add what [`Propagator::damped_power`] needs of a velocity to `sum`, one entry a mass.
    fn add_damped(&self, v: &Self::Vector, sum: &mut Self::Vector);

    /// The sum of `v' C v` over the velocities added.
    fn damped_power(&self, sum: &Self::Vector) -> f64;
}

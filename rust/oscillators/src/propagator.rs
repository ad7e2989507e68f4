//! The linear part of a fixed step.
//!
//! Every fixed-step scheme here advances by solving `left x = first a + second b` with constant matrices. Systems of
//! up to four masses use [`crate::dense`], whose sizes the compiler knows; larger ones use [`crate::banded`].

/// A vector with one entry a mass.
pub(crate) trait Vector: AsRef<[f64]> + AsMut<[f64]> + Clone {}

impl<const N: usize> Vector for [f64; N] {}
impl Vector for Vec<f64> {}

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

    /// `v' C v`.
    fn damped_power(&self, v: &Self::Vector) -> f64;
}

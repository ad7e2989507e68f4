//! Frames side by side that no spring joins: every matrix is diagonal.

use crate::matrices::propagator::Propagator;

/// See [`Propagator`].
#[derive(Debug, Clone)]
pub(crate) struct Diagonal<const N: usize> {
    inverse: [f64; N],
    first: [f64; N],
    second: [f64; N],
    damping: [f64; N],
}

impl<const N: usize> Propagator for Diagonal<N> {
    type Vector = [f64; N];

    fn new(_: usize, left: &[f64], first: &[f64], second: &[f64], damping: &[f64]) -> Option<Self> {
        let of = |matrix: &[f64]| -> [f64; N] { std::array::from_fn(|i| matrix[i * N + i]) };
        let (left, first, second) = (of(left), of(first), of(second));
        let inverse = left.map(|x| 1.0 / x);
        inverse.iter().all(|x| x.is_finite()).then(|| Self {
            inverse,
            first: std::array::from_fn(|i| inverse[i] * first[i]),
            second: std::array::from_fn(|i| inverse[i] * second[i]),
            damping: of(damping),
        })
    }

    fn zeros(_: usize) -> Self::Vector {
        [0.0; N]
    }

    #[inline(always)]
    fn apply(&self, a: &Self::Vector, b: &Self::Vector, out: &mut Self::Vector) {
        for i in 0..N {
            out[i] = self.first[i] * a[i] + self.second[i] * b[i];
        }
    }

    fn solve(&self, x: &mut Self::Vector) {
        for (x, inverse) in x.iter_mut().zip(&self.inverse) {
            *x *= inverse;
        }
    }

    #[inline(always)]
    fn add_damped(&self, v: &Self::Vector, sum: &mut Self::Vector) {
        for i in 0..N {
            sum[i] += v[i] * v[i];
        }
    }

    fn damped_power(&self, sum: &Self::Vector) -> f64 {
        self.damping.iter().zip(sum).map(|(c, sum)| c * sum).sum()
    }
}

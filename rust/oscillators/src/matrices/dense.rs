//! Matrices of a size the compiler knows: loops over masses unroll and stay in registers.

use nalgebra::DMatrix;

use crate::matrices::propagator::Propagator;

type Matrix<const N: usize> = [[f64; N]; N];

/// See [`Propagator`]; the inverse is multiplied out.
#[derive(Debug, Clone)]
pub(crate) struct Dense<const N: usize> {
    inverse: Matrix<N>,
    first: Matrix<N>,
    second: Matrix<N>,
    damping: Matrix<N>,
}

#[inline(always)]
fn times<const N: usize>(matrix: &Matrix<N>, x: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|i| {
        let mut sum = matrix[i][0] * x[0];
        for j in 1..N {
            sum += matrix[i][j] * x[j];
        }
        sum
    })
}

impl<const N: usize> Propagator for Dense<N> {
    type Vector = [f64; N];

    fn new(_: usize, left: &[f64], first: &[f64], second: &[f64], damping: &[f64]) -> Option<Self> {
        let matrix = |rows: &[f64]| DMatrix::from_row_slice(N, N, rows);
        let array = |m: &DMatrix<f64>| std::array::from_fn(|i| std::array::from_fn(|j| m[(i, j)]));
        let inverse = matrix(left).try_inverse()?;
        Some(Self {
            first: array(&(&inverse * matrix(first))),
            second: array(&(&inverse * matrix(second))),
            damping: array(&matrix(damping)),
            inverse: array(&inverse),
        })
    }

    fn zeros(_: usize) -> Self::Vector {
        [0.0; N]
    }

    #[inline(always)]
    fn apply(&self, a: &Self::Vector, b: &Self::Vector, out: &mut Self::Vector) {
        let (x, y) = (times(&self.first, a), times(&self.second, b));
        for i in 0..N {
            out[i] = x[i] + y[i];
        }
    }

    fn solve(&self, x: &mut Self::Vector) {
        *x = times(&self.inverse, x);
    }

    #[inline(always)]
    fn add_damped(&self, v: &Self::Vector, sum: &mut Self::Vector) {
        let force = times(&self.damping, v);
        for i in 0..N {
            sum[i] += force[i] * v[i];
        }
    }

    fn damped_power(&self, sum: &Self::Vector) -> f64 {
        sum.iter().sum()
    }
}

//! Symmetric banded matrices, for systems of many masses.
//!
//! Masses numbered along their structure couple to near neighbours only; the band is as wide as the farthest coupling,
//! so any numbering is right and a good one is fast.

use crate::matrices::propagator::Propagator;

/// Lower band, row by row: entry `(i, j)` at `i * (width + 1) + width + j - i`.
#[derive(Debug, Clone)]
struct Band {
    width: usize,
    rows: Vec<f64>,
}

impl Band {
    fn new(n: usize, matrix: &[f64], width: usize) -> Self {
        let mut rows = vec![0.0; n * (width + 1)];
        for i in 0..n {
            for j in i.saturating_sub(width)..=i {
                rows[i * (width + 1) + width + j - i] = matrix[i * n + j];
            }
        }
        Self { width, rows }
    }

    fn width_of(n: usize, matrix: &[f64]) -> usize {
        let far = |i: usize| {
            (0..i)
                .find(|&j| matrix[i * n + j] != 0.0)
                .map_or(0, |j| i - j)
        };
        (0..n).map(far).max().unwrap_or(0)
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * (self.width + 1)..(i + 1) * (self.width + 1)]
    }

    fn add_times(&self, x: &[f64], out: &mut [f64]) {
        for i in 0..x.len() {
            let row = self.row(i);
            let mut sum = row[self.width] * x[i];
            let start = i.saturating_sub(self.width);
            for j in start..i {
                let entry = row[self.width + j - i];
                sum += entry * x[j];
                out[j] += entry * x[i];
            }
            out[i] += sum;
        }
    }

    /// Factor in place as `L D L'`; false if a pivot vanishes.
    fn factor(&mut self, n: usize) -> bool {
        let w = self.width;
        let at = |i: usize, j: usize| i * (w + 1) + w + j - i;
        for i in 0..n {
            let start = i.saturating_sub(w);
            for j in start..=i {
                let mut sum = self.rows[at(i, j)];
                for k in start.max(j.saturating_sub(w))..j {
                    sum -= self.rows[at(i, k)] * self.rows[at(j, k)] * self.rows[at(k, k)];
                }
                if i == j {
                    if sum == 0.0 || !sum.is_finite() {
                        return false;
                    }
                    self.rows[at(i, i)] = sum;
                } else {
                    self.rows[at(i, j)] = sum / self.rows[at(j, j)];
                }
            }
        }
        true
    }

    /// Solve with the factored band.
    fn solve(&self, x: &mut [f64]) {
        let (n, w) = (x.len(), self.width);
        for i in 0..n {
            let row = self.row(i);
            for j in i.saturating_sub(w)..i {
                x[i] -= row[w + j - i] * x[j];
            }
        }
        for (i, x) in x.iter_mut().enumerate() {
            *x /= self.row(i)[w];
        }
        for i in (0..n).rev() {
            let row = self.row(i);
            for j in i.saturating_sub(w)..i {
                x[j] -= row[w + j - i] * x[i];
            }
        }
    }
}

/// See [`Propagator`].
#[derive(Debug, Clone)]
pub(crate) struct Banded {
    left: Band,
    first: Band,
    second: Band,
    damping: Band,
}

impl Propagator for Banded {
    type Vector = Vec<f64>;

    fn new(n: usize, left: &[f64], first: &[f64], second: &[f64], damping: &[f64]) -> Option<Self> {
        let band = |matrix: &[f64]| Band::new(n, matrix, Band::width_of(n, matrix));
        let mut factored = band(left);
        factored.factor(n).then(|| Self {
            left: factored,
            first: band(first),
            second: band(second),
            damping: band(damping),
        })
    }

    fn zeros(n: usize) -> Self::Vector {
        vec![0.0; n]
    }

    fn apply(&self, a: &Self::Vector, b: &Self::Vector, out: &mut Self::Vector) {
        out.fill(0.0);
        self.first.add_times(a, out);
        self.second.add_times(b, out);
        self.left.solve(out);
    }

    fn solve(&self, x: &mut Self::Vector) {
        self.left.solve(x);
    }

    fn add_damped(&self, v: &Self::Vector, sum: &mut Self::Vector) {
        let band = &self.damping;
        for (i, sum) in sum.iter_mut().enumerate() {
            let row = band.row(i);
            let beside: f64 = (i.saturating_sub(band.width)..i)
                .map(|j| row[band.width + j - i] * v[j])
                .sum();
            *sum += v[i] * (row[band.width] * v[i] + 2.0 * beside);
        }
    }

    fn damped_power(&self, sum: &Self::Vector) -> f64 {
        sum.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrices::dense::Dense;

    #[test]
    fn agrees_with_dense() {
        let left = [4.0, 1.0, 0.0, 1.0, 5.0, 2.0, 0.0, 2.0, 6.0];
        let first = [1.0, -1.0, 0.5, -1.0, 2.0, 0.0, 0.5, 0.0, 3.0];
        let damping = [0.2, 0.1, 0.0, 0.1, 0.3, 0.0, 0.0, 0.0, 0.0];
        let dense = Dense::<3>::new(3, &left, &first, &damping, &damping).unwrap();
        let banded = Banded::new(3, &left, &first, &damping, &damping).unwrap();
        let (a, b) = ([1.0, -2.0, 3.0], [0.3, 0.2, -0.7]);
        let (mut x, mut y) = ([0.0; 3], vec![0.0; 3]);
        dense.apply(&a, &b, &mut x);
        banded.apply(&a.to_vec(), &b.to_vec(), &mut y);
        for (x, y) in x.iter().zip(&y) {
            assert!((x - y).abs() < 1e-15);
        }
        let (mut x, mut y) = ([0.0; 3], vec![0.0; 3]);
        dense.add_damped(&a, &mut x);
        banded.add_damped(&a.to_vec(), &mut y);
        assert!((x.iter().sum::<f64>() - y.iter().sum::<f64>()).abs() < 1e-15);
    }
}

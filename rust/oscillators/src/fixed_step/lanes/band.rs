//! Symmetric band matrices of several systems at once.

use super::{LANES, Lane, ZERO};

/// A symmetric band in lanes, lower half: entry `(i, i - back)` at `i * (width + 1) + back`.
pub(super) struct Band {
    pub width: usize,
    pub rows: Vec<Lane>,
}

impl Band {
    pub fn of(n: usize, width: usize, matrices: &[Vec<f64>]) -> Self {
        let mut rows = vec![ZERO; n * (width + 1)];
        for i in 0..n {
            for back in 0..=width.min(i) {
                rows[i * (width + 1) + back] =
                    std::array::from_fn(|lane| matrices[lane][i * n + i - back]);
            }
        }
        Self { width, rows }
    }

    /// Subtract this matrix times `x` from `out`.
    #[inline(always)]
    pub fn subtract_times(&self, w: usize, x: &[Lane], out: &mut [Lane]) {
        for (i, row) in self.rows.chunks_exact(w + 1).enumerate() {
            let here = x[i];
            let mut sum: Lane = std::array::from_fn(|l| row[0][l] * here[l]);
            for back in 1..=w.min(i) {
                let (entry, there, taken) = (row[back], x[i - back], out[i - back]);
                sum = std::array::from_fn(|l| sum[l] + entry[l] * there[l]);
                out[i - back] = std::array::from_fn(|l| taken[l] - entry[l] * here[l]);
            }
            let own = out[i];
            out[i] = std::array::from_fn(|l| own[l] - sum[l]);
        }
    }

    /// Factor in place as `L D L'`, with `1 / D` on the diagonal.
    #[inline(always)]
    pub fn factor(&mut self, w: usize) {
        let n = self.rows.len() / (w + 1);
        let at = |i: usize, j: usize| i * (w + 1) + i - j;
        for i in 0..n {
            let start = i - w.min(i);
            let mut pivot = self.rows[at(i, i)];
            for j in start..i {
                let mut scaled = self.rows[at(i, j)];
                for k in start..j {
                    if j - k <= w {
                        let (a, b) = (self.rows[at(i, k)], self.rows[at(j, k)]);
                        for l in 0..LANES {
                            scaled[l] -= a[l] * b[l];
                        }
                    }
                }
                self.rows[at(i, j)] = scaled;
            }
            for j in start..i {
                let (scaled, inverse) = (self.rows[at(i, j)], self.rows[at(j, j)]);
                let entry: Lane = std::array::from_fn(|l| scaled[l] * inverse[l]);
                for l in 0..LANES {
                    pivot[l] -= scaled[l] * entry[l];
                }
                self.rows[at(i, j)] = entry;
            }
            self.rows[at(i, i)] = std::array::from_fn(|l| 1.0 / pivot[l]);
        }
    }

    #[inline(always)]
    pub fn solve(&self, w: usize, x: &mut [Lane]) {
        let rows = || self.rows.chunks_exact(w + 1).enumerate();
        for (i, row) in rows() {
            let mut sum = x[i];
            for back in 1..=w.min(i) {
                let (entry, there) = (row[back], x[i - back]);
                for l in 0..LANES {
                    sum[l] -= entry[l] * there[l];
                }
            }
            x[i] = sum;
        }
        for (i, row) in rows() {
            let (here, inverse) = (x[i], row[0]);
            x[i] = std::array::from_fn(|l| here[l] * inverse[l]);
        }
        for (i, row) in rows().rev() {
            let here = x[i];
            for back in 1..=w.min(i) {
                let (entry, there) = (row[back], x[i - back]);
                x[i - back] = std::array::from_fn(|l| there[l] - entry[l] * here[l]);
            }
        }
    }
}

//! Symmetric band matrices of several systems at once.

use super::{Lane, ZERO, lane};

/// A symmetric band in lanes, lower half: entry `(i, i - back)` at `i * (width + 1) + back`.
pub(super) struct Band {
    pub width: usize,
    pub rows: Vec<Lane>,
    /// How many entries before the diagonal a row has: none where a building begins. What is known to be zero is left out, so that
    /// buildings do not wait for each other.
    before: Vec<usize>,
}

impl Band {
    /// `before` says how far each row reaches back from the diagonal.
    pub fn of(before: &[usize], matrices: &[Vec<f64>]) -> Self {
        let (n, width) = (before.len(), before.iter().copied().max().unwrap_or(0));
        let mut rows = vec![ZERO; n * (width + 1)];
        for i in 0..n {
            for back in 0..=before[i] {
                rows[i * (width + 1) + back] = lane(|l| matrices[l][i * n + i - back]);
            }
        }
        Self {
            width,
            rows,
            before: before.to_vec(),
        }
    }

    /// Row `i` of this matrix times `x`, taken from `from`: what stands before the diagonal and on it first, then column by
    /// column what stands after it.
    #[inline(always)]
    pub fn subtract_row_times(&self, w: usize, i: usize, x: &[Lane], from: Lane) -> Lane {
        let row = &self.rows[i * (w + 1)..(i + 1) * (w + 1)];
        let (own, here) = (row[0], x[i]);
        let mut sum = lane(|l| own[l] * here[l]);
        for back in 1..=w.min(self.before[i]) {
            let (entry, there) = (row[back], x[i - back]);
            sum = lane(|l| sum[l] + entry[l] * there[l]);
        }
        let mut rest = lane(|l| from[l] - sum[l]);
        for ahead in 1..=w {
            let j = i + ahead;
            if j < self.before.len() && self.before[j] >= ahead {
                let (entry, there) = (self.rows[j * (w + 1) + ahead], x[j]);
                rest = lane(|l| rest[l] - entry[l] * there[l]);
            }
        }
        rest
    }

    /// Sum of the entries before the diagonal of row `i` times `x`.
    #[inline(always)]
    pub fn before_diagonal(&self, w: usize, i: usize, x: &[Lane]) -> Lane {
        let mut sum = ZERO;
        for back in 1..=w.min(self.before[i]) {
            let (entry, there) = (self.rows[i * (w + 1) + back], x[i - back]);
            sum = lane(|l| sum[l] + entry[l] * there[l]);
        }
        sum
    }

    /// Factor in place as `L D L'`, with `1 / D` on the diagonal.
    #[inline(always)]
    pub fn factor(&mut self, w: usize) {
        let at = |i: usize, j: usize| i * (w + 1) + i - j;
        for i in 0..self.before.len() {
            let start = i - w.min(self.before[i]);
            let mut pivot = self.rows[at(i, i)];
            for j in start..i {
                let mut scaled = self.rows[at(i, j)];
                for k in start.max(j - w.min(self.before[j]))..j {
                    let (a, b) = (self.rows[at(i, k)], self.rows[at(j, k)]);
                    scaled = lane(|l| scaled[l] - a[l] * b[l]);
                }
                self.rows[at(i, j)] = scaled;
            }
            for j in start..i {
                let (scaled, inverse) = (self.rows[at(i, j)], self.rows[at(j, j)]);
                let entry = lane(|l| scaled[l] * inverse[l]);
                pivot = lane(|l| pivot[l] - scaled[l] * entry[l]);
                self.rows[at(i, j)] = entry;
            }
            self.rows[at(i, i)] = lane(|l| 1.0 / pivot[l]);
        }
    }

    #[inline(always)]
    pub fn solve(&self, w: usize, x: &mut [Lane]) {
        let n = self.before.len();
        let x = &mut x[..n];
        for i in 0..n {
            let mut sum = x[i];
            for back in 1..=w.min(self.before[i]) {
                let (entry, there) = (self.rows[i * (w + 1) + back], x[i - back]);
                sum = lane(|l| sum[l] - entry[l] * there[l]);
            }
            x[i] = sum;
        }
        for i in (0..n).rev() {
            let (here, inverse) = (x[i], self.rows[i * (w + 1)]);
            let mut sum = lane(|l| here[l] * inverse[l]);
            for ahead in (1..=w).rev() {
                let j = i + ahead;
                if j < n && self.before[j] >= ahead {
                    let (entry, there) = (self.rows[j * (w + 1) + ahead], x[j]);
                    sum = lane(|l| sum[l] - entry[l] * there[l]);
                }
            }
            x[i] = sum;
        }
    }

    /// Add `values` to what a spring between two masses, or one (`high` is not a mass) and the base, adds its stiffness to.
    #[inline(always)]
    pub fn add_between(&mut self, w: usize, low: usize, high: usize, values: Lane) {
        let mut add = |at: usize, sign: f64| {
            let old = self.rows[at];
            self.rows[at] = lane(|l| old[l] + sign * values[l]);
        };
        add(low * (w + 1), 1.0);
        if high < self.before.len() {
            add(high * (w + 1), 1.0);
            add(high * (w + 1) + high - low, -1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::LANES;
    use super::*;

    /// Two chains, of three masses and of two, and a band of width two: rows by the dense matrix they stand for.
    #[test]
    fn rows_and_solves_are_those_of_the_dense_matrix() {
        for before in [vec![0, 1, 1, 0, 1], vec![0, 1, 2, 1, 0]] {
            let n = before.len();
            let matrix = |l: usize| -> Vec<f64> {
                let mut dense = vec![0.0; n * n];
                for i in 0..n {
                    dense[i * n + i] = 5.0 + i as f64 + 0.1 * l as f64;
                    for back in 1..=before[i] {
                        let value = -1.0 - 0.3 * (i * back) as f64 - 0.01 * l as f64;
                        dense[i * n + i - back] = value;
                        dense[(i - back) * n + i] = value;
                    }
                }
                dense
            };
            let dense: Vec<Vec<f64>> = (0..LANES).map(matrix).collect();
            let mut band = Band::of(&before, &dense);
            let w = band.width;
            let x: Vec<Lane> = (0..n)
                .map(|i| lane(|l| (i as f64 + 1.7 * l as f64).sin()))
                .collect();
            let mut product: Vec<Lane> = (0..n)
                .map(|i| band.subtract_row_times(w, i, &x, ZERO))
                .collect();
            for i in 0..n {
                for l in 0..LANES {
                    let exact: f64 = (0..n).map(|j| dense[l][i * n + j] * x[j][l]).sum();
                    assert!((product[i][l] + exact).abs() < 1e-13);
                }
            }
            band.factor(w);
            band.solve(w, &mut product);
            for i in 0..n {
                for l in 0..LANES {
                    assert!((product[i][l] + x[i][l]).abs() < 1e-13);
                }
            }
        }
    }
}

//! The band of a tangent matrix, filled and factored again whenever a spring yields or unloads.
//!
//! Beside [`crate::matrices::banded`], whose matrices are factored once: pivots are kept inverted here, since a
//! division costs as much as all else of a row, and chains (width one) have loops of their own.

use crate::system::model::Pair;

/// A symmetric band, lower half: entry `(i, j)` at `i * (width + 1) + width + j - i`.
#[derive(Debug, Clone, Default)]
pub(crate) struct TangentBand {
    n: usize,
    width: usize,
    rows: Vec<f64>,
}

impl TangentBand {
    pub fn new(n: usize, width: usize) -> Self {
        Self {
            n,
            width,
            rows: vec![0.0; n * (width + 1)],
        }
    }

    pub fn of(n: usize, width: usize, matrix: &[f64]) -> Self {
        let mut band = Self::new(n, width);
        for i in 0..n {
            for j in i.saturating_sub(width)..=i {
                let at = band.at(i, j);
                band.rows[at] = matrix[i * n + j];
            }
        }
        band
    }

    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> usize {
        i * (self.width + 1) + self.width + j - i
    }

    /// Take the entries of a band that is not wider.
    pub fn take_from(&mut self, other: &Self) {
        if self.width == other.width {
            self.rows.copy_from_slice(&other.rows);
            return;
        }
        let skip = self.width - other.width;
        let rows = self.rows.chunks_exact_mut(self.width + 1);
        for (row, from) in rows.zip(other.rows.chunks_exact(other.width + 1)) {
            row[..skip].fill(0.0);
            row[skip..].copy_from_slice(from);
        }
    }

    /// Add the element matrix of a pair times `value`.
    #[inline(always)]
    pub fn add_pair(&mut self, pair: Pair, value: f64) {
        let (low, high) = (pair.left.min(pair.right), pair.left.max(pair.right));
        let at = self.at(low, low);
        self.rows[at] += value;
        if high < self.n {
            let (own, across) = (self.at(high, high), self.at(high, low));
            self.rows[own] += value;
            self.rows[across] -= value;
        }
    }

    /// Subtract this matrix times `x` from `out`.
    pub fn subtract_times(&self, x: &[f64], out: &mut [f64]) {
        // chains of storeys have this width: the compiler then knows the inner loops
        match self.width {
            1 => self.subtract_times_of(1, x, out),
            width => self.subtract_times_of(width, x, out),
        }
    }

    #[inline(always)]
    fn subtract_times_of(&self, w: usize, x: &[f64], out: &mut [f64]) {
        let (x, out) = (&x[..self.n], &mut out[..self.n]);
        for i in 0..self.n {
            let row = &self.rows[i * (w + 1)..(i + 1) * (w + 1)];
            let mut sum = row[w] * x[i];
            for back in 1..=w.min(i) {
                let entry = row[w - back];
                sum += entry * x[i - back];
                out[i - back] -= entry * x[i];
            }
            out[i] -= sum;
        }
    }

    /// Factor in place as `L D L'`, with `1 / D` on the diagonal; false where a pivot is not positive.
    pub fn factor(&mut self) -> bool {
        match self.width {
            1 => self.factor_of(1),
            width => self.factor_of(width),
        }
    }

    #[inline(always)]
    fn factor_of(&mut self, w: usize) -> bool {
        let at = |i: usize, j: usize| i * (w + 1) + w + j - i;
        for i in 0..self.n {
            let start = i - w.min(i);
            let mut pivot = self.rows[at(i, i)];
            for j in start..i {
                // L D first, from which L and the pivot follow
                let mut scaled = self.rows[at(i, j)];
                for k in start..j {
                    if j - k <= w {
                        scaled -= self.rows[at(i, k)] * self.rows[at(j, k)];
                    }
                }
                self.rows[at(i, j)] = scaled;
            }
            for j in start..i {
                let scaled = self.rows[at(i, j)];
                let entry = scaled * self.rows[at(j, j)];
                pivot -= scaled * entry;
                self.rows[at(i, j)] = entry;
            }
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            self.rows[at(i, i)] = 1.0 / pivot;
        }
        true
    }

    pub fn solve(&self, x: &mut [f64]) {
        match self.width {
            1 => self.solve_of(1, x),
            width => self.solve_of(width, x),
        }
    }

    #[inline(always)]
    fn solve_of(&self, w: usize, x: &mut [f64]) {
        let x = &mut x[..self.n];
        for i in 0..self.n {
            let row = &self.rows[i * (w + 1)..(i + 1) * (w + 1)];
            let mut sum = x[i];
            for back in 1..=w.min(i) {
                sum -= row[w - back] * x[i - back];
            }
            x[i] = sum;
        }
        for (x, row) in x.iter_mut().zip(self.rows.chunks_exact(w + 1)) {
            *x *= row[w];
        }
        for i in (0..self.n).rev() {
            let row = &self.rows[i * (w + 1)..(i + 1) * (w + 1)];
            let value = x[i];
            for back in 1..=w.min(i) {
                x[i - back] -= row[w - back] * value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_solve_what_the_band_multiplies() {
        for width in [0, 1, 3] {
            let n = 6;
            let mut band = TangentBand::new(n, width);
            for i in 0..n {
                for j in i - width.min(i)..=i {
                    let (left, right) = (i, if i == j { usize::MAX } else { j });
                    band.add_pair(Pair { left, right }, 1.0 + (i + 2 * j) as f64);
                }
            }
            let x = [1.0, -2.0, 0.5, 4.0, -1.0, 3.0];
            let mut product = [0.0; 6];
            band.subtract_times(&x, &mut product);
            assert!(band.factor());
            band.solve(&mut product);
            for (x, back) in x.iter().zip(product) {
                assert!((x + back).abs() < 1e-13);
            }
        }
        let mut negative = TangentBand::new(2, 1);
        let (left, right) = (0, 1);
        negative.add_pair(Pair { left, right }, -1.0);
        assert!(!negative.factor());
    }
}

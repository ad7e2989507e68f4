//! L D L^T of a symmetric positive semidefinite matrix stored by rows from their first entry on (Jennings 1966).
//!
//! No entry is ever filled in before a row's first, so that the storage is fixed once and for all by the order of
//! the rows. A row that depends on those before it has a pivot of zero up to rounding: it is left out, and its
//! unknown is zero, which solves every consistent system.

/// Pivots below this share of the diagonal entry they started from count as zero. It is the squared sine of the
/// angle between a row and the span of those before it; rounding leaves some 1e-15.
const DEPENDENT: f64 = 1e-11;

/// The matrix, and after [`Envelope::factor`] its factors in the same place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Envelope {
    /// First column of each row.
    first: Vec<usize>,
    /// Where each row starts in `entries`; the diagonal entry is its last.
    start: Vec<usize>,
    pub entries: Vec<f64>,
    /// 1/d, or zero for a row that depends on others.
    inverse: Vec<f64>,
    /// Last row that reaches to each column.
    last: Vec<usize>,
    diagonal: Vec<f64>,
    column: Vec<f64>,
}

impl Envelope {
    /// Rows whose first columns are given.
    pub fn new(first: Vec<usize>) -> Self {
        let mut start = Vec::with_capacity(first.len());
        let mut length = 0;
        for (row, column) in first.iter().enumerate() {
            start.push(length);
            length += row + 1 - column;
        }
        let reaches = |column: usize| {
            (column..first.len())
                .rev()
                .find(|&row| first[row] <= column)
        };
        Self {
            inverse: vec![0.0; first.len()],
            diagonal: vec![0.0; first.len()],
            column: vec![0.0; first.len()],
            last: (0..first.len()).map(|k| reaches(k).unwrap_or(k)).collect(),
            entries: vec![0.0; length],
            first,
            start,
        }
    }

    /// Place of an entry on or below the diagonal.
    #[inline]
    pub fn place(&self, row: usize, column: usize) -> usize {
        self.start[row] + column - self.first[row]
    }

    /// Whether a row depends on those before it.
    pub fn is_dependent(&self, row: usize) -> bool {
        self.inverse[row] == 0.0
    }

    /// Factors the matrix in place, column by column: the updates of a column are free of sums.
    pub fn factor(&mut self) {
        let rows = self.first.len();
        for row in 0..rows {
            self.diagonal[row] = self.entries[self.place(row, row)];
        }
        for pivot in 0..rows {
            let value = self.entries[self.place(pivot, pivot)];
            let dependent = value <= DEPENDENT * self.diagonal[pivot];
            let inverse = if dependent { 0.0 } else { 1.0 / value };
            self.inverse[pivot] = inverse;
            for row in pivot + 1..=self.last[pivot] {
                if self.first[row] > pivot {
                    self.column[row] = 0.0;
                    continue;
                }
                let start = self.place(row, pivot);
                let own = &mut self.entries[start..=start + row - pivot];
                let (below, rest) = own.split_at_mut(1);
                self.column[row] = below[0];
                below[0] *= inverse;
                let factor = below[0];
                for (entry, other) in rest.iter_mut().zip(&self.column[pivot + 1..=row]) {
                    *entry -= factor * other;
                }
            }
        }
    }

    /// D^-1/2 L^-1 of three right-hand sides, in place: their rows from `first` on, those before being zero.
    pub fn halve(&self, first: usize, columns: &mut [[f64; 3]]) {
        for row in first..first + columns.len() {
            let from = first.max(self.first[row]);
            let start = self.place(row, from);
            let entries = &self.entries[start..start + row - from];
            let (before, own) = columns.split_at_mut(row - first);
            for (l, x) in entries.iter().zip(&before[from - first..]) {
                for k in 0..3 {
                    own[0][k] -= l * x[k];
                }
            }
        }
        for (column, inverse) in columns.iter_mut().zip(&self.inverse[first..]) {
            let scale = inverse.sqrt();
            column.iter_mut().for_each(|x| *x *= scale);
        }
    }

    /// Solves in place.
    pub fn solve(&self, x: &mut [f64]) {
        for row in 0..x.len() {
            let (first, start) = (self.first[row], self.start[row]);
            let own = &self.entries[start..start + row - first];
            x[row] -= dot(own, &x[first..row]);
        }
        for (x, inverse) in x.iter_mut().zip(&self.inverse) {
            *x *= inverse;
        }
        for row in (0..x.len()).rev() {
            let (first, start) = (self.first[row], self.start[row]);
            let (before, own) = x.split_at_mut(row);
            let entries = &self.entries[start..start + row - first];
            for (x, l) in before[first..].iter_mut().zip(entries) {
                *x -= l * own[0];
            }
        }
    }
}

#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// J J^T x = J J^T 1 with a J whose third row is the sum of the first two.
    #[test]
    fn dependent_rows_are_left_out_and_the_rest_is_solved() {
        let j = [
            [1.0, 2.0, 0.0, 0.0],
            [0.0, 1.0, -1.0, 0.0],
            [1.0, 3.0, -1.0, 0.0],
            [0.0, 0.0, 0.5, 2.0],
        ];
        let w = |a: usize, b: usize| -> f64 { (0..4).map(|k| j[a][k] * j[b][k]).sum() };
        let mut matrix = Envelope::new(vec![0, 0, 0, 1]);
        for row in 0..4 {
            for column in [0, 0, 0, 1][row]..=row {
                let place = matrix.place(row, column);
                matrix.entries[place] = w(row, column);
            }
        }
        let right: Vec<f64> = (0..4).map(|a| (0..4).map(|b| w(a, b)).sum()).collect();
        matrix.factor();
        let dependent: Vec<bool> = (0..4).map(|row| matrix.is_dependent(row)).collect();
        assert_eq!(dependent, [false, false, true, false]);
        let mut x = right.clone();
        matrix.solve(&mut x);
        for a in 0..4 {
            let sum: f64 = (0..4).map(|b| w(a, b) * x[b]).sum();
            assert!((sum - right[a]).abs() < 1e-12);
        }
    }
}

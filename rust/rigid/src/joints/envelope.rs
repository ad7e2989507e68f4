//! L D L^T of a symmetric positive semidefinite matrix stored by rows from their first entry on (Jennings 1966).
//!
//! No entry is ever filled in before a row's first, so that the storage is fixed once and for all by the order of
//! the rows. A row that depends on those before it has a pivot of zero up to rounding: it is left out, and its
//! unknown is zero, which solves every consistent system.

/// Pivots below this share of the diagonal entry they started from count as zero. It is the squared sine of the
/// angle between a row and the span of those before it; rounding leaves some 1e-15.
const DEPENDENT: f64 = 1e-11;

/// Most rows of a block: what a joint can hold.
pub(super) const LANES: usize = 6;
/// A number for each row of a block.
pub(super) type Lanes = [f64; LANES];

/// Rows that start at the same column, kept by columns, each a short vector: all loops over lanes have a fixed length.
/// Lanes without a row are zero, and so are the columns that they would have on the diagonal.
#[derive(Debug, Clone, Copy)]
struct Block {
    row: usize,
    rows: usize,
    /// First column.
    first: usize,
    /// Where that is in `columns`.
    start: usize,
}

/// The matrix, and after [`Envelope::factor`] its factors in the same place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Envelope {
    blocks: Vec<Block>,
    /// The block of each row.
    of: Vec<usize>,
    /// Entries on and below the diagonal; of L those below.
    columns: Vec<Lanes>,
    /// 1/d, or zero for a row that depends on others.
    inverse: Vec<f64>,
    /// Columns of L D of the block at hand.
    scaled: Vec<Lanes>,
}

impl Envelope {
    /// Blocks with the given first columns and numbers of rows.
    pub fn new(sizes: &[(usize, usize)]) -> Self {
        let mut blocks: Vec<Block> = Vec::with_capacity(sizes.len());
        let mut of = Vec::new();
        let mut start = 0;
        for (index, &(first, rows)) in sizes.iter().enumerate() {
            let row = of.len();
            blocks.push(Block {
                row,
                rows,
                first,
                start,
            });
            of.resize(row + rows, index);
            start += row - first + LANES;
        }
        Self {
            columns: vec![[0.0; LANES]; start],
            inverse: vec![0.0; of.len()],
            scaled: vec![[0.0; LANES]; of.len()],
            blocks,
            of,
        }
    }

    /// All entries zero.
    pub fn clear(&mut self) {
        self.columns.fill([0.0; LANES]);
    }

    /// Columns of a block from one on. On its diagonal what is above does not matter.
    #[inline]
    pub fn columns_mut(&mut self, block: usize, from: usize) -> &mut [Lanes] {
        let block = &self.blocks[block];
        &mut self.columns[block.start + from - block.first..]
    }

    /// Adds to an entry of the diagonal.
    pub fn stiffen(&mut self, row: usize, by: f64) {
        let (_, lane) = self.place(row);
        self.columns_mut(self.of[row], row)[0][lane] += by;
    }

    /// Whether a row depends on those before it.
    pub fn is_dependent(&self, row: usize) -> bool {
        self.inverse[row] == 0.0
    }

    /// The block of a row, and its lane there.
    #[inline]
    fn place(&self, row: usize) -> (Block, usize) {
        let block = self.blocks[self.of[row]];
        (block, row - block.row)
    }

    /// Factors the matrix in place, block by block from the left.
    pub fn factor(&mut self) {
        for block in &self.blocks {
            let (done, own) = self.columns.split_at_mut(block.start);
            let (left, triangle) = own.split_at_mut(block.row - block.first);
            for column in block.first..block.row {
                let above = &self.blocks[self.of[column]];
                let lane = column - above.row;
                let from = block.first.max(above.first);
                let factors = &done[above.start + from - above.first..];
                let k = column - block.first;
                let mut sum = left[k];
                for (x, l) in self.scaled[from - block.first..k].iter().zip(factors) {
                    subtract(&mut sum, x, l[lane]);
                }
                self.scaled[k] = sum;
                left[k] = sum.map(|x| x * self.inverse[column]);
            }
            let Some(triangle) = triangle.first_chunk_mut::<LANES>() else {
                continue;
            };
            // In a copy, which the compiler keeps in registers.
            let mut columns = *triangle;
            let diagonal: Lanes = std::array::from_fn(|lane| columns[lane][lane]);
            for (x, l) in self.scaled.iter().zip(&*left) {
                for lane in 0..LANES {
                    subtract(&mut columns[lane], x, l[lane]);
                }
            }
            block.put(&eliminate(&mut columns, &diagonal), &mut self.inverse);
            *triangle = columns;
        }
    }

    /// D^-1/2 L^-1 of three right-hand sides, in place: their rows from `first` on, those before being zero.
    pub fn halve(&self, first: usize, columns: &mut [[f64; 3]]) {
        for row in first..first + columns.len() {
            let (block, lane) = self.place(row);
            let from = first.max(block.first);
            let (before, own) = columns.split_at_mut(row - first);
            let entries = &self.columns[block.start + from - block.first..];
            for (l, x) in entries.iter().zip(&before[from - first..]) {
                for k in 0..3 {
                    own[0][k] -= l[lane] * x[k];
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
        for block in &self.blocks {
            let mut own = block.take(x);
            let (left, triangle) = self.halves(block);
            for (l, x) in left.iter().zip(&x[block.first..]) {
                subtract(&mut own, l, *x);
            }
            for lane in 0..LANES {
                let x = own[lane];
                subtract(&mut own, &triangle[lane], x);
            }
            block.put(&own, x);
        }
        for (x, inverse) in x.iter_mut().zip(&self.inverse) {
            *x *= inverse;
        }
        for block in self.blocks.iter().rev() {
            let mut own = block.take(x);
            let (left, triangle) = self.halves(block);
            for lane in (0..LANES).rev() {
                own[lane] -= dot(&triangle[lane], &own);
            }
            block.put(&own, x);
            for (l, x) in left.iter().zip(&mut x[block.first..]) {
                *x -= dot(l, &own);
            }
        }
    }

    /// Columns of a block before its own rows, and those of its rows.
    #[inline]
    fn halves(&self, block: &Block) -> (&[Lanes], &[Lanes]) {
        let columns = &self.columns[block.start..];
        let (left, rest) = columns.split_at(block.row - block.first);
        (left, &rest[..LANES])
    }
}

impl Block {
    /// Numbers of its rows.
    #[inline(always)]
    fn take(&self, x: &[f64]) -> Lanes {
        let own = &x[self.row..self.row + self.rows];
        std::array::from_fn(|lane| own.get(lane).copied().unwrap_or(0.0))
    }

    #[inline(always)]
    fn put(&self, own: &Lanes, x: &mut [f64]) {
        let into = &mut x[self.row..self.row + self.rows];
        for lane in 0..LANES {
            if let Some(x) = into.get_mut(lane) {
                *x = own[lane];
            }
        }
    }
}

/// L of a block's own rows, below the diagonal, in place; gives 1/d.
#[inline(always)]
fn eliminate(columns: &mut [Lanes; LANES], diagonal: &Lanes) -> Lanes {
    [
        pivot::<0>(columns, diagonal),
        pivot::<1>(columns, diagonal),
        pivot::<2>(columns, diagonal),
        pivot::<3>(columns, diagonal),
        pivot::<4>(columns, diagonal),
        pivot::<5>(columns, diagonal),
    ]
}

/// One step of it. With its number known to the compiler no loop remains.
#[inline(always)]
fn pivot<const LANE: usize>(columns: &mut [Lanes; LANES], diagonal: &Lanes) -> f64 {
    let value = columns[LANE][LANE];
    let dependent = value <= DEPENDENT * diagonal[LANE];
    let inverse = if dependent { 0.0 } else { 1.0 / value };
    let own = columns[LANE];
    for lane in 0..LANES {
        columns[LANE][lane] = if lane > LANE {
            own[lane] * inverse
        } else {
            0.0
        };
    }
    for other in LANE + 1..LANES {
        let factor = columns[LANE][other];
        for lane in LANE + 1..LANES {
            columns[other][lane] -= own[lane] * factor;
        }
    }
    inverse
}

#[inline(always)]
fn subtract(from: &mut Lanes, what: &Lanes, times: f64) {
    for lane in 0..LANES {
        from[lane] -= what[lane] * times;
    }
}

// Sums in pairs: short chains of additions, the same on every machine.
#[inline(always)]
pub(super) fn dot(a: &Lanes, b: &Lanes) -> f64 {
    (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])
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
        let mut matrix = Envelope::new(&[(0, 3), (1, 1)]);
        for row in 0..4 {
            let (block, lane) = [(0, 0), (0, 1), (0, 2), (1, 0)][row];
            for column in block..=row {
                matrix.columns_mut(block, column)[0][lane] = w(row, column);
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

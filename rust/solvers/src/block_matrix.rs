//! The Delassus operator W, sparse, in 3x3 blocks kept by columns.
//!
//! Column j lists the contacts i that an impulse at j moves, with W_ij: what a Gauss-Seidel sweep walks
//! when contact j has changed its impulse. The diagonal is apart, because every method treats it apart.
//! W of rigid bodies is symmetric, but nothing here relies on it: W from elsewhere may carry rounding or
//! an unsymmetric mass matrix.

use std::ops::{Deref, DerefMut};

use crate::error::Error;

/// A vector in a contact's frame: normal, first tangent, second tangent.
pub type Vector3 = [f64; 3];

/// A 3x3 block as three columns: the product with a vector is then three scaled columns, which the
/// compiler turns into vector instructions.
pub type Block = [Vector3; 3];

/// A vector as the iterations keep it: three numbers and a fourth that means nothing, because four are one vector
/// register and three are not.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(32))]
pub(crate) struct Lanes([f64; 4]);

impl From<Vector3> for Lanes {
    #[inline(always)]
    fn from([x, y, z]: Vector3) -> Self {
        Self([x, y, z, 0.0])
    }
}

impl Deref for Lanes {
    type Target = Vector3;

    #[inline(always)]
    fn deref(&self) -> &Vector3 {
        let [three @ .., _] = &self.0;
        three
    }
}

impl DerefMut for Lanes {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Vector3 {
        let [three @ .., _] = &mut self.0;
        three
    }
}

impl Lanes {
    /// Three numbers, and whatever stands behind them.
    #[inline(always)]
    pub(crate) fn of_four(numbers: [f64; 4]) -> Self {
        Self(numbers)
    }

    /// Three numbers and whatever stands behind them.
    #[inline(always)]
    pub(crate) fn four(&self) -> &[f64; 4] {
        &self.0
    }

    /// All four numbers, of which the last may become anything.
    #[inline(always)]
    pub(crate) fn each(mut self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        for (x, y) in self.0.iter_mut().zip(&other.0) {
            *x = f(*x, *y);
        }
        self
    }

    /// Each number plus the product of those of x and y: an inner product in the making, see `sum`.
    #[inline(always)]
    pub(crate) fn add_products(&mut self, x: &Self, y: &Self) {
        *self = self.each(&x.each(y, |x, y| x * y), |sum, product| sum + product);
    }

    /// Sum of the three numbers.
    #[inline(always)]
    pub(crate) fn sum(&self) -> f64 {
        self[0] + self[1] + self[2]
    }

    /// A x, A by columns.
    #[inline(always)]
    pub(crate) fn product(a: &[Self; 3], x: &Vector3) -> Self {
        let [Self(a), Self(b), Self(c)] = *a;
        Self(std::array::from_fn(|k| {
            a[k] * x[0] + b[k] * x[1] + c[k] * x[2]
        }))
    }

    /// self += A x, A by columns.
    #[inline(always)]
    pub(crate) fn add_product(&mut self, a: &[Self; 3], x: &Vector3) {
        // Copies: what might overlap is not turned into vector instructions.
        let ([Self(a), Self(b), Self(c)], Self(y)) = (*a, *self);
        *self = Self(std::array::from_fn(|k| {
            y[k] + (a[k] * x[0] + b[k] * x[1] + c[k] * x[2])
        }));
    }
}

/// Block-sparse square matrix; its storage is kept from one assembly to the next.
#[derive(Debug, Clone, Default)]
pub struct BlockMatrix {
    pub(crate) diagonal: Vec<Block>,
    /// First off-diagonal entry of each column, and the end of the last.
    pub(crate) starts: Vec<u32>,
    pub(crate) rows: Vec<u32>,
    pub(crate) blocks: Vec<[Lanes; 3]>,
}

/// y += A x
#[inline(always)]
pub(crate) fn add_product(y: &mut Vector3, a: &Block, x: &Vector3) {
    for k in 0..3 {
        y[k] += a[0][k] * x[0] + a[1][k] * x[1] + a[2][k] * x[2];
    }
}

/// A x
#[inline(always)]
pub(crate) fn product(a: &Block, x: &Vector3) -> Vector3 {
    let mut y = [0.0; 3];
    add_product(&mut y, a, x);
    y
}

impl BlockMatrix {
    /// From compressed rows of blocks: `starts` has one entry more than there are contacts, `columns` ascend
    /// within a row, and each block is given row by row (the layout of a BSR matrix with 3x3 blocks).
    ///
    /// # Errors
    /// When the arrays do not fit together. A missing diagonal block counts as zero and is refused later,
    /// by [`crate::Problem::new`].
    pub fn from_block_rows(
        starts: &[usize],
        columns: &[usize],
        blocks: &[[f64; 9]],
    ) -> Result<Self, Error> {
        let contacts = starts.len().saturating_sub(1);
        let wrong = |what: &str| Err(Error::Layout(format!("block rows of W: {what}")));
        if starts.first() != Some(&0) || starts.windows(2).any(|w| w[0] > w[1]) {
            return wrong("starts must begin with 0 and never decrease");
        }
        if starts[contacts] != columns.len() || columns.len() != blocks.len() {
            return wrong("the last start, the columns and the blocks must agree in number");
        }
        let mut matrix = Self::default();
        matrix.diagonal.resize(contacts, [[0.0; 3]; 3]);
        matrix.starts.resize(contacts + 1, 0);
        for row in 0..contacts {
            let entries = &columns[starts[row]..starts[row + 1]];
            if entries.windows(2).any(|w| w[0] >= w[1]) {
                return wrong("columns must ascend within a row");
            }
            for &column in entries {
                if column >= contacts {
                    return Err(Error::Index {
                        name: "column",
                        contact: row,
                        index: column,
                        count: contacts,
                    });
                }
                matrix.starts[column + 1] += u32::from(column != row);
            }
        }
        for column in 0..contacts {
            matrix.starts[column + 1] += matrix.starts[column];
        }
        let mut free = matrix.starts.clone();
        matrix.rows.resize(matrix.starts[contacts] as usize, 0);
        matrix
            .blocks
            .resize(matrix.rows.len(), [Lanes::default(); 3]);
        for row in 0..contacts {
            for entry in starts[row]..starts[row + 1] {
                let b = &blocks[entry];
                let block = [[b[0], b[3], b[6]], [b[1], b[4], b[7]], [b[2], b[5], b[8]]];
                let column = columns[entry];
                if column == row {
                    matrix.diagonal[row] = block;
                } else {
                    let place = free[column] as usize;
                    free[column] += 1;
                    matrix.rows[place] = row as u32;
                    matrix.blocks[place] = block.map(Lanes::from);
                }
            }
        }
        Ok(matrix)
    }

    /// Number of contacts (block rows).
    pub fn contacts(&self) -> usize {
        self.diagonal.len()
    }

    /// Number of stored blocks, the diagonal included.
    pub fn stored_blocks(&self) -> usize {
        self.diagonal.len() + self.rows.len()
    }

    /// The off-diagonal entries of one column: pairs of row and block, rows ascending.
    #[inline(always)]
    pub(crate) fn column(&self, contact: usize) -> impl Iterator<Item = (usize, Block)> {
        let range = self.starts[contact] as usize..self.starts[contact + 1] as usize;
        self.rows[range.clone()]
            .iter()
            .zip(&self.blocks[range])
            .map(|(&row, block)| (row as usize, block.map(|column| *column)))
    }

    /// Block (row, column); zero where none is stored.
    fn block(&self, row: usize, column: usize) -> Block {
        if row == column {
            return self.diagonal[row];
        }
        let range = self.starts[column] as usize..self.starts[column + 1] as usize;
        match self.rows[range.clone()].binary_search(&(row as u32)) {
            Ok(place) => self.blocks[range.start + place].map(|column| *column),
            Err(_) => [[0.0; 3]; 3],
        }
    }

    /// All stored blocks as (row, column, block, the block across the diagonal).
    fn pairs(&self) -> impl Iterator<Item = (usize, usize, Block, Block)> {
        (0..self.contacts()).flat_map(move |column| {
            let own = std::iter::once((column, self.diagonal[column]));
            own.chain(self.column(column)).map(move |(row, block)| {
                let across = self.block(column, row);
                (row, column, block, across)
            })
        })
    }

    /// Largest |W_ij - W_ji|, by the largest entry.
    pub(crate) fn asymmetry(&self) -> f64 {
        let (mut off, mut size) = (0.0_f64, 0.0_f64);
        for (_, _, block, across) in self.pairs() {
            for (k, l) in (0..9).map(|n| (n / 3, n % 3)) {
                off = off.max((block[k][l] - across[l][k]).abs());
                size = size.max(block[k][l].abs());
            }
        }
        if off == 0.0 { 0.0 } else { off / size }
    }

    /// (W + W^T) / 2, with a block wherever W has one or its transpose has.
    pub(crate) fn symmetric_part(&self) -> Self {
        let mut entries = std::collections::BTreeMap::new();
        for (row, column, block, across) in self.pairs() {
            let mean = |k: usize, l: usize| 0.5 * (block[k][l] + across[l][k]);
            let mean: Block = std::array::from_fn(|k| std::array::from_fn(|l| mean(k, l)));
            let turned: Block = std::array::from_fn(|k| std::array::from_fn(|l| mean[l][k]));
            entries.insert((column, row), mean);
            entries.insert((row, column), turned);
        }
        let mut part = Self {
            diagonal: self.diagonal.clone(),
            starts: vec![0; self.contacts() + 1],
            ..Self::default()
        };
        for ((column, row), block) in entries {
            if row == column {
                part.diagonal[row] = block;
                continue;
            }
            part.starts[column + 1] += 1;
            part.rows.push(row as u32);
            part.blocks.push(block.map(Lanes::from));
        }
        for column in 0..self.contacts() {
            part.starts[column + 1] += part.starts[column];
        }
        part
    }

    /// u = W r + q.
    #[inline(always)]
    pub(crate) fn velocity(&self, r: &[Lanes], q: &[Vector3], u: &mut [Lanes]) {
        for (u, q) in u.iter_mut().zip(q) {
            *u = (*q).into();
        }
        self.add_product(r, u);
    }

    /// y += W x, contacts at rest skipped.
    #[inline(always)]
    pub(crate) fn add_product(&self, x: &[Lanes], y: &mut [Lanes]) {
        for (contact, x) in x.iter().enumerate() {
            if **x != [0.0; 3] {
                self.add_column(contact, **x, y);
            }
        }
    }

    /// y += column of W times the impulse x of its contact.
    #[inline(always)]
    pub(crate) fn add_column(&self, contact: usize, x: Vector3, y: &mut [Lanes]) {
        y[contact].add_product(&self.diagonal[contact].map(Lanes::from), &x);
        self.add_others(contact, &x, y);
    }

    /// The same without the block on the diagonal.
    #[inline(always)]
    pub(crate) fn add_others(&self, contact: usize, x: &Vector3, y: &mut [Lanes]) {
        let range = self.starts[contact] as usize..self.starts[contact + 1] as usize;
        for (row, block) in self.rows[range.clone()].iter().zip(&self.blocks[range]) {
            y[*row as usize].add_product(block, x);
        }
    }
}

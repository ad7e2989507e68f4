//! Sparse LU factors of a matrix of 3x3 blocks whose pattern is symmetric, in an order that keeps fill low.
//!
//! The pattern of W is that of a graph of contacts; eliminating a contact joins all its neighbours. The order
//! is by minimum degree, ties by index, so that it is the same on every machine. Pivots are the 3x3 diagonal
//! blocks in that order, without exchange between contacts: the matrices factored here are W plus something
//! positive on the diagonal, for which this is stable. A solve is refined by its caller where it matters.
//!
//! Written here rather than taken from a library because blocks of three are what W is made of (one index
//! and one branch per nine numbers), because the order must not depend on a library's version, and because it is
//! short.

use pulp::{Arch, NullaryFnOnce};

use crate::block_matrix::{Block, BlockMatrix, Lanes, Vector3};

/// A block by columns of whole vectors.
type Columns = [Lanes; 3];

/// Factors and their pattern; storage is kept from one analysis to the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockLu {
    /// Contact eliminated at each stage, and the stage of each contact.
    order: Vec<u32>,
    stage: Vec<u32>,
    /// Stages coupled to each stage and later than it, ascending.
    starts: Vec<u32>,
    later: Vec<u32>,
    /// Inverse of the pivot of each stage.
    pivots: Vec<Columns>,
    /// Blocks below the pivot (of L, times the pivot) and right of it (of U), in the order of `later`.
    lower: Vec<Columns>,
    upper: Vec<Columns>,
    /// Whether the row of a stage has nothing beside its pivot, as that of an open contact.
    alone: Vec<bool>,
    work: Vec<Lanes>,
    /// The pattern that all this belongs to.
    pattern: (Vec<u32>, Vec<u32>),
}

/// A - B C
#[inline(always)]
fn subtract_product(a: &mut Columns, b: &Columns, c: &Columns) {
    for (a, c) in a.iter_mut().zip(c) {
        subtract(a, b, c);
    }
}

/// B C
#[inline(always)]
fn multiply(b: &Columns, c: &Columns) -> Columns {
    c.map(|c| {
        let mut product = Lanes::default();
        product.add_product(b, &c);
        product
    })
}

/// y - A x
#[inline(always)]
fn subtract(y: &mut Lanes, a: &Columns, x: &Vector3) {
    y.add_product(a, &[-x[0], -x[1], -x[2]]);
}

impl BlockLu {
    /// Choose the order and find the pattern of the factors for matrices with the pattern of W; nothing where it is that of
    /// the last call, as it is from step to step of a pile at rest.
    pub(crate) fn analyse(&mut self, matrix: &BlockMatrix) {
        self.analyse_within(matrix, usize::MAX);
    }

    /// The same; false where a factorisation would take more than so many products of blocks.
    pub(crate) fn analyse_within(&mut self, matrix: &BlockMatrix, most: usize) -> bool {
        let contacts = matrix.contacts();
        let (starts, rows) = &mut self.pattern;
        if *starts == matrix.starts && *rows == matrix.rows {
            return self.products() <= most;
        }
        starts.clone_from(&matrix.starts);
        rows.clone_from(&matrix.rows);
        let mut neighbours: Vec<Vec<u32>> = (0..contacts)
            .map(|contact| matrix.column(contact).map(|(row, _)| row as u32).collect())
            .collect();
        // The pattern is made symmetric: W from elsewhere may lack a block that rounds to zero.
        for contact in 0..contacts {
            for (row, _) in matrix.column(contact) {
                if let Err(place) = neighbours[row].binary_search(&(contact as u32)) {
                    neighbours[row].insert(place, contact as u32);
                }
            }
        }
        let mut waiting: std::collections::BTreeSet<(usize, u32)> = neighbours
            .iter()
            .enumerate()
            .map(|(contact, list)| (list.len(), contact as u32))
            .collect();
        self.order.clear();
        self.stage.clear();
        self.stage.resize(contacts, 0);
        let mut eliminated: Vec<Vec<u32>> = Vec::with_capacity(contacts);
        let (mut merged, mut products) = (Vec::new(), 0);
        while let Some((_, pivot)) = waiting.pop_first() {
            self.stage[pivot as usize] = self.order.len() as u32;
            self.order.push(pivot);
            let clique = std::mem::take(&mut neighbours[pivot as usize]);
            products += clique.len().pow(2) + 1;
            if products > most {
                *self = Self::default();
                return false;
            }
            for &other in &clique {
                let list = &mut neighbours[other as usize];
                waiting.remove(&(list.len(), other));
                merge(list, &clique, pivot, other, &mut merged);
                std::mem::swap(list, &mut merged);
                waiting.insert((list.len(), other));
            }
            eliminated.push(clique);
        }
        self.starts.clear();
        self.starts.push(0);
        self.later.clear();
        for clique in &eliminated {
            let first = self.later.len();
            self.later
                .extend(clique.iter().map(|&contact| self.stage[contact as usize]));
            self.later[first..].sort_unstable();
            self.starts.push(self.later.len() as u32);
        }
        for (blocks, count) in [
            (&mut self.pivots, contacts),
            (&mut self.lower, self.later.len()),
            (&mut self.upper, self.later.len()),
        ] {
            blocks.clear();
            blocks.resize(count, [Lanes::default(); 3]);
        }
        self.alone.clear();
        self.alone.resize(contacts, false);
        self.work.clear();
        self.work.resize(contacts, Lanes::default());
        true
    }

    /// Products of blocks that a factorisation takes.
    pub(crate) fn products(&self) -> usize {
        self.starts
            .windows(2)
            .map(|range| ((range[1] - range[0]) as usize).pow(2) + 1)
            .sum()
    }

    /// Factor the matrix with diagonal blocks `diagonal` and rows `scale_i W_ij` elsewhere; `bound_i` is added where
    /// row i meets the normal impulse of the contact before it.
    ///
    /// False when a pivot is singular or not finite.
    pub(crate) fn factor(
        &mut self,
        matrix: &BlockMatrix,
        diagonal: &[Block],
        scale: &[Block],
        bound: &[Vector3],
    ) -> bool {
        for blocks in [&mut self.lower, &mut self.upper] {
            blocks.fill([Lanes::default(); 3]);
        }
        for contact in 0..matrix.contacts() {
            let column = self.stage[contact];
            self.pivots[column as usize] = diagonal[contact].map(Lanes::from);
            self.alone[column as usize] =
                scale[contact] == [[0.0; 3]; 3] && bound[contact] == [0.0; 3];
            for (other, block) in matrix.column(contact) {
                let row = self.stage[other];
                let scale = scale[other].map(Lanes::from);
                let mut block = multiply(&scale, &block.map(Lanes::from));
                if other == contact + 1 {
                    for (entry, bound) in block[0].iter_mut().zip(&bound[other]) {
                        *entry += bound;
                    }
                }
                let range = self.range(row.min(column) as usize);
                let place = range.start
                    + self.later[range].partition_point(|&stage| stage < row.max(column));
                if row > column {
                    self.lower[place] = block;
                } else {
                    self.upper[place] = block;
                }
            }
        }
        Arch::new().dispatch(Elimination(self))
    }

    /// Eliminate stage after stage; a row that is alone has zeros right of its pivot, and keeps them.
    #[inline(always)]
    fn eliminate(&mut self) -> bool {
        for k in 0..self.order.len() {
            let Some(pivot) = inverse(&self.pivots[k]) else {
                return false;
            };
            self.pivots[k] = pivot;
            let range = self.range(k);
            for a in range.clone() {
                let left = multiply(&self.lower[a], &pivot);
                self.lower[a] = left;
            }
            if self.alone[k] {
                continue;
            }
            for a in range.clone() {
                let i = self.later[a] as usize;
                let (left, right) = (self.lower[a], self.upper[a]);
                let alone = self.alone[i];
                if !alone {
                    subtract_product(&mut self.pivots[i], &left, &right);
                }
                let mut target = self.starts[i] as usize;
                for b in a + 1..range.end {
                    let j = self.later[b];
                    while self.later[target] < j {
                        target += 1;
                    }
                    if !alone {
                        let across = self.upper[b];
                        subtract_product(&mut self.upper[target], &left, &across);
                    }
                    if !self.alone[j as usize] {
                        let down = self.lower[b];
                        subtract_product(&mut self.lower[target], &down, &right);
                    }
                    target += 1;
                }
            }
        }
        true
    }

    /// Whether all pivots are positive definite, and with them, by Sylvester's law of inertia, a symmetric matrix.
    pub(crate) fn is_definite(&self) -> bool {
        // Those of the inverse, which is kept.
        let definite = |[a, b, c]: &Columns| {
            let minor = a[0] * b[1] - b[0] * a[1];
            let rest = c[0] * (a[1] * b[2] - b[1] * a[2]) - c[1] * (a[0] * b[2] - b[0] * a[2]);
            a[0] > 0.0 && minor > 0.0 && c[2] * minor + rest > 0.0
        };
        self.pivots.iter().all(definite)
    }

    /// Solve with the factors, in place.
    pub(crate) fn solve(&mut self, x: &mut [Vector3]) {
        for (stage, &contact) in self.order.iter().enumerate() {
            self.work[stage] = x[contact as usize].into();
        }
        for k in 0..self.order.len() {
            let known = *self.work[k];
            for a in self.range(k) {
                subtract(
                    &mut self.work[self.later[a] as usize],
                    &self.lower[a],
                    &known,
                );
            }
        }
        for k in (0..self.order.len()).rev() {
            let mut right = self.work[k];
            for a in self.range(k) {
                subtract(
                    &mut right,
                    &self.upper[a],
                    &self.work[self.later[a] as usize],
                );
            }
            self.work[k] = Lanes::default();
            self.work[k].add_product(&self.pivots[k], &right);
        }
        for (stage, &contact) in self.order.iter().enumerate() {
            x[contact as usize] = *self.work[stage];
        }
    }

    fn range(&self, stage: usize) -> std::ops::Range<usize> {
        self.starts[stage] as usize..self.starts[stage + 1] as usize
    }
}

/// [`BlockLu::eliminate`], compiled for the processor at hand.
struct Elimination<'a>(&'a mut BlockLu);

impl NullaryFnOnce for Elimination<'_> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        self.0.eliminate()
    }
}

/// Union of two ascending lists without the pivot and the list's owner.
fn merge(list: &[u32], clique: &[u32], pivot: u32, owner: u32, merged: &mut Vec<u32>) {
    merged.clear();
    let (mut a, mut b) = (
        list.iter().copied().peekable(),
        clique.iter().copied().peekable(),
    );
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&x), None) => x,
            (None, Some(&y)) => y,
            (None, None) => return,
        };
        a.next_if_eq(&next);
        b.next_if_eq(&next);
        if next != pivot && next != owner {
            merged.push(next);
        }
    }
}

/// Inverse of a block by elimination with row exchanges; `None` where it is singular or not finite.
#[inline(always)]
pub(crate) fn inverse(a: &Columns) -> Option<Columns> {
    let mut left: [[f64; 3]; 3] = std::array::from_fn(|i| [a[0][i], a[1][i], a[2][i]]);
    let mut right = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for k in 0..3 {
        let largest = (k..3).max_by(|&i, &j| left[i][k].abs().total_cmp(&left[j][k].abs()))?;
        left.swap(k, largest);
        right.swap(k, largest);
        let pivot = 1.0 / left[k][k];
        if !pivot.is_finite() {
            return None;
        }
        for j in 0..3 {
            left[k][j] *= pivot;
            right[k][j] *= pivot;
        }
        for i in 0..3 {
            if i != k {
                let factor = left[i][k];
                for j in 0..3 {
                    left[i][j] -= factor * left[k][j];
                    right[i][j] -= factor * right[k][j];
                }
            }
        }
    }
    Some(std::array::from_fn(|j| {
        [right[0][j], right[1][j], right[2][j]].into()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_matrix::{add_product, product};

    /// A ring of contacts with some chords, one block missing its mirror image, diagonally dominant.
    fn example(contacts: usize) -> BlockMatrix {
        let (mut starts, mut columns, mut blocks) = (vec![0], vec![], vec![]);
        for i in 0..contacts {
            let mut row = vec![
                i,
                (i + 1) % contacts,
                (i + contacts - 1) % contacts,
                (7 * i) % contacts,
            ];
            row.sort_unstable();
            row.dedup();
            for j in row {
                let entry = |k: usize| ((i * 31 + j * 17 + k * 7) % 11) as f64 / 11.0 - 0.5;
                let diagonal = |k: usize| {
                    if i == j && k.is_multiple_of(4) {
                        8.0
                    } else {
                        0.0
                    }
                };
                columns.push(j);
                blocks.push(std::array::from_fn(|k| entry(k) + diagonal(k)));
            }
            starts.push(columns.len());
        }
        BlockMatrix::from_block_rows(&starts, &columns, &blocks).unwrap()
    }

    #[test]
    fn factors_solve_what_they_factor() {
        for contacts in [1, 2, 5, 40] {
            let matrix = example(contacts);
            let scale: Vec<Block> = (0..contacts)
                .map(|i| {
                    [
                        [1.0, 0.1, 0.0],
                        [0.0, 1.0 + 0.01 * i as f64, 0.0],
                        [0.2, 0.0, 0.9],
                    ]
                })
                .collect();
            let diagonal: Vec<Block> = (0..contacts)
                .map(|i| matrix.diagonal[i].map(|column| product(&scale[i], &column)))
                .collect();
            let x: Vec<Vector3> = (0..contacts)
                .map(|i| [i as f64, 1.0, -0.5 * i as f64])
                .collect();
            let bound: Vec<Vector3> = (0..contacts).map(|i| [0.1, 0.0, -0.3 * i as f64]).collect();
            let mut b: Vec<Vector3> = (0..contacts)
                .map(|i| product(&diagonal[i], &x[i]))
                .collect();
            for j in 0..contacts {
                for (i, block) in matrix.column(j) {
                    add_product(
                        &mut b[i],
                        &block.map(|column| product(&scale[i], &column)),
                        &x[j],
                    );
                    if i == j + 1 {
                        for (b, bound) in b[i].iter_mut().zip(&bound[i]) {
                            *b += bound * x[j][0];
                        }
                    }
                }
            }
            let mut factors = BlockLu::default();
            factors.analyse(&matrix);
            assert!(factors.factor(&matrix, &diagonal, &scale, &bound));
            factors.solve(&mut b);
            for (found, expected) in b.as_flattened().iter().zip(x.as_flattened()) {
                assert!(
                    (found - expected).abs() < 1e-12 * contacts as f64,
                    "{found} {expected}"
                );
            }
        }
    }

    #[test]
    fn a_chain_fills_nothing() {
        let contacts = 50;
        let (mut starts, mut columns) = (vec![0], vec![]);
        for i in 0..contacts {
            columns.extend(i.max(1) - 1..=(i + 1).min(contacts - 1));
            starts.push(columns.len());
        }
        let blocks = vec![[1.0; 9]; columns.len()];
        let mut factors = BlockLu::default();
        factors.analyse(&BlockMatrix::from_block_rows(&starts, &columns, &blocks).unwrap());
        assert_eq!(factors.later.len(), contacts - 1);
    }

    #[test]
    fn a_singular_pivot_is_told() {
        let matrix = BlockMatrix::from_block_rows(&[0, 1], &[0], &[[1.0; 9]]).unwrap();
        let mut factors = BlockLu::default();
        factors.analyse(&matrix);
        assert!(!factors.factor(&matrix, &matrix.diagonal, &[[[0.0; 3]; 3]], &[[0.0; 3]]));
    }
}

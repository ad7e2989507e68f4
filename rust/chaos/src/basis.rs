//! The basis matrix Psi of all candidate terms at the points of a design, kept as two factors.
//!
//! Psi[i, alpha] = sqrt(w_i) prod_k p_alpha_k(x_ik). Stored whole, 300 points and the 53 130 terms of degree 20 in
//! five parameters take 127 MB, and every product with it waits for memory. Each column is instead the product
//! of a left half-column (first parameters) and a right one (the others): 1771 + 231 half-columns, 5 MB, which
//! stay in cache. Neighbours in graded order share their left half, so a product with a vector costs one
//! multiplication per left half more than with the whole matrix.

use rayon::prelude::*;

use crate::design::Design;
use crate::truncation::{Candidates, Halves};
use crate::vector::{add_scaled, dot, padded, product};

/// A column whose part orthogonal to the constant is below this share of its norm is constant on the design.
const CONSTANT: f64 = 1e-10;

pub(crate) struct Basis {
    rows: usize,
    stride: usize,
    left: Vec<f64>,
    right: Vec<f64>,
    halves: Vec<(u32, u32)>,
    scale: Vec<f64>,
    root_weights: Vec<f64>,
    unit: Vec<f64>,
}

impl Basis {
    pub(crate) fn new(candidates: &Candidates, design: &Design) -> Self {
        let rows = design.len();
        let stride = padded(rows);
        let dimension = design.dimension();
        let split = dimension.div_ceil(2);
        let mut tables = Vec::with_capacity(dimension);
        for (parameter, family) in design.families().iter().enumerate() {
            let degree = (0..candidates.len())
                .map(|term| candidates.multi_index(term)[parameter])
                .max()
                .unwrap_or(0);
            let recurrence = family.recurrence(usize::from(degree));
            let mut table = vec![0.0; stride * (usize::from(degree) + 1)];
            for row in 0..rows {
                for (k, value) in recurrence
                    .at(design.point(row)[parameter])
                    .into_iter()
                    .enumerate()
                {
                    table[k * stride + row] = value;
                }
            }
            tables.push(table);
        }

        let mut root_weights: Vec<f64> = design.weights().iter().map(|w| w.sqrt()).collect();
        root_weights.resize(stride, 0.0);
        let mut ones = vec![1.0; rows];
        ones.resize(stride, 0.0);
        let Halves { left, right, pairs } = candidates.halves();
        let left = half_columns(left, &root_weights, &tables[..split]);
        let right = half_columns(right, &ones, &tables[split..]);
        let length = dot(&root_weights, &root_weights).sqrt();
        let unit: Vec<f64> = root_weights.iter().map(|w| w / length).collect();
        let mut basis = Self {
            rows,
            stride,
            left,
            right,
            halves: pairs.clone(),
            scale: vec![],
            root_weights,
            unit,
        };
        basis.scale = (0..candidates.len())
            .into_par_iter()
            .map_init(
                || vec![0.0; stride],
                |column, term| {
                    basis.column(term, column);
                    let whole = dot(column, column).sqrt();
                    let mean = dot(column, &basis.unit);
                    add_scaled(column, -mean, &basis.unit);
                    let centred = dot(column, column).sqrt();
                    if centred > CONSTANT * whole {
                        1.0 / centred
                    } else {
                        0.0
                    }
                },
            )
            .collect();
        basis
    }

    /// Number of distinct points.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Length of a column, padded with zeros.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// Square roots of the weights: the column of the constant.
    pub(crate) fn root_weights(&self) -> &[f64] {
        &self.root_weights
    }

    /// The column of the constant at length one.
    pub(crate) fn unit(&self) -> &[f64] {
        &self.unit
    }

    /// One over the norm of the centred column, 0 where it is constant on the design.
    pub(crate) fn scale(&self, term: usize) -> f64 {
        self.scale[term]
    }

    /// Number of the left half of a term.
    pub(crate) fn left_of(&self, term: usize) -> u32 {
        self.halves[term].0
    }

    /// Left half-column.
    pub(crate) fn left(&self, half: u32) -> &[f64] {
        &self.left[half as usize * self.stride..][..self.stride]
    }

    /// Right half-column of a term.
    pub(crate) fn right(&self, term: usize) -> &[f64] {
        &self.right[self.halves[term].1 as usize * self.stride..][..self.stride]
    }

    /// Write the column of a term.
    pub(crate) fn column(&self, term: usize, out: &mut [f64]) {
        product(out, self.left(self.left_of(term)), self.right(term));
    }

    /// Number of candidates, the constant included.
    pub(crate) fn len(&self) -> usize {
        self.halves.len()
    }

    /// x_j . v for the candidates given, 0 for the others: x_j the centred column at length one, v orthogonal to the
    /// constant.
    pub(crate) fn correlations(&self, v: &[f64], members: impl Iterator<Item = u32>) -> Vec<f64> {
        let mut found = vec![0.0; self.len()];
        let mut weighted = vec![0.0; self.stride];
        let mut half = u32::MAX;
        for term in members.map(|term| term as usize) {
            if self.left_of(term) != half {
                half = self.left_of(term);
                product(&mut weighted, self.left(half), v);
            }
            found[term] = dot(&weighted, self.right(term)) * self.scale[term];
        }
        found
    }
}

/// Columns of products of table entries, `start` times.
fn half_columns(indices: &[Vec<u8>], start: &[f64], tables: &[Vec<f64>]) -> Vec<f64> {
    let stride = start.len();
    let mut columns = Vec::with_capacity(indices.len() * stride);
    for alpha in indices {
        columns.extend_from_slice(start);
        let column = columns.len() - stride;
        for (table, &k) in tables.iter().zip(alpha).filter(|&(_, &k)| k > 0) {
            for (value, p) in columns[column..]
                .iter_mut()
                .zip(&table[usize::from(k) * stride..][..stride])
            {
                *value *= p;
            }
        }
    }
    columns
}

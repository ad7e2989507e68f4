//! The evaluation kernel: all outputs of an expansion at a block of points, with gradients.
//!
//! Univariate tables are filled once per point and serve all outputs. A term is the product of the term without
//! its last parameter (its parent) and one table entry, so every term of every output costs one
//! multiplication; derivatives are products of the same kind with one entry taken from the table of slopes:
//!
//! ```text
//! v[alpha] = v[parent] p(x_last),   dv[alpha]/dx_last = v[parent] p'(x_last),   dv[alpha]/dx_i = dv[parent]/dx_i p(x_last)
//! ```
//!
//! Sums go over four partial sums in a fixed order, for each point by itself: the bits of a prediction do not
//! depend on the points beside it.

mod adjoint;

use std::collections::BTreeMap;

use pulp::{Arch, NullaryFnOnce};

pub use self::adjoint::Adjoint;
use crate::family::{Family, Recurrence};

/// Points side by side that fill the vector registers of the machines at hand.
pub const LANES: usize = 8;
/// Partial sums, to hide the latency of additions.
const PARTS: usize = 4;

/// value = values[parent] * table[factor]
#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    factor: u32,
}

/// Weighted sums of values, row by row.
#[derive(Debug, Clone, Default)]
struct Sums {
    ends: Vec<usize>,
    entries: Vec<(f64, u32)>,
}

impl Sums {
    /// End a row, filled up with zeros times the constant: rows of whole chunks need no loop for a rest.
    fn end_row(&mut self) {
        self.entries
            .resize(self.entries.len().next_multiple_of(PARTS), (0.0, 0));
        self.ends.push(self.entries.len());
    }

    #[inline(always)]
    fn evaluate<const L: usize>(&self, values: &[[f64; L]], mut put: impl FnMut(usize, [f64; L])) {
        let mut start = 0;
        for (row, &end) in self.ends.iter().enumerate() {
            let mut parts = [[0.0; L]; PARTS];
            for entries in self.entries[start..end].as_chunks::<PARTS>().0 {
                for (part, &(coefficient, value)) in parts.iter_mut().zip(entries) {
                    let value = &values[value as usize];
                    for i in 0..L {
                        part[i] += coefficient * value[i];
                    }
                }
            }
            let [a, b, c, d] = parts;
            let mut sum = [0.0; L];
            for i in 0..L {
                sum[i] = (a[i] + b[i]) + (c[i] + d[i]);
            }
            put(row, sum);
            start = end;
        }
    }
}

/// Working memory of the kernel for L points.
#[derive(Debug, Clone)]
pub struct Scratch<const L: usize> {
    table: Vec<[f64; L]>,
    values: Vec<[f64; L]>,
}

/// The compiled expansion.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    recurrences: Vec<Recurrence>,
    /// Where the table of each parameter begins; the slopes follow all values, `slopes` entries later.
    begins: Vec<usize>,
    slopes: usize,
    /// Products for values first, then those for derivatives; entry 0 of the values is the constant 1.
    nodes: Vec<Node>,
    value_nodes: usize,
    outputs: Sums,
    gradients: Sums,
}

impl Kernel {
    pub(crate) fn new(
        families: &[Family],
        indices: &[u8],
        offsets: &[usize],
        terms: &[u32],
        coefficients: &[f64],
    ) -> Self {
        let dimension = families.len();
        let mut recurrences = Vec::with_capacity(dimension);
        let mut begins = Vec::with_capacity(dimension);
        let mut slopes = 0;
        for (parameter, family) in families.iter().enumerate() {
            let degree = indices
                .iter()
                .skip(parameter)
                .step_by(dimension)
                .copied()
                .max()
                .unwrap_or(0);
            recurrences.push(family.recurrence(usize::from(degree)));
            begins.push(slopes);
            slopes += usize::from(degree) + 1;
        }

        let mut nodes = vec![];
        let mut known: BTreeMap<Vec<u8>, u32> = BTreeMap::from([(vec![0; dimension], 0)]);
        let mut place = |alpha: &[u8], nodes: &mut Vec<Node>| {
            let mut head = vec![0; dimension];
            let mut at = 0;
            for (parameter, &k) in alpha.iter().enumerate().filter(|&(_, &k)| k > 0) {
                head[parameter] = k;
                let next = nodes.len() as u32 + 1;
                let parent = at;
                at = *known.entry(head.clone()).or_insert(next);
                if at == next {
                    nodes.push(Node {
                        parent,
                        factor: (begins[parameter] + usize::from(k)) as u32,
                    });
                }
            }
            at
        };
        let places: Vec<u32> = indices
            .chunks_exact(dimension)
            .map(|alpha| place(alpha, &mut nodes))
            .collect();
        let value_nodes = nodes.len();

        // Derivatives of a node with respect to a parameter, made when first asked for.
        let mut derivatives: BTreeMap<(u32, usize), u32> = BTreeMap::new();
        let owner = |factor: u32| begins.partition_point(|&begin| begin <= factor as usize) - 1;
        let mut outputs = Sums::default();
        let mut gradients = Sums::default();
        for range in offsets.windows(2) {
            let entries = || {
                terms[range[0]..range[1]]
                    .iter()
                    .zip(&coefficients[range[0]..range[1]])
            };
            outputs
                .entries
                .extend(entries().map(|(&term, &c)| (c, places[term as usize])));
            outputs.end_row();
            for parameter in 0..dimension {
                for (&term, &c) in entries() {
                    if indices[term as usize * dimension + parameter] > 0 {
                        let node = places[term as usize];
                        let value = derivative(
                            node,
                            parameter,
                            &mut nodes,
                            &mut derivatives,
                            &owner,
                            slopes,
                        );
                        gradients.entries.push((c, value));
                    }
                }
                gradients.end_row();
            }
        }
        Self {
            recurrences,
            begins,
            slopes,
            nodes,
            value_nodes,
            outputs,
            gradients,
        }
    }

    pub(crate) fn scratch<const L: usize>(&self) -> Scratch<L> {
        let mut values = vec![[0.0; L]; self.nodes.len() + 1];
        values[0] = [1.0; L];
        Scratch {
            table: vec![[0.0; L]; 2 * self.slopes],
            values,
        }
    }

    #[inline(always)]
    fn fill<const L: usize>(
        &self,
        x: impl Fn(usize) -> [f64; L],
        scratch: &mut Scratch<L>,
        with_slopes: bool,
        count: usize,
    ) {
        let (values, slopes) = scratch.table.split_at_mut(self.slopes);
        for (parameter, (recurrence, &begin)) in
            self.recurrences.iter().zip(&self.begins).enumerate()
        {
            let entries = begin..=begin + recurrence.degree();
            recurrence.values(x(parameter), &mut values[entries.clone()]);
            if with_slopes {
                recurrence.slopes(x(parameter), &values[entries.clone()], &mut slopes[entries]);
            }
        }
        for (at, node) in self.nodes[..count].iter().enumerate() {
            let (parent, factor) = (
                scratch.values[node.parent as usize],
                scratch.table[node.factor as usize],
            );
            let value = &mut scratch.values[at + 1];
            for i in 0..L {
                value[i] = parent[i] * factor[i];
            }
        }
    }

    /// All outputs at L points side by side.
    pub(crate) fn evaluate<const L: usize>(
        &self,
        points: &[[f64; L]],
        scratch: &mut Scratch<L>,
        values: &mut [[f64; L]],
    ) {
        Arch::new().dispatch(Evaluate {
            kernel: self,
            points,
            scratch,
            values,
        });
    }

    #[inline(always)]
    fn values<const L: usize>(
        &self,
        points: &[[f64; L]],
        scratch: &mut Scratch<L>,
        values: &mut [[f64; L]],
    ) {
        self.fill(|k| points[k], scratch, false, self.value_nodes);
        self.outputs
            .evaluate(&scratch.values, |row, value| values[row] = value);
    }

    /// All outputs at the points given: values (points x outputs).
    pub(crate) fn predict(&self, points: &[f64], values: &mut [f64]) {
        Arch::new().dispatch(Predict {
            kernel: self,
            points,
            values,
        });
    }

    /// The same with gradients (points x outputs x parameters).
    pub(crate) fn predict_with_gradient(
        &self,
        points: &[f64],
        values: &mut [f64],
        gradients: &mut [f64],
    ) {
        Arch::new().dispatch(PredictWithGradient {
            kernel: self,
            points,
            values,
            gradients,
        });
    }

    #[inline(always)]
    fn predict_blocks(&self, points: &[f64], values: &mut [f64]) {
        let (dimension, outputs) = (self.recurrences.len(), self.outputs.ends.len());
        let blocks = points.chunks_exact(LANES * dimension);
        let single = blocks.remainder();
        let (many, few) = values.split_at_mut(blocks.len() * LANES * outputs);
        // Working memory only where it is used: for a single point, making it would cost as much as the values.
        if !many.is_empty() {
            let mut scratch = self.scratch::<LANES>();
            for (block, values) in blocks.zip(many.chunks_exact_mut(LANES * outputs)) {
                self.fill(
                    |k| std::array::from_fn(|i| block[i * dimension + k]),
                    &mut scratch,
                    false,
                    self.value_nodes,
                );
                self.outputs.evaluate(&scratch.values, |row, sum| {
                    for (i, value) in sum.into_iter().enumerate() {
                        values[i * outputs + row] = value;
                    }
                });
            }
        }
        if !few.is_empty() {
            let mut scratch = self.scratch::<1>();
            for (point, values) in single
                .chunks_exact(dimension)
                .zip(few.chunks_exact_mut(outputs))
            {
                self.values(
                    point.as_chunks::<1>().0,
                    &mut scratch,
                    values.as_chunks_mut::<1>().0,
                );
            }
        }
    }

    #[inline(always)]
    fn gradient_blocks(&self, points: &[f64], values: &mut [f64], gradients: &mut [f64]) {
        let (dimension, outputs) = (self.recurrences.len(), self.outputs.ends.len());
        let width = outputs * dimension;
        let mut scratch = self.scratch::<LANES>();
        for ((block, values), gradients) in points
            .chunks(LANES * dimension)
            .zip(values.chunks_mut(LANES * outputs))
            .zip(gradients.chunks_mut(LANES * width))
        {
            let count = block.len() / dimension;
            // A last block that is not full repeats its first point; what comes of it is not written.
            let row = |i: usize| if i < count { i } else { 0 };
            self.fill(
                |k| std::array::from_fn(|i| block[row(i) * dimension + k]),
                &mut scratch,
                true,
                self.nodes.len(),
            );
            self.outputs.evaluate(&scratch.values, |at, sum| {
                for (i, value) in sum.into_iter().take(count).enumerate() {
                    values[i * outputs + at] = value;
                }
            });
            self.gradients.evaluate(&scratch.values, |at, sum| {
                for (i, value) in sum.into_iter().take(count).enumerate() {
                    gradients[i * width + at] = value;
                }
            });
        }
    }
}

// Types and not closures, so that the bodies are compiled for the instructions the dispatch has found.

struct Evaluate<'a, const L: usize> {
    kernel: &'a Kernel,
    points: &'a [[f64; L]],
    scratch: &'a mut Scratch<L>,
    values: &'a mut [[f64; L]],
}

impl<const L: usize> NullaryFnOnce for Evaluate<'_, L> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        self.kernel.values(self.points, self.scratch, self.values);
    }
}

struct Predict<'a> {
    kernel: &'a Kernel,
    points: &'a [f64],
    values: &'a mut [f64],
}

impl NullaryFnOnce for Predict<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        self.kernel.predict_blocks(self.points, self.values);
    }
}

struct PredictWithGradient<'a> {
    kernel: &'a Kernel,
    points: &'a [f64],
    values: &'a mut [f64],
    gradients: &'a mut [f64],
}

impl NullaryFnOnce for PredictWithGradient<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        self.kernel
            .gradient_blocks(self.points, self.values, self.gradients);
    }
}

/// Place of the derivative of a value node with respect to a parameter it depends on.
fn derivative(
    node: u32,
    parameter: usize,
    nodes: &mut Vec<Node>,
    known: &mut BTreeMap<(u32, usize), u32>,
    owner: &impl Fn(u32) -> usize,
    slopes: usize,
) -> u32 {
    if let Some(&place) = known.get(&(node, parameter)) {
        return place;
    }
    let Node { parent, factor } = nodes[node as usize - 1];
    let new = if owner(factor) == parameter {
        Node {
            parent,
            factor: factor + slopes as u32,
        }
    } else {
        Node {
            parent: derivative(parent, parameter, nodes, known, owner, slopes),
            factor,
        }
    };
    nodes.push(new);
    let place = nodes.len() as u32;
    known.insert((node, parameter), place);
    place
}

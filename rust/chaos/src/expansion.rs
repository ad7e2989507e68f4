//! Expansions of many outputs over one list of terms: plain arrays in, the same arrays out.
//!
//! y_o(x) = sum over the terms t of output o of c_t prod_k p_index[t, k](x_k). Terms of all outputs point into one
//! list of multi-indices, output by output (compressed rows), so that the arrays can be stored anywhere and
//! `Expansion::new` gives back an expansion that predicts the same bits.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::error::{ChaosError, Result};
use crate::family::Family;
use crate::kernel::{Adjoint, Kernel, Scratch};
use crate::truncation::{Candidates, HIGHEST_DEGREE, MOST_PARAMETERS};

/// Points handed to a thread at a time.
const BATCH: usize = 512;

/// Expansions of all outputs.
#[derive(Debug, Clone)]
pub struct Expansion {
    families: Vec<Family>,
    indices: Vec<u8>,
    offsets: Vec<usize>,
    terms: Vec<u32>,
    coefficients: Vec<f64>,
    kernel: Kernel,
}

impl Expansion {
    /// From plain arrays: `indices` (terms x parameters), `offsets` (outputs + 1) into `terms` and `coefficients`.
    pub fn new(
        families: &[Family],
        indices: Vec<u8>,
        offsets: Vec<usize>,
        terms: Vec<u32>,
        coefficients: Vec<f64>,
    ) -> Result<Self> {
        let dimension = families.len();
        if dimension == 0 || dimension > MOST_PARAMETERS {
            return Err(ChaosError::Option {
                key: "parameters",
                value: dimension.to_string(),
                allowed: "1 to 64 parameters",
            });
        }
        let rows = indices.len() / dimension;
        if rows * dimension != indices.len() {
            return Err(ChaosError::Shape {
                what: "multi-indices",
                found: indices.len(),
                expected: rows * dimension,
            });
        }
        if let Some(&degree) = indices.iter().find(|&&k| usize::from(k) > HIGHEST_DEGREE) {
            return Err(ChaosError::Option {
                key: "degree",
                value: degree.to_string(),
                allowed: "0 to 40",
            });
        }
        if coefficients.len() != terms.len() {
            return Err(ChaosError::Shape {
                what: "coefficients",
                found: coefficients.len(),
                expected: terms.len(),
            });
        }
        let ordered = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if offsets.len() < 2
            || offsets[0] != 0
            || !ordered
            || offsets[offsets.len() - 1] != terms.len()
        {
            return Err(ChaosError::Option {
                key: "offsets",
                value: format!("{offsets:?}"),
                allowed: "ascending from 0 to the number of terms, one more than outputs",
            });
        }
        if let Some(&term) = terms.iter().find(|&&term| term as usize >= rows) {
            return Err(ChaosError::Option {
                key: "term",
                value: term.to_string(),
                allowed: "a row of the multi-indices",
            });
        }
        let kernel = Kernel::new(families, &indices, &offsets, &terms, &coefficients);
        Ok(Self {
            families: families.to_vec(),
            indices,
            offsets,
            terms,
            coefficients,
            kernel,
        })
    }

    /// From candidate numbers and coefficients per output; only terms in use are kept, in graded order.
    pub(crate) fn from_terms(
        families: &[Family],
        candidates: &Candidates,
        outputs: &[Vec<(u32, f64)>],
    ) -> Self {
        let mut used: BTreeMap<u32, u32> = outputs
            .iter()
            .flatten()
            .map(|&(term, _)| (term, 0))
            .collect();
        let mut indices = Vec::with_capacity(used.len() * families.len());
        for (row, (&term, number)) in used.iter_mut().enumerate() {
            *number = row as u32;
            indices.extend_from_slice(candidates.multi_index(term as usize));
        }
        let mut offsets = vec![0];
        let (mut terms, mut coefficients) = (vec![], vec![]);
        for output in outputs {
            for (term, coefficient) in output {
                terms.push(used[term]);
                coefficients.push(*coefficient);
            }
            offsets.push(terms.len());
        }
        let kernel = Kernel::new(families, &indices, &offsets, &terms, &coefficients);
        Self {
            families: families.to_vec(),
            indices,
            offsets,
            terms,
            coefficients,
            kernel,
        }
    }

    /// One family per parameter.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// Number of parameters.
    pub fn dimension(&self) -> usize {
        self.families.len()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Multi-indices of all terms in use, row by row.
    pub fn indices(&self) -> &[u8] {
        &self.indices
    }

    /// Multi-index number `row`.
    pub fn multi_index(&self, row: u32) -> &[u8] {
        let dimension = self.dimension();
        &self.indices[row as usize * dimension..][..dimension]
    }

    /// Where the terms of each output begin, and where the last ends.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Rows of the multi-indices, output by output.
    pub fn terms(&self) -> &[u32] {
        &self.terms
    }

    /// Coefficients beside `terms`.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// Terms and coefficients of one output.
    pub fn output(&self, output: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.offsets[output]..self.offsets[output + 1];
        self.terms[range.clone()]
            .iter()
            .copied()
            .zip(self.coefficients[range].iter().copied())
    }

    /// The same terms with other coefficients.
    pub fn with_coefficients(&self, coefficients: Vec<f64>) -> Result<Self> {
        let (indices, offsets, terms) = (
            self.indices.clone(),
            self.offsets.clone(),
            self.terms.clone(),
        );
        Self::new(&self.families, indices, offsets, terms, coefficients)
    }

    /// Working memory for `evaluate`.
    pub fn scratch<const L: usize>(&self) -> Scratch<L> {
        self.kernel.scratch()
    }

    /// All outputs at L points side by side, `points[k][i]` canonical variable k of point i: the call for samplers,
    /// without allocation. The bits of a value depend neither on L nor on the points beside it.
    pub fn evaluate<const L: usize>(
        &self,
        points: &[[f64; L]],
        scratch: &mut Scratch<L>,
        values: &mut [[f64; L]],
    ) {
        self.kernel.evaluate(points, scratch, values);
    }

    /// Working memory for `pull_back`.
    pub fn adjoint<const L: usize>(&self) -> Adjoint<L> {
        self.kernel.adjoint()
    }

    /// `evaluate` with what `pull_back` needs left in `scratch`.
    pub fn evaluate_with_slopes<const L: usize>(
        &self,
        points: &[[f64; L]],
        scratch: &mut Scratch<L>,
        values: &mut [[f64; L]],
    ) {
        self.kernel.evaluate_with_slopes(points, scratch, values);
    }

    /// Gradient, with respect to the canonical variables, of the sum of all outputs times `weights`, at the points of the
    /// last `evaluate_with_slopes`.
    pub fn pull_back<const L: usize>(
        &self,
        weights: &[[f64; L]],
        scratch: &Scratch<L>,
        adjoint: &mut Adjoint<L>,
        gradient: &mut [[f64; L]],
    ) {
        self.kernel.pull_back(weights, scratch, adjoint, gradient);
    }

    fn rows(&self, points: &[f64]) -> Result<usize> {
        let rows = points.len() / self.dimension();
        if rows * self.dimension() != points.len() {
            let expected = rows * self.dimension();
            return Err(ChaosError::Shape {
                what: "points",
                found: points.len(),
                expected,
            });
        }
        Ok(rows)
    }

    /// All outputs at many points (points x parameters, canonical): points x outputs.
    ///
    /// Points outside the support of a family are evaluated as they are, NaN gives NaN.
    pub fn predict(&self, points: &[f64]) -> Result<Vec<f64>> {
        let outputs = self.outputs();
        let mut values = vec![0.0; self.rows(points)? * outputs];
        if values.len() <= BATCH * outputs {
            self.kernel.predict(points, &mut values);
            return Ok(values);
        }
        values
            .par_chunks_mut(BATCH * outputs)
            .zip(points.par_chunks(BATCH * self.dimension()))
            .for_each(|(values, points)| self.kernel.predict(points, values));
        Ok(values)
    }

    /// Outputs (points x outputs) and their gradients (points x outputs x parameters). With `slopes` (points x
    /// parameters), the derivatives of the canonical variables with respect to the physical parameters, the
    /// gradients are with respect to the latter.
    pub fn predict_with_gradient(
        &self,
        points: &[f64],
        slopes: Option<&[f64]>,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let (rows, outputs, dimension) = (self.rows(points)?, self.outputs(), self.dimension());
        if let Some(slopes) = slopes
            && slopes.len() != points.len()
        {
            return Err(ChaosError::Shape {
                what: "slopes",
                found: slopes.len(),
                expected: points.len(),
            });
        }
        let mut values = vec![0.0; rows * outputs];
        let mut gradients = vec![0.0; rows * outputs * dimension];
        values
            .par_chunks_mut(BATCH * outputs)
            .zip(gradients.par_chunks_mut(BATCH * outputs * dimension))
            .zip(points.par_chunks(BATCH * dimension))
            .for_each(|((values, gradients), points)| {
                self.kernel.predict_with_gradient(points, values, gradients)
            });
        if let Some(slopes) = slopes {
            for (gradient, slope) in gradients
                .chunks_exact_mut(outputs * dimension)
                .zip(slopes.chunks_exact(dimension))
            {
                for (at, g) in gradient.iter_mut().enumerate() {
                    *g *= slope[at % dimension];
                }
            }
        }
        Ok((values, gradients))
    }
}

//! The order in which a regression takes up its terms, with the error after each.

use crate::basis::Basis;
use crate::least_squares::{Growing, LooError};
use crate::vector::{add_scaled, dot};

/// What all paths of one output start from: it is shared by every (degree, q).
pub(crate) struct Start {
    /// Output times square root of weight.
    pub(crate) y: Vec<f64>,
    /// The same less its mean.
    pub(crate) residual: Vec<f64>,
    /// Centred sum of squares.
    pub(crate) total: f64,
    /// |x_j . residual| of every candidate.
    pub(crate) correlations: Vec<f64>,
}

impl Start {
    pub(crate) fn new(basis: &Basis, output: &[f64]) -> Self {
        let mut start = Self::without_correlations(basis, output);
        start.correlations = basis.correlations(&start.residual);
        start
    }

    /// For ordinary least squares, which asks no candidate for its correlation.
    pub(crate) fn without_correlations(basis: &Basis, output: &[f64]) -> Self {
        let mut y = vec![0.0; basis.stride()];
        for ((y, value), w) in y.iter_mut().zip(output).zip(basis.root_weights()) {
            *y = value * w;
        }
        let mut residual = y.clone();
        // Twice: a large mean would leave its rounding in the first residual.
        for _ in 0..2 {
            let mean = dot(&residual, basis.unit());
            add_scaled(&mut residual, -mean, basis.unit());
        }
        let total = dot(&residual, &residual);
        Self { y, residual, total, correlations: vec![] }
    }
}

/// Terms in order of entry and the errors of least squares on the constant and the first 0, 1, 2, ... of them.
#[derive(Debug, Clone)]
pub(crate) struct Path {
    pub(crate) entered: Vec<u32>,
    pub(crate) errors: Vec<LooError>,
    best: usize,
}

impl Path {
    pub(crate) fn new(growing: &Growing, start: &Start) -> Self {
        Self { entered: vec![], errors: vec![growing.loo(&start.residual, start.total)], best: 0 }
    }

    /// A path whose only stations are the constant and all terms.
    pub(crate) fn whole(entered: Vec<u32>, constant: LooError, error: LooError) -> Self {
        let best = entered.len();
        let mut errors = vec![LooError { plain: f64::NAN, corrected: f64::NAN }; best + 1];
        errors[0] = constant;
        errors[best] = error;
        Self { entered, errors, best }
    }

    pub(crate) fn record(&mut self, term: u32, error: LooError) {
        self.entered.push(term);
        self.errors.push(error);
        if error.corrected < self.errors[self.best].corrected {
            self.best = self.entered.len();
        }
    }

    /// Terms with the least corrected error, the constant left out.
    pub(crate) fn selected(&self) -> &[u32] {
        &self.entered[..self.best]
    }

    /// The error they have.
    pub(crate) fn error(&self) -> LooError {
        self.errors[self.best]
    }

    /// Whether the corrected error has not fallen for `patience` terms.
    pub(crate) fn is_past(&self, patience: usize) -> bool {
        self.entered.len() >= self.best + patience
    }
}

/// Terms a path may take: one point more than unknowns, the constant among them, must be left for the error.
pub(crate) fn longest(rows: usize, members: usize) -> usize {
    members.min(rows.saturating_sub(2))
}

/// How long a path goes on without a new least error: a tenth of the points, as UQLab, and at least 15 terms.
pub(crate) fn patience(rows: usize) -> usize {
    (rows / 10).max(15)
}

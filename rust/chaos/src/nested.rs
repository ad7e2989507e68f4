//! The error of the whole procedure: selection repeated without the points it is judged by.
//!
//! Leave-one-out errors belong to terms chosen with all points in sight. Here the points are dealt into folds fixed by a
//! seed; for each fold degree, q, terms and coefficients are found anew from the other points, and the fold is
//! predicted. What remains is the error of an expansion from (folds - 1) / folds of the design: if anything, too
//! large.

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use crate::design::Design;
use crate::error::{ChaosError, Result};
use crate::fit::{Options, fit_candidates};
use crate::folds::{assign, split};
use crate::truncation::Candidates;

/// Predictions of every row by expansions that have not seen it.
#[derive(Debug, Clone, PartialEq)]
pub struct Nested {
    /// Sum of squared errors over centred sum of squares, one per output; NaN for constant outputs.
    pub errors: Vec<f64>,
    /// The prediction of each row given to the design, rows x outputs.
    pub predictions: Vec<f64>,
    /// The fold of each row; equal points share a fold.
    pub folds: Vec<usize>,
    /// Degree selected, folds x outputs.
    pub degrees: Vec<usize>,
    /// q selected, folds x outputs.
    pub qs: Vec<f64>,
    /// Number of terms selected, folds x outputs.
    pub terms: Vec<usize>,
}

/// Nested cross-validation of `fit` with the same options.
pub fn nested(
    design: &Design,
    options: &Options,
    folds: usize,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Nested> {
    if folds < 2 || folds > design.len() {
        return Err(ChaosError::Option {
            key: "folds",
            value: folds.to_string(),
            allowed: "2 to the number of distinct points",
        });
    }
    let candidates = Candidates::new(
        design.dimension(),
        &options.degrees,
        &options.qs,
        options.max_candidates,
    )?;
    let outputs = design.outputs();
    let places = assign(design.len(), folds, seed);
    let fitted: Vec<_> = (0..folds)
        .into_par_iter()
        .map(|fold| {
            let (outside, inside) = split(design, &places, fold);
            let fit = fit_candidates(&outside, &candidates, options, stop)?;
            Ok((fit.expansion.predict(inside.points())?, fit))
        })
        .collect::<Result<_>>()?;

    let mut predicted = vec![0.0; design.len() * outputs];
    for (fold, (values, _)) in fitted.iter().enumerate() {
        let inside = (0..design.len()).filter(|&point| places[point] == fold);
        for (point, row) in inside.zip(values.chunks_exact(outputs)) {
            predicted[point * outputs..(point + 1) * outputs].copy_from_slice(row);
        }
    }
    let errors = (0..outputs)
        .map(|output| {
            let weight: f64 = design.weights().iter().sum();
            let values = design.output(output);
            let mean = values
                .iter()
                .zip(design.weights())
                .map(|(y, w)| y * w)
                .sum::<f64>()
                / weight;
            let (mut wrong, mut total) = (0.0, 0.0);
            for (point, (y, w)) in values.iter().zip(design.weights()).enumerate() {
                wrong += w * (y - predicted[point * outputs + output]).powi(2);
                total += w * (y - mean).powi(2);
            }
            let constant = fitted.iter().all(|(_, fit)| fit.outputs[output].constant);
            if constant { f64::NAN } else { wrong / total }
        })
        .collect();
    let of_outputs = || fitted.iter().flat_map(|(_, fit)| &fit.outputs);
    Ok(Nested {
        errors,
        predictions: design
            .places()
            .iter()
            .flat_map(|&p| predicted[p * outputs..(p + 1) * outputs].to_vec())
            .collect(),
        folds: design.places().iter().map(|&point| places[point]).collect(),
        degrees: of_outputs().map(|output| output.degree).collect(),
        qs: of_outputs().map(|output| output.q).collect(),
        terms: fitted
            .iter()
            .flat_map(|(_, fit)| {
                fit.expansion
                    .offsets()
                    .windows(2)
                    .map(|pair| pair[1] - pair[0])
            })
            .collect(),
    })
}

//! Expansions of resampled designs, for bands around predictions and indices.
//!
//! Distinct points are drawn with replacement, as many as there are; draw number b depends on (seed, b) alone. The terms
//! are kept and their coefficients found anew (Marelli and Sudret, 2018): quick, and blind to the uncertainty of
//! selection, which the nested residuals that scale the bands do see.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::basis::Basis;
use crate::design::Design;
use crate::error::{ChaosError, Result};
use crate::expansion::Expansion;
use crate::fit::refit;
use crate::path::Start;
use crate::stream::Stream;
use crate::truncation::Candidates;

/// Draws in a row that may be singular before giving up.
const ATTEMPTS: usize = 20;

fn draw(points: usize, seed: u64, replicate: usize, attempt: usize) -> Vec<u32> {
    let mut stream = Stream::new(seed, (replicate as u64) << 8 | attempt as u64);
    let mut counts = vec![0; points];
    for _ in 0..points {
        counts[stream.below(points)] += 1;
    }
    counts
}

/// Coefficients of the same terms on resampled designs: replicates x coefficients, in the order of the expansion.
pub fn bootstrap_coefficients(
    design: &Design,
    expansion: &Expansion,
    replicates: usize,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Vec<f64>> {
    if expansion.outputs() != design.outputs() || expansion.families() != design.families() {
        return Err(ChaosError::Shape {
            what: "expansion outputs",
            found: expansion.outputs(),
            expected: design.outputs(),
        });
    }
    let candidates = Candidates::from_indices(expansion.dimension(), expansion.indices());
    // Rows of the expansion by their number among the candidates; least squares starts with the constant, number 0.
    let terms: Vec<Vec<(u32, usize)>> = (0..expansion.outputs())
        .map(|output| {
            let first = expansion.offsets()[output];
            let rows = expansion.output(output).map(|(row, _)| row).enumerate();
            let mut list: Vec<(u32, usize)> = rows
                .map(|(at, row)| (candidates.number(expansion.multi_index(row)), first + at))
                .collect();
            list.sort_unstable();
            list
        })
        .collect();
    if let Some(output) = terms
        .iter()
        .position(|list| list.first().is_none_or(|&(number, _)| number != 0))
    {
        return Err(ChaosError::Option {
            key: "terms",
            value: format!("output {output} without the constant"),
            allowed: "every output must have the constant term",
        });
    }
    let rows: Vec<Vec<f64>> = (0..replicates)
        .into_par_iter()
        .map(|replicate| {
            let mut failed = 0;
            for attempt in 0..ATTEMPTS {
                if stop.load(Ordering::Relaxed) {
                    return Err(ChaosError::Interrupted);
                }
                let resampled = design.resampled(&draw(design.len(), seed, replicate, attempt));
                match coefficients(&resampled, &candidates, &terms, expansion.terms().len()) {
                    Ok(row) => return Ok(row),
                    Err(output) => failed = output,
                }
            }
            Err(ChaosError::SingularResample {
                output: failed,
                terms: terms[failed].len(),
                points: design.len(),
                attempts: ATTEMPTS,
            })
        })
        .collect::<Result<_>>()?;
    Ok(rows.concat())
}

/// One row of coefficients, or the first output that is singular.
fn coefficients(
    design: &Design,
    candidates: &Candidates,
    terms: &[Vec<(u32, usize)>],
    count: usize,
) -> std::result::Result<Vec<f64>, usize> {
    let basis = Basis::new(candidates, design);
    let mut row = vec![0.0; count];
    for (output, list) in terms.iter().enumerate() {
        let start = Start::without_correlations(&basis, &design.output(output));
        let numbers: Vec<u32> = list[1..].iter().map(|&(number, _)| number).collect();
        let fits = list.len() <= design.len();
        let (solved, _) = refit(&basis, &numbers, &start.y)
            .filter(|_| fits)
            .ok_or(output)?;
        for ((_, coefficient), &(_, at)) in solved.into_iter().zip(list) {
            row[at] = coefficient;
        }
    }
    Ok(row)
}

//! Ordinary least squares on complete sets: one factorisation per q serves all degrees and all outputs.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::basis::Basis;
use crate::design::Design;
use crate::error::{ChaosError, Result};
use crate::least_squares::{Growing, LooError};
use crate::path::{Path, Start};
use crate::truncation::Candidates;

/// Errors of every set for every output; `None` for sets the points cannot carry.
pub(crate) struct Ordinary {
    errors: Vec<Option<Vec<LooError>>>,
    constants: Vec<LooError>,
}

impl Ordinary {
    /// The whole set as a path of one step.
    pub(crate) fn path(&self, output: usize, set: usize, members: &[u32]) -> Option<Path> {
        let error = self.errors[set].as_ref()?[output];
        Some(Path::whole(members.to_vec(), self.constants[output], error))
    }
}

/// Factorise along the degrees of each q: A(p, q) grows into A(p + 1, q).
pub(crate) fn ordinary(
    basis: &Basis,
    candidates: &Candidates,
    design: &Design,
    stop: &AtomicBool,
) -> Result<Ordinary> {
    let outputs: Vec<(Vec<f64>, f64)> = (0..design.outputs())
        .map(|output| {
            let start = Start::without_correlations(basis, &design.output(output));
            (start.residual, start.total)
        })
        .collect();
    let mut errors: Vec<Option<Vec<LooError>>> = vec![None; candidates.set_count()];
    let columns: Vec<Vec<(usize, Vec<LooError>)>> = (0..candidates.qs().len())
        .into_par_iter()
        .map(|q| along_degrees(basis, candidates, q, &outputs, stop))
        .collect::<Result<_>>()?;
    for (set, error) in columns.into_iter().flatten() {
        errors[set].get_or_insert(error);
    }
    let growing = Growing::new(basis);
    let constants = outputs
        .iter()
        .map(|(residual, total)| growing.loo(residual, *total))
        .collect();
    Ok(Ordinary { errors, constants })
}

fn along_degrees(
    basis: &Basis,
    candidates: &Candidates,
    q: usize,
    outputs: &[(Vec<f64>, f64)],
    stop: &AtomicBool,
) -> Result<Vec<(usize, Vec<LooError>)>> {
    let mut growing = Growing::new(basis);
    let mut residuals: Vec<Vec<f64>> = outputs
        .iter()
        .map(|(residual, _)| residual.clone())
        .collect();
    let mut inside = vec![false; candidates.len()];
    let mut column = vec![0.0; basis.stride()];
    let mut found = vec![];
    for degree in 0..candidates.degrees().len() {
        let Some(set) = candidates.cell(degree, q) else {
            break;
        };
        let members = candidates.set(set);
        if members.len() + 2 > basis.rows() {
            break;
        }
        if stop.load(Ordering::Relaxed) {
            return Err(ChaosError::Interrupted);
        }
        for &term in members {
            if std::mem::replace(&mut inside[term as usize], true) {
                continue;
            }
            basis.column(term as usize, &mut column);
            if !growing.push(&column) {
                // The design cannot tell these terms apart, nor those of any larger set.
                return Ok(found);
            }
            for residual in &mut residuals {
                growing.reduce(residual);
            }
        }
        let errors = residuals
            .iter()
            .zip(outputs)
            .map(|(residual, (_, total))| growing.loo(residual, *total));
        found.push((set, errors.collect()));
    }
    Ok(found)
}

//! From a design to an expansion per output: the search over degree, q and terms.
//!
//! Every (degree, q) of the grid gives a candidate set, every set a path of nested term lists, every list a
//! corrected leave-one-out error; the least one wins, the smaller set at a tie. The full search visits every
//! set. Early stopping goes through degrees and, inside, through q, both upwards, and leaves a loop when its
//! error has risen twice in a row, as UQLab does; it is cheaper and can miss a better expansion behind a hump.
//! Which one was done stays in the result: cells that were not visited hold NaN.
//!
//! Outputs, and sets in the full search, are independent tasks whose results are collected in order: the same
//! bits at any number of threads.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::basis::Basis;
use crate::design::Design;
use crate::error::{ChaosError, Result};
use crate::expansion::Expansion;
use crate::least_angle::least_angle;
use crate::least_squares::{Growing, LooError};
use crate::matching_pursuit::matching_pursuit;
use crate::ordinary::{Ordinary, ordinary};
use crate::path::{Path, Start};
use crate::truncation::Candidates;

/// An output whose spread is below this share of its size is constant.
const CONSTANT: f64 = 1e-12;
/// Fewest distinct points any regression takes: constant, one term, two points for the error.
const FEWEST_POINTS: usize = 4;

/// How terms are selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Hybrid least-angle regression.
    LeastAngle,
    /// Orthogonal matching pursuit.
    MatchingPursuit,
    /// All terms of the set by ordinary least squares.
    Ordinary,
}

/// Which (degree, q) are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// All of them.
    Full,
    /// Until the error has risen twice in a row, over degrees and over q.
    EarlyStopping,
}

/// What to search.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Degrees, ascending, 1 to 40.
    pub degrees: Vec<usize>,
    /// The q of the hyperbolic norm, ascending, 0.1 to 1.
    pub qs: Vec<f64>,
    /// How terms are selected.
    pub method: Method,
    /// Which (degree, q) are tried.
    pub search: Search,
    /// Sets of more terms than this are left out.
    pub max_candidates: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            degrees: (1..=20).collect(),
            qs: vec![0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
            method: Method::LeastAngle,
            search: Search::Full,
            max_candidates: 100_000,
        }
    }
}

/// How one output was fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputFit {
    /// The output has no variance: the expansion is its mean, the errors are 0 by convention.
    pub constant: bool,
    /// Degree of the selected set (0 for a constant output).
    pub degree: usize,
    /// q of the selected set.
    pub q: f64,
    /// Terms of the selected set, the constant included.
    pub candidates: usize,
    /// Leave-one-out errors of the expansion, relative to the variance of the output.
    pub loo: LooError,
    /// The largest leverage of a point: near one, the expansion passes through it whatever its value.
    pub largest_leverage: f64,
    /// Condition number of the selected columns.
    pub condition: f64,
    /// Least corrected error of every (degree, q), degree by degree; NaN where not visited or above the cap.
    pub grid: Vec<f64>,
    /// Errors along the selected path: constant only, first term, second term, ...
    pub path: Vec<LooError>,
}

/// Expansions of all outputs and how they came about.
#[derive(Debug, Clone)]
pub struct Fit {
    /// All outputs in one expansion.
    pub expansion: Expansion,
    /// One entry per output.
    pub outputs: Vec<OutputFit>,
    /// Distinct points used.
    pub points: usize,
    /// Rows that repeated an earlier point.
    pub duplicates: usize,
    /// Cells of the (degree, q) grid left out because of `max_candidates`.
    pub capped: usize,
}

/// Fit all outputs of a design. `stop` is looked at between paths; setting it ends the call with `Interrupted`.
pub fn fit(design: &Design, options: &Options, stop: &AtomicBool) -> Result<Fit> {
    let candidates =
        Candidates::new(design.dimension(), &options.degrees, &options.qs, options.max_candidates)?;
    fit_candidates(design, &candidates, options, stop)
}

/// The same with the candidate sets given: folds and resampled designs share them.
pub(crate) fn fit_candidates(
    design: &Design,
    candidates: &Candidates,
    options: &Options,
    stop: &AtomicBool,
) -> Result<Fit> {
    if design.len() < FEWEST_POINTS {
        return Err(ChaosError::TooFewPoints {
            points: design.len(),
            needed: FEWEST_POINTS,
            method: "any expansion",
        });
    }
    let basis = Basis::new(candidates, design);
    let ordinary = match options.method {
        Method::Ordinary => Some(ordinary(&basis, candidates, design, stop)?),
        Method::LeastAngle | Method::MatchingPursuit => None,
    };
    let search = SearchOver { basis: &basis, candidates, options, ordinary: ordinary.as_ref(), stop };
    let fitted: Vec<(Vec<(u32, f64)>, OutputFit)> = (0..design.outputs())
        .into_par_iter()
        .map(|output| search.output(output, &design.output(output)))
        .collect::<Result<_>>()?;

    let (terms, outputs): (Vec<_>, Vec<_>) = fitted.into_iter().unzip();
    let expansion = Expansion::from_terms(design.families(), candidates, &terms);
    Ok(Fit { expansion, outputs, points: design.len(), duplicates: design.duplicates(), capped: candidates.capped() })
}

/// Terms with their coefficients, the leverage that stands out and the condition, by least squares.
pub(crate) fn refit(basis: &Basis, terms: &[u32], y: &[f64]) -> Option<(Vec<(u32, f64)>, f64, f64)> {
    let mut growing = Growing::new(basis);
    let mut column = vec![0.0; basis.stride()];
    for &term in terms {
        basis.column(term as usize, &mut column);
        if !growing.push(&column) {
            return None;
        }
    }
    let numbers = std::iter::once(0).chain(terms.iter().copied());
    let solved = numbers.zip(growing.solve(y)).collect();
    Some((solved, growing.largest_leverage(), growing.condition()))
}

struct SearchOver<'a> {
    basis: &'a Basis,
    candidates: &'a Candidates,
    options: &'a Options,
    ordinary: Option<&'a Ordinary>,
    stop: &'a AtomicBool,
}

impl SearchOver<'_> {
    fn output(&self, output: usize, values: &[f64]) -> Result<(Vec<(u32, f64)>, OutputFit)> {
        let start = Start::new(self.basis, values);
        let cells = self.candidates.degrees().len() * self.candidates.qs().len();
        let size: f64 = start.y.iter().map(|y| y * y).sum();
        if start.total <= CONSTANT * CONSTANT * size {
            let weight: f64 = self.basis.root_weights().iter().map(|w| w * w).sum();
            let mean = start.y.iter().zip(self.basis.root_weights()).map(|(y, w)| y * w).sum::<f64>() / weight;
            let nothing = LooError { plain: 0.0, corrected: 0.0 };
            let fit = OutputFit {
                constant: true,
                degree: 0,
                q: 1.0,
                candidates: 1,
                loo: nothing,
                largest_leverage: self.basis.unit().iter().map(|u| u * u).fold(0.0, f64::max),
                condition: 1.0,
                grid: vec![f64::NAN; cells],
                path: vec![nothing],
            };
            return Ok((vec![(0, mean)], fit));
        }

        let mut paths: Vec<Option<Path>> = vec![None; self.candidates.set_count()];
        if self.options.search == Search::Full {
            paths = (0..self.candidates.set_count())
                .into_par_iter()
                .map(|set| self.path(output, set, &start))
                .collect::<Result<_>>()?;
        } else {
            self.climb(output, &start, &mut paths)?;
        }

        let qs = self.candidates.qs().len();
        let mut grid = vec![f64::NAN; cells];
        let mut best: Option<(usize, &Path)> = None;
        for (cell, error) in grid.iter_mut().enumerate() {
            let set = self.candidates.cell(cell / qs, cell % qs);
            let Some((set, path)) = set.and_then(|set| Some((set, paths[set].as_ref()?))) else { continue };
            *error = path.error().corrected;
            let better = best.is_none_or(|(other, known)| {
                let (now, then) = (*error, known.error().corrected);
                now < then || (now == then && self.candidates.set(set).len() < self.candidates.set(self.candidates.cell(other / qs, other % qs).unwrap_or(set)).len())
            });
            if better {
                best = Some((cell, path));
            }
        }
        let Some((cell, path)) = best else {
            let smallest = (0..self.candidates.set_count()).map(|set| self.candidates.set(set).len()).min();
            return Err(ChaosError::TooFewPoints {
                points: self.basis.rows(),
                needed: smallest.unwrap_or(0) + 3,
                method: "ordinary least squares on the smallest set",
            });
        };
        let mut selected = path.selected().to_vec();
        selected.sort_unstable();
        // The same columns have just been orthogonalised in another order; should rounding now call one of them
        // dependent, the order of entry is known to work.
        let (terms, largest_leverage, condition) = refit(self.basis, &selected, &start.y)
            .or_else(|| refit(self.basis, path.selected(), &start.y))
            .unwrap_or_default();
        let set = self.candidates.cell(cell / qs, cell % qs).map_or(0, |set| self.candidates.set(set).len());
        let fit = OutputFit {
            constant: false,
            degree: self.candidates.degrees()[cell / qs],
            q: self.candidates.qs()[cell % qs],
            candidates: set + 1,
            loo: path.error(),
            largest_leverage,
            condition,
            path: path.errors.clone(),
            grid,
        };
        Ok((terms, fit))
    }

    /// The path over one set; `None` when ordinary least squares cannot take it.
    fn path(&self, output: usize, set: usize, start: &Start) -> Result<Option<Path>> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(ChaosError::Interrupted);
        }
        let members = self.candidates.set(set);
        Ok(match (self.options.method, self.ordinary) {
            (Method::LeastAngle, _) => Some(least_angle(self.basis, members, start)),
            (Method::MatchingPursuit, _) => Some(matching_pursuit(self.basis, members, start)),
            (Method::Ordinary, table) => table.and_then(|table| table.path(output, set, members)),
        })
    }

    /// Early stopping: degrees outside, q inside.
    fn climb(&self, output: usize, start: &Start, paths: &mut [Option<Path>]) -> Result<()> {
        let mut over_degrees = Rising::default();
        for degree in 0..self.candidates.degrees().len() {
            let mut over_q = Rising::default();
            let mut least = f64::INFINITY;
            for q in 0..self.candidates.qs().len() {
                let Some(set) = self.candidates.cell(degree, q) else { break };
                if paths[set].is_none() {
                    paths[set] = self.path(output, set, start)?;
                }
                let Some(path) = &paths[set] else { break };
                least = least.min(path.error().corrected);
                if over_q.twice(path.error().corrected) {
                    break;
                }
            }
            if least == f64::INFINITY || over_degrees.twice(least) {
                break;
            }
        }
        Ok(())
    }
}

/// Whether a sequence of errors has risen twice in a row.
#[derive(Default)]
struct Rising {
    last: Option<f64>,
    rises: usize,
}

impl Rising {
    fn twice(&mut self, error: f64) -> bool {
        match self.last {
            Some(last) if error > last => self.rises += 1,
            Some(last) if error == last => {}
            _ => self.rises = 0,
        }
        self.last = Some(error);
        self.rises >= 2
    }
}

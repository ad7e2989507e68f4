//! From a design to an expansion per output: the search over degree, q and terms.
//!
//! Every (degree, q) of the grid gives a candidate set, every set a path of nested term lists, and the list with the
//! least criterion wins (see the paths), the smaller set at a tie. The full search visits every set. Early
//! stopping goes through the degrees upwards, all q of a degree together, and ends when two degrees in a row were
//! worse than the best before them; it is cheaper and can miss a better expansion behind a hump. Which one was
//! done stays in the result: cells that were not visited hold NaN.
//!
//! Outputs, folds and parted paths are independent tasks whose results are collected in order: the same bits at any
//! number of threads.

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use crate::basis::Basis;
use crate::contest::Contest;
use crate::design::Design;
use crate::error::{ChaosError, Result};
use crate::expansion::Expansion;
use crate::least_angle::LeastAngle;
use crate::least_squares::{Growing, LooError};
use crate::matching_pursuit::MatchingPursuit;
use crate::ordinary::{Ordinary, ordinary};
use crate::path::{Path, Start, paths};
use crate::truncation::Candidates;

/// An output whose spread is below this share of its size is constant.
const CONSTANT: f64 = 1e-12;
/// Where least-angle regression leaves a larger error than this, matching pursuit is not tried: on rough responses it
/// costs half as much again and wins and loses by as much.
const ROUGH: f64 = 1e-2;
/// Fewest distinct points any regression takes: constant, one term, two points for the error.
const FEWEST_POINTS: usize = 4;

/// How terms are selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Least-angle regression and, unless the response is rough, matching pursuit; output by output the one for which
    /// the product of cross-validated error and criterion is less.
    Best,
    /// Hybrid least-angle regression.
    LeastAngle,
    /// Orthogonal matching pursuit, over sets of at most ten times as many terms as points.
    MatchingPursuit,
    /// All terms of the set by ordinary least squares.
    Ordinary,
}

/// Which (degree, q) are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// All of them.
    Full,
    /// All q of each degree, until two degrees in a row were worse than the best before them.
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
            method: Method::Best,
            search: Search::EarlyStopping,
            max_candidates: 100_000,
        }
    }
}

/// How one output was fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputFit {
    /// The output has no variance: the expansion is its mean, the errors are 0 by convention.
    pub constant: bool,
    /// The method that gave the expansion; never `Best`. A constant output has its mean by ordinary least squares.
    pub method: Method,
    /// Degree of the selected set (0 for a constant output).
    pub degree: usize,
    /// q of the selected set.
    pub q: f64,
    /// Terms of the selected set, the constant included.
    pub candidates: usize,
    /// Leave-one-out errors of the expansion, relative to the variance of the output.
    pub loo: LooError,
    /// Cross-validated error of the selected set, its terms selected anew in each fold; NaN unless two methods were
    /// compared by it.
    pub cross_validation: f64,
    /// The largest leverage of a point: near one, the expansion passes through it whatever its value.
    pub largest_leverage: f64,
    /// Condition number of the selected columns.
    pub condition: f64,
    /// Corrected error of every (degree, q), degree by degree; NaN where not visited or above the cap.
    pub grid: Vec<f64>,
    /// Errors along the selected path: constant only, first term, second term, ... For ordinary least squares the
    /// constant and the whole set.
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

/// Fit all outputs of a design. `stop` is looked at between terms; setting it ends the call with `Interrupted`.
pub fn fit(design: &Design, options: &Options, stop: &AtomicBool) -> Result<Fit> {
    let candidates = Candidates::new(
        design.dimension(),
        &options.degrees,
        &options.qs,
        options.max_candidates,
    )?;
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
        Method::Best | Method::LeastAngle | Method::MatchingPursuit => None,
    };
    let contest = match options.method {
        Method::Best => Contest::new(candidates, design),
        Method::Ordinary | Method::LeastAngle | Method::MatchingPursuit => None,
    };
    let search = Searcher {
        basis: &basis,
        candidates,
        options,
        ordinary,
        contest,
        stop,
    };
    let fitted: Vec<(Vec<(u32, f64)>, OutputFit)> = (0..design.outputs())
        .into_par_iter()
        .map(|output| search.output(output, &design.output(output)))
        .collect::<Result<_>>()?;

    let (terms, outputs): (Vec<_>, Vec<_>) = fitted.into_iter().unzip();
    let expansion = Expansion::from_terms(design.families(), candidates, &terms);
    Ok(Fit {
        expansion,
        outputs,
        points: design.len(),
        duplicates: design.duplicates(),
        capped: candidates.capped(),
    })
}

/// Terms with their coefficients by least squares, and the factorisation; `None` when a term depends on others.
pub(crate) fn refit(basis: &Basis, terms: &[u32], y: &[f64]) -> Option<(Vec<(u32, f64)>, Growing)> {
    let mut growing = Growing::new(basis);
    let mut column = vec![0.0; basis.stride()];
    for &term in terms {
        basis.column(term as usize, &mut column);
        if !growing.push(&column) {
            return None;
        }
    }
    let numbers = std::iter::once(0).chain(terms.iter().copied());
    Some((numbers.zip(growing.solve(y)).collect(), growing))
}

/// Paths over candidate sets by one of the two selecting methods.
pub(crate) fn select(
    method: Method,
    basis: &Basis,
    candidates: &Candidates,
    sets: &[usize],
    start: &Start,
    points: usize,
    stop: &AtomicBool,
) -> Result<Vec<Option<Path>>> {
    match method {
        Method::MatchingPursuit => {
            let walk = |keep: &[bool]| MatchingPursuit::new(basis, start, keep);
            paths(walk, basis, candidates, sets, start, points, stop)
        }
        _ => paths(
            |keep: &[bool]| LeastAngle::new(basis, start, keep),
            basis,
            candidates,
            sets,
            start,
            points,
            stop,
        ),
    }
}

struct Searcher<'a> {
    basis: &'a Basis,
    candidates: &'a Candidates,
    options: &'a Options,
    ordinary: Option<Ordinary>,
    contest: Option<Contest>,
    stop: &'a AtomicBool,
}

/// What one method found for one output.
struct Found {
    method: Method,
    grid: Vec<f64>,
    cell: usize,
    set: usize,
    path: Path,
}

impl Searcher<'_> {
    fn output(&self, output: usize, values: &[f64]) -> Result<(Vec<(u32, f64)>, OutputFit)> {
        let start = match self.options.method {
            Method::Ordinary => Start::without_correlations(self.basis, values),
            _ => Start::new(self.basis, values),
        };
        let size: f64 = start.y.iter().map(|y| y * y).sum();
        if start.total <= CONSTANT * CONSTANT * size {
            return Ok(self.constant(&start));
        }
        let qs = self.candidates.qs().len();
        let mut found = match self.options.method {
            Method::Best => {
                let angle = self.search(Method::LeastAngle, output, &start)?;
                if angle.path.error().corrected > ROUGH {
                    vec![angle]
                } else {
                    let pursuit = self.search(Method::MatchingPursuit, output, &start)?;
                    vec![angle, pursuit]
                }
            }
            method => vec![self.search(method, output, &start)?],
        };
        let mut cross_validation = f64::NAN;
        if let (Some(contest), [one, other]) = (&self.contest, &found[..]) {
            let error = |found: &Found| {
                contest
                    .error(found.method, self.candidates, found.set, output, self.stop)
                    .map(|sum| sum / start.total)
            };
            // Folds see too few points where the error falls steeply with their number, the criterion has seen them all.
            let (first, second) = (error(one)?, error(other)?);
            if second * other.path.criterion() < first * one.path.criterion() {
                cross_validation = second;
                found.swap(0, 1);
            } else {
                cross_validation = first;
            }
        }
        let Found {
            method,
            grid,
            cell,
            set,
            path,
        } = found.swap_remove(0);
        let mut selected = path.selected().to_vec();
        selected.sort_unstable();
        // The same columns have just been orthogonalised in another order; should rounding now call one of them
        // dependent, the order of entry is known to work.
        let refitted = refit(self.basis, &selected, &start.y)
            .or_else(|| refit(self.basis, path.selected(), &start.y));
        let (terms, growing) = refitted.unwrap_or_else(|| (vec![], Growing::new(self.basis)));
        let fit = OutputFit {
            constant: false,
            method,
            degree: self.candidates.degrees()[cell / qs],
            q: self.candidates.qs()[cell % qs],
            candidates: self.candidates.set(set).len() + 1,
            loo: path.error(),
            cross_validation,
            largest_leverage: growing.largest_leverage(),
            condition: growing.condition(),
            path: path.errors,
            grid,
        };
        Ok((terms, fit))
    }

    /// The expansion of an output without variance.
    fn constant(&self, start: &Start) -> (Vec<(u32, f64)>, OutputFit) {
        let growing = Growing::new(self.basis);
        let nothing = LooError {
            plain: 0.0,
            corrected: 0.0,
        };
        let fit = OutputFit {
            constant: true,
            method: Method::Ordinary,
            degree: 0,
            q: 1.0,
            candidates: 1,
            loo: nothing,
            cross_validation: f64::NAN,
            largest_leverage: growing.largest_leverage(),
            condition: 1.0,
            grid: vec![f64::NAN; self.candidates.degrees().len() * self.candidates.qs().len()],
            path: vec![nothing],
        };
        (vec![(0, growing.solve(&start.y)[0])], fit)
    }

    /// The best set and path of one method.
    fn search(&self, method: Method, output: usize, start: &Start) -> Result<Found> {
        let mut paths: Vec<Option<Path>> = vec![None; self.candidates.set_count()];
        match (&self.ordinary, self.options.search) {
            (Some(table), _) => {
                for (set, path) in paths.iter_mut().enumerate() {
                    *path = table.path(output, set, self.candidates.set(set));
                }
            }
            (None, Search::Full) => {
                let sets = self.sets(0..self.candidates.degrees().len());
                let points = self.basis.rows();
                let walked = select(
                    method,
                    self.basis,
                    self.candidates,
                    &sets,
                    start,
                    points,
                    self.stop,
                )?;
                for (set, path) in sets.into_iter().zip(walked) {
                    paths[set] = path;
                }
            }
            (None, Search::EarlyStopping) => self.climb(method, start, &mut paths)?,
        }

        let qs = self.candidates.qs().len();
        let mut grid = vec![f64::NAN; self.candidates.degrees().len() * qs];
        let mut best: Option<(usize, usize, f64)> = None;
        for (cell, error) in grid.iter_mut().enumerate() {
            let Some(set) = self.candidates.cell(cell / qs, cell % qs) else {
                continue;
            };
            let Some(path) = &paths[set] else { continue };
            *error = path.error().corrected;
            let smaller =
                |other: usize| self.candidates.set(set).len() < self.candidates.set(other).len();
            if best.is_none_or(|(_, other, least)| {
                path.criterion() < least || (path.criterion() == least && smaller(other))
            }) {
                best = Some((cell, set, path.criterion()));
            }
        }
        let Some((cell, set, _)) = best else {
            let smallest = (0..self.candidates.set_count())
                .map(|set| self.candidates.set(set).len())
                .min();
            return Err(ChaosError::TooFewPoints {
                points: self.basis.rows(),
                needed: smallest.unwrap_or(0) + 2,
                method: "ordinary least squares on the smallest set",
            });
        };
        let Some(path) = paths.swap_remove(set) else {
            unreachable!("the best set has a path")
        };
        Ok(Found {
            method,
            grid,
            cell,
            set,
            path,
        })
    }

    /// The sets of some degrees, each once.
    fn sets(&self, degrees: std::ops::Range<usize>) -> Vec<usize> {
        let qs = self.candidates.qs().len();
        let mut sets: Vec<usize> = degrees
            .flat_map(|degree| (0..qs).filter_map(move |q| self.candidates.cell(degree, q)))
            .collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// Early stopping: degree by degree.
    fn climb(&self, method: Method, start: &Start, paths: &mut [Option<Path>]) -> Result<()> {
        let mut best = f64::INFINITY;
        let mut worse = 0;
        for degree in 0..self.candidates.degrees().len() {
            let sets = self.sets(degree..degree + 1);
            let fresh: Vec<usize> = sets
                .iter()
                .copied()
                .filter(|&set| paths[set].is_none())
                .collect();
            let walked = select(
                method,
                self.basis,
                self.candidates,
                &fresh,
                start,
                self.basis.rows(),
                self.stop,
            )?;
            for (set, path) in fresh.into_iter().zip(walked) {
                paths[set] = path;
            }
            let least = sets
                .iter()
                .filter_map(|&set| paths[set].as_ref().map(Path::criterion))
                .fold(f64::INFINITY, f64::min);
            if least == f64::INFINITY {
                break;
            }
            // Degrees that change nothing do not count: an even function gains nothing from odd ones.
            if least < best {
                (best, worse) = (least, 0);
            } else if least > best {
                worse += 1;
            }
            if worse == 2 {
                break;
            }
        }
        Ok(())
    }
}

//! The table of solvers and what they share: settings, state, report.

use pulp::Arch;

use crate::apgd::{self, Extrapolated};
use crate::block_matrix::{Lanes, Vector3};
use crate::error::{self, Error};
use crate::newton::{self, Newton};
use crate::parallel;
use crate::problem::Problem;
use crate::residual::{self, Residuals};
use crate::{accelerated, auto, bodies, interior, nsgs};

/// A way to solve a [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Solver {
    /// Gauss-Seidel sweeps with momentum.
    Accelerated,
    /// Projected gradient with momentum.
    Apgd,
    /// Accelerated sweeps, and Newton where they stall.
    Auto,
    /// Interior points followed round every turn.
    Interior,
    /// Semismooth Newton with a sparse factorisation.
    Newton,
    /// Gauss-Seidel sweeps.
    Nsgs,
}

impl Solver {
    /// Every solver by the name users type.
    pub const TABLE: [(&'static str, Self); 6] = [
        ("accelerated", Self::Accelerated),
        ("apgd", Self::Apgd),
        ("auto", Self::Auto),
        ("interior", Self::Interior),
        ("newton", Self::Newton),
        ("nsgs", Self::Nsgs),
    ];

    /// The solver of that name.
    ///
    /// # Errors
    /// When the table has no such name.
    pub fn from_name(name: &str) -> Result<Self, Error> {
        error::named("solver", &Self::TABLE, name)
    }

    /// Solve `problem` from the impulses `r` (a warm start, or zeros), leaving in `r` the best impulses met
    /// and in `u` their velocities W r + q computed afresh.
    ///
    /// The outcome depends on nothing but the arguments: `workspace` lends storage only.
    ///
    /// # Errors
    /// Bad lengths, numbers or tolerance. Failing to meet the tolerance is no error: see [`Report::converged`].
    pub fn solve(
        self,
        problem: &Problem,
        settings: &Settings,
        r: &mut [Vector3],
        u: &mut [Vector3],
        workspace: &mut Workspace,
    ) -> Result<Report, Error> {
        check(settings, problem.contacts(), r, u)?;
        workspace.iteration.start(problem, r);
        workspace.proceed(self, problem, settings);
        Ok(workspace.iteration.finish(problem, settings, r, u))
    }
}

/// Refuse what no solver could start from.
pub(crate) fn check(
    settings: &Settings,
    contacts: usize,
    r: &[Vector3],
    u: &[Vector3],
) -> Result<(), Error> {
    if !(settings.tolerance > 0.0 && settings.tolerance.is_finite()) {
        return Err(Error::Tolerance(settings.tolerance));
    }
    for (name, found) in [("r", r.len()), ("u", u.len())] {
        if found != contacts {
            return Err(Error::Length {
                name,
                found,
                expected: contacts,
            });
        }
    }
    parallel::first_fault(contacts, |contact| {
        match r[contact].iter().find(|x| !x.is_finite()) {
            None => Ok(()),
            Some(&value) => Err(Error::NotFinite {
                name: "r",
                contact,
                value,
            }),
        }
    })
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Bound of the residual, of [`Residuals::energy`] unless the problem is judged in another norm.
    pub tolerance: f64,
    /// Most sweeps of `nsgs`, `accelerated` and `auto`, or gradient steps of `apgd`. Newton begins with five more.
    pub max_iterations: usize,
    /// Most factorisations of `newton` and `interior`, and of `auto` once it has turned to them, which on large problems makes
    /// fewer: see `auto`.
    pub max_factorisations: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            max_iterations: 50_000,
            max_factorisations: 4_000,
        }
    }
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// Whether the tolerance was met by the impulses returned.
    pub converged: bool,
    /// Sweeps or gradient steps taken.
    pub iterations: usize,
    /// Factorisations made.
    pub factorisations: usize,
    /// Residuals of the impulses returned.
    pub residuals: Residuals,
}

/// Storage lent to the solvers, kept from one step to the next.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    pub(crate) iteration: Iteration,
    extrapolated: Extrapolated,
    pub(crate) newton: Newton,
    pub(crate) curve: interior::Curve,
    pub(crate) bodies: bodies::Storage,
}

impl Workspace {
    /// Go on from the iterate, unless it meets the tolerance.
    pub(crate) fn proceed(&mut self, solver: Solver, problem: &Problem, settings: &Settings) {
        let Self {
            iteration: state,
            extrapolated,
            newton,
            curve,
            ..
        } = self;
        let residual = residual::judged(problem, &state.r, &state.u);
        if state.judge(problem, settings, residual) {
            return;
        }
        match solver {
            Solver::Accelerated => accelerated::solve(problem, settings, state, |_| true),
            Solver::Apgd => apgd::solve(problem, settings, state, extrapolated),
            Solver::Auto => auto::solve(problem, settings, state, newton, curve),
            Solver::Interior => {
                interior::solve(problem, settings, state, curve, &mut newton.factors);
            }
            Solver::Newton => newton::solve(problem, settings, state, newton),
            Solver::Nsgs => nsgs::solve(problem, settings, state),
        }
    }
}

/// The iterate, the one before, the best so far, and where it all began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Iteration {
    pub(crate) r: Vec<Lanes>,
    pub(crate) u: Vec<Lanes>,
    pub(crate) previous_r: Vec<Lanes>,
    pub(crate) previous_u: Vec<Lanes>,
    pub(crate) best_r: Vec<Lanes>,
    pub(crate) start_r: Vec<Lanes>,
    pub(crate) best: f64,
    pub(crate) sweeps: usize,
    pub(crate) factorisations: usize,
    /// A contact that was far from its law: see [`residual::exceeds`].
    witness: usize,
}

impl Iteration {
    /// Begin at the impulses `r`.
    pub(crate) fn start(&mut self, problem: &Problem, r: &[Vector3]) {
        // Where nothing moves, nothing has to be stopped; and no residual could be relative to q.
        let scale = if problem.energy_scale == 0.0 {
            0.0
        } else {
            1.0
        };
        self.r.clear();
        self.r
            .extend(r.iter().map(|r| Lanes::from(r.map(|r| scale * r))));
        self.u.clone_from(&self.r);
        self.best_r.clone_from(&self.r);
        self.best = f64::INFINITY;
        self.sweeps = 0;
        self.factorisations = 0;
        self.witness = 0;
        self.refresh(problem);
    }

    /// End: the best impulses met, their velocities computed afresh, and what they are worth.
    pub(crate) fn finish(
        &mut self,
        problem: &Problem,
        settings: &Settings,
        r: &mut [Vector3],
        u: &mut [Vector3],
    ) -> Report {
        self.go_back(problem);
        for (given, found) in [(r, &self.r), (u, &self.u)] {
            for (given, found) in given.iter_mut().zip(found) {
                *given = **found;
            }
        }
        let residuals = Residuals::of(problem, &self.r, &self.u);
        Report {
            converged: residuals.in_norm(problem.norm) <= settings.tolerance,
            iterations: self.sweeps,
            factorisations: self.factorisations,
            residuals,
        }
    }

    /// Go on from the best impulses met.
    pub(crate) fn go_back(&mut self, problem: &Problem) {
        self.r.clone_from(&self.best_r);
        self.refresh(problem);
    }

    /// u = W r + q, free of the rounding that sweeps collect; compiled for the processor at hand.
    pub(crate) fn refresh(&mut self, problem: &Problem) {
        let Self { r, u, .. } = self;
        Arch::new().dispatch(
            #[inline(always)]
            || problem.matrix.velocity(r, &problem.free_velocity, u),
        );
    }

    /// The residual after every so many sweeps and after the last; else only where it meets the tolerance, infinity elsewhere.
    #[inline(always)]
    pub(crate) fn residual(&mut self, problem: &Problem, settings: &Settings, every: usize) -> f64 {
        let always = self.sweeps.is_multiple_of(every) || self.sweeps >= settings.max_iterations;
        if always || !self.exceeds(problem, settings) {
            residual::judged(problem, &self.r, &self.u)
        } else {
            f64::INFINITY
        }
    }

    // Not inlined: it is short, and the sweeps around it are faster without it.
    #[inline(never)]
    fn exceeds(&mut self, problem: &Problem, settings: &Settings) -> bool {
        let Self { r, u, witness, .. } = self;
        residual::exceeds(settings.tolerance, witness, problem, r, |i| *u[i])
    }

    /// Keep the iterate if it is the best so far; whether it meets the tolerance, with u computed
    /// afresh and a bound of its rounding.
    pub(crate) fn judge(&mut self, problem: &Problem, settings: &Settings, residual: f64) -> bool {
        let mut residual = residual;
        if residual <= settings.tolerance {
            self.refresh(problem);
            residual = Residuals::of(problem, &self.r, &self.u).in_norm(problem.norm);
        }
        if residual < self.best {
            self.best = residual;
            self.best_r.clone_from(&self.r);
        }
        residual <= settings.tolerance
    }
}

//! Accelerated sweeps while they promise to arrive, then Newton: the choice when nothing is known of a problem.
//!
//! Sweeps are cheap and nearly always enough; where they stall, more of them do not help, and Newton, which
//! costs a factorisation a step, does. It starts from the impulses given, not from where the sweeps stalled:
//! those lie on the edge of many cones at once, where Newton's derivatives tell least. Where it fails too,
//! interior points are followed with the factorisations left, and then the sweeps left are spent on the best
//! impulses met.

use crate::block_matrix::{Lanes, Vector3};
use crate::bodies::Bodies;
use crate::error::Error;
use crate::newton::Newton;
use crate::problem::Problem;
use crate::solver::{Iteration, Report, Settings, Solver, Workspace};
use crate::{accelerated, interior, newton};

/// Sweeps between two looks at the progress made.
const INTERVAL: usize = 50;
/// Sweeps still to go, at the pace of the last interval, that are worth less than turning to Newton.
const HORIZON: f64 = 500.0;
/// Newton steps worth taking: of a thousand random piles they leave one, which interior points then mostly solve.
const NEWTON: usize = 1_000;

pub(crate) fn solve(
    problem: &Problem,
    settings: &Settings,
    state: &mut Iteration,
    newton: &mut Newton,
) {
    state.start_r.clone_from(&state.r);
    let mut before = f64::INFINITY;
    accelerated::solve(problem, settings, state, |state| {
        if settings.max_factorisations == 0
            || state.sweeps == 0
            || !state.sweeps.is_multiple_of(INTERVAL)
        {
            return true;
        }
        let pace = (before / state.best).ln() / INTERVAL as f64;
        before = state.best;
        (state.best / settings.tolerance).ln() <= HORIZON * pace
    });
    if state.best > settings.tolerance {
        factorise(problem, settings, state, newton);
    }
}

/// The same for bodies with many contacts each: sweeps without W, and where they stall, with W, whose restarts are by the
/// residual, for the sweeps left. In walls these arrive more often than Newton, a factorisation costing some thirty.
pub(crate) fn solve_bodies(
    bodies: &Bodies<'_>,
    settings: &Settings,
    r: &mut [Vector3],
    u: &mut [Vector3],
    workspace: &mut Workspace,
) -> Result<Report, Error> {
    let storage = &mut workspace.bodies;
    storage.start.clear();
    storage.start.extend_from_slice(r);
    let form = &mut storage.body_form;
    let swept = form.solve(bodies.masses, bodies.contacts, settings, r, u)?;
    if swept.converged {
        return Ok(swept);
    }
    storage.assemble(bodies)?;
    let problem = std::mem::take(&mut storage.problem);
    workspace.iteration.start(&problem, r);
    workspace.iteration.sweeps = swept.iterations;
    workspace.proceed(Solver::Accelerated, &problem, settings);
    let Workspace {
        iteration: state,
        newton,
        bodies: storage,
        ..
    } = workspace;
    if state.best > settings.tolerance {
        state.start_r.clear();
        let start = storage.start.iter().copied();
        state.start_r.extend(start.map(Lanes::from));
        factorise(&problem, settings, state, newton);
    }
    let report = state.finish(&problem, settings, r, u);
    storage.problem = problem;
    Ok(report)
}

/// Where sweeps stalled: Newton and interior points, from where it all began.
pub(crate) fn factorise(
    problem: &Problem,
    settings: &Settings,
    state: &mut Iteration,
    newton: &mut Newton,
) {
    if settings.max_factorisations == 0 {
        return;
    }
    state.r.clone_from(&state.start_r);
    state.refresh(problem);
    let first = Settings {
        max_factorisations: settings.max_factorisations.min(NEWTON),
        ..*settings
    };
    newton::solve(problem, &first, state, newton);
    if state.best > settings.tolerance {
        interior::solve(problem, settings, state);
    }
    if state.best > settings.tolerance {
        state.r.clone_from(&state.best_r);
        state.refresh(problem);
        accelerated::solve(problem, settings, state, |_| true);
    }
}

//! The policy where nothing is known of a problem, and the only one: accelerated sweeps while they promise to arrive, then
//! Newton, then interior points, then the sweeps that are left.
//!
//! Sweeps are cheap and nearly always enough; where they stall, more of them do not help, and Newton, which
//! costs a factorisation a step, does. It starts from the impulses given, not from where the sweeps stalled:
//! those lie on the edge of many cones at once, where Newton's derivatives tell least. Where it fails too,
//! interior points are followed with the factorisations left, and then the sweeps left are spent on the best
//! impulses met: half with momentum, and half without, which jammed walls creep to rest by when all else fails.
//!
//! Bodies with many contacts each are first swept without W (`bodies`); where that promises not to arrive, Newton steps without W
//! (`body_newton`) are tried, which bring walls and towers to rest. Where these fail W is assembled, and the sweeps left
//! are taken with it, whose restarts are by the residual; then Newton has its turn again, without W, and interior points. Of
//! large problems W is never assembled.
//!
//! All of it stays within the settings: sweeps of all stages count together, and so do factorisations, of which no more
//! are made than [`WORK`] pays for: a factor of a thousand jammed contacts costs as much as some hundred sweeps, and what
//! a few hundred of them do not solve, thousands did not either. What is returned is the best that any stage met; of
//! sweeps without W, which compute residuals only near the end, the last counts.

use crate::accelerated;
use crate::block_matrix::{Lanes, Vector3};
use crate::bodies::Bodies;
use crate::body_form::BodyForm;
use crate::error::Error;
use crate::interior::{self, Curve};
use crate::newton::{self, Newton};
use crate::nsgs;
use crate::problem::Problem;
use crate::residual;
use crate::slabs::LARGE;
use crate::solver::{Iteration, Report, Settings, Solver, Workspace};

/// Sweeps between two looks at the progress made.
const INTERVAL: usize = 50;
/// Sweeps still to go, at the pace of the last interval, that are worth less than turning to Newton.
const HORIZON: f64 = 500.0;
/// Newton steps worth taking: of a thousand random piles they leave one, which interior points then mostly solve.
const NEWTON: usize = 1_000;
/// Products of blocks in all factorisations of one solve: some 0.3 s, whatever the size of the problem.
const WORK: usize = 40_000_000;

/// The same for sweeps without W, whose Newton steps cost less.
const BODIES_HORIZON: f64 = 200.0;
/// Newton steps without W before sweeps with it: where they are to arrive soon, these have.
const FIRST: usize = 20;

/// Solve from the iterate with W.
pub(crate) fn solve(
    problem: &Problem,
    settings: &Settings,
    state: &mut Iteration,
    newton: &mut Newton,
    curve: &mut Curve,
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
        factorise(problem, settings, state, newton, curve, true);
    }
}

/// Solve for bodies, beginning without W.
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
    let (form, newton) = (&mut storage.body_form, &mut storage.newton);
    form.begin(bodies.masses, bodies.contacts, r)?;
    let few = |most: usize| Settings {
        max_factorisations: settings.max_factorisations.min(most),
        ..*settings
    };
    let sweeps = form.iterate(settings, BODIES_HORIZON);
    let (mut swept, mut made) = (form.end(settings, sweeps, r, u), 0);
    if !swept.converged {
        form.go_to(&storage.start);
        let (best, steps) = form.step_by_newton(newton, &few(FIRST), WORK);
        made = steps;
        if best < swept.residuals.energy {
            swept = form.end(settings, sweeps, r, u);
        }
    }
    swept.factorisations = made;
    if swept.converged {
        return Ok(swept);
    }
    if bodies.contacts.len() >= LARGE {
        return Ok(sweep_on(form, settings, swept, r, u));
    }
    storage.assemble(bodies)?;
    let problem = std::mem::take(&mut storage.problem);
    // What it all began from may be better than where the sweeps stalled.
    let state = &mut workspace.iteration;
    state.start(&problem, &storage.start);
    let residual = residual::judged(&problem, &state.r, &state.u);
    state.judge(&problem, settings, residual);
    for (own, r) in state.r.iter_mut().zip(r.iter()) {
        **own = *r;
    }
    state.refresh(&problem);
    state.sweeps = swept.iterations;
    state.factorisations = swept.factorisations;
    workspace.proceed(Solver::Accelerated, &problem, settings);
    let Workspace {
        iteration: state,
        newton,
        curve,
        bodies: storage,
        ..
    } = workspace;
    if state.best > settings.tolerance && made > 0 {
        let (form, newton) = (&mut storage.body_form, &mut storage.newton);
        form.go_to(&storage.start);
        let half = few((settings.max_factorisations - made) / 2);
        state.factorisations += form.step_by_newton(newton, &half, WORK).1;
        form.end(settings, 0, r, u);
        for (own, r) in state.r.iter_mut().zip(r.iter()) {
            **own = *r;
        }
        state.refresh(&problem);
        let residual = residual::judged(&problem, &state.r, &state.u);
        state.judge(&problem, settings, residual);
    }
    if state.best > settings.tolerance {
        state.start_r.clear();
        let start = storage.start.iter().copied();
        state.start_r.extend(start.map(Lanes::from));
        // Newton has had its turn without W, unless there are couples.
        factorise(&problem, settings, state, newton, curve, made == 0);
    }
    let report = state.finish(&problem, settings, r, u);
    storage.problem = problem;
    Ok(report)
}

/// The sweeps left without W, which of many contacts would fill the memory; the better of where they begin and end.
fn sweep_on(
    form: &mut BodyForm,
    settings: &Settings,
    swept: Report,
    r: &mut [Vector3],
    u: &mut [Vector3],
) -> Report {
    let left = Settings {
        max_iterations: settings.max_iterations.saturating_sub(swept.iterations),
        ..*settings
    };
    let before = (r.to_vec(), u.to_vec());
    form.go_to(r);
    let sweeps = swept.iterations + form.iterate(&left, f64::INFINITY);
    let mut last = form.end(settings, sweeps, r, u);
    if last.residuals.energy > swept.residuals.energy {
        r.copy_from_slice(&before.0);
        u.copy_from_slice(&before.1);
        last = Report {
            iterations: sweeps,
            ..swept
        };
    }
    last.factorisations = swept.factorisations;
    last
}

/// Where sweeps stalled: Newton, unless it has been tried, and interior points from where it all began, then the sweeps left from
/// the best met.
fn factorise(
    problem: &Problem,
    settings: &Settings,
    state: &mut Iteration,
    newton: &mut Newton,
    curve: &mut Curve,
    untried: bool,
) {
    if settings.max_factorisations == 0 {
        return;
    }
    newton.factors.analyse(&problem.matrix);
    let paid = (WORK / newton.factors.products().max(1)).max(4);
    let most = settings.max_factorisations.min(paid);
    let factorisations = |most: usize| Settings {
        max_factorisations: most,
        ..*settings
    };
    state.r.clone_from(&state.start_r);
    state.refresh(problem);
    // Few that are asked for are Newton's; of what the work pays for, half.
    let asked = most == settings.max_factorisations;
    let share = if asked { most } else { most / 2 };
    if untried {
        newton::solve(problem, &factorisations(share.min(NEWTON)), state, newton);
    }
    if state.best > settings.tolerance {
        let (limit, factors) = (factorisations(most - most / 8), &mut newton.factors);
        interior::solve(problem, &limit, state, curve, factors);
    }
    let half = settings.max_iterations.saturating_sub(state.sweeps) / 2;
    let methods: [(Method, usize); 2] = [(accelerated_on, half), (nsgs::solve, 0)];
    for (method, kept) in methods {
        if state.best > settings.tolerance {
            let limit = Settings {
                max_iterations: settings.max_iterations - kept,
                ..*settings
            };
            state.go_back(problem);
            method(problem, &limit, state);
        }
    }
    if state.best > settings.tolerance {
        state.go_back(problem);
        newton::solve(problem, &factorisations(most), state, newton);
    }
}

type Method = fn(&Problem, &Settings, &mut Iteration);

/// Accelerated sweeps to the end.
fn accelerated_on(problem: &Problem, settings: &Settings, state: &mut Iteration) {
    accelerated::solve(problem, settings, state, |_| true);
}

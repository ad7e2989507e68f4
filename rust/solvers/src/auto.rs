//! The policy where nothing is known of a problem, and the only one: accelerated sweeps while they promise to arrive, then
//! Newton, then interior points, then the sweeps that are left.
//!
//! Sweeps are cheap and nearly always enough; where they stall, more of them do not help, and Newton, which
//! costs a factorisation a step, does. It starts from the impulses given, not from where the sweeps stalled:
//! those lie on the edge of many cones at once, where Newton's derivatives tell least. Where it fails too,
//! interior points are followed with the factorisations left, and then the sweeps left are spent on the best
//! impulses met: half or more with momentum, the rest without, which jammed walls creep to rest by when all else fails.
//! Those with momentum are not interrupted: stacks whose contacts slip next to not at all need some 30 000 on end, and
//! whoever goes back to the best impulses in between, for Newton steps or others, stays with a false solution.
//!
//! Bodies with many contacts each are first swept without W (`bodies`). Problems of middling size are swept so to the end, with further
//! passes over the few contacts that still move and Newton steps for those that jam (`body_form::focused`). Where sweeps of others
//! stall, or only a few contacts still move, W is assembled, and the sweeps left are taken with it, whose restarts are by the
//! residual, with further passes over those few (`focus`): in walls these arrive more often than Newton. In between,
//! Newton steps without W (`body_newton`) are tried on large problems, on which those with W cost too much: they bring walls to rest.
//! For walls of thousands of contacts W is never assembled: they may take more of those steps, and sweeps go on without it.
//!
//! All of it stays within the settings: sweeps of all stages count together, and so do factorisations, of which no more
//! are made than [`WORK`] pays for: a factor of a thousand jammed contacts costs as much as some hundred sweeps, and what
//! a few hundred of them do not solve, thousands did not either. Of sweeps, more than [`SWEEPS`] are made
//! after them only where [`SWEEPING`] pays for them. What is returned is the best that any stage met; of
//! sweeps without W, which compute residuals only near the end, the last counts.

use crate::accelerated;
use crate::block_matrix::{Lanes, Vector3};
use crate::bodies::{Bodies, Storage};
use crate::body_form::{Order, PATIENCE};
use crate::error::Error;
use crate::interior::{self, Curve};
use crate::newton::{self, Newton};
use crate::nsgs;
use crate::problem::Problem;
use crate::residual;
use crate::slabs::LARGE;
use crate::solver::{Iteration, Report, Settings, Workspace};

/// Sweeps between two looks at the progress made.
const INTERVAL: usize = 50;
/// Sweeps still to go, at the pace of the last interval, that are worth less than turning to Newton.
const HORIZON: f64 = 500.0;
/// Newton steps worth taking: of a thousand random piles they leave one, which interior points then mostly solve.
const NEWTON: usize = 1_000;
/// Factorisations too few to be shared: interior points take some forty at least, and mostly less than 300.
const FEW: usize = 100;
/// Products of blocks in all factorisations of one solve: some 0.3 s, whatever the size of the problem.
const WORK: usize = 40_000_000;

/// Products of a block with an impulse in the sweeps that follow: some 0.3 s, whatever the size of the problem.
const SWEEPING: usize = 138_000_000;
/// Sweeps that are always paid for.
const SWEEPS: usize = 10_000;
/// Most of the sweeps that are made without momentum: half of them, up to so many.
const PLAIN: usize = 2_500;

/// Newton steps without W that large problems take where sweeps stall: walls at rest need ten to forty.
const LARGE_STEPS: usize = 45;
/// Products of blocks that these may take for each contact and sweep that the settings allow: so long as they take at most a dozen times
/// as long as those sweeps, a wall that they bring to rest soon repays them.
const VISIT: usize = 48;
/// Fewest factorisations that are worth the analysis of W.
const LEAST: usize = 4;

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
        factorise(problem, settings, state, newton, curve);
    }
}

/// How the contacts of bodies are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Without W until sweeps stall, with further passes over the contacts that still move.
    Focused,
    /// Without W until sweeps stall, or only few contacts still move.
    Swept,
    /// Never with W, which is so large that sweeps and Newton steps with it cost several times as much as those without.
    WithoutW,
}

/// Solve for bodies, beginning without W.
pub(crate) fn solve_bodies(
    bodies: &Bodies<'_>,
    way: Way,
    settings: &Settings,
    r: &mut [Vector3],
    u: &mut [Vector3],
    workspace: &mut Workspace,
) -> Result<Report, Error> {
    let storage = &mut workspace.bodies;
    storage.start.clear();
    storage.start.extend_from_slice(r);
    let swept = sweep_bodies(bodies, way, settings, r, u, storage)?;
    if let Some(report) = swept {
        // W is for what comes next: sweeps that are left, or factorisations.
        let spent = report.iterations >= settings.max_iterations
            && (settings.max_factorisations == 0 || way == Way::WithoutW);
        if report.converged || spent {
            return Ok(report);
        }
    }
    storage.assemble(bodies)?;
    let problem = std::mem::take(&mut storage.problem);
    // What it all began from may be better than where the sweeps stalled.
    let state = &mut workspace.iteration;
    state.start(&problem, &storage.start);
    let residual = residual::judged(&problem, &state.r, &state.u);
    let mut met = state.judge(&problem, settings, residual);
    if let Some(swept) = swept {
        for (own, r) in state.r.iter_mut().zip(r.iter()) {
            **own = *r;
        }
        state.refresh(&problem);
        state.sweeps = swept.iterations;
        state.factorisations = swept.factorisations;
        let residual = residual::judged(&problem, &state.r, &state.u);
        met = state.judge(&problem, settings, residual);
    }
    if !met {
        accelerated::solve_focused(&problem, settings, state);
    }
    let Workspace {
        iteration: state,
        newton,
        curve,
        bodies: storage,
        ..
    } = workspace;
    if state.best > settings.tolerance {
        state.start_r.clear();
        let start = storage.start.iter().copied();
        state.start_r.extend(start.map(Lanes::from));
        factorise(&problem, settings, state, newton, curve);
    }
    let report = state.finish(&problem, settings, r, u);
    storage.problem = problem;
    Ok(report)
}

/// Sweeps without W; where those of a large problem stall, Newton steps without W, and then the sweeps left if W is never assembled.
/// None where there are contacts that ask for W.
fn sweep_bodies(
    bodies: &Bodies<'_>,
    way: Way,
    settings: &Settings,
    r: &mut [Vector3],
    u: &mut [Vector3],
    storage: &mut Storage,
) -> Result<Option<Report>, Error> {
    let (form, newton) = (&mut storage.body_form, &mut storage.newton);
    let order = match way {
        Way::Focused => Order::ByPair,
        Way::Swept | Way::WithoutW => Order::ByRank,
    };
    if !form.begin(bodies.masses, bodies.contacts, order, r)? {
        return Ok(None);
    }
    let large = bodies.contacts.len() >= LARGE;
    let mut sweeps = match way {
        Way::Focused => form.iterate_focused(settings, bodies),
        Way::Swept => form.iterate(settings, PATIENCE, !large),
        Way::WithoutW => form.iterate(settings, PATIENCE, false),
    };
    let mut swept = form.end(settings, sweeps, r, u);
    if large && !swept.converged {
        let few = Settings {
            max_factorisations: LARGE_STEPS.min(settings.max_factorisations),
            ..*settings
        };
        let mut paid = WORK;
        if way == Way::WithoutW {
            let visits = bodies
                .contacts
                .len()
                .saturating_mul(settings.max_iterations);
            paid = paid.max(visits.saturating_mul(VISIT));
        }
        // From where the sweeps stalled: from where they began, tall walls need several times as many steps.
        let (residual, made) = form.step_by_newton(newton, bodies.contacts, &few, paid);
        let met = residual <= settings.tolerance;
        // Sweeps with W go on better from where those without it were.
        if met || way == Way::WithoutW {
            swept = form.end(settings, sweeps, r, u);
        }
        if !met && way == Way::WithoutW {
            let left = Settings {
                max_iterations: settings.max_iterations - sweeps,
                ..*settings
            };
            sweeps += form.iterate(&left, usize::MAX, false);
            let (mut later_r, mut later_u) = (r.to_vec(), u.to_vec());
            let later = form.end(settings, sweeps, &mut later_r, &mut later_u);
            if later.residuals.energy < swept.residuals.energy {
                swept = later;
                r.copy_from_slice(&later_r);
                u.copy_from_slice(&later_u);
            }
            swept.iterations = sweeps;
        }
        swept.factorisations = made;
    }
    Ok(Some(swept))
}

/// Where sweeps stalled: Newton and interior points from where it all began, then the sweeps left from the best met.
fn factorise(
    problem: &Problem,
    settings: &Settings,
    state: &mut Iteration,
    newton: &mut Newton,
    curve: &mut Curve,
) {
    if settings.max_factorisations == 0 {
        return;
    }
    if !newton.factors.analyse_within(&problem.matrix, WORK / LEAST) {
        return sweep_on(problem, settings, state);
    }
    let paid = WORK / newton.factors.products().max(1);
    let most = settings.max_factorisations.min(paid);
    let factorisations = |most: usize| Settings {
        max_factorisations: most,
        ..*settings
    };
    state.r.clone_from(&state.start_r);
    state.refresh(problem);
    // Few are Newton's alone; of more, interior points have half.
    let share = if most <= FEW { most } else { most / 2 };
    newton::solve(problem, &factorisations(share.min(NEWTON)), state, newton);
    if state.best > settings.tolerance {
        let (limit, factors) = (factorisations(most - most / 8), &mut newton.factors);
        interior::solve(problem, &limit, state, curve, factors);
    }
    sweep_on(problem, settings, state);
    if state.best > settings.tolerance {
        state.go_back(problem);
        newton::solve(problem, &factorisations(most), state, newton);
    }
}

/// The sweeps left that the work pays for, from the best met: half or more with momentum, the rest without.
fn sweep_on(problem: &Problem, settings: &Settings, state: &mut Iteration) {
    let paid = SWEEPS.max(SWEEPING / problem.matrix.stored_blocks().max(1));
    let most = settings
        .max_iterations
        .saturating_sub(state.sweeps)
        .min(paid);
    let last = state.sweeps + most;
    let methods: [(Method, usize); 2] = [(accelerated_on, PLAIN.min(most / 2)), (nsgs::solve, 0)];
    for (method, kept) in methods {
        if state.best > settings.tolerance {
            let limit = Settings {
                max_iterations: last - kept,
                ..*settings
            };
            state.go_back(problem);
            method(problem, &limit, state);
        }
    }
}

type Method = fn(&Problem, &Settings, &mut Iteration);

/// Accelerated sweeps to the end.
fn accelerated_on(problem: &Problem, settings: &Settings, state: &mut Iteration) {
    accelerated::solve(problem, settings, state, |_| true);
}

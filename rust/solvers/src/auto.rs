//! Accelerated sweeps while they make progress, then Newton: the choice when nothing is known of a problem.
//!
//! Sweeps are cheap and nearly always enough; where they stall, more of them do not help, and Newton, which
//! costs a factorisation a step, does. It starts from the impulses given, not from where the sweeps stalled:
//! those lie on the edge of many cones at once, where Newton's derivatives tell least.

use crate::newton::Newton;
use crate::problem::Problem;
use crate::solver::{Iteration, Settings};
use crate::{accelerated, newton};

/// Sweeps in which the residual has to be halved; else they count as stalled.
const PATIENCE: usize = 200;

pub(crate) fn solve(
    problem: &Problem,
    settings: &Settings,
    state: &mut Iteration,
    newton: &mut Newton,
) {
    state.start_r.clone_from(&state.r);
    let mut reached = f64::INFINITY;
    while state.best > settings.tolerance
        && state.sweeps < settings.max_iterations
        && state.best <= 0.5 * reached
    {
        reached = state.best;
        let most = settings.max_iterations.min(state.sweeps + PATIENCE);
        accelerated::solve(
            problem,
            &Settings {
                max_iterations: most,
                ..*settings
            },
            state,
        );
    }
    if state.best > settings.tolerance && settings.max_factorisations > 0 {
        state.r.clone_from(&state.start_r);
        state.refresh(problem);
        newton::solve(problem, settings, state, newton);
    }
}

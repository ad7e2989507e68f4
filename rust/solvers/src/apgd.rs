//! Accelerated projected gradient descent (Nesterov 1983; Mazhar, Heyn, Negrut and Tasora 2015), extended to
//! Coulomb friction by refreshing the shift mu |u_T| of De Saxce at every step.
//!
//! The metric is trace(W_ii) per contact, which makes the method free of units, and the step length is the
//! largest that the curvature met along the way allows: with d the step taken, d.W d <= L d.D d. Every product
//! with W is of the whole matrix, so unlike the sweeps it could run in parallel; it needs more iterations.

use crate::block_matrix::{Lanes, Vector3};
use crate::cone::{self, dot};
use crate::couple;
use crate::problem::Problem;
use crate::residual;
use crate::solver::{Iteration, Settings};

/// The curvature bound grows by this factor when exceeded, and shrinks by the other at every step.
const GROW: f64 = 1.5;
const SHRINK: f64 = 0.97;
/// Growth of the residual, over its lowest since the last restart, that ends the momentum.
const RESTART: f64 = 2.0;

/// Storage of the extrapolated point y and its velocity.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extrapolated {
    r: Vec<Lanes>,
    u: Vec<Lanes>,
}

pub(crate) fn solve(
    problem: &Problem,
    settings: &Settings,
    state: &mut Iteration,
    y: &mut Extrapolated,
) {
    y.r.clone_from(&state.r);
    y.u.clone_from(&state.u);
    state.previous_r.clone_from(&state.r);
    state.previous_u.clone_from(&state.u);
    let (mut curvature, mut momentum, mut lowest) = (1.0_f64, 1.0_f64, f64::INFINITY);
    while state.sweeps < settings.max_iterations {
        std::mem::swap(&mut state.r, &mut state.previous_r);
        std::mem::swap(&mut state.u, &mut state.previous_u);
        // Each trial is a product with W and counts as an iteration.
        loop {
            for i in 0..problem.contacts() {
                let rho = problem.rho[i] / curvature;
                *state.r[i] = if let Some(radius) = problem.radius(i, &state.r) {
                    let along = std::array::from_fn(|k| y.r[i][k] - rho * y.u[i][k]);
                    couple::project(&along, radius)
                } else {
                    cone::projected_step(&y.r[i], &y.u[i], problem.friction[i], rho)
                };
            }
            state.refresh(problem);
            state.sweeps += 1;
            let (mut curved, mut flat) = (0.0, 0.0);
            for i in 0..problem.contacts() {
                let d: Vector3 = std::array::from_fn(|k| state.r[i][k] - y.r[i][k]);
                let w: Vector3 = std::array::from_fn(|k| state.u[i][k] - y.u[i][k]);
                curved += dot(&d, &w);
                flat += problem.trace[i] * dot(&d, &d);
            }
            if curved <= curvature * flat || state.sweeps >= settings.max_iterations {
                break;
            }
            curvature *= GROW;
        }
        curvature *= SHRINK;
        let residual = residual::judged(problem, &state.r, &state.u);
        if state.judge(problem, settings, residual) {
            return;
        }
        lowest = lowest.min(residual);
        let mut against = 0.0;
        for i in 0..problem.contacts() {
            let (r, old) = (&state.r[i], &state.previous_r[i]);
            let back: Vector3 = std::array::from_fn(|k| y.r[i][k] - r[k]);
            let progress: Vector3 = std::array::from_fn(|k| r[k] - old[k]);
            against += problem.trace[i] * dot(&back, &progress);
        }
        if against > 0.0 || residual > RESTART * lowest {
            momentum = 1.0;
            lowest = residual;
        }
        let next = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        let beta = (momentum - 1.0) / next;
        momentum = next;
        for (y, new, old) in [
            (&mut y.r, &state.r, &state.previous_r),
            (&mut y.u, &state.u, &state.previous_u),
        ] {
            for ((y, new), old) in y.iter_mut().zip(new).zip(old) {
                *y = new.each(old, |new, old| new + beta * (new - old));
            }
        }
    }
}

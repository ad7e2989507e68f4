//! Accelerated projected gradient descent (Nesterov 1983; Mazhar, Heyn, Negrut and Tasora 2015), extended to
//! Coulomb friction by refreshing the shift mu |u_T| of De Saxce at every step.
//!
//! The metric D is diagonal, which makes the method free of units: at a contact 3 W_NN for the normal and three times
//! the mean of both W_TT for the tangents, at a ball trace(W_ii). Where tangents yield more than the normal, as those of
//! spheres do by 7 to 2, they thus do not hold back the steps along it. With tangents stretched until D is isotropic the
//! cone of a contact is a cone again. The step length is the largest that the curvature met along the way allows:
//! with d the step taken, d.W d <= L d.D d. Every product with W is of the whole matrix, so unlike the sweeps it
//! could run in parallel; it needs more iterations.
//!
//! Momentum after k steps is k/(k + 2.5), a little more than Nesterov's k/(k + 3), and ends by the two tests of
//! `accelerated`, of which that by the residual is made from the start, every fourth step. All constants were found by counts.

use pulp::{Arch, NullaryFnOnce};

use crate::block_matrix::{Lanes, Vector3};
use crate::cone;
use crate::couple;
use crate::problem::{BlockKind, Problem};
use crate::solver::{Iteration, Settings};

/// The curvature bound grows by this factor when exceeded, and shrinks by the other at every step.
const GROW: f64 = 1.3;
const SHRINK: f64 = 0.985;
/// Steps after which momentum is one half.
const DELAY: f64 = 2.5;
/// Growth of the residual, over its lowest since the last restart, that ends the momentum.
const RESTART: f64 = 2.0;
/// Steps between two residuals computed in full: a restart by them may come three steps late, which costs no steps in
/// the mean and saves a fifth of the time.
const INTERVAL: usize = 4;
/// Most that the metric of tangents and normal may differ by: without a bound random piles need more steps.
const ANISOTROPY: f64 = 5.0;

/// The metric of one block: weight of the first component, and stretch of the others, whose weight is its square
/// times the first.
#[derive(Debug, Clone, Copy)]
struct Metric {
    diagonal: Lanes,
    stretch: f64,
    /// Inverses of the first weight and of the stretch.
    rho: f64,
    shrink: f64,
}

impl Metric {
    #[inline(always)]
    fn new(problem: &Problem, i: usize) -> Self {
        let (w, trace) = (&problem.matrix.diagonal[i], problem.trace[i]);
        let ratio = match problem.kinds[i] {
            BlockKind::Contact => 0.5 * (w[1][1] + w[2][2]) / w[0][0],
            BlockKind::Couple | BlockKind::Bounded => 1.0,
        };
        let ratio = ratio.clamp(1.0 / ANISOTROPY, ANISOTROPY);
        let (weight, stretch) = (3.0 * trace / (1.0 + 2.0 * ratio), ratio.sqrt());
        Self {
            diagonal: [weight, ratio * weight, ratio * weight].into(),
            stretch,
            rho: 1.0 / weight,
            shrink: 1.0 / stretch,
        }
    }

    /// P_K(r - D^-1 u^ / L), nearest in the metric, with `length` = 1/L.
    #[inline(always)]
    fn projected_step(&self, r: &Vector3, u: &Vector3, mu: f64, length: f64) -> Vector3 {
        let (stretch, shrink) = (self.stretch, self.shrink);
        let normal = self.rho * length;
        let tangent = normal * shrink;
        let along = [
            r[0] - normal * (u[0] + mu * cone::tangential(u)),
            stretch * r[1] - tangent * u[1],
            stretch * r[2] - tangent * u[2],
        ];
        let found = cone::project(&along, mu * stretch);
        [found[0], shrink * found[1], shrink * found[2]]
    }
}

/// Storage of the extrapolated point y and its velocity, and of the metric.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extrapolated {
    r: Vec<Lanes>,
    u: Vec<Lanes>,
    metric: Vec<Metric>,
}

/// Steps until the residual meets the tolerance.
pub(crate) fn solve(
    problem: &Problem,
    settings: &Settings,
    state: &mut Iteration,
    y: &mut Extrapolated,
) {
    struct Steps<'a>(
        &'a Problem,
        &'a Settings,
        &'a mut Iteration,
        &'a mut Extrapolated,
    );
    impl NullaryFnOnce for Steps<'_> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            iterate(self.0, self.1, self.2, self.3);
        }
    }
    Arch::new().dispatch(Steps(problem, settings, state, y));
}

#[inline(always)]
fn iterate(problem: &Problem, settings: &Settings, state: &mut Iteration, y: &mut Extrapolated) {
    y.r.clone_from(&state.r);
    y.u.clone_from(&state.u);
    y.metric.clear();
    y.metric
        .extend((0..problem.contacts()).map(|i| Metric::new(problem, i)));
    state.previous_r.clone_from(&state.r);
    state.previous_u.clone_from(&state.u);
    let (mut curvature, mut steps, mut lowest) = (1.0_f64, 0.0_f64, f64::INFINITY);
    while state.sweeps < settings.max_iterations {
        std::mem::swap(&mut state.r, &mut state.previous_r);
        std::mem::swap(&mut state.u, &mut state.previous_u);
        // Each trial is a product with W and counts as an iteration.
        let against = loop {
            let length = 1.0 / curvature;
            for i in 0..problem.contacts() {
                let (r, u) = (&y.r[i], &y.u[i]);
                *state.r[i] = if let Some(radius) = problem.radius(i, &state.r) {
                    let rho = problem.rho[i] * length;
                    couple::project(&std::array::from_fn(|k| r[k] - rho * u[k]), radius)
                } else {
                    y.metric[i].projected_step(r, u, problem.friction[i], length)
                };
            }
            state.refresh(problem);
            state.sweeps += 1;
            let [mut curved, mut flat, mut against] = [Lanes::default(); 3];
            let from = y.r.iter().zip(&y.u).zip(&y.metric);
            let to = state.r.iter().zip(&state.u).zip(&state.previous_r);
            for (((y, v), metric), ((r, u), old)) in from.zip(to) {
                let d = r.each(y, |r, y| r - y);
                let bent = d.each(&metric.diagonal, |d, weight| d * weight);
                curved.add_products(&d, &u.each(v, |u, v| u - v));
                flat.add_products(&d, &bent);
                against.add_products(&bent, &old.each(r, |old, r| old - r));
            }
            let [curved, flat, against] = [curved, flat, against].map(|lanes| lanes.sum());
            if curved <= curvature * flat || state.sweeps >= settings.max_iterations {
                break against;
            }
            curvature *= GROW;
        };
        curvature *= SHRINK;
        let residual = state.residual(problem, settings, INTERVAL);
        if state.judge(problem, settings, residual) {
            return;
        }
        lowest = lowest.min(residual);
        let grown = residual.is_finite() && residual > RESTART * lowest;
        if against > 0.0 || grown {
            (steps, lowest) = (0.0, residual);
        }
        let beta = steps / (steps + DELAY);
        steps += 1.0;
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

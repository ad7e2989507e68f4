//! Semismooth Newton with a regularisation that is cooled again and again: for jammed and redundant problems.
//!
//! The law of each contact is written as F(r, u) = 0 with the function of Alart and Curnier (1991),
//!
//! ```text
//! F_N = r_N - [x_N]+,   F_T = r_T - P(x_T; mu [x_N]+),   x = r - rho u,
//! ```
//!
//! P projecting on the disk of that radius, and one step solves A dr + B (W + e D) dr = -F with A and B the
//! derivatives with respect to r and u and D = trace(W_ii). W is singular as soon as contacts are redundant,
//! and friction makes the system lose monotony, so e matters: large, the step is a short implicit step along a
//! flow, which is safe but may follow an unstable mode; small, it is Newton's, which jumps. No merit function
//! helps: those tried have local minima at residuals of 1e-5, and residuals rise from 1e-4 to 1 and fall again
//! within two steps. What works is to cool e slowly, step by step, and to start again hot, and slower, if the
//! end was not reached. Easy problems are solved within the first, fast cooling, in some ten steps; where a
//! step of it lowers the residual well, as it does on them, e is cooled twice as far.
//!
//! How hot goes with the root of the residual: near a solution, steps with a larger e change nothing. But from
//! a false one only heat leads away, so that every other slow cooling starts as hot as can be; this also keeps
//! two of them from being the same. A fast cooling that has left for good is cut short.
//!
//! A couple has F = s - P(s - rho w; r_N), the ball's radius being the normal impulse of its contact; that of a
//! bounded block is given.

use crate::block_lu::BlockLu;
use crate::block_matrix::{Block, Lanes, Vector3, add_product};
use crate::cone::{dot, tangential};
use crate::nsgs::sweep;
use crate::problem::{BlockKind, Problem};
use crate::residual;
use crate::solver::{Iteration, Settings};

/// Sweeps before the first step: they open and close most contacts rightly.
const SWEEPS: usize = 5;
/// The regularisation at the start of a cooling, at most and by the root of the residual, and at its end.
const HOT: f64 = 0.1;
const WARM: f64 = 0.3;
const COLD: f64 = 1e-9;
/// Its ratio from step to step, for each cooling; the last, the slow one, goes on.
const COOLING: [f64; 4] = [0.3, 0.5, 0.9, 0.97];
const SLOW: usize = COOLING.len() - 1;
/// That of the first cooling after a step that has lowered the residual to this share of itself.
const FALLING: f64 = COOLING[0] * COOLING[0];
const FALL: f64 = 0.4;
/// A fast cooling ends when so many steps on end had a residual above that of no impulses at all, some one.
const LOST: usize = 4;
/// A cooling that ends this much above the lowest residual goes back to the impulses that had it.
const ASTRAY: f64 = 10.0;

const ZERO: Block = [[0.0; 3]; 3];
pub(crate) const IDENTITY: Block = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// Storage of the linear systems.
#[derive(Debug, Clone, Default)]
pub(crate) struct Newton {
    pub(crate) factors: BlockLu,
    diagonal: Vec<Block>,
    scale: Vec<Block>,
    /// Derivatives of the couples with respect to the normal impulse of their contact.
    bound: Vec<Vector3>,
    pub(crate) step: Vec<Vector3>,
    /// Best impulses met by Newton steps.
    lowest_r: Vec<Lanes>,
}

/// F of one contact, and its derivatives with respect to r and u.
fn function(r: &Vector3, u: &Vector3, mu: f64, rho: f64) -> (Vector3, Block, Block) {
    let x = [r[0] - rho * u[0], r[1] - rho * u[1], r[2] - rho * u[2]];
    if x[0] <= 0.0 {
        return (*r, IDENTITY, ZERO);
    }
    let (mut a, mut b) = (ZERO, ZERO);
    b[0][0] = rho;
    let (t, radius) = (tangential(&x), mu * x[0]);
    if t <= radius {
        b[1][1] = rho;
        b[2][2] = rho;
        return ([rho * u[0], rho * u[1], rho * u[2]], a, b);
    }
    let d = [x[1] / t, x[2] / t];
    for k in 0..2 {
        a[0][k + 1] = -mu * d[k];
        b[0][k + 1] = rho * mu * d[k];
        for l in 0..2 {
            let across = radius / t * (IDENTITY[k][l] - d[k] * d[l]);
            a[l + 1][k + 1] = IDENTITY[k][l] - across;
            b[l + 1][k + 1] = rho * across;
        }
    }
    (
        [rho * u[0], r[1] - radius * d[0], r[2] - radius * d[1]],
        a,
        b,
    )
}

/// F of one couple under the normal impulse `radius`, and its derivatives with respect to s, w and that impulse.
fn couple_function(
    s: &Vector3,
    w: &Vector3,
    radius: f64,
    rho: f64,
) -> (Vector3, Block, Block, Vector3) {
    let x: Vector3 = std::array::from_fn(|k| s[k] - rho * w[k]);
    let length = dot(&x, &x).sqrt();
    if length <= radius {
        let b = IDENTITY.map(|column| column.map(|x| rho * x));
        return (w.map(|w| rho * w), ZERO, b, [0.0; 3]);
    }
    let d = x.map(|x| x / length);
    let radius = radius.max(0.0);
    let (mut a, mut b) = (ZERO, ZERO);
    for k in 0..3 {
        for l in 0..3 {
            let across = radius / length * (IDENTITY[k][l] - d[k] * d[l]);
            a[l][k] = IDENTITY[k][l] - across;
            b[l][k] = rho * across;
        }
    }
    let f = std::array::from_fn(|k| s[k] - radius * d[k]);
    (
        f,
        a,
        b,
        if radius > 0.0 {
            d.map(|d| -d)
        } else {
            [0.0; 3]
        },
    )
}

/// F of block i and its derivatives with respect to its own impulse and velocity.
pub(crate) fn law(
    problem: &Problem,
    i: usize,
    r: &[Lanes],
    u: &[Lanes],
) -> (Vector3, Block, Block) {
    match problem.radius(i, r) {
        Some(radius) => {
            let (f, a, b, _) = couple_function(&r[i], &u[i], radius, problem.rho[i]);
            (f, a, b)
        }
        None => function(&r[i], &u[i], problem.friction[i], problem.rho[i]),
    }
}

/// The regularisation from step to step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    pub(crate) e: f64,
    cooling: usize,
    lost: usize,
    residual: f64,
    lowest: f64,
}

/// What the residual after a step means: that it is the lowest so far, and that it is better to go back to the lowest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heard {
    pub(crate) lowest: bool,
    pub(crate) back: bool,
}

impl Schedule {
    /// From the residual before the first step.
    pub(crate) fn new(residual: f64) -> Self {
        Self {
            e: warm(residual),
            cooling: 0,
            lost: 0,
            residual,
            lowest: f64::INFINITY,
        }
    }

    /// Cool, or begin again hot, by the residual that a step has left.
    pub(crate) fn hear(&mut self, residual: f64) -> Heard {
        let lowest = residual < self.lowest;
        if lowest {
            self.lowest = residual;
        }
        self.e *= match self.cooling {
            0 if residual < FALL * self.residual => FALLING,
            _ => COOLING[self.cooling.min(SLOW)],
        };
        self.residual = residual;
        self.lost = if residual > 1.0 { self.lost + 1 } else { 0 };
        let astray = !residual.is_finite() || (self.cooling < SLOW && self.lost >= LOST);
        let mut back = false;
        if self.e < COLD || astray {
            back = astray || residual > ASTRAY * self.lowest;
            if back {
                self.residual = self.lowest;
            }
            (self.cooling, self.lost) = (self.cooling + 1, 0);
            let hottest = self.cooling >= SLOW && (self.cooling - SLOW).is_multiple_of(2);
            self.e = if hottest { HOT } else { warm(self.residual) };
        }
        Heard { lowest, back }
    }
}

impl Newton {
    /// The step dr from (r, u) with regularisation e into `self.step`; false where it does not exist.
    pub(crate) fn find_step(
        &mut self,
        problem: &Problem,
        r: &[Lanes],
        u: &[Lanes],
        e: f64,
    ) -> bool {
        self.diagonal.clear();
        self.scale.clear();
        self.step.clear();
        self.bound.clear();
        for i in 0..problem.contacts() {
            let (f, mut a, b, bound) = match problem.radius(i, r) {
                Some(radius) => couple_function(&r[i], &u[i], radius, problem.rho[i]),
                None => {
                    let (f, a, b) = function(&r[i], &u[i], problem.friction[i], problem.rho[i]);
                    (f, a, b, [0.0; 3])
                }
            };
            let bound = match problem.kinds[i] {
                BlockKind::Couple => bound,
                _ => [0.0; 3],
            };
            for (k, (a, w)) in a.iter_mut().zip(&problem.matrix.diagonal[i]).enumerate() {
                let mut w = *w;
                w[k] += e * problem.trace[i];
                add_product(a, &b, &w);
            }
            self.diagonal.push(a);
            self.scale.push(b);
            self.bound.push(bound);
            self.step.push(f.map(|f| -f));
        }
        self.factors
            .factor(&problem.matrix, &self.diagonal, &self.scale, &self.bound)
            && {
                self.factors.solve(&mut self.step);
                self.step.as_flattened().iter().all(|x| x.is_finite())
            }
    }
}

/// Newton steps until the energy residual meets the tolerance.
pub(crate) fn solve(
    problem: &Problem,
    settings: &Settings,
    state: &mut Iteration,
    newton: &mut Newton,
) {
    for _ in 0..SWEEPS {
        let all = 0..problem.contacts();
        sweep(problem, all, &mut state.r, &mut state.u, |_, _, _| ());
    }
    state.refresh(problem);
    let residual = residual::judged(problem, &state.r, &state.u);
    if state.judge(problem, settings, residual) {
        return;
    }
    newton.factors.analyse(&problem.matrix);
    let mut schedule = Schedule::new(residual);
    newton.lowest_r.clone_from(&state.r);
    while state.factorisations < settings.max_factorisations {
        state.factorisations += 1;
        if !newton.find_step(problem, &state.r, &state.u, schedule.e) {
            schedule.e *= 10.0;
            continue;
        }
        for (r, step) in state.r.iter_mut().zip(&newton.step) {
            for (r, step) in r.iter_mut().zip(step) {
                *r += step;
            }
        }
        state.refresh(problem);
        let residual = residual::judged(problem, &state.r, &state.u);
        if state.judge(problem, settings, residual) {
            return;
        }
        let heard = schedule.hear(residual);
        if heard.lowest {
            newton.lowest_r.clone_from(&state.r);
        }
        if heard.back {
            state.r.clone_from(&newton.lowest_r);
            state.refresh(problem);
        }
    }
}

/// The regularisation to start a cooling with at that residual.
fn warm(residual: f64) -> f64 {
    HOT.min(WARM * residual.sqrt())
}

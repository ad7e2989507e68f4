//! Interior points followed round every turn: the last resort for jammed problems with strong friction.
//!
//! With x = (mu r_N, r_T) and y = (u_N / mu + |u_T|, u_T) the law reads: x and y lie in the cone L = { |x_T| <= x_N },
//! and their Jordan product x o y = (x . y, x_N y_T + y_N x_T) vanishes. The points inside with
//!
//! ```text
//! x o y = t E (1, 0, 0),   (u_N / mu + |u_T|, u_T) - y = t g,   u = W r + q,
//! ```
//!
//! E an energy and g the error of the start, form a curve from the start, t = 1, to a solution, t = 0. Without friction it
//! goes straight down, and interior point methods (Acary, Armand, Nguyen and Shpakovych 2023) run along it. Friction
//! bends it: where t has to rise before it falls, there is no way on for a method that only lowers t, nor for
//! Newton, as the root it was near is gone. So the curve is followed by its length (pseudo-arclength, Keller 1977): a
//! step along the tangent in (x, y, ln t), then Newton at right angles to it. |u_T| is rounded by a width that goes with t,
//! which makes the curve smooth. As long as it stays bounded it has no other end than a solution.
//!
//! Every step costs some factorisations of the matrix of `newton`; curves of piles of thirty contacts have had
//! twenty turns. Couples are left to the other solvers.

use crate::block_lu::BlockLu;
use crate::block_matrix::{Block, Vector3, add_product, product};
use crate::cone::dot;
use crate::problem::{BlockKind, Problem};
use crate::residual;
use crate::solver::{Iteration, Settings};

/// For each attempt: the width of the rounding, and the error from which on a step along the tangent is too long.
const ATTEMPTS: [(f64, f64); 3] = [(1.0, 1.5), (0.1, 1.0), (10.0, 1.0)];
/// Error, relative to t, up to which a point counts as on the curve.
const CENTRED: f64 = 0.3;
/// Newton steps back to the curve; up to so many of them the next step may be longer, or has to be shorter.
const CORRECTIONS: usize = 5;
const EASY: usize = 2;
const HARD: usize = 4;
/// Share of the way to the boundary of the cones that a step may go.
const SHARE: f64 = 0.9;
/// Smallest step, as a share of the longest.
const LEAST: f64 = 1e-6;
/// t from which on the curve has been lost: it starts at one.
const LOST: f64 = 10.0;

/// Impulses and velocities in the cone, or a change of them, with the change of ln t.
#[derive(Debug, Clone, Default)]
struct Point {
    x: Vec<Vector3>,
    y: Vec<Vector3>,
    level: f64,
}

impl Point {
    fn advance(&mut self, change: &Self, step: f64) {
        for (x, change) in [(&mut self.x, &change.x), (&mut self.y, &change.y)] {
            for (x, d) in x.as_flattened_mut().iter_mut().zip(change.as_flattened()) {
                *x += step * d;
            }
        }
        self.level += step * change.level;
    }

    /// The longest step along `change` that stays in the cones and above t = 0.
    fn reach(&self, change: &Self) -> f64 {
        let down = if change.level < 0.0 {
            -1.0 / change.level
        } else {
            f64::INFINITY
        };
        [(&self.x, &change.x), (&self.y, &change.y)]
            .into_iter()
            .flat_map(|(x, change)| x.iter().zip(change))
            .fold(down, |least, (x, change)| least.min(reach(x, change)))
    }

    /// Inner product of two changes, in shares of what is here.
    fn inner(&self, a: &Self, b: &Self, energy: f64) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.x.len() {
            let (x, y) = (self.x[i][0] / energy, self.y[i][0] / energy);
            sum += y * y * dot(&a.x[i], &b.x[i]) + x * x * dot(&a.y[i], &b.y[i]);
        }
        sum / self.x.len() as f64 + a.level * b.level
    }
}

/// The longest step from x along `change` inside the cone.
fn reach(x: &Vector3, change: &Vector3) -> f64 {
    let form = |x: &Vector3, y: &Vector3| x[0] * y[0] - x[1] * y[1] - x[2] * y[2];
    let (a, b, c) = (form(change, change), form(x, change), form(x, x).max(0.0));
    let mut least = if change[0] < 0.0 {
        -x[0] / change[0]
    } else {
        f64::INFINITY
    };
    // a s^2 + 2 b s + c = 0, without cancellation.
    let square = b * b - a * c;
    if square >= 0.0 {
        let sum = -(b + square.sqrt().copysign(b));
        for step in [sum / a, c / sum] {
            if step > 0.0 && step.is_finite() {
                least = least.min(step);
            }
        }
    }
    least
}

/// The matrix of x o y as a function of y.
fn arrow(x: &Vector3) -> Block {
    [[x[0], x[1], x[2]], [x[1], x[0], 0.0], [x[2], 0.0, x[0]]]
}

/// x o y
fn jordan(x: &Vector3, y: &Vector3) -> Vector3 {
    product(&arrow(x), y)
}

/// The curve near one point.
#[derive(Debug, Default)]
struct Curve {
    factors: BlockLu,
    at: Point,
    /// t, and the energy E.
    t: f64,
    energy: f64,
    /// Most factorisations.
    limit: usize,
    /// (u_N / mu + |u_T|, u_T) - y, and its value at the start.
    gap: Vec<Vector3>,
    first_gap: Vec<Vector3>,
    /// Length and direction of u_T, rounded, and the rounding's share in the length.
    slip: Vec<(f64, [f64; 2], f64)>,
    /// d(x o y)/du, with u turned into the velocities of y.
    turn: Vec<Block>,
}

/// Coefficient by which normal components are scaled: that of friction, where there is any.
fn lever(mu: f64) -> f64 {
    if mu > 0.0 { mu } else { 1.0 }
}

impl Curve {
    fn start(&mut self, problem: &Problem) {
        self.energy = problem.energy_scale / problem.contacts() as f64;
        self.t = 1.0;
        self.at = Point::default();
        self.first_gap.clear();
        for (mu, rho) in problem.friction.iter().zip(&problem.rho) {
            let mu = lever(*mu);
            self.at.x.push([mu * (self.energy * rho).sqrt(), 0.0, 0.0]);
            self.at.y.push([(self.energy / rho).sqrt() / mu, 0.0, 0.0]);
        }
    }

    /// Everything that depends on the point; false where the matrix is singular, or no factorisation is left.
    fn arrive(&mut self, problem: &Problem, state: &mut Iteration, width: f64) -> bool {
        if state.factorisations >= self.limit {
            return false;
        }
        for (r, (x, mu)) in state
            .r
            .iter_mut()
            .zip(self.at.x.iter().zip(&problem.friction))
        {
            *r = [x[0] / lever(*mu), x[1], x[2]];
        }
        state.refresh(problem);
        self.gap.clear();
        self.slip.clear();
        self.turn.clear();
        let (mut diagonal, mut scale) = (vec![], vec![]);
        for i in 0..problem.contacts() {
            let (x, y, u) = (&self.at.x[i], &self.at.y[i], &state.u[i]);
            let mu = lever(problem.friction[i]);
            // Without friction there are no tangential impulses, and those velocities do not matter.
            let slides = f64::from(problem.friction[i] > 0.0);
            let wide = slides * width * self.t * self.t * self.energy * problem.trace[i];
            let length = (y[1] * y[1] + y[2] * y[2] + wide).sqrt();
            let d = if length > 0.0 {
                [y[1] / length, y[2] / length]
            } else {
                [0.0; 2]
            };
            self.gap.push([
                u[0] / mu + length - y[0],
                slides * u[1] - y[1],
                slides * u[2] - y[2],
            ]);
            self.slip
                .push((length, d, if length > 0.0 { wide / length } else { 0.0 }));
            let mut b = arrow(x);
            for k in 0..2 {
                for l in 0..3 {
                    b[k + 1][l] += x[l] * d[k];
                }
            }
            self.turn.push(b);
            let b = [
                b[0].map(|b| b / mu),
                b[1].map(|b| slides * b),
                b[2].map(|b| slides * b),
            ];
            let mut a = arrow(y);
            a[0] = a[0].map(|a| a * mu);
            for (a, w) in a.iter_mut().zip(&problem.matrix.diagonal[i]) {
                add_product(a, &b, w);
            }
            diagonal.push(a);
            scale.push(b);
        }
        if self.first_gap.is_empty() {
            self.first_gap.clone_from(&self.gap);
        }
        let no_couples = vec![[0.0; 3]; problem.contacts()];
        state.factorisations += 1;
        self.factors
            .factor(&problem.matrix, &diagonal, &scale, &no_couples)
    }

    /// The change of x and y that changes x o y by `change` and closes `gap`.
    fn solve(&mut self, problem: &Problem, change: &[Vector3], gap: &[Vector3]) -> Point {
        let mut x: Vec<Vector3> = change
            .iter()
            .zip(gap.iter().zip(&self.turn))
            .map(|(change, (gap, turn))| {
                let turned = product(turn, gap);
                std::array::from_fn(|k| change[k] - turned[k])
            })
            .collect();
        self.factors.solve(&mut x);
        let mut y = vec![[0.0; 3]; x.len()];
        problem.matrix.add_product(&x, &mut y);
        for i in 0..x.len() {
            let (mu, d) = (lever(problem.friction[i]), self.slip[i].1);
            let slides = f64::from(problem.friction[i] > 0.0);
            x[i][0] *= mu;
            let w = &mut y[i];
            *w = [
                w[0] / mu + gap[i][0],
                slides * w[1] + gap[i][1],
                slides * w[2] + gap[i][2],
            ];
            w[0] += d[0] * w[1] + d[1] * w[2];
        }
        Point { x, y, level: 0.0 }
    }

    /// The change along the curve with that of ln t.
    fn along(&mut self, problem: &Problem) -> Point {
        let change = vec![[self.t * self.energy, 0.0, 0.0]; problem.contacts()];
        let gap: Vec<Vector3> = self
            .first_gap
            .iter()
            .zip(&self.slip)
            .map(|(gap, (_, _, rounding))| {
                [
                    rounding - self.t * gap[0],
                    -self.t * gap[1],
                    -self.t * gap[2],
                ]
            })
            .collect();
        let mut along = self.solve(problem, &change, &gap);
        along.level = 1.0;
        along
    }

    /// What is missing to the curve: in x o y, in the gaps, and the larger of the two relative to t.
    fn missing(&self, problem: &Problem) -> (Vec<Vector3>, Vec<Vector3>, f64) {
        let energy = self.t * self.energy;
        let (mut change, mut gaps) = (vec![], vec![]);
        let (mut off, mut wide) = (0.0_f64, 0.0);
        for i in 0..problem.contacts() {
            let p = jordan(&self.at.x[i], &self.at.y[i]);
            let missing = [energy - p[0], -p[1], -p[2]];
            off = off.max(dot(&missing, &missing).sqrt() / energy);
            let gap: Vector3 =
                std::array::from_fn(|k| self.gap[i][k] - self.t * self.first_gap[i][k]);
            wide += dot(&gap, &gap) * problem.rho[i];
            change.push(missing);
            gaps.push(gap);
        }
        let wide = (wide / (problem.energy_scale * self.t)).sqrt();
        (change, gaps, off.max(wide))
    }

    /// Newton steps at right angles to `tangent`, which led here from `from`; how many, or none where they fail.
    fn correct(
        &mut self,
        problem: &Problem,
        state: &mut Iteration,
        (width, longest): (f64, f64),
        (from, from_energy, tangent): (&Point, f64, &Point),
    ) -> Option<usize> {
        let mut before = longest;
        for used in 1..=CORRECTIONS {
            if !self.arrive(problem, state, width) {
                return None;
            }
            let (change, gap, error) = self.missing(problem);
            if error < CENTRED {
                return Some(used);
            }
            if error.is_nan() || error > before {
                return None;
            }
            before = 2.0 * error;
            let mut step = self.solve(problem, &change, &gap);
            let along = self.along(problem);
            let across = |change| from.inner(tangent, change, from_energy);
            step.advance(&along, -across(&step) / across(&along));
            let share = (SHARE * self.at.reach(&step)).min(1.0);
            self.at.advance(&step, share);
            self.t *= 1.0 + share * step.level;
        }
        None
    }

    /// Follow the curve from the start until the tolerance is met or the curve is lost.
    fn follow(
        &mut self,
        problem: &Problem,
        settings: &Settings,
        state: &mut Iteration,
        (width, longest): (f64, f64),
    ) {
        self.start(problem);
        let mut length = f64::INFINITY;
        let mut last: Option<Point> = None;
        if !self.arrive(problem, state, width) {
            return;
        }
        while self.t < LOST {
            let energy = self.t * self.energy;
            let along = self.along(problem);
            let size = self.at.inner(&along, &along, energy).sqrt();
            // Down at first, then onwards, which may be up.
            let onwards = last
                .as_ref()
                .is_some_and(|last| self.at.inner(&along, last, energy) >= 0.0);
            let mut tangent = Point {
                x: vec![[0.0; 3]; along.x.len()],
                y: vec![[0.0; 3]; along.y.len()],
                level: 0.0,
            };
            tangent.advance(&along, if onwards { 1.0 / size } else { -1.0 / size });
            let (from, t) = (self.at.clone(), self.t);
            let reach = SHARE * from.reach(&tangent);
            let mut step = reach.min(length);
            let used = loop {
                self.at.clone_from(&from);
                self.at.advance(&tangent, step);
                self.t = t * (1.0 + step * tangent.level);
                let origin = (&from, energy, &tangent);
                if let Some(used) = self.correct(problem, state, (width, longest), origin) {
                    break used;
                }
                step *= 0.3;
                if step.is_nan() || step < LEAST * reach || state.factorisations >= self.limit {
                    return;
                }
            };
            let residual = residual::energy(problem, &state.r, &state.u);
            if state.judge(problem, settings, residual) {
                return;
            }
            length = match used {
                ..=EASY => 2.0 * step,
                HARD.. => 0.5 * step,
                _ => step,
            };
            last = Some(tangent);
        }
    }
}

/// Follow the curve until the energy residual meets the tolerance; more carefully where it was lost.
pub(crate) fn solve(problem: &Problem, settings: &Settings, state: &mut Iteration) {
    if problem.kinds.iter().any(|kind| *kind != BlockKind::Contact) {
        return;
    }
    let mut curve = Curve {
        limit: settings.max_factorisations,
        ..Curve::default()
    };
    curve.factors.analyse(&problem.matrix);
    for attempt in ATTEMPTS {
        if state.best <= settings.tolerance || state.factorisations >= settings.max_factorisations {
            return;
        }
        curve.follow(problem, settings, state, attempt);
    }
}

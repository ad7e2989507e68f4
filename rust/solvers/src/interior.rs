//! Interior points followed round every turn: the last resort for jammed problems with strong friction.
//!
//! The law of every block is a pair x, y in second-order cones whose Jordan product vanishes (`central`): impulses, and
//! velocities v(u) that contain a multiplier of friction. The points inside with
//!
//! ```text
//! x o y = t E (1, 0, 0, 0),   v(u) - y = t g,   u = W r + q,
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
//! twenty turns.

use crate::block_lu::BlockLu;
use crate::block_matrix::{Lanes, Vector3, add_product};
use crate::central::{Central, Lorentz, inner, jordan, lever, reach};
use crate::cone::dot;
use crate::problem::{BlockKind, Problem};
use crate::residual;
use crate::solver::{Iteration, Settings};

/// For each attempt: the width of the rounding, and the error from which on a step along the tangent is too long.
const ATTEMPTS: [(f64, f64); 4] = [(1.0, 1.5), (0.1, 1.0), (10.0, 1.0), (1.0, 0.4)];
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
/// Radius of a ball that is a point, as a share of the impulse a block of its mass needs.
const POINT: f64 = 1e-12;
/// t from which on the curve has been lost: it starts at one.
const LOST: f64 = 10.0;

/// Impulses and velocities in the cones, or a change of them, with the change of ln t.
#[derive(Debug, Clone, Default)]
struct Point {
    x: Vec<Lorentz>,
    y: Vec<Lorentz>,
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
            sum += y * y * inner(&a.x[i], &b.x[i]) + x * x * inner(&a.y[i], &b.y[i]);
        }
        sum / self.x.len() as f64 + a.level * b.level
    }
}

/// The curve near one point.
#[derive(Debug, Default)]
struct Curve {
    factors: BlockLu,
    at: Point,
    /// t, and the energy E.
    t: f64,
    energy: f64,
    settings: Settings,
    /// By how much y misses the velocities, and its value at the start.
    gap: Vec<Lorentz>,
    first_gap: Vec<Lorentz>,
    laws: Vec<Central>,
}

impl Curve {
    fn start(&mut self, problem: &Problem) {
        self.energy = problem.energy_scale / problem.contacts() as f64;
        self.t = 1.0;
        self.at = Point::default();
        self.first_gap.clear();
        for i in 0..problem.contacts() {
            let (mu, size) = (problem.friction[i], (self.energy * problem.rho[i]).sqrt());
            let head = match problem.kinds[i] {
                BlockKind::Contact => lever(mu) * size,
                BlockKind::Couple => self.at.x[i - 1][0] / lever(problem.friction[i - 1]),
                BlockKind::Bounded => mu.max(POINT * size),
            };
            self.at.x.push([head, 0.0, 0.0, 0.0]);
            self.at.y.push([self.energy / head, 0.0, 0.0, 0.0]);
        }
    }

    /// Whether a solution was met, or no factorisation is left.
    fn ends(&self, state: &Iteration) -> bool {
        state.best <= self.settings.tolerance
            || state.factorisations >= self.settings.max_factorisations
    }

    /// Everything that depends on the point; false where the curve ends, or its matrix is singular.
    fn arrive(&mut self, problem: &Problem, state: &mut Iteration, width: f64) -> bool {
        for i in 0..problem.contacts() {
            let x = &self.at.x[i];
            *state.r[i] = match problem.kinds[i] {
                BlockKind::Contact => [x[0] / lever(problem.friction[i]), x[2], x[3]],
                _ => [x[1], x[2], x[3]],
            };
        }
        state.refresh(problem);
        let residual = residual::judged(problem, &state.r, &state.u);
        state.judge(problem, &self.settings, residual);
        if self.ends(state) {
            return false;
        }
        self.gap.clear();
        self.laws.clear();
        let (mut diagonal, mut scale, mut bounds) = (vec![], vec![], vec![]);
        for i in 0..problem.contacts() {
            let (x, y) = (&self.at.x[i], &self.at.y[i]);
            let law = match problem.kinds[i] {
                BlockKind::Contact => {
                    let wide = width * self.t * self.t * self.energy * problem.trace[i];
                    Central::contact(problem.friction[i], y, wide)
                }
                _ => Central::Ball,
            };
            let (mut a, b, bound) = law.derivatives(x, y);
            for (a, w) in a.iter_mut().zip(&problem.matrix.diagonal[i]) {
                add_product(a, &b, w);
            }
            self.gap.push(law.gap(y, &state.u[i]));
            self.laws.push(law);
            diagonal.push(a);
            scale.push(b);
            bounds.push(match problem.kinds[i] {
                BlockKind::Couple => bound,
                _ => [0.0; 3],
            });
        }
        if self.first_gap.is_empty() {
            self.first_gap.clone_from(&self.gap);
        }
        state.factorisations += 1;
        self.factors
            .factor(&problem.matrix, &diagonal, &scale, &bounds)
    }

    /// The change of x and y that changes x o y by `change` and closes `gap`.
    fn solve(&mut self, problem: &Problem, change: &[Lorentz], gap: &[Lorentz]) -> Point {
        let blocks = 0..problem.contacts();
        let mut r: Vec<Vector3> = blocks
            .clone()
            .map(|i| self.laws[i].reduce(&self.at.x[i], &change[i], &gap[i]))
            .collect();
        self.factors.solve(&mut r);
        let r: Vec<Lanes> = r.into_iter().map(Lanes::from).collect();
        let mut u = vec![Lanes::default(); r.len()];
        problem.matrix.add_product(&r, &mut u);
        let (x, y) = blocks
            .map(|i| {
                let radius = match problem.kinds[i] {
                    BlockKind::Couple => r[i - 1][0],
                    _ => 0.0,
                };
                self.laws[i].recover(
                    (&self.at.x[i], &self.at.y[i]),
                    (&change[i], &gap[i]),
                    (&r[i], &u[i], radius),
                )
            })
            .unzip();
        Point { x, y, level: 0.0 }
    }

    /// The change along the curve with that of ln t.
    fn along(&mut self, problem: &Problem) -> Point {
        let change = vec![[self.t * self.energy, 0.0, 0.0, 0.0]; problem.contacts()];
        let gap: Vec<Lorentz> = self
            .first_gap
            .iter()
            .zip(&self.laws)
            .map(|(gap, law)| {
                let mut gap = gap.map(|gap| -self.t * gap);
                gap[0] += law.rounding();
                gap
            })
            .collect();
        let mut along = self.solve(problem, &change, &gap);
        along.level = 1.0;
        along
    }

    /// What is missing to the curve: in x o y, in the gaps, and the larger of the two relative to t.
    fn missing(&self, problem: &Problem) -> (Vec<Lorentz>, Vec<Lorentz>, f64) {
        let energy = self.t * self.energy;
        let (mut change, mut gaps) = (vec![], vec![]);
        let (mut off, mut wide) = (0.0_f64, 0.0);
        for i in 0..problem.contacts() {
            let mut missing = jordan(&self.at.x[i], &self.at.y[i]).map(|p| -p);
            missing[0] += energy;
            off = off.max(inner(&missing, &missing).sqrt() / energy);
            let gap: Lorentz =
                std::array::from_fn(|k| self.gap[i][k] - self.t * self.first_gap[i][k]);
            let measured = self.laws[i].velocity(&gap);
            wide += dot(&measured, &measured) * problem.rho[i];
            change.push(missing);
            gaps.push(gap);
        }
        let wide = (wide / problem.energy_scale).sqrt() / self.t;
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
    fn follow(&mut self, problem: &Problem, state: &mut Iteration, (width, longest): (f64, f64)) {
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
                x: vec![[0.0; 4]; along.x.len()],
                y: vec![[0.0; 4]; along.y.len()],
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
                if step.is_nan() || step < LEAST * reach || self.ends(state) {
                    return;
                }
            };
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
    let mut curve = Curve {
        settings: *settings,
        ..Curve::default()
    };
    curve.factors.analyse(&problem.matrix);
    for attempt in ATTEMPTS {
        if !curve.ends(state) {
            curve.follow(problem, state, attempt);
        }
    }
}

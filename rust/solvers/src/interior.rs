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
use crate::block_matrix::{Block, Lanes, Vector3, add_product};
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
#[derive(Debug, Default)]
struct Point {
    x: Vec<Lorentz>,
    y: Vec<Lorentz>,
    level: f64,
}

// Written out because the derived `clone_from` allocates.
impl Clone for Point {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, other: &Self) {
        self.x.clone_from(&other.x);
        self.y.clone_from(&other.y);
        self.level = other.level;
    }
}

impl Point {
    /// Become so many times `change`.
    fn scale_from(&mut self, change: &Self, by: f64) {
        for (x, change) in [(&mut self.x, &change.x), (&mut self.y, &change.y)] {
            x.clear();
            x.extend(change.iter().map(|change| change.map(|d| by * d)));
        }
        self.level = by * change.level;
    }

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

/// The curve near one point, with storage kept from solve to solve.
#[derive(Debug, Clone, Default)]
pub(crate) struct Curve {
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
    /// The matrix of the linear system, and its right side, then its solution.
    diagonal: Vec<Block>,
    scale: Vec<Block>,
    bounds: Vec<Vector3>,
    right: Vec<Vector3>,
    r: Vec<Lanes>,
    u: Vec<Lanes>,
    /// What the next change is to change x o y by, and the gap it is to close.
    change: Vec<Lorentz>,
    gaps: Vec<Lorentz>,
    /// Changes in hand: a step back to the curve, the one along it, the tangent, the last one, and where it began.
    step: Point,
    along: Point,
    tangent: Point,
    last: Point,
    from: Point,
}

impl Curve {
    fn start(&mut self, problem: &Problem) {
        self.energy = problem.energy_scale / problem.contacts() as f64;
        self.t = 1.0;
        self.at.x.clear();
        self.at.y.clear();
        self.at.level = 0.0;
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
        self.diagonal.clear();
        self.scale.clear();
        self.bounds.clear();
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
            self.diagonal.push(a);
            self.scale.push(b);
            self.bounds.push(match problem.kinds[i] {
                BlockKind::Couple => bound,
                _ => [0.0; 3],
            });
        }
        if self.first_gap.is_empty() {
            self.first_gap.clone_from(&self.gap);
        }
        state.factorisations += 1;
        let [diagonal, scale] = [&self.diagonal, &self.scale];
        self.factors
            .factor(&problem.matrix, diagonal, scale, &self.bounds)
    }

    /// The change of x and y that changes x o y by `change` and closes `gaps`, into `found`.
    fn solve(&mut self, problem: &Problem, found: &mut Point) {
        let (change, gap) = (&self.change, &self.gaps);
        let blocks = 0..problem.contacts();
        self.right.clear();
        self.right.extend(blocks.clone().map(|i| {
            let law = &self.laws[i];
            law.reduce(&self.at.x[i], &change[i], &gap[i])
        }));
        self.factors.solve(&mut self.right);
        self.r.clear();
        self.r.extend(self.right.iter().copied().map(Lanes::from));
        self.u.clear();
        self.u.resize(self.r.len(), Lanes::default());
        problem.matrix.add_product(&self.r, &mut self.u);
        found.x.clear();
        found.y.clear();
        found.level = 0.0;
        for i in blocks {
            let radius = match problem.kinds[i] {
                BlockKind::Couple => self.r[i - 1][0],
                _ => 0.0,
            };
            let (x, y) = self.laws[i].recover(
                (&self.at.x[i], &self.at.y[i]),
                (&change[i], &gap[i]),
                (&self.r[i], &self.u[i], radius),
            );
            found.x.push(x);
            found.y.push(y);
        }
    }

    /// The change along the curve with that of ln t, into `along`.
    fn find_along(&mut self, problem: &Problem) {
        self.change.clear();
        let change = [self.t * self.energy, 0.0, 0.0, 0.0];
        self.change.resize(problem.contacts(), change);
        self.gaps.clear();
        let both = self.first_gap.iter().zip(&self.laws);
        self.gaps.extend(both.map(|(gap, law)| {
            let mut gap = gap.map(|gap| -self.t * gap);
            gap[0] += law.rounding();
            gap
        }));
        let mut along = std::mem::take(&mut self.along);
        self.solve(problem, &mut along);
        along.level = 1.0;
        self.along = along;
    }

    /// What is missing to the curve, in x o y and in the gaps, into `change` and `gaps`; the larger of the two relative to t.
    fn missing(&mut self, problem: &Problem) -> f64 {
        let energy = self.t * self.energy;
        self.change.clear();
        self.gaps.clear();
        let (mut off, mut wide) = (0.0_f64, 0.0);
        for i in 0..problem.contacts() {
            let mut missing = jordan(&self.at.x[i], &self.at.y[i]).map(|p| -p);
            missing[0] += energy;
            off = off.max(inner(&missing, &missing).sqrt() / energy);
            let gap: Lorentz =
                std::array::from_fn(|k| self.gap[i][k] - self.t * self.first_gap[i][k]);
            let measured = self.laws[i].velocity(&gap);
            wide += dot(&measured, &measured) * problem.rho[i];
            self.change.push(missing);
            self.gaps.push(gap);
        }
        let wide = (wide / problem.energy_scale).sqrt() / self.t;
        off.max(wide)
    }

    /// Newton steps at right angles to the tangent, which led here from where E was `from_energy`; how many, or none where
    /// they fail.
    fn correct(
        &mut self,
        problem: &Problem,
        state: &mut Iteration,
        (width, longest): (f64, f64),
        from_energy: f64,
    ) -> Option<usize> {
        let mut before = longest;
        for used in 1..=CORRECTIONS {
            if !self.arrive(problem, state, width) {
                return None;
            }
            let error = self.missing(problem);
            if error < CENTRED {
                return Some(used);
            }
            if error.is_nan() || error > before {
                return None;
            }
            before = 2.0 * error;
            let mut step = std::mem::take(&mut self.step);
            self.solve(problem, &mut step);
            self.find_along(problem);
            let across = |change| self.from.inner(&self.tangent, change, from_energy);
            step.advance(&self.along, -across(&step) / across(&self.along));
            let share = (SHARE * self.at.reach(&step)).min(1.0);
            self.at.advance(&step, share);
            self.t *= 1.0 + share * step.level;
            self.step = step;
        }
        None
    }

    /// Follow the curve from the start until the tolerance is met or the curve is lost.
    fn follow(&mut self, problem: &Problem, state: &mut Iteration, (width, longest): (f64, f64)) {
        self.start(problem);
        let (mut length, mut first) = (f64::INFINITY, true);
        if !self.arrive(problem, state, width) {
            return;
        }
        while self.t < LOST {
            let energy = self.t * self.energy;
            self.find_along(problem);
            let along = &self.along;
            let size = self.at.inner(along, along, energy).sqrt();
            // Down at first, then onwards, which may be up.
            let onwards = !first && self.at.inner(along, &self.last, energy) >= 0.0;
            let share = if onwards { 1.0 / size } else { -1.0 / size };
            self.tangent.scale_from(along, share);
            self.from.clone_from(&self.at);
            let t = self.t;
            let reach = SHARE * self.from.reach(&self.tangent);
            let mut step = reach.min(length);
            let used = loop {
                self.at.clone_from(&self.from);
                self.at.advance(&self.tangent, step);
                self.t = t * (1.0 + step * self.tangent.level);
                if let Some(used) = self.correct(problem, state, (width, longest), energy) {
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
            std::mem::swap(&mut self.last, &mut self.tangent);
            first = false;
        }
    }
}

/// Follow the curve until the residual meets the tolerance; more carefully where it was lost. `factors` are lent.
pub(crate) fn solve(
    problem: &Problem,
    settings: &Settings,
    state: &mut Iteration,
    curve: &mut Curve,
    factors: &mut BlockLu,
) {
    curve.settings = *settings;
    std::mem::swap(&mut curve.factors, factors);
    curve.factors.analyse(&problem.matrix);
    for attempt in ATTEMPTS {
        if !curve.ends(state) {
            curve.follow(problem, state, attempt);
        }
    }
    std::mem::swap(&mut curve.factors, factors);
}

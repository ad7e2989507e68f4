//! Whether a contact problem has a solution: what to say of one that no method has solved.
//!
//! It has one if some impulses z of any sign give velocities u = W z + q inside the dual cones, u_N > mu |u_T| at every contact (Acary, Cadoux,
//! Lemarechal and Malick 2011: then the slip speeds are a fixed point of a convex problem, which Brouwer's theorem gives).
//! Such z are the minimiser of 1/2 r W r + (q - v n) r over the cones, v being a speed: its velocities W z + q - v n lie in K*.
//!
//! The argument needs a symmetric W that is positive semidefinite, as H' M^-1 H is; whether it is, the signs of the pivots of its factors
//! tell. One that was recorded elsewhere may differ from its transpose by more than rounding; then it is made for the
//! symmetric part of W, and says no more than that a problem so near has a solution.
//!
//! It has none if no velocities at all keep the contacts from closing. By Farkas' lemma there are then l >= 0 with W (l n) = 0 and
//! l q_N < 0. From this l follows how large the residual of any impulses r is at least, whether or not W is symmetric. The natural map F = r - P_K(r - rho u^) has
//! rho u^ - F in K*, hence u_N >= -sqrt(1 + mu^2) |F| / rho at each contact; and l u_N = l q_N + r W^T (l n), so that
//!
//! ```text
//! |F / sqrt(rho)| >= (-l q_N - |W^T (l n)|_rho R) / |l sqrt((1 + mu^2) / rho)|   for all r with |r / sqrt(rho)| <= R,
//! ```
//!
//! where the term with R allows for rounding in W^T (l n) = 0.

use crate::block_lu::BlockLu;
use crate::block_matrix::{Block, BlockMatrix, Lanes, Vector3};
use crate::cone::{self, dot, tangential};
use crate::problem::{BlockKind, Problem};

/// What is known of the solutions of a problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Existence {
    /// There is one.
    Proven {
        /// How far the velocities that show it are inside the dual cones, by the speed of q.
        margin: f64,
    },
    /// There is one of the problem with the symmetric part of W in its place.
    Nearby {
        /// As for [`Existence::Proven`].
        margin: f64,
        /// Largest |W_ij - W_ji|, by the largest entry of W.
        asymmetry: f64,
    },
    /// There is none.
    Refuted {
        /// The energy residual of all impulses (up to [`REACH`] times those that stop the free motion) is at least this.
        residual: f64,
    },
    /// Neither was shown.
    Open,
}

/// Impulses up to so many times those that stop the free motion are covered by a refutation.
pub const REACH: f64 = 1e6;
/// Gradient steps that each of the two searches may take, and how often they look.
const STEPS: usize = 3_000;
const INTERVAL: usize = 20;
/// Share of the speed by which velocities have to lie in the dual cones: far above rounding.
const MARGIN: f64 = 0.1;
/// Share of the largest entry by which W may differ from its transpose and count as symmetric: rounding.
const SYMMETRIC: f64 = 1e-8;
/// Products of blocks that may be spent on whether W is positive semidefinite: half a second.
const PRODUCTS: usize = 50_000_000;
/// Growth and fall of the curvature, as in `apgd`.
const GROW: f64 = 1.5;
const SHRINK: f64 = 0.97;

impl Problem {
    /// Whether a solution exists, as far as can be told. The proof is for contacts only and a symmetric W; refutations are for all blocks and any W.
    #[must_use]
    pub fn existence(&self) -> Existence {
        if self.energy_scale == 0.0 {
            return Existence::Proven {
                margin: f64::INFINITY,
            };
        }
        let speed = (self.energy_scale / self.rho.iter().sum::<f64>()).sqrt();
        if self.kinds.iter().all(|&kind| kind == BlockKind::Contact) {
            let asymmetry = self.matrix.asymmetry();
            let symmetric = asymmetry <= SYMMETRIC;
            let mut near = None;
            let problem = if symmetric {
                self
            } else {
                let near = near.insert(self.clone());
                near.matrix = self.matrix.symmetric_part();
                near
            };
            let error = asymmetry.max(SYMMETRIC);
            let definite = |_: &f64| is_definite(&problem.matrix, error);
            let margin = problem.margin(speed).filter(definite);
            match margin {
                Some(margin) if symmetric => return Existence::Proven { margin },
                Some(margin) => return Existence::Nearby { margin, asymmetry },
                None => {}
            }
        }
        match self.refutation(speed) {
            Some(residual) => Existence::Refuted { residual },
            None => Existence::Open,
        }
    }

    /// How far inside the dual cones some velocities are, by the speed; none where they are not inside.
    fn margin(&self, speed: f64) -> Option<f64> {
        let mut margin = f64::NEG_INFINITY;
        let cone = |i: usize, x: &Vector3| cone::project(x, self.friction[i]);
        self.minimise(speed, cone, |r, u| {
            if u.iter()
                .zip(&self.friction)
                .all(|(u, mu)| u[0] + speed - mu * tangential(u) >= MARGIN * speed)
            {
                // Afresh, without the shift and what momentum has rounded.
                let mut fresh = u.to_vec();
                self.matrix.velocity(r, &self.free_velocity, &mut fresh);
                let inside = fresh
                    .iter()
                    .zip(&self.friction)
                    .map(|(u, mu)| u[0] - mu * tangential(u));
                margin = inside.fold(f64::INFINITY, f64::min) / speed;
            }
            margin >= 0.5 * MARGIN
        });
        (margin >= 0.5 * MARGIN).then_some(margin)
    }

    /// A bound from below of the residual of all impulses, if it is above zero.
    fn refutation(&self, speed: f64) -> Option<f64> {
        let normals = |i: usize, x: &Vector3| match self.kinds[i] {
            BlockKind::Contact => [x[0].max(0.0), 0.0, 0.0],
            BlockKind::Couple | BlockKind::Bounded => [0.0; 3],
        };
        let mut bound: Option<f64> = None;
        let mut before: Vec<Lanes> = vec![Lanes::default(); self.contacts()];
        let mut look = STEPS / 8;
        let mut steps = 0;
        // Where nothing keeps contacts from closing, impulses grow without end along l.
        self.minimise(0.0, normals, |r, _| {
            steps += INTERVAL;
            if steps >= look {
                let growth: Vec<f64> = r
                    .iter()
                    .zip(&before)
                    .map(|(r, old)| (r[0] - old[0]).max(0.0))
                    .collect();
                bound = self.bound(self.without_effect(growth), speed);
                before.copy_from_slice(r);
                look *= 2;
            }
            bound.is_some()
        });
        bound
    }

    /// Steps of projected gradient with momentum towards the least of 1/2 r W r + (q - shift n) r in the set that `project` projects on
    /// (Beck and Teboulle 2009, restarts of O'Donoghue and Candes 2015), until `look` at r and u says that it is enough.
    fn minimise(
        &self,
        shift: f64,
        project: impl Fn(usize, &Vector3) -> Vector3,
        mut look: impl FnMut(&[Lanes], &[Lanes]) -> bool,
    ) {
        let q: Vec<Vector3> = self
            .free_velocity
            .iter()
            .map(|q| [q[0] - shift, q[1], q[2]])
            .collect();
        let mut r = vec![Lanes::default(); q.len()];
        let mut u: Vec<Lanes> = q.iter().copied().map(Lanes::from).collect();
        let (mut y, mut v, mut new_r, mut new_u) = (r.clone(), u.clone(), r.clone(), u.clone());
        let (mut curvature, mut momentum) = (1.0, 1.0_f64);
        for step in 1..=STEPS {
            let against = loop {
                for i in 0..q.len() {
                    let length = self.rho[i] / curvature;
                    *new_r[i] = project(i, &std::array::from_fn(|k| y[i][k] - length * v[i][k]));
                }
                self.matrix.velocity(&new_r, &q, &mut new_u);
                let (mut curved, mut flat, mut against) = (0.0, 0.0, 0.0);
                for i in 0..q.len() {
                    let change: Vector3 = std::array::from_fn(|k| new_r[i][k] - y[i][k]);
                    curved += dot(&change, &std::array::from_fn(|k| new_u[i][k] - v[i][k]));
                    flat += self.trace[i] * dot(&change, &change);
                    let progress = std::array::from_fn(|k| new_r[i][k] - r[i][k]);
                    against -= self.trace[i] * dot(&change, &progress);
                }
                // Numbers beyond all bounds are not tried for ever.
                if curved <= curvature * flat * (1.0 + 1e-9) || curvature.is_infinite() {
                    break against;
                }
                curvature *= GROW;
            };
            let next = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let beta = if against > 0.0 {
                0.0
            } else {
                (momentum - 1.0) / next
            };
            momentum = if against > 0.0 { 1.0 } else { next };
            for (y, new, old) in [(&mut y, &new_r, &r), (&mut v, &new_u, &u)] {
                for ((y, new), old) in y.iter_mut().zip(new).zip(old) {
                    *y = new.each(old, |new, old| new + beta * (new - old));
                }
            }
            std::mem::swap(&mut r, &mut new_r);
            std::mem::swap(&mut u, &mut new_u);
            curvature *= SHRINK;
            if step.is_multiple_of(INTERVAL) && look(&r, &u) {
                return;
            }
        }
    }

    /// l less what of it moves anything: l - x with W x = W l among the contacts at which l is positive, by conjugate gradients.
    fn without_effect(&self, mut l: Vec<f64>) -> Vec<f64> {
        let largest = l.iter().copied().fold(0.0, f64::max);
        let support: Vec<bool> = l.iter().map(|&l| l > 1e-6 * largest).collect();
        let keep = |x: Vec<f64>| -> Vec<f64> {
            x.iter()
                .zip(&support)
                .map(|(&x, &own)| if own { x } else { 0.0 })
                .collect()
        };
        l = keep(l);
        let normal = |x: &[f64]| keep(self.moved_by(x).iter().map(|u| u[0]).collect());
        let inner = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
        let mut rest = normal(&l);
        let mut direction = rest.clone();
        let mut square = inner(&rest, &rest);
        let least = 1e-32 * inner(&l, &l) * self.trace.iter().copied().fold(0.0, f64::max).powi(2);
        for _ in 0..2 * l.len() {
            let image = normal(&direction);
            let curved = inner(&direction, &image);
            if square <= least || curved <= 0.0 {
                break;
            }
            let step = square / curved;
            for i in 0..l.len() {
                l[i] -= step * direction[i];
                rest[i] -= step * image[i];
            }
            let next = inner(&rest, &rest);
            for (d, rest) in direction.iter_mut().zip(&rest) {
                *d = rest + next / square * *d;
            }
            square = next;
        }
        l.iter().map(|l| l.max(0.0)).collect()
    }

    /// The transpose of W times l n: what r W (l n) multiplies r by.
    fn moved_by(&self, l: &[f64]) -> Vec<Vector3> {
        (0..self.contacts())
            .map(|j| {
                let own = self.matrix.diagonal[j].map(|column| column[0] * l[j]);
                self.matrix.column(j).fold(own, |sum, (i, block)| {
                    std::array::from_fn(|k| sum[k] + block[k][0] * l[i])
                })
            })
            .collect()
    }

    /// The bound on the energy residual that l gives, if it is above zero.
    fn bound(&self, mut l: Vec<f64>, speed: f64) -> Option<f64> {
        let largest = l.iter().copied().fold(0.0, f64::max);
        l.iter_mut().for_each(|l| *l /= largest);
        let (mut closing, mut effect, mut size) = (0.0, 0.0, 0.0);
        for (i, moved) in self.moved_by(&l).iter().enumerate() {
            closing -= l[i] * self.free_velocity[i][0];
            effect += self.rho[i] * dot(moved, moved);
            size += l[i] * l[i] * (1.0 + self.friction[i] * self.friction[i]) * self.trace[i];
        }
        let reach = REACH * self.energy_scale.sqrt();
        let bound = (closing - effect.sqrt() * reach) / (size * self.energy_scale).sqrt();
        // What is closed by less than rounding of q is not closed.
        let total: f64 = l.iter().sum();
        (bound > 0.0 && bound.is_finite() && closing > 1e-9 * speed * total).then_some(bound)
    }
}

/// Whether a symmetric W is positive semidefinite, but for an error of this share of its largest entry; no where that takes too
/// long to know.
fn is_definite(matrix: &BlockMatrix, error: f64) -> bool {
    let mut factors = BlockLu::default();
    if !factors.analyse_within(matrix, PRODUCTS) {
        return false;
    }
    let blocks = (0..matrix.contacts()).flat_map(|j| matrix.column(j).map(|(_, block)| block));
    let all = matrix.diagonal.iter().copied().chain(blocks);
    let size = all.fold(0.0_f64, |size, block| {
        block
            .as_flattened()
            .iter()
            .fold(size, |size, x| size.max(x.abs()))
    });
    let one = |size: f64| [[size, 0.0, 0.0], [0.0, size, 0.0], [0.0, 0.0, size]];
    let shifted = |block: &Block| {
        let mut block = *block;
        (0..3).for_each(|k| block[k][k] += error * size);
        block
    };
    let diagonal: Vec<Block> = matrix.diagonal.iter().map(shifted).collect();
    let count = matrix.contacts();
    factors.factor(
        matrix,
        &diagonal,
        &vec![one(1.0); count],
        &vec![[0.0; 3]; count],
    ) && factors.is_definite()
}

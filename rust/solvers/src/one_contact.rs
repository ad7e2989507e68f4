//! The exact solution of one contact with all others held: u = A r + b, K* ∋ u + mu |u_T| n ⟂ r ∈ K.
//!
//! Take-off when b_N >= 0; else stick when the impulse that stops the contact lies in the cone; else slip:
//! with d the direction of u_T, r = r_N (1, -mu d) and u_N = 0 give r_N = -b_N / (A_NN - mu A_NT d), and what
//! is left is one scalar equation for the angle of d, d⊥ . u_T(d) = 0 with d . u_T >= 0. Multiplied by the
//! denominator it is a trigonometric polynomial of second degree without divisions: Newton from the last
//! direction, and a scan of the circle where that ends at the wrong root.

use crate::block_matrix::{Block, Vector3, product};
use crate::cone::{contains, projected_step, tangential};

/// What the solve needs to know of a contact.
pub(crate) struct Contact<'a> {
    /// W_ii.
    pub(crate) matrix: &'a Block,
    /// Its inverse.
    pub(crate) inverse: &'a Block,
    /// Coefficient of friction.
    pub(crate) mu: f64,
    /// 1/trace(W_ii).
    pub(crate) rho: f64,
}

/// The last Newton step of a solve. It leaves an error of the order of its square, and the next sweep starts
/// from there: directions are exact to rounding where sweeps have settled, at one step a sweep.
const LAST_STEP: f64 = 1e-2;
const NEWTON_STEPS: usize = 12;
const SCAN: usize = 48;
/// The last Newton step towards a root that a scan has found: its square is rounding.
const ROOT_STEP: f64 = 1e-8;

/// The new impulse of a contact that has impulse `r` and velocity `u` now.
#[inline(always)]
pub(crate) fn solve(contact: &Contact<'_>, r: &Vector3, u: &Vector3) -> Vector3 {
    let a = contact.matrix;
    let own = a[0][0] * r[0] + a[1][0] * r[1] + a[2][0] * r[2];
    let normal = u[0] - own;
    if normal >= 0.0 {
        return [0.0; 3];
    }
    // Corrects r by what its velocity asks for, rather than solving for r afresh: exact at rest whatever
    // the error of the inverse.
    let i = contact.inverse;
    let stick = [
        r[0] - (i[0][0] * u[0] + i[1][0] * u[1] + i[2][0] * u[2]),
        r[1] - (i[0][1] * u[0] + i[1][1] * u[1] + i[2][1] * u[2]),
        r[2] - (i[0][2] * u[0] + i[1][2] * u[1] + i[2][2] * u[2]),
    ];
    if contains(&stick, contact.mu) {
        return stick;
    }
    let [x, y, z] = slip(contact, r, u);
    [x, y, z]
}

/// The slip equation of one contact, free of divisions.
struct Slip {
    /// A_NN, mu A_NT.
    normal: f64,
    coupling: [f64; 2],
    /// b_T, -b_N A_TN, b_N mu A_TT by columns.
    free: [f64; 2],
    drag: [f64; 2],
    resistance: [[f64; 2]; 2],
}

impl Slip {
    #[inline(always)]
    fn new(a: &Block, b: &Vector3, mu: f64) -> Self {
        let s = b[0] * mu;
        Self {
            normal: a[0][0],
            coupling: [mu * a[1][0], mu * a[2][0]],
            free: [b[1], b[2]],
            drag: [-b[0] * a[0][1], -b[0] * a[0][2]],
            resistance: [[s * a[1][1], s * a[1][2]], [s * a[2][1], s * a[2][2]]],
        }
    }

    /// A_NN - mu A_NT d: positive for every admissible direction.
    #[inline(always)]
    fn denominator(&self, d: [f64; 2]) -> f64 {
        self.normal - self.coupling[0] * d[0] - self.coupling[1] * d[1]
    }

    /// u_T times the denominator.
    #[inline(always)]
    fn velocity(&self, d: [f64; 2], denominator: f64) -> [f64; 2] {
        std::array::from_fn(|k| {
            self.free[k] * denominator
                + self.drag[k]
                + self.resistance[0][k] * d[0]
                + self.resistance[1][k] * d[1]
        })
    }

    /// Component of the velocity across d (zero at the solution), along d, and the derivative of the first
    /// with respect to the angle.
    #[inline(always)]
    fn evaluate(&self, d: [f64; 2]) -> (f64, f64, f64) {
        let across = [-d[1], d[0]];
        let v = self.velocity(d, self.denominator(d));
        let change = -self.coupling[0] * across[0] - self.coupling[1] * across[1];
        let w: [f64; 2] = std::array::from_fn(|k| {
            self.free[k] * change
                + self.resistance[0][k] * across[0]
                + self.resistance[1][k] * across[1]
        });
        let along = d[0] * v[0] + d[1] * v[1];
        (
            across[0] * v[0] + across[1] * v[1],
            along,
            across[0] * w[0] + across[1] * w[1] - along,
        )
    }

    /// The impulse for a direction that solves the equation, if the normal impulse is then positive.
    #[inline(always)]
    fn impulse(&self, d: [f64; 2], normal_velocity: f64, mu: f64) -> Option<Vector3> {
        let denominator = self.denominator(d);
        (denominator > 0.0).then(|| {
            let normal = -normal_velocity / denominator;
            [normal, -mu * normal * d[0], -mu * normal * d[1]]
        })
    }
}

#[inline(always)]
fn turned(d: [f64; 2], step: f64) -> [f64; 2] {
    let square = step * step;
    // The series saves a root and a division, and is exact to rounding in its range.
    let scale = if square < 1e-5 {
        1.0 - 0.5 * square + 0.375 * square * square
    } else {
        1.0 / (1.0 + square).sqrt()
    };
    [scale * (d[0] - step * d[1]), scale * (d[1] + step * d[0])]
}

/// The impulse of a contact that sticking would not keep in the cone.
#[inline(never)]
fn slip(contact: &Contact<'_>, r: &Vector3, u: &Vector3) -> Vector3 {
    let mu = contact.mu;
    let own = product(contact.matrix, r);
    let b = &[u[0] - own[0], u[1] - own[1], u[2] - own[2]];
    if mu == 0.0 {
        return [-b[0] / contact.matrix[0][0], 0.0, 0.0];
    }
    let equation = Slip::new(contact.matrix, b, mu);
    // The last direction if there is one: against r_T, which slip keeps on the cone.
    let step = product(contact.inverse, u);
    let stick = [r[0] - step[0], r[1] - step[1], r[2] - step[2]];
    let last = if r[1] == 0.0 && r[2] == 0.0 { &stick } else { r };
    let scale = -1.0 / tangential(last);
    let mut d = [scale * last[1], scale * last[2]];
    for _ in 0..NEWTON_STEPS {
        let (across, along, slope) = equation.evaluate(d);
        // The wanted root is a stable one: turning d towards the velocity reduces what is across.
        let step = if slope < 0.0 {
            (-across / slope).clamp(-1.0, 1.0)
        } else {
            across.signum()
        };
        d = turned(d, step);
        if step.abs() < LAST_STEP {
            if along < 0.0 {
                break;
            }
            match equation.impulse(d, b[0], mu) {
                Some(impulse) => return impulse,
                None => break,
            }
        }
    }
    scan(&equation, b[0], mu).unwrap_or_else(|| projected_step(r, u, mu, contact.rho))
}

/// The stable root found by walking round the circle; where several exist, the one that dissipates most.
#[cold]
fn scan(equation: &Slip, normal_velocity: f64, mu: f64) -> Option<Vector3> {
    let (sin, cos) = (std::f64::consts::TAU / SCAN as f64).sin_cos();
    let mut best: Option<(f64, Vector3)> = None;
    let mut from = [1.0, 0.0];
    let mut left = equation.evaluate(from).0;
    for _ in 0..SCAN {
        let to = [cos * from[0] - sin * from[1], sin * from[0] + cos * from[1]];
        let right = equation.evaluate(to).0;
        if left >= 0.0 && right < 0.0 {
            let (d, along) = root_between(equation, from, to);
            if let (true, Some(impulse)) = (along >= 0.0, equation.impulse(d, normal_velocity, mu))
            {
                let dissipation = mu * impulse[0] * along / equation.denominator(d);
                if best.is_none_or(|(most, _)| dissipation > most) {
                    best = Some((dissipation, impulse));
                }
            }
        }
        (from, left) = (to, right);
    }
    best.map(|(_, impulse)| impulse)
}

/// The direction between two at which what is across changes its sign, and the velocity along it: Newton, halving
/// the angle where that would leave it.
fn root_between(equation: &Slip, mut low: [f64; 2], mut high: [f64; 2]) -> ([f64; 2], f64) {
    let cross = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
    let middle = |a: [f64; 2], b: [f64; 2]| {
        let sum = [a[0] + b[0], a[1] + b[1]];
        let scale = 1.0 / (sum[0] * sum[0] + sum[1] * sum[1]).sqrt();
        [scale * sum[0], scale * sum[1]]
    };
    let mut d = middle(low, high);
    loop {
        let (across, along, slope) = equation.evaluate(d);
        *(if across >= 0.0 { &mut low } else { &mut high }) = d;
        let step = -across / slope;
        let next = turned(d, step);
        if step.abs() < ROOT_STEP || cross(low, high) < ROOT_STEP * ROOT_STEP {
            return (next, along);
        }
        let inside = slope < 0.0 && cross(low, next) >= 0.0 && cross(next, high) >= 0.0;
        d = if inside { next } else { middle(low, high) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cone::natural_map;
    use proptest::prelude::*;

    /// A = L L^T + I / 4 by its columns.
    fn matrix(l: [f64; 9]) -> Block {
        let row = |i: usize| [l[3 * i], l[3 * i + 1], l[3 * i + 2]];
        std::array::from_fn(|j| {
            std::array::from_fn(|i| {
                crate::cone::dot(&row(i), &row(j)) + if i == j { 0.25 } else { 0.0 }
            })
        })
    }

    proptest! {
        /// Newton and the scan of the circle lead to impulses that obey the law with all others held.
        #[test]
        fn newton_and_scan_solve_the_slip(
            l in prop::array::uniform9(-1.0..1.0_f64), b in prop::array::uniform3(-1.0..1.0_f64), mu in 0.01..1.5_f64,
        ) {
            let a = matrix(l);
            let b = [-b[0].abs() - 0.01, b[1], b[2]];
            let rho = 1.0 / (a[0][0] + a[1][1] + a[2][2]);
            let check = |r: &Vector3, allowed: f64| {
                let own = product(&a, r);
                let u = [b[0] + own[0], b[1] + own[1], b[2] + own[2]];
                let f = natural_map(r, &u, mu, rho);
                let error = crate::cone::dot(&f, &f).sqrt();
                prop_assert!(error <= allowed, "{r:?} {u:?}: {error}");
                Ok(())
            };
            let inverse = crate::problem::inverse(&a, 1.0 / rho);
            let contact = Contact { matrix: &a, inverse: &inverse, mu, rho };
            // Solved again from its own answer, as sweeps do.
            let mut r = [0.0; 3];
            for _ in 0..4 {
                let own = product(&a, &r);
                r = solve(&contact, &r, &[b[0] + own[0], b[1] + own[1], b[2] + own[2]]);
            }
            check(&r, 1e-12)?;
            if !contains(&product(&inverse, &b).map(|x| -x), mu) {
                let found = scan(&Slip::new(&a, &b, mu), b[0], mu);
                prop_assert!(found.is_some());
                check(&found.unwrap(), 1e-12)?;
            }
        }
    }
}

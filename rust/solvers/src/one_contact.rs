//! The exact solution of one contact with all others held: u = A r + b, K* ∋ u + mu |u_T| n ⟂ r ∈ K.
//!
//! Take-off when b_N >= 0; without friction r_N = -b_N / A_NN; else stick when the impulse that stops the contact
//! lies in the cone; else slip: with d the direction of u_T, r = r_N (1, -mu d) and u_N = 0 give r_N = -b_N / (A_NN - mu A_NT d), and what
//! is left is one scalar equation for the angle of d, d⊥ . u_T(d) = 0 with d . u_T >= 0. Multiplied by the
//! denominator it is a trigonometric polynomial of second degree without divisions: Newton from the last
//! direction, and a scan of the circle where that ends at the wrong root.

use crate::block_matrix::{Lanes, Vector3};
use crate::cone::{contains, projected_step, tangential};

/// What the solve needs to know of a contact.
#[derive(Debug, Clone)]
pub(crate) struct Contact {
    /// W_ii.
    pub(crate) matrix: [Lanes; 3],
    /// Its inverse, stiffened where singular: turns a velocity into the impulse that stops it.
    pub(crate) inverse: [Lanes; 3],
    /// Coefficient of friction.
    pub(crate) mu: f64,
    /// 1/trace(W_ii).
    pub(crate) rho: f64,
}

/// The last Newton step of a solve. It leaves an error of the order of its square, and the next sweep starts
/// from there: directions are exact to rounding where sweeps have settled, at one step a sweep.
pub(crate) const LAST_STEP: f64 = 1e-2;
const NEWTON_STEPS: usize = 12;
const SCAN: usize = 48;
/// The last Newton step towards a root that a scan has found: its square is rounding.
const ROOT_STEP: f64 = 1e-8;

/// The new impulse of a contact that has impulse `r` and velocity `u` now.
#[inline(always)]
pub(crate) fn solve(contact: &Contact, r: &Lanes, u: &Lanes) -> Lanes {
    let own = Lanes::product(&contact.matrix, r);
    let free = u.each(&own, |u, own| u - own);
    if free[0] >= 0.0 {
        return Lanes::default();
    }
    if contact.mu == 0.0 {
        return frictionless(&contact.matrix, r, u).into();
    }
    let stick = stick(&contact.inverse, r, u);
    if contains(&stick, contact.mu) {
        return stick;
    }
    slip(contact, &free, r, u).into()
}

/// The impulse that stops the contact. Corrects r by what its velocity asks for, rather than solving for r afresh: exact at
/// rest whatever the error of the inverse.
#[inline(always)]
fn stick(inverse: &[Lanes; 3], r: &Lanes, u: &Lanes) -> Lanes {
    r.each(&Lanes::product(inverse, u), |r, step| r - step)
}

/// The impulse without friction, as a correction too; what friction there was is taken out.
#[inline(always)]
fn frictionless(a: &[Lanes; 3], r: &Lanes, u: &Lanes) -> Vector3 {
    let normal = u[0] - (a[1][0] * r[1] + a[2][0] * r[2]);
    [(r[0] - normal / a[0][0]).max(0.0), 0.0, 0.0]
}

/// A direction of slip: a vector in the plane, and its length, which may be any.
#[derive(Clone, Copy)]
struct Direction {
    d: [f64; 2],
    length: f64,
}

impl Direction {
    /// That of a slip whose friction is that of the impulse r.
    #[inline(always)]
    fn against(r: &Vector3) -> Self {
        Self {
            d: [-r[1], -r[2]],
            length: tangential(r),
        }
    }

    /// Turned by the angle of that tangent.
    #[inline(always)]
    fn turned(self, step: f64) -> Self {
        let square = step * step;
        // The series saves a root and a division, and is exact to rounding in its range.
        let scale = if square < 1e-5 {
            1.0 - 0.5 * square + 0.375 * square * square
        } else {
            1.0 / (1.0 + square).sqrt()
        };
        let d = self.d;
        Self {
            d: [scale * (d[0] - step * d[1]), scale * (d[1] + step * d[0])],
            length: self.length,
        }
    }
}

/// The slip equation of one contact, free of divisions. It owns its matrix: were it pointed at, a sweep that unpacks a contact
/// into registers would have to write it to memory for the few contacts that are searched.
#[derive(Clone, Copy)]
struct Slip {
    matrix: [Lanes; 3],
    mu: f64,
    /// b: the velocity with the contact's own impulse taken out.
    free: Vector3,
}

impl Slip {
    /// A_NN - mu A_NT d, times the length: positive for every admissible direction.
    #[inline(always)]
    fn denominator(&self, direction: Direction) -> f64 {
        self.matrix[0][0] * direction.length - self.coupling(direction.d)
    }

    /// mu A_NT d
    #[inline(always)]
    fn coupling(&self, d: [f64; 2]) -> f64 {
        self.mu * (self.matrix[1][0] * d[0] + self.matrix[2][0] * d[1])
    }

    /// mu A_TT d
    #[inline(always)]
    fn resistance(&self, d: [f64; 2]) -> [f64; 2] {
        let a = &self.matrix;
        [1, 2].map(|k| self.mu * (a[1][k] * d[0] + a[2][k] * d[1]))
    }

    /// With v = u_T times the denominator: its component across d (zero at the solution), along d, and the derivative of
    /// the first with respect to the angle, all times the length of d.
    ///
    /// v = b_T (A_NN - mu A_NT d) + b_N (mu A_TT d - A_TN). All that does not depend on b is apart from it, because b is
    /// what the sweep waits for.
    #[inline(always)]
    fn evaluate(&self, direction: Direction) -> (f64, f64, f64) {
        let (a, b) = (&self.matrix, &self.free);
        let dot = |x: [f64; 2], y: [f64; 2]| x[0] * y[0] + x[1] * y[1];
        let Direction { d, length } = direction;
        let across = [-d[1], d[0]];
        let (denominator, change) = (self.denominator(direction), -self.coupling(across));
        let resistance = self.resistance(d);
        let drag = [
            resistance[0] - length * a[0][1],
            resistance[1] - length * a[0][2],
        ];
        let (drag_across, drag_along) = (dot(across, drag), dot(d, drag));
        let turning = dot(across, self.resistance(across));
        let (b_across, b_along) = (dot(across, [b[1], b[2]]), dot(d, [b[1], b[2]]));
        let along = denominator * b_along + b[0] * drag_along;
        (
            denominator * b_across + b[0] * drag_across,
            along,
            (change * b_across + b[0] * turning) - along,
        )
    }

    /// The impulse for a direction that solves the equation, if the normal impulse is then positive.
    #[inline(always)]
    fn impulse(&self, direction: Direction) -> Option<Vector3> {
        let denominator = self.denominator(direction);
        (denominator > 0.0).then(|| {
            let scale = self.free[0] / denominator;
            let friction = self.mu * scale;
            [
                -scale * direction.length,
                friction * direction.d[0],
                friction * direction.d[1],
            ]
        })
    }

    /// One step of Newton for the direction: the new one, the step, and the velocity along the old one.
    #[inline(always)]
    fn newton(&self, direction: Direction) -> (Direction, f64, f64) {
        let (across, along, slope) = self.evaluate(direction);
        // The wanted root is a stable one: turning d towards the velocity reduces what is across.
        let step = if slope < 0.0 {
            (-across / slope).clamp(-1.0, 1.0)
        } else {
            across.signum()
        };
        (direction.turned(step), step, along)
    }
}

/// The impulse of a contact that sticking would not keep in the cone.
#[inline(always)]
pub(crate) fn slip(contact: &Contact, free: &Lanes, r: &Lanes, u: &Lanes) -> Vector3 {
    let equation = Slip {
        matrix: contact.matrix,
        mu: contact.mu,
        free: **free,
    };
    // The last direction if there is one: against r_T, which slip keeps on the cone.
    let direction = if r[1] == 0.0 && r[2] == 0.0 {
        first_direction(contact.inverse, *r, *u)
    } else {
        Direction::against(r)
    };
    let (direction, step, along) = equation.newton(direction);
    let arrived = step.abs() < LAST_STEP && along >= 0.0;
    if let (true, Some(impulse)) = (arrived, equation.impulse(direction)) {
        return impulse;
    }
    let [x, y, z] = search(equation, direction, step)
        .unwrap_or_else(|| projected_step(r, u, contact.mu, contact.rho));
    [x, y, z]
}

/// The direction that sticking asks for. Apart, so that the processor guesses which of the two it is: else it waits for the velocity
/// before it begins with the direction.
#[cold]
#[inline(never)]
fn first_direction(inverse: [Lanes; 3], r: Lanes, u: Lanes) -> Direction {
    Direction::against(&stick(&inverse, &r, &u))
}

/// More steps of Newton where the first was not the last, and a scan of the circle where they end at the wrong root.
#[inline(never)]
fn search(equation: Slip, mut direction: Direction, mut step: f64) -> Option<Vector3> {
    let mut steps = 1;
    while steps < NEWTON_STEPS && step.abs() >= LAST_STEP {
        let along;
        (direction, step, along) = equation.newton(direction);
        let arrived = step.abs() < LAST_STEP && along >= 0.0;
        if let (true, Some(impulse)) = (arrived, equation.impulse(direction)) {
            return Some(impulse);
        }
        steps += 1;
    }
    scan(equation)
}

/// The stable root found by walking round the circle; where several exist, the one that dissipates most.
#[cold]
fn scan(equation: Slip) -> Option<Vector3> {
    let (sin, cos) = (std::f64::consts::TAU / SCAN as f64).sin_cos();
    let mut best: Option<(f64, Vector3)> = None;
    let mut from = [1.0, 0.0];
    let mut left = equation.evaluate(unit(from)).0;
    for _ in 0..SCAN {
        let to = [cos * from[0] - sin * from[1], sin * from[0] + cos * from[1]];
        let right = equation.evaluate(unit(to)).0;
        if left >= 0.0 && right < 0.0 {
            let (d, along) = root_between(equation, from, to);
            let d = unit(d);
            if let (true, Some(impulse)) = (along >= 0.0, equation.impulse(d)) {
                let dissipation = equation.mu * impulse[0] * along / equation.denominator(d);
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
fn root_between(equation: Slip, mut low: [f64; 2], mut high: [f64; 2]) -> ([f64; 2], f64) {
    let cross = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
    let middle = |a: [f64; 2], b: [f64; 2]| {
        let sum = [a[0] + b[0], a[1] + b[1]];
        let scale = 1.0 / (sum[0] * sum[0] + sum[1] * sum[1]).sqrt();
        [scale * sum[0], scale * sum[1]]
    };
    let mut d = middle(low, high);
    loop {
        let (across, along, slope) = equation.evaluate(unit(d));
        *(if across >= 0.0 { &mut low } else { &mut high }) = d;
        let step = -across / slope;
        let next = unit(d).turned(step).d;
        if step.abs() < ROOT_STEP || cross(low, high) < ROOT_STEP * ROOT_STEP {
            return (next, along);
        }
        let inside = slope < 0.0 && cross(low, next) >= 0.0 && cross(next, high) >= 0.0;
        d = if inside { next } else { middle(low, high) };
    }
}

/// The direction of a vector of length one.
fn unit(d: [f64; 2]) -> Direction {
    Direction { d, length: 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_matrix::{Block, product};
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
        /// Without friction the first answer is the last, to the bit where the normal velocity is zero.
        #[test]
        fn frictionless_contacts_are_answered_at_once(
            l in prop::array::uniform9(-1.0..1.0_f64), b in prop::array::uniform3(-1.0..1.0_f64),
            r in prop::array::uniform3(0.0..1.0_f64), slide in prop::array::uniform2(-1.0..1.0_f64),
        ) {
            let a = matrix(l);
            let trace = a[0][0] + a[1][1] + a[2][2];
            let inverse = crate::problem::inverse(&a, trace).map(Lanes::from);
            let contact = Contact { matrix: a.map(Lanes::from), inverse, mu: 0.0, rho: 1.0 / trace };
            let velocity = |r: &Vector3| {
                let own = product(&a, r);
                [b[0] + own[0], b[1] + own[1], b[2] + own[2]]
            };
            let found = solve(&contact, &r.into(), &velocity(&r).into());
            let f = natural_map(&found, &velocity(&found), 0.0, contact.rho);
            prop_assert!(crate::cone::dot(&f, &f).sqrt() <= 1e-14, "{found:?}: {f:?}");
            let still = Lanes::from([1.0 + r[0], 0.0, 0.0]);
            let same = solve(&contact, &still, &[0.0, slide[0], slide[1]].into());
            prop_assert_eq!(*same, *still);
        }

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
            let lanes = |block: Block| block.map(Lanes::from);
            let contact = Contact { matrix: lanes(a), inverse: lanes(inverse), mu, rho };
            // Solved again from its own answer, as sweeps do.
            let mut r = [0.0; 3];
            for _ in 0..4 {
                let own = product(&a, &r);
                let u = [b[0] + own[0], b[1] + own[1], b[2] + own[2]];
                r = *solve(&contact, &r.into(), &u.into());
            }
            check(&r, 1e-12)?;
            if !contains(&product(&inverse, &b).map(|x| -x), mu) {
                let found = scan(Slip { matrix: lanes(a), mu, free: b });
                prop_assert!(found.is_some());
                check(&found.unwrap(), 1e-12)?;
            }
        }
    }
}

//! Accelerations at a stage, and the projection of the last.

use super::{NUMBERS, Power, Smooth};
use crate::body::Role;
use crate::joints::response;
use crate::setup::Setup;
use percuss_geometry::{Mat3, Vec3};

/// Residuals below this need no second look at the Jacobian: what they change in it is lost in rounding of the
/// accelerations.
const NEAR: f64 = 1e-8;
/// Most Newton steps of a projection.
const NEWTON_STEPS: usize = 10;

impl Smooth {
    /// Derivative of `stage` at time `t` into the slope of that index; with `project` the stage is first brought
    /// onto the constraints.
    pub(super) fn evaluate(&mut self, setup: &Setup, t: f64, slope: usize, project: bool) {
        self.mechanism.aim(t);
        self.place(setup, t);
        self.mechanism.linearise();
        if project {
            self.project(setup, t);
        }
        self.gather_forces(setup, t);
        self.solve();
        self.write_slope(slope);
    }

    /// Bodies where the stage has them.
    fn place(&mut self, setup: &Setup, t: f64) {
        let mechanism = &mut self.mechanism;
        for (body, numbers) in self.stage.chunks_exact_mut(NUMBERS).enumerate() {
            if let Role::Kinematic(motion) = &setup.scene.bodies[body].role {
                let (v, w) = motion.velocity(t);
                numbers[7..10].copy_from_slice(v.as_slice());
                numbers[10..13].copy_from_slice(w.as_slice());
            }
            let vector = |k: usize| Vec3::new(numbers[k], numbers[k + 1], numbers[k + 2]);
            let placed = &mut mechanism.placed[body];
            placed.centre = vector(0);
            placed.axes = axes([numbers[3], numbers[4], numbers[5], numbers[6]]);
            placed.velocity = vector(7);
            placed.turning = vector(10);
            mechanism.turn(body);
        }
    }

    /// Moves the stage onto the constraints, then its velocities, along M^-1 J^T.
    fn project(&mut self, setup: &Setup, t: f64) {
        let mut residual = self.mechanism.residuals(&mut self.right);
        self.drift = residual;
        for _ in 0..NEWTON_STEPS {
            if residual == 0.0 {
                break;
            }
            self.correct();
            for (numbers, turn) in self.stage.chunks_exact_mut(NUMBERS).zip(&self.corrections) {
                displace(numbers, turn);
            }
            if residual < NEAR {
                break;
            }
            self.place(setup, t);
            self.mechanism.linearise();
            residual = self.mechanism.residuals(&mut self.right);
            self.drift = residual;
        }
        for (own, placed) in self.twists.iter_mut().zip(&self.mechanism.placed) {
            *own = placed.twist();
        }
        self.mechanism.rate_residuals(&self.twists, &mut self.right);
        self.correct();
        let bodies = self
            .stage
            .chunks_exact_mut(NUMBERS)
            .zip(&mut self.mechanism.placed);
        for ((numbers, placed), change) in bodies.zip(&self.corrections) {
            for k in 0..6 {
                numbers[7 + k] += change[k];
            }
            placed.velocity += Vec3::new(change[0], change[1], change[2]);
            placed.turning += Vec3::new(change[3], change[4], change[5]);
        }
    }

    /// Twists that take away the rows' values in `right`, to first order.
    fn correct(&mut self) {
        self.right.iter_mut().for_each(|x| *x = -*x);
        self.mechanism.solve(&mut self.right);
        self.corrections.fill([0.0; 6]);
        self.mechanism.respond(&self.right, &mut self.corrections);
    }

    /// Forces of elements, loads, gravity and gyroscopic terms, and the accelerations they would give.
    fn gather_forces(&mut self, setup: &Setup, t: f64) {
        let placed = &self.mechanism.placed;
        self.forces.fill([0.0; 6]);
        let mut powers = Power::default();
        for element in &self.elements {
            let power = element.add(t, placed, &mut self.forces);
            powers.external += power.external;
            powers.damping += power.damping;
            powers.friction += power.friction;
        }
        self.motion_power = 0.0;
        for load in &setup.scene.loads {
            let body = &placed[load.body];
            let centre = setup.inertia[load.body].map_or(Vec3::zeros(), |i| i.centre_m);
            let factor = load.factor(t);
            let force = load.force_n * factor;
            let torque =
                (body.axes * (load.point_m - centre)).cross(&force) + load.torque_n_m * factor;
            powers.external += force.dot(&body.velocity) + torque.dot(&body.turning);
            for k in 0..3 {
                self.forces[load.body][k] += force[k];
                self.forces[load.body][k + 3] += torque[k];
            }
        }
        self.powers = powers;
        let gravity = setup.scene.gravity_m_per_s2;
        for (body, force) in self.forces.iter_mut().enumerate() {
            let (weight, placed) = (&self.mechanism.weights[body], &placed[body]);
            if weight.moves {
                let spin = placed.axes.tr_mul(&placed.turning);
                let gyroscopic = placed.axes * spin.cross(&(weight.inertia * spin));
                for k in 0..3 {
                    force[k + 3] -= gyroscopic[k];
                }
                self.accelerations[body] = response(weight, force);
                for k in 0..3 {
                    self.accelerations[body][k] += gravity[k];
                }
            } else if let Some(Role::Kinematic(motion)) =
                setup.scene.bodies.get(body).map(|b| &b.role)
            {
                let (a, alpha) = motion.acceleration(t);
                self.accelerations[body] = [a.x, a.y, a.z, alpha.x, alpha.y, alpha.z];
                let twist = placed.twist();
                self.motion_power -= (0..6).map(|k| force[k] * twist[k]).sum::<f64>();
            }
        }
    }

    /// Multipliers, and the accelerations with them.
    fn solve(&mut self) {
        let right = &mut self.multipliers;
        let mechanism = &self.mechanism;
        mechanism.acceleration_residuals(&self.accelerations, right);
        right.iter_mut().for_each(|x| *x = -*x);
        mechanism.solve(right);
        mechanism.respond(right, &mut self.accelerations);
        self.motion_power += mechanism.power(right);
    }

    fn write_slope(&mut self, index: usize) {
        let slope = &mut self.slopes[index];
        for (body, numbers) in slope.chunks_exact_mut(NUMBERS).enumerate() {
            let placed = &self.mechanism.placed[body];
            let w = &placed.turning;
            numbers[..3].copy_from_slice(placed.velocity.as_slice());
            let q: &[f64] = &self.stage[NUMBERS * body + 3..NUMBERS * body + 7];
            let v = Vec3::new(q[1], q[2], q[3]);
            let change = (w * q[0] + w.cross(&v)) * 0.5;
            numbers[3] = -0.5 * w.dot(&v);
            numbers[4..7].copy_from_slice(change.as_slice());
            numbers[7..].copy_from_slice(&self.accelerations[body]);
        }
        let works = slope.len() - super::WORKS;
        slope[works..].copy_from_slice(&[
            self.powers.external,
            self.powers.damping,
            self.powers.friction,
            self.motion_power,
        ]);
    }
}

/// Moves a body by a small displacement and rotation vector.
fn displace(numbers: &mut [f64], by: &[f64; 6]) {
    for k in 0..3 {
        numbers[k] += by[k];
    }
    let (q0, v) = (numbers[3], Vec3::new(numbers[4], numbers[5], numbers[6]));
    let half = Vec3::new(by[3], by[4], by[5]) * 0.5;
    let turned = v + half * q0 + half.cross(&v);
    let first = q0 - half.dot(&v);
    let scale = 1.0 / (first * first + turned.norm_squared()).sqrt();
    numbers[3] = first * scale;
    for k in 0..3 {
        numbers[4 + k] = turned[k] * scale;
    }
}

/// The rotation matrix of a quaternion (w first) of any length.
#[inline]
fn axes([w, x, y, z]: [f64; 4]) -> Mat3 {
    let s = 2.0 / (w * w + x * x + y * y + z * z);
    let (xs, ys, zs) = (x * s, y * s, z * s);
    let (wx, wy, wz) = (w * xs, w * ys, w * zs);
    let (xx, xy, xz) = (x * xs, x * ys, x * zs);
    let (yy, yz, zz) = (y * ys, y * zs, z * zs);
    Mat3::new(
        1.0 - (yy + zz),
        xy - wz,
        xz + wy,
        xy + wz,
        1.0 - (xx + zz),
        yz - wx,
        xz - wy,
        yz + wx,
        1.0 - (xx + yy),
    )
}

//! Places and velocities brought back onto the constraints at the end of a step.
//!
//! Both projections go along M^-1 G^T, the shortest way in the metric of the mass. That of places leaves the velocity
//! of the mass centre and the angular velocity in the body's axes alone, so that it changes potential and elastic
//! energy but not the kinetic one. That of velocities is an impulse mu with the work mu . c' of imposed motions
//! and, besides, a loss mu . (c' - G v) / 2 >= 0.

use super::{Articulation, given, react};
use crate::elements::twist;
use crate::error::RigidError;
use crate::free_motion::BodyState;
use crate::smooth::placed;
use crate::world::World;
use percuss_geometry::{Quat, Vec3};

/// What is left of a row counts as nothing [m or rad].
const CLOSED: f64 = 1e-13;
/// Residuals up to this that Newton's method no longer improves are rounding.
const NEAR: f64 = 1e-11;
/// Residuals above this, relative to the size of the scene, mean that the joints cannot be met.
const BROKEN: f64 = 1e-9;
/// Most Newton steps.
const NEWTON_STEPS: usize = 30;
/// A Newton step with old factors has to gain this much, or they are made anew.
const GAIN: f64 = 0.1;

impl Articulation {
    /// Bodies where their states have them.
    fn place(&mut self, states: &[BodyState]) {
        for &body in &self.bodies {
            self.mechanism.placed[body] = placed(&states[body]);
            self.mechanism.turn(body);
        }
    }

    /// Starts from these states, with velocities still to be made to fit; gives the elastic energy.
    pub fn settle_on(&mut self, states: &[BodyState]) -> f64 {
        self.loose = true;
        self.place(states);
        self.elastic_j()
    }

    /// Moves the bodies onto the constraints; the largest residual that is left.
    fn close(&mut self, states: &mut [BodyState]) -> f64 {
        let mut last = f64::INFINITY;
        for _ in 0..NEWTON_STEPS {
            let worst = self.mechanism.residuals(&mut self.right);
            let slow = worst > GAIN * last;
            if worst <= CLOSED || (slow && worst <= NEAR) {
                return worst;
            }
            if slow {
                self.mechanism.linearise_held();
            }
            last = worst;
            self.right.iter_mut().for_each(|x| *x = -*x);
            self.mechanism.solve(&mut self.right);
            for &body in &self.bodies {
                self.changes[body] = [0.0; 6];
            }
            self.mechanism.respond(&self.right, &mut self.changes);
            for &body in &self.bodies {
                if self.mechanism.weights[body].moves {
                    let [x, y, z, turn @ ..] = self.changes[body];
                    let state = &mut states[body];
                    state.position += Vec3::new(x, y, z);
                    let half = turn.map(|x| 0.5 * x);
                    let turn = nalgebra::Quaternion::new(1.0, half[0], half[1], half[2]);
                    state.rotation = Quat::new_normalize(turn * state.rotation.as_ref());
                }
            }
            self.place(states);
            self.mechanism.relink();
            self.mechanism.evaluate(0.0);
        }
        self.mechanism.residuals(&mut self.right)
    }
}

impl World {
    /// Projects places and velocities on the constraints of time `t`, booking what that does to the energy.
    pub(crate) fn close_joints(&mut self, t: f64) -> Result<(), RigidError> {
        let Some(mut joints) = self.articulation.take() else {
            return Ok(());
        };
        joints.place(&self.states);
        joints.mechanism.linearise_held();
        joints.mechanism.aim(t);
        let (elastic, height) = (joints.elastic_j(), self.height_j(&joints));
        let left = joints.close(&mut self.states);
        let far = joints
            .bodies
            .iter()
            .map(|&body| self.states[body].position.amax());
        if left > BROKEN * far.fold(1.0, f64::max) {
            let broken = self.broken(&joints.mechanism, t);
            self.articulation = Some(joints);
            return Err(broken);
        }
        let closed = joints.elastic_j();
        self.energy.scheme_j += elastic - self.energy.elastic_j;
        self.energy.stabilisation_work_j += closed - elastic + self.height_j(&joints) - height;
        self.energy.elastic_j = closed;
        self.steer(&mut joints);
        for element in &mut joints.elements {
            element.count(&joints.mechanism.placed);
        }
        self.articulation = Some(joints);
        Ok(())
    }

    /// Makes velocities that were set from outside fit the joints.
    pub(crate) fn tighten_joints(&mut self) -> Result<(), RigidError> {
        if !self
            .articulation
            .as_ref()
            .is_some_and(|joints| joints.loose)
        {
            return Ok(());
        }
        let before = self.energy;
        self.close_joints(self.time_s())?;
        let after = self.energy;
        self.account_state();
        self.energy = crate::Energy {
            kinetic_j: self.energy.kinetic_j,
            potential_j: self.energy.potential_j,
            elastic_j: after.elastic_j,
            ..before
        };
        self.energy.brought_in_j += self.energy.mechanical_j() - before.mechanical_j();
        if let Some(joints) = &mut self.articulation {
            joints.loose = false;
        }
        Ok(())
    }

    /// Potential energy of the bodies at joints.
    fn height_j(&self, joints: &Articulation) -> f64 {
        let gravity = &self.scene.gravity_m_per_s2;
        let one = |&body: &usize| {
            let inertia = self.inertia[body].as_ref();
            inertia.map_or(0.0, |i| {
                -i.mass_kg * gravity.dot(&self.states[body].position)
            })
        };
        joints.bodies.iter().map(one).sum()
    }

    /// Projects the velocities.
    fn steer(&mut self, joints: &mut Articulation) {
        let Articulation {
            mechanism,
            bodies,
            right,
            targets: missed,
            imposed: before,
            changes,
            compliance,
            ..
        } = joints;
        for &body in &*bodies {
            changes[body] = twist(&mechanism.placed[body]);
        }
        mechanism.rate_residuals(changes, missed);
        for row in 0..right.len() {
            // Rows of elements stay out of it.
            right[row] = if compliance[row] > 0.0 {
                0.0
            } else {
                -missed[row]
            };
        }
        mechanism.solve(right);
        mechanism.respond(right, changes);
        // The factors may be those of nearby places: what the mean rate misses is no exact half.
        before.copy_from_slice(missed);
        mechanism.rate_residuals(changes, missed);
        for linked in &mechanism.joints {
            for row in linked.first..linked.first + linked.held.len() {
                let impulse = right[row];
                let rate = mechanism.targets[row][1] - given(mechanism, linked, row, changes);
                self.energy.motion_work_j += impulse * rate;
                self.energy.stabilisation_work_j += 0.5 * impulse * (before[row] + missed[row]);
                if let Some(reaction) = self.reactions.get_mut(linked.joint) {
                    let jacobian = &mechanism.rows[row].value.jacobian[1];
                    react(reaction, linked, jacobian, impulse / self.settings.dt_s);
                }
            }
        }
        for &body in &*bodies {
            if mechanism.weights[body].moves {
                let [x, y, z, a, b, c] = changes[body];
                let state = &mut self.states[body];
                state.velocity = Vec3::new(x, y, z);
                state.spin = mechanism.placed[body].axes.tr_mul(&Vec3::new(a, b, c));
            }
        }
    }
}

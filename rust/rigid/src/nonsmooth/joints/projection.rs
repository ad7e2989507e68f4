//! Places and velocities brought back onto the constraints at the end of a step.
//!
//! Both projections go along M^-1 G^T, the shortest way in the metric of the mass. That of places leaves the velocity
//! of the mass centre and the angular velocity in the body's axes alone, so that it changes potential and elastic
//! energy but not the kinetic one. That of velocities is an impulse mu with the work mu . c' of imposed motions
//! and, besides, a loss mu . (c' - G v) / 2 >= 0.

use super::{Articulation, given, react};
use crate::error::RigidError;
use crate::free_motion::BodyState;
use crate::joints::Placed;
use crate::setup::Setup;
use crate::state::State;
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
        for &own in &self.moving {
            self.mechanism.placed[own] = Placed::of(&states[self.bodies[own]]);
            self.mechanism.turn(own);
        }
    }

    /// Starts from these states, with velocities still to be made to fit; gives the elastic energy.
    pub fn settle_on(&mut self, states: &[BodyState]) -> f64 {
        self.loose = true;
        self.place(states);
        self.elastic_now_j = self.elastic_j();
        self.elastic_now_j
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
            for &own in &self.moving {
                self.changes[own] = [0.0; 6];
            }
            self.mechanism.respond(&self.right, &mut self.changes);
            for &own in &self.moving {
                if self.mechanism.weights[own].moves {
                    let [x, y, z, turn @ ..] = self.changes[own];
                    let state = &mut states[self.bodies[own]];
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

impl Articulation {
    /// Projects places and velocities on the constraints of time `t`, booking what that does to the energy, but for
    /// [`Articulation::elastic_now_j`].
    ///
    /// # Errors
    /// Joints that can no longer be met.
    pub fn close_joints(
        &mut self,
        setup: &Setup,
        state: &mut State,
        t: f64,
    ) -> Result<(), RigidError> {
        let before = self.elastic_now_j;
        self.place(&state.bodies);
        self.mechanism.linearise_held();
        self.mechanism.aim(t);
        let (elastic, height) = (self.elastic_j(), self.height_j(setup, state));
        let left = self.close(&mut state.bodies);
        let far = self
            .moving
            .iter()
            .map(|&own| state.bodies[self.bodies[own]].position.amax());
        if left > BROKEN * far.fold(1.0, f64::max) {
            let name = |joint: usize| setup.scene.joints[self.joints[joint]].name.clone();
            return Err(self.mechanism.broken(t, name));
        }
        let closed = self.elastic_j();
        let raised = self.height_j(setup, state) - height;
        state.energy.scheme_j += elastic - before;
        state.energy.stabilisation_work_j += closed - elastic + raised;
        self.elastic_now_j = closed;
        self.steer(setup, state);
        for element in &mut self.elements {
            element.count(&self.mechanism.placed);
        }
        Ok(())
    }

    /// Makes velocities that were set from outside fit the joints.
    pub fn tighten(&mut self, setup: &Setup, state: &mut State) -> Result<(), RigidError> {
        if !self.loose {
            return Ok(());
        }
        let before = state.energy;
        let rest = before.elastic_j - self.elastic_now_j;
        self.close_joints(setup, state, setup.time_s(state))?;
        let elastic_j = rest + self.elastic_now_j;
        setup.account_state(state);
        state.energy = crate::Energy {
            kinetic_j: state.energy.kinetic_j,
            potential_j: state.energy.potential_j,
            elastic_j,
            ..before
        };
        state.energy.brought_in_j += state.energy.mechanical_j() - before.mechanical_j();
        self.loose = false;
        Ok(())
    }

    /// Potential energy of its bodies.
    fn height_j(&self, setup: &Setup, state: &State) -> f64 {
        let gravity = &setup.scene.gravity_m_per_s2;
        let one = |&own: &usize| {
            let body = self.bodies[own];
            let inertia = setup.inertia[body].as_ref();
            inertia.map_or(0.0, |i| {
                -i.mass_kg * gravity.dot(&state.bodies[body].position)
            })
        };
        self.moving.iter().map(one).sum()
    }

    /// Projects the velocities.
    fn steer(&mut self, setup: &Setup, state: &mut State) {
        let Self {
            mechanism,
            moving,
            bodies,
            joints,
            right,
            targets: missed,
            imposed: before,
            changes,
            compliance,
            ..
        } = self;
        for &own in &*moving {
            changes[own] = mechanism.placed[own].twist();
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
                state.energy.motion_work_j += impulse * rate;
                state.energy.stabilisation_work_j += 0.5 * impulse * (before[row] + missed[row]);
                if let Some(&joint) = joints.get(linked.joint) {
                    let jacobian = &mechanism.rows[row].value.jacobian[1];
                    let force = impulse / setup.settings.dt_s;
                    react(&mut state.reactions[joint], linked, jacobian, force);
                }
            }
        }
        for &own in &*moving {
            if mechanism.weights[own].moves {
                let [x, y, z, a, b, c] = changes[own];
                let state = &mut state.bodies[bodies[own]];
                state.velocity = Vec3::new(x, y, z);
                state.spin = mechanism.placed[own].axes.tr_mul(&Vec3::new(a, b, c));
            }
        }
    }
}

//! Where the work of joints and elements goes.
//!
//! The impulse x of a row with the rate s' does the work x (s'- + s'+) / 2: of imposed motions, and of bodies moved as
//! given, for the rows of joints (the rest, zero at theta = 1/2, is of the scheme); taken by impact for limits; taken
//! by friction. The work of an element is what it stored less now than before, what its damper took, and what
//! an actuator gave; the rest, of third order in h and zero for linear springs along straight lines, is of the scheme.

use super::bounds::BoundKind;
use super::{Articulation, given, react};
use crate::nonsmooth::middle::Middle;
use crate::setup::Setup;
use crate::state::State;
use percuss_geometry::Vec3;

impl Articulation {
    /// Books the step, with the velocities before and after it.
    pub fn account(&mut self, setup: &Setup, state: &mut State, middle: &Middle) {
        for &own in &self.moving {
            let body = self.bodies[own];
            let (before, after) = (&middle.before[body], &middle.after[body]);
            self.changes[own] = std::array::from_fn(|k| 0.5 * (before[k] + after[k]));
        }
        self.account_rows(setup, state);
        self.account_elements(setup, state);
        self.account_bounds(setup, state);
    }

    fn account_rows(&self, setup: &Setup, state: &mut State) {
        let h = setup.settings.dt_s;
        let (mechanism, mean) = (&self.mechanism, &self.changes);
        for &joint in &self.joints {
            state.reactions[joint] = [0.0; 6];
        }
        let energy = &mut state.energy;
        for linked in &mechanism.joints {
            for row in linked.first..linked.first + linked.held.len() {
                let value = &mechanism.rows[row].value;
                let rate = value.rate(linked.bodies.map(|body| &mean[body]));
                let (impulse, imposed) = (self.impulses[row], self.imposed[row]);
                energy.motion_work_j += impulse * (imposed - given(mechanism, linked, row, mean));
                energy.scheme_j += impulse * (rate - imposed);
                if let Some(&joint) = self.joints.get(linked.joint) {
                    let reaction = &mut state.reactions[joint];
                    react(reaction, linked, &value.jacobian[1], impulse / h);
                }
            }
        }
    }

    fn account_elements(&mut self, setup: &Setup, state: &mut State) {
        if self.elements.is_empty() {
            return;
        }
        let h = setup.settings.dt_s;
        let middle = setup.time_s(state) + setup.settings.theta * h;
        let mechanism = &mut self.mechanism;
        for &own in &self.moving {
            let [x, y, z, a, b, c] = self.changes[own];
            let placed = &mut mechanism.placed[own];
            placed.velocity = Vec3::new(x, y, z);
            placed.turning = Vec3::new(a, b, c);
            let force = &self.forces[own];
            let twist = placed.twist();
            let work = h * (0..6).map(|k| force[k] * twist[k]).sum::<f64>();
            state.energy.scheme_j += work;
            if !mechanism.weights[own].moves {
                state.energy.motion_work_j -= work;
            }
        }
        // Forces at the mean velocities serve for their powers alone.
        for element in &self.elements {
            let power = element.add(middle, &mechanism.placed, &mut self.forces);
            state.energy.external_work_j += h * power.external;
            state.energy.damping_dissipation_j += h * power.damping;
            state.energy.scheme_j += h * (power.damping - power.external);
        }
    }

    fn account_bounds(&mut self, setup: &Setup, state: &mut State) {
        self.remembered.fill(0.0);
        for active in &mut self.active {
            let impulse = active.block.impulse[0];
            let bound = &self.bounds[active.bound];
            let linked = &self.mechanism.joints[bound.joint];
            let (mut rate, mut given) = (0.0, 0.0);
            for (side, &body) in linked.bodies.iter().enumerate() {
                let mean = &self.changes[body];
                let part: f64 = (0..6).map(|k| active.jacobian[side][k] * mean[k]).sum();
                rate += part;
                if !self.mechanism.weights[body].moves {
                    given += part;
                }
            }
            let work = impulse * rate;
            state.energy.motion_work_j -= impulse * given;
            match bound.kind {
                BoundKind::Limit { .. } => state.energy.impact_dissipation_j -= work,
                BoundKind::Friction { .. } => state.energy.friction_dissipation_j -= work,
            }
            self.remembered[active.bound] += impulse;
            let force = impulse / setup.settings.dt_s;
            let reaction = &mut state.reactions[self.joints[linked.joint]];
            react(reaction, linked, &active.jacobian[1], force);
            active.work_j = work;
        }
    }
}

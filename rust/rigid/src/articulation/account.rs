//! Where the work of joints and elements goes.
//!
//! The impulse x of a row with the rate s' does the work x (s'- + s'+) / 2: of imposed motions, and of bodies moved as
//! given, for the rows of joints (the rest, zero at theta = 1/2, is of the scheme); taken by impact for limits; taken
//! by friction. The work of an element is what it stored less now than before, what its damper took, and what
//! an actuator gave; the rest, of third order in h and zero for linear springs along straight lines, is of the scheme.

use super::bounds::BoundKind;
use super::{Articulation, given, react};
use crate::elements::twist;
use crate::world::World;
use percuss_geometry::Vec3;

impl World {
    /// Books the step; gives the work of limits and friction, and the scale |P| |q| of its error.
    pub(crate) fn account_joints(&mut self) -> (f64, f64) {
        let Some(mut joints) = self.articulation.take() else {
            return (0.0, 0.0);
        };
        let h = self.settings.dt_s;
        for &body in &joints.bodies {
            joints.changes[body] =
                std::array::from_fn(|k| 0.5 * (self.before[body][k] + self.after[body][k]));
        }
        let Articulation {
            mechanism,
            impulses,
            imposed,
            changes: mean,
            ..
        } = &mut *joints;
        self.reactions.fill([0.0; 6]);
        let energy = &mut self.energy;
        for linked in &mechanism.joints {
            for row in linked.first..linked.first + linked.held.len() {
                let value = &mechanism.rows[row].value;
                let rate = value.rate(linked.bodies.map(|body| &mean[body]));
                let (impulse, imposed) = (impulses[row], imposed[row]);
                energy.motion_work_j += impulse * (imposed - given(mechanism, linked, row, mean));
                energy.scheme_j += impulse * (rate - imposed);
                if let Some(reaction) = self.reactions.get_mut(linked.joint) {
                    react(reaction, linked, &value.jacobian[1], impulse / h);
                }
            }
        }
        self.account_elements(&mut joints);
        let sums = self.account_bounds(&mut joints);
        self.articulation = Some(joints);
        sums
    }

    fn account_elements(&mut self, joints: &mut Articulation) {
        if joints.elements.is_empty() {
            return;
        }
        let h = self.settings.dt_s;
        let middle = self.time_s() + self.settings.theta * h;
        let mechanism = &mut joints.mechanism;
        for &body in &joints.bodies {
            let [x, y, z, a, b, c] = joints.changes[body];
            let placed = &mut mechanism.placed[body];
            placed.velocity = Vec3::new(x, y, z);
            placed.turning = Vec3::new(a, b, c);
            let force = &joints.forces[body];
            let twist = twist(placed);
            let work = h * (0..6).map(|k| force[k] * twist[k]).sum::<f64>();
            self.energy.scheme_j += work;
            if !mechanism.weights[body].moves {
                self.energy.motion_work_j -= work;
            }
        }
        // Forces at the mean velocities serve for their powers alone.
        for element in &joints.elements {
            let power = element.add(middle, &mechanism.placed, &mut joints.forces);
            self.energy.external_work_j += h * power.external;
            self.energy.damping_dissipation_j += h * power.damping;
            self.energy.scheme_j += h * (power.damping - power.external);
        }
    }

    fn account_bounds(&mut self, joints: &mut Articulation) -> (f64, f64) {
        let (mut total, mut size_p, mut size_q) = (0.0, 0.0, 0.0);
        joints.remembered.fill(0.0);
        for (place, active) in joints.active.iter().enumerate() {
            let block = joints.contacts + place;
            let impulse = self.impulses[block][0];
            let bound = &joints.bounds[active.bound];
            let linked = &joints.mechanism.joints[bound.joint];
            let (mut rate, mut given) = (0.0, 0.0);
            for (side, &body) in linked.bodies.iter().enumerate() {
                let mean = &joints.changes[body];
                let part: f64 = (0..6).map(|k| active.jacobian[side][k] * mean[k]).sum();
                rate += part;
                if !joints.mechanism.weights[body].moves {
                    given += part;
                }
            }
            let work = impulse * rate;
            self.energy.motion_work_j -= impulse * given;
            match bound.kind {
                BoundKind::Limit { .. } => self.energy.impact_dissipation_j -= work,
                BoundKind::Friction { .. } => self.energy.friction_dissipation_j -= work,
            }
            joints.remembered[active.bound] += impulse;
            let force = impulse / self.settings.dt_s;
            react(
                &mut self.reactions[linked.joint],
                linked,
                &active.jacobian[1],
                force,
            );
            total += work;
            size_p += impulse * impulse;
            size_q += self.contacts[block].free_velocity[0].powi(2);
        }
        (total, (size_p * size_q).sqrt())
    }
}

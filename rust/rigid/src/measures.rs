//! What can be read off the joints of a world, whatever its stepper.

use crate::joints::{Linkage, Placed, Row};
use crate::world::World;
use percuss_geometry::Vec3;

impl World {
    /// Both frames of a joint, and the bodies they are on.
    fn linkage(&self, joint: usize) -> (Linkage, [Placed; 2]) {
        let linked = &self.setup.joints[joint];
        let place = |body: usize| {
            self.state
                .bodies
                .get(body)
                .map_or(Placed::WORLD, Placed::of)
        };
        let placed = linked.bodies.map(place);
        (
            Linkage::new(&linked.local, [&placed[0], &placed[1]]),
            placed,
        )
    }

    /// A coordinate of a joint [m or rad, from -pi to pi] and its rate.
    pub fn coordinate(&self, joint: usize, row: Row) -> (f64, f64) {
        let (linkage, placed) = self.linkage(joint);
        let [a, b] = placed.map(|p| p.twist());
        (linkage.value(row), linkage.row(row).rate([&a, &b]))
    }

    /// Largest residual of a held row of any joint [m or rad].
    pub fn drift(&self) -> f64 {
        let t = self.time_s();
        let residual = |joint: usize| {
            let (linkage, _) = self.linkage(joint);
            let held = self.setup.joints[joint].held.iter();
            let residuals = held.map(|held| held.residual(&linkage, held.target(t)[0]));
            residuals.fold(0.0, |worst: f64, x| worst.max(x.abs()))
        };
        (0..self.setup.joints.len())
            .map(residual)
            .fold(0.0, f64::max)
    }

    /// Force [N] of a joint on its second body and torque [N m] about the origin of its second frame, world axes.
    pub fn reaction(&self, joint: usize) -> [f64; 6] {
        let Some(smooth) = self.stepper.smooth() else {
            return self.state.reactions[joint];
        };
        let mechanism = &smooth.mechanism;
        let Some(linked) = mechanism.joints.iter().find(|linked| linked.joint == joint) else {
            return [0.0; 6];
        };
        let (mut force, mut torque) = (Vec3::zeros(), Vec3::zeros());
        for row in linked.first..linked.first + linked.held.len() {
            let jacobian = &mechanism.rows[row].value.jacobian[1];
            let multiplier = smooth.multipliers[row];
            force += Vec3::new(jacobian[0], jacobian[1], jacobian[2]) * multiplier;
            torque += Vec3::new(jacobian[3], jacobian[4], jacobian[5]) * multiplier;
        }
        torque -= linked.linkage.sides[1].arm.cross(&force);
        [force.x, force.y, force.z, torque.x, torque.y, torque.z]
    }
}

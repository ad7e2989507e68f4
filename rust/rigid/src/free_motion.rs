//! Motion of a rigid body that nothing acts on.
//!
//! Translation is exact. Rotation is the midpoint rule in the body's axes with Cayley's map (Simo and Wong
//! 1991; Austin, Krishnaprasad and Wang 1993):
//!
//! ```text
//! I w_m + dt/2 w_m x I w_m = I w_0,   w_1 = 2 w_m - w_0,   R_1 = R_0 cay(dt w_m)
//! ```
//!
//! It keeps both the kinetic energy and the angular momentum R I w exactly, for any dt, and is of second order.
//! As a quaternion cay(dt w) is (1, dt w / 2) brought to unit length: no trigonometry.

use crate::body::Inertia;
use crate::stored::stored;
use percuss_geometry::{Mat3, Pose, Quat, Vec3};

/// Where a body is and how it moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyState {
    /// Centre of mass [m].
    pub position: Vec3,
    /// Rotation of the body's axes.
    pub rotation: Quat,
    /// Velocity of the centre of mass [m/s].
    pub velocity: Vec3,
    /// Angular velocity in the body's axes [rad/s].
    pub spin: Vec3,
}

stored!(BodyState {
    position,
    rotation,
    velocity,
    spin
});

/// Newton steps for the midpoint; three reach rounding unless a step turns the body by radians.
const NEWTON_STEPS: usize = 12;

impl BodyState {
    /// The frame at the centre of mass.
    pub fn pose(&self) -> Pose {
        Pose {
            position: self.position,
            rotation: self.rotation,
        }
    }

    /// Moves freely for `dt`.
    pub(crate) fn drift(&mut self, inertia: Option<&Inertia>, dt: f64) {
        self.position += self.velocity * dt;
        if self.spin == Vec3::zeros() {
            return;
        }
        let mean = match inertia {
            Some(inertia) if !inertia.round => {
                let mean = midpoint(&inertia.inertia, &self.spin, dt);
                self.spin = mean * 2.0 - self.spin;
                mean
            }
            _ => self.spin,
        };
        self.rotation = turned(&self.rotation, &mean, dt);
    }

    pub(crate) fn is_finite(&self) -> bool {
        // A sum is finite only if all its parts are (or they are huge, which is as bad).
        (self.velocity.sum() + self.spin.sum() + self.position.sum()).is_finite()
    }
}

/// The rotation after turning with the body-axis angular velocity `spin` for `dt`, by Cayley's map.
#[inline]
fn turned(rotation: &Quat, spin: &Vec3, dt: f64) -> Quat {
    let half = spin * (0.5 * dt);
    let turn = nalgebra::Quaternion::new(1.0, half.x, half.y, half.z);
    Quat::new_normalize(rotation.as_ref() * turn)
}

/// The mean angular velocity of a free body over `dt`.
fn midpoint(inertia: &Mat3, spin: &Vec3, dt: f64) -> Vec3 {
    let half = 0.5 * dt;
    let momentum = inertia * spin;
    let bound = 4.0 * f64::EPSILON * momentum.amax();
    let mut w = *spin;
    for _ in 0..NEWTON_STEPS {
        let iw = inertia * w;
        let fault = iw + w.cross(&iw) * half - momentum;
        if fault.amax() <= bound {
            break;
        }
        let slope = inertia + (w.cross_matrix() * inertia - iw.cross_matrix()) * half;
        match slope.try_inverse() {
            Some(inverse) => w -= inverse * fault,
            None => break,
        }
    }
    w
}

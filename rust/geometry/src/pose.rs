//! Where a body or a contactor is: position and unit quaternion for storage, position and rotation
//! matrix for the inner loops (a matrix turns a vector in 9 multiplications, a quaternion in 24).

use crate::error::{GeometryError, finite};

/// A vector in space, metres unless said otherwise.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3 x 3 matrix.
pub type Mat3 = nalgebra::Matrix3<f64>;
/// A unit quaternion.
pub type Quat = nalgebra::UnitQuaternion<f64>;

/// Position and rotation of a frame: `world = position + rotation * local`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Origin of the frame (m).
    pub position: Vec3,
    /// Rotation of the frame.
    pub rotation: Quat,
}

impl Default for Pose {
    fn default() -> Self {
        Self::identity()
    }
}

impl Pose {
    /// The frame of the world.
    pub fn identity() -> Self {
        Self {
            position: Vec3::zeros(),
            rotation: Quat::identity(),
        }
    }

    /// A shifted frame.
    pub fn translation(x: f64, y: f64, z: f64) -> Self {
        Self {
            position: Vec3::new(x, y, z),
            rotation: Quat::identity(),
        }
    }

    /// A frame from its parts; the rotation is a rotation vector (axis times angle in radians).
    pub fn new(position: Vec3, rotation_vector: Vec3) -> Self {
        Self {
            position,
            rotation: Quat::from_scaled_axis(rotation_vector),
        }
    }

    /// Refuses NaN and infinite numbers; `what` names the pose in the message.
    pub fn checked(self, what: &str) -> Result<Self, GeometryError> {
        finite(what, self.position.as_slice())?;
        finite(what, self.rotation.coords.as_slice())?;
        Ok(self)
    }

    /// The pose of `inner`, given in this frame, seen from outside.
    pub fn compose(&self, inner: &Pose) -> Pose {
        Pose {
            position: self.position + self.rotation * inner.position,
            rotation: self.rotation * inner.rotation,
        }
    }

    /// The pose of the outer frame seen from this one.
    pub fn inverse(&self) -> Pose {
        let rotation = self.rotation.inverse();
        Pose {
            position: -(rotation * self.position),
            rotation,
        }
    }

    /// A local point in outer coordinates.
    pub fn point(&self, local: &Vec3) -> Vec3 {
        self.position + self.rotation * local
    }

    /// The same place with its rotation as a matrix.
    pub fn frame(&self) -> Frame {
        Frame {
            position: self.position,
            axes: self.rotation.to_rotation_matrix().into_inner(),
        }
    }
}

/// A pose with its rotation as a matrix, whose columns are the local axes in world coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Origin of the frame (m).
    pub position: Vec3,
    /// Local axes as columns.
    pub axes: Mat3,
}

impl Frame {
    /// The frame of the world.
    pub fn identity() -> Self {
        Self {
            position: Vec3::zeros(),
            axes: Mat3::identity(),
        }
    }

    /// Local axis `i` in world coordinates.
    #[inline]
    pub fn axis(&self, i: usize) -> Vec3 {
        Vec3::new(self.axes[(0, i)], self.axes[(1, i)], self.axes[(2, i)])
    }

    /// A local point in world coordinates.
    #[inline]
    pub fn point(&self, local: &Vec3) -> Vec3 {
        self.position + self.axes * local
    }

    /// A local vector in world coordinates.
    #[inline]
    pub fn vector(&self, local: &Vec3) -> Vec3 {
        self.axes * local
    }

    /// A world point in local coordinates.
    #[inline]
    pub fn local_point(&self, world: &Vec3) -> Vec3 {
        self.axes.tr_mul(&(world - self.position))
    }

    /// A world vector in local coordinates.
    #[inline]
    pub fn local_vector(&self, world: &Vec3) -> Vec3 {
        self.axes.tr_mul(world)
    }

    /// The frame of `inner`, given in this frame, seen from outside.
    #[inline]
    pub fn compose(&self, inner: &Frame) -> Frame {
        Frame {
            position: self.point(&inner.position),
            axes: self.axes * inner.axes,
        }
    }
}

/// Two unit vectors that complete the unit vector `n` to a right-handed frame (Duff et al. 2017):
/// no branch on a threshold, so it does not jump while `n` moves (except across n_z = 0).
#[inline]
pub fn tangents(n: &Vec3) -> (Vec3, Vec3) {
    let sign = 1.0_f64.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    (
        Vec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x),
        Vec3::new(b, sign + n.y * n.y * a, -n.y),
    )
}

/// Length and direction of a vector square to the unit vector `axis`; any such direction if it has
/// no length.
#[inline]
pub(crate) fn polar(across: &Vec3, axis: &Vec3) -> (f64, Vec3) {
    let length = across.norm();
    (
        length,
        if length > 1e-150 {
            across / length
        } else {
            tangents(axis).0
        },
    )
}

/// The part of `v` perpendicular to the unit vector `n`.
#[inline]
pub(crate) fn reject(v: &Vec3, n: &Vec3) -> Vec3 {
    v - n * v.dot(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composing_with_the_inverse_is_the_identity() {
        let pose = Pose::new(Vec3::new(1.0, -2.0, 3.0), Vec3::new(0.3, 1.1, -0.4));
        let back = pose.compose(&pose.inverse());
        assert!(back.position.norm() < 1e-14 && back.rotation.angle() < 1e-14);
        let p = Vec3::new(0.2, 0.5, -0.7);
        assert!((pose.point(&p) - pose.frame().point(&p)).norm() < 1e-14);
        assert!((pose.frame().local_point(&pose.point(&p)) - p).norm() < 1e-14);
    }

    #[test]
    fn tangents_are_right_handed() {
        for n in [
            Vec3::z(),
            -Vec3::z(),
            Vec3::new(0.6, 0.0, 0.8),
            Vec3::new(0.48, -0.6, -0.64),
        ] {
            let (t, s) = tangents(&n);
            assert!((t.cross(&s) - n).norm() < 1e-15 && (t.norm() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn a_pose_with_nan_is_refused() {
        let bad = Pose::translation(f64::NAN, 0.0, 0.0)
            .checked("body 3")
            .unwrap_err();
        assert_eq!(bad.to_string(), "body 3: NaN is not finite");
    }
}

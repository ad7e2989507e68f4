//! The two frames of a joint in the world, and how they move.

use percuss_geometry::{Mat3, Pose, Vec3};

/// A body as a joint sees it, world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// Centre of mass [m].
    pub centre: Vec3,
    /// The body's axes, as columns.
    pub axes: Mat3,
    /// Velocity of the centre of mass [m/s].
    pub velocity: Vec3,
    /// Angular velocity [rad/s].
    pub turning: Vec3,
}

impl Placed {
    /// The world itself.
    pub const WORLD: Self = Self {
        centre: Vec3::new(0.0, 0.0, 0.0),
        axes: Mat3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        velocity: Vec3::new(0.0, 0.0, 0.0),
        turning: Vec3::new(0.0, 0.0, 0.0),
    };
}

/// One of the two frames.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    /// From the centre of mass to the frame's origin.
    pub arm: Vec3,
    /// The frame's axes, as columns.
    pub axes: Mat3,
    pub turning: Vec3,
    /// Acceleration of the origin while the body's accelerations are zero.
    pub centripetal: Vec3,
}

/// Both frames of a joint, and how b stands and moves as seen from a.
#[derive(Debug, Clone, Copy)]
pub struct Linkage {
    pub(crate) sides: [Side; 2],
    /// From the origin of a to that of b.
    pub(crate) offset: Vec3,
    /// Its time derivative.
    pub(crate) drift: Vec3,
}

impl Linkage {
    /// The frames `local`, given about the mass centres with axes `turns` in the bodies' axes, on their bodies.
    #[inline]
    pub(crate) fn new(local: &[(Vec3, Mat3); 2], placed: [&Placed; 2]) -> Self {
        let side = |k: usize| {
            let body = placed[k];
            let arm = body.axes * local[k].0;
            let speed = body.turning.cross(&arm);
            let side = Side {
                arm,
                axes: body.axes * local[k].1,
                turning: body.turning,
                centripetal: body.turning.cross(&speed),
            };
            (side, body.centre + arm, body.velocity + speed)
        };
        let ((a, at_a, speed_a), (b, at_b, speed_b)) = (side(0), side(1));
        Self {
            sides: [a, b],
            offset: at_b - at_a,
            drift: speed_b - speed_a,
        }
    }

    /// Frames about the mass centres as [`Linkage::new`] wants them.
    pub(crate) fn local(frames: &[Pose; 2]) -> [(Vec3, Mat3); 2] {
        frames.map(|f| (f.position, f.rotation.to_rotation_matrix().into_inner()))
    }

    /// The linkage of frames given about the mass centres.
    pub fn of(frames: &[Pose; 2], placed: [&Placed; 2]) -> Self {
        Self::new(&Self::local(frames), placed)
    }
}

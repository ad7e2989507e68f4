//! The two frames of a joint in the world, and how they move.

use crate::free_motion::BodyState;
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

    /// A body in the given state.
    pub(crate) fn of(state: &BodyState) -> Self {
        let axes = state.rotation.to_rotation_matrix().into_inner();
        Self {
            centre: state.position,
            axes,
            velocity: state.velocity,
            turning: axes * state.spin,
        }
    }

    /// Velocity and angular velocity.
    #[inline]
    pub(crate) fn twist(&self) -> [f64; 6] {
        let (v, w) = (&self.velocity, &self.turning);
        [v.x, v.y, v.z, w.x, w.y, w.z]
    }
}

/// A frame on a body, about the centre of mass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Local {
    origin: Vec3,
    /// Its axes in those of the body; none where they are the same.
    axes: Option<Mat3>,
}

/// One of the two frames in the world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    /// From the centre of mass to the frame's origin.
    pub arm: Vec3,
    /// The frame's axes, as columns.
    pub axes: Mat3,
    pub turning: Vec3,
    origin: Vec3,
    velocity: Vec3,
    /// Acceleration of the origin while the body's accelerations are zero.
    centripetal: Vec3,
}

impl Side {
    #[inline(always)]
    fn new(local: &Local, body: &Placed) -> Self {
        let arm = body.axes * local.origin;
        let speed = body.turning.cross(&arm);
        Self {
            arm,
            axes: local.axes.map_or(body.axes, |axes| body.axes * axes),
            turning: body.turning,
            origin: body.centre + arm,
            velocity: body.velocity + speed,
            centripetal: body.turning.cross(&speed),
        }
    }
}

/// Both frames of a joint, and how b stands and moves as seen from a.
#[derive(Debug, Clone, Copy)]
pub struct Linkage {
    pub(crate) sides: [Side; 2],
    /// From the origin of a to that of b.
    pub(crate) offset: Vec3,
    /// Its time derivative.
    pub(crate) drift: Vec3,
    /// Its second time derivative while all accelerations are zero.
    pub(crate) bend: Vec3,
    /// The same as an observer on a sees it.
    pub(crate) bend_on_a: Vec3,
}

impl Linkage {
    /// The frames `local` on their bodies.
    #[inline(always)]
    pub(crate) fn new(local: &[Local; 2], placed: [&Placed; 2]) -> Self {
        let [a, b] = [
            Side::new(&local[0], placed[0]),
            Side::new(&local[1], placed[1]),
        ];
        let (offset, drift) = (b.origin - a.origin, b.velocity - a.velocity);
        let bend = b.centripetal - a.centripetal;
        // Less Coriolis' and centrifugal parts: w x (w x d) - 2 w x d'.
        let seen = a.turning.cross(&(a.turning.cross(&offset) - drift * 2.0));
        Self {
            sides: [a, b],
            offset,
            drift,
            bend,
            bend_on_a: bend + seen,
        }
    }

    /// Frames about the mass centres as [`Linkage::new`] wants them.
    pub(crate) fn local(frames: &[Pose; 2]) -> [Local; 2] {
        frames.map(|frame| {
            let axes = frame.rotation.to_rotation_matrix().into_inner();
            Local {
                origin: frame.position,
                axes: (axes != Mat3::identity()).then_some(axes),
            }
        })
    }

    /// The linkage of frames given about the mass centres.
    pub fn of(frames: &[Pose; 2], placed: [&Placed; 2]) -> Self {
        Self::new(&Self::local(frames), placed)
    }
}

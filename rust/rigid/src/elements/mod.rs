//! Forces between two bodies, or a body and the world: springs, dampers, bushings, actuators.
//!
//! Most act on one coordinate of two frames, a [`Row`]: with the value x and the rate x' of the row, the scalar
//! force Q gives the bodies the forces J^T Q and the power Q x'. The frames are given in the frames of the bodies,
//! as those of joints; a spring between two points is one on the length, a spring about an axis one on the angle.

mod acting;
mod bushing;

pub(crate) use acting::{Acting, Power};

use crate::error::RigidError;
use crate::joints::Row;
use crate::signal::Signal;
use percuss_geometry::Pose;

/// A force between two bodies.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// Its name in messages.
    pub name: String,
    /// Its bodies, a and b; none for the world.
    pub bodies: [Option<usize>; 2],
    /// Its frames in the frames of the bodies.
    pub frames: [Pose; 2],
    /// What it does.
    pub effort: Effort,
}

/// What an element does. Coordinates are slides along and angles about the axes of the frames, and the length.
#[derive(Debug, Clone, PartialEq)]
pub enum Effort {
    /// Q = -(stiffness (x - rest) + damping x' + preload): tension is positive.
    Spring {
        /// What it acts on.
        row: Row,
        /// Stiffness [N/m or N m/rad].
        stiffness: f64,
        /// Damping [N s/m or N m s/rad].
        damping: f64,
        /// Value at which the stiffness gives no force [m or rad]; none: the value at the start.
        rest: Option<f64>,
        /// Force there [N or N m].
        preload: f64,
    },
    /// Six springs and dampers along and about the axes of frame a: f = preload - stiffness x - damping x' on b.
    Bushing {
        /// Along x, y, z [N/m] and about them [N m/rad].
        stiffness: [f64; 6],
        /// Along x, y, z [N s/m] and about them [N m s/rad].
        damping: [f64; 6],
        /// Force [N] and torque [N m] on b while the frames coincide.
        preload: [f64; 6],
    },
    /// Q over time.
    Actuator {
        /// What it acts on.
        row: Row,
        /// Force [N] or torque [N m].
        effort: Signal,
    },
}

impl Element {
    pub(crate) fn check(&self, bodies: usize) -> Result<(), RigidError> {
        let what = || format!("element {}", self.name);
        RigidError::unless_bodies(self.bodies, bodies, what)?;
        for frame in self.frames {
            frame.checked(&format!("a frame of element {}", self.name))?;
        }
        let (least, any): (Vec<f64>, Vec<f64>) = match &self.effort {
            Effort::Spring {
                stiffness,
                damping,
                rest,
                preload,
                ..
            } => (
                vec![*stiffness, *damping],
                vec![rest.unwrap_or(0.0), *preload],
            ),
            Effort::Bushing {
                stiffness,
                damping,
                preload,
            } => ([*stiffness, *damping].concat(), preload.to_vec()),
            Effort::Actuator { .. } => (Vec::new(), Vec::new()),
        };
        if !least.iter().chain(&any).all(|x| x.is_finite()) {
            return Err(RigidError::NotFinite { what: what() });
        }
        match least.iter().find(|x| **x < 0.0) {
            Some(value) => Err(RigidError::Element {
                element: self.name.clone(),
                value: *value,
            }),
            None => Ok(()),
        }
    }
}

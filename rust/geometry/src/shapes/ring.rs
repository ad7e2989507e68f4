//! Ring: a hollow disk that holds a pin passing through it.

use crate::aabb::Aabb;
use crate::error::{GeometryError, positive};
use crate::mass::MassProperties;
use crate::pose::{Frame, Vec3};
use crate::shapes::cylinder::{Cylinder, extents};
use std::f64::consts::PI;

/// A disk about local z with a hole of `inner_radius_m`. A cylinder, capsule or sphere thinner than
/// the hole meets the hole's wall from inside; everything else meets the ring as a full disk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ring {
    /// Radius of the hole (m).
    pub inner_radius_m: f64,
    /// Outer radius (m).
    pub outer_radius_m: f64,
    /// Half the thickness along the axis (m).
    pub half_height_m: f64,
}

impl Ring {
    /// A ring from its two radii and its full thickness.
    pub fn new(
        inner_radius_m: f64,
        outer_radius_m: f64,
        height_m: f64,
    ) -> Result<Self, GeometryError> {
        let inner = positive("ring", "inner_radius_m", inner_radius_m)?;
        let outer = positive("ring", "outer_radius_m", outer_radius_m)?;
        let height = positive("ring", "height_m", height_m)?;
        if inner >= outer {
            return Err(GeometryError::RingHole {
                inner_m: inner,
                outer_m: outer,
            });
        }
        Ok(Self {
            inner_radius_m: inner,
            outer_radius_m: outer,
            half_height_m: height * 0.5,
        })
    }

    /// The disk without its hole.
    pub(crate) fn outline(&self) -> Cylinder {
        Cylinder {
            radius_m: self.outer_radius_m,
            half_height_m: self.half_height_m,
        }
    }

    pub(crate) fn bounds(&self, frame: &Frame) -> Aabb {
        let half: Vec3 = extents(&frame.axis(2), self.outer_radius_m, self.half_height_m);
        Aabb::around(&frame.position, &half)
    }

    pub(crate) fn mass(&self, density: f64) -> MassProperties {
        let (inner2, outer2, h) = (
            self.inner_radius_m.powi(2),
            self.outer_radius_m.powi(2),
            self.half_height_m,
        );
        let mass = density * PI * (outer2 - inner2) * 2.0 * h;
        let across = mass * ((outer2 + inner2) / 4.0 + h * h / 3.0);
        MassProperties::diagonal(mass, across, across, mass * (outer2 + inner2) / 2.0)
    }
}

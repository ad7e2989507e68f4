//! Cylinder with flat ends.

use crate::aabb::Aabb;
use crate::error::{GeometryError, positive};
use crate::mass::MassProperties;
use crate::pose::{Frame, Vec3};
use std::f64::consts::PI;

/// A circular cylinder about local z, from -half_height to +half_height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cylinder {
    /// Radius (m).
    pub radius_m: f64,
    /// Half the height (m).
    pub half_height_m: f64,
}

impl Cylinder {
    /// A cylinder from its radius and full height.
    pub fn new(radius_m: f64, height_m: f64) -> Result<Self, GeometryError> {
        Ok(Self {
            radius_m: positive("cylinder", "radius_m", radius_m)?,
            half_height_m: positive("cylinder", "height_m", height_m)? * 0.5,
        })
    }

    pub(crate) fn support(&self, d: &Vec3) -> Vec3 {
        let across = (d.x * d.x + d.y * d.y).sqrt();
        let scale = if across > 0.0 {
            self.radius_m / across
        } else {
            0.0
        };
        Vec3::new(d.x * scale, d.y * scale, self.half_height_m.copysign(d.z))
    }

    pub(crate) fn bounds(&self, frame: &Frame) -> Aabb {
        Aabb::around(
            &frame.position,
            &extents(&frame.axis(2), self.radius_m, self.half_height_m),
        )
    }

    pub(crate) fn mass(&self, density: f64) -> MassProperties {
        let (r, h) = (self.radius_m, self.half_height_m);
        let mass = density * PI * r * r * 2.0 * h;
        let across = mass * (r * r / 4.0 + h * h / 3.0);
        MassProperties::diagonal(mass, across, across, mass * r * r / 2.0)
    }
}

/// Half sides of the box around a cylinder about `axis`.
#[inline]
pub(crate) fn extents(axis: &Vec3, radius: f64, half_height: f64) -> Vec3 {
    axis.map(|c| half_height * c.abs() + radius * (1.0 - c * c).max(0.0).sqrt())
}

//! Sphere.

use crate::aabb::Aabb;
use crate::error::{GeometryError, positive};
use crate::mass::MassProperties;
use crate::pose::{Frame, Vec3};
use std::f64::consts::PI;

/// A ball around the origin of its frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sphere {
    /// Radius (m).
    pub radius_m: f64,
}

impl Sphere {
    /// A ball of the given radius.
    pub fn new(radius_m: f64) -> Result<Self, GeometryError> {
        Ok(Self {
            radius_m: positive("sphere", "radius_m", radius_m)?,
        })
    }

    pub(crate) fn bounds(&self, frame: &Frame) -> Aabb {
        Aabb::around(&frame.position, &Vec3::repeat(self.radius_m))
    }

    pub(crate) fn mass(&self, density: f64) -> MassProperties {
        let mass = density * 4.0 / 3.0 * PI * self.radius_m.powi(3);
        let moment = 0.4 * mass * self.radius_m.powi(2);
        MassProperties::diagonal(mass, moment, moment, moment)
    }
}

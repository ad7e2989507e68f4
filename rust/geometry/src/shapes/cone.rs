//! Cone.

use crate::aabb::Aabb;
use crate::error::{GeometryError, positive};
use crate::mass::MassProperties;
use crate::pose::{Frame, Vec3};
use std::f64::consts::PI;

/// A circular cone about local z: base at -half_height, apex at +half_height. Its centre of mass
/// lies a quarter of the height above the base, not at the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cone {
    /// Radius of the base (m).
    pub radius_m: f64,
    /// Half the height (m).
    pub half_height_m: f64,
}

impl Cone {
    /// A cone from the radius of its base and its full height.
    pub fn new(radius_m: f64, height_m: f64) -> Result<Self, GeometryError> {
        Ok(Self {
            radius_m: positive("cone", "radius_m", radius_m)?,
            half_height_m: positive("cone", "height_m", height_m)? * 0.5,
        })
    }

    /// Outward slope of the side: (radial, axial) parts of its unit normal.
    pub(crate) fn side_normal(&self) -> (f64, f64) {
        let slant = self.radius_m.hypot(2.0 * self.half_height_m);
        (2.0 * self.half_height_m / slant, self.radius_m / slant)
    }

    pub(crate) fn support(&self, d: &Vec3) -> Vec3 {
        let across = (d.x * d.x + d.y * d.y).sqrt();
        if 2.0 * self.half_height_m * d.z > self.radius_m * across {
            return Vec3::new(0.0, 0.0, self.half_height_m);
        }
        let scale = if across > 0.0 {
            self.radius_m / across
        } else {
            0.0
        };
        Vec3::new(d.x * scale, d.y * scale, -self.half_height_m)
    }

    pub(crate) fn bounds(&self, frame: &Frame) -> Aabb {
        let axis = frame.axis(2);
        let base = frame.position - axis * self.half_height_m;
        let apex = frame.position + axis * self.half_height_m;
        let half = axis.map(|c| self.radius_m * (1.0 - c * c).max(0.0).sqrt());
        Aabb {
            min: (base - half).inf(&apex),
            max: (base + half).sup(&apex),
        }
    }

    pub(crate) fn mass(&self, density: f64) -> MassProperties {
        let (r, h) = (self.radius_m, 2.0 * self.half_height_m);
        let mass = density * PI * r * r * h / 3.0;
        let across = mass * (3.0 / 20.0 * r * r + 3.0 / 80.0 * h * h);
        let mut properties = MassProperties::diagonal(mass, across, across, 0.3 * mass * r * r);
        properties.centre_m.z = -0.25 * h;
        properties
    }
}

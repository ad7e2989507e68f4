//! Capsule: a cylinder with hemispherical ends.

use crate::aabb::Aabb;
use crate::error::{GeometryError, positive};
use crate::mass::MassProperties;
use crate::pose::Frame;
use std::f64::consts::PI;

/// All points within a radius of a segment along local z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capsule {
    /// Radius (m).
    pub radius_m: f64,
    /// Half the length of the segment, the round ends not counted (m).
    pub half_length_m: f64,
}

impl Capsule {
    /// A capsule from its radius and the length of its straight part.
    pub fn new(radius_m: f64, length_m: f64) -> Result<Self, GeometryError> {
        Ok(Self {
            radius_m: positive("capsule", "radius_m", radius_m)?,
            half_length_m: positive("capsule", "length_m", length_m)? * 0.5,
        })
    }

    pub(crate) fn bounds(&self, frame: &Frame) -> Aabb {
        let half = (frame.axis(2) * self.half_length_m)
            .abs()
            .add_scalar(self.radius_m);
        Aabb::around(&frame.position, &half)
    }

    pub(crate) fn mass(&self, density: f64) -> MassProperties {
        let (r, l) = (self.radius_m, self.half_length_m);
        let tube = density * PI * r * r * 2.0 * l;
        let ball = density * 4.0 / 3.0 * PI * r.powi(3);
        // The two half balls, moved out by l from a whole ball: their centres of mass lie 3r/8
        // outside the flat face.
        let across = tube * (r * r / 4.0 + l * l / 3.0)
            + ball * (0.4 * r * r + l * l + 2.0 * l * 3.0 / 8.0 * r);
        MassProperties::diagonal(
            tube + ball,
            across,
            across,
            tube * r * r / 2.0 + ball * 0.4 * r * r,
        )
    }
}

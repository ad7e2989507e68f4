//! Ring: a hollow disk that holds a pin passing through it.

use crate::aabb::Aabb;
use crate::convex::{Convex, Kind, TakeCorner};
use crate::description::Description;
use crate::error::{GeometryError, positive};
use crate::facing::Facing;
use crate::mass::MassProperties;
use crate::outline::{Outline, revolved};
use crate::polygon::Polygon;
use crate::pose::{Frame, Vec3};
use crate::shapes::cylinder::{Cylinder, extents};
use crate::signed_distance::{polar, rectangle, revolve};
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
    pub(crate) fn disk(&self) -> Cylinder {
        Cylinder {
            radius_m: self.outer_radius_m,
            half_height_m: self.half_height_m,
        }
    }
}

impl Kind for Ring {
    const NAME: &'static str = "ring";

    fn read<D: Description>(from: &D) -> Result<Self, D::Error> {
        Ok(Self::new(
            from.number("inner_radius_m")?,
            from.number("outer_radius_m")?,
            from.number("height_m")?,
        )?)
    }
}

impl Convex for Ring {
    fn support(&self, d: &Vec3) -> Vec3 {
        self.disk().support(d)
    }

    fn size(&self) -> f64 {
        self.outer_radius_m.min(self.half_height_m)
    }

    fn mass(&self, density: f64) -> MassProperties {
        let (inner2, outer2, h) = (
            self.inner_radius_m.powi(2),
            self.outer_radius_m.powi(2),
            self.half_height_m,
        );
        let mass = density * PI * (outer2 - inner2) * 2.0 * h;
        let across = mass * ((outer2 + inner2) / 4.0 + h * h / 3.0);
        MassProperties::diagonal(mass, across, across, mass * (outer2 + inner2) / 2.0)
    }

    fn facing(&self, frame: &Frame, d: &Vec3, polygon: &mut Polygon) -> Facing {
        self.disk().facing(frame, d, polygon)
    }

    fn outline(&self) -> Outline {
        let (inner, outer, h) = (self.inner_radius_m, self.outer_radius_m, self.half_height_m);
        revolved(&[(outer, -h), (outer, h), (inner, h), (inner, -h)], true)
    }

    fn bounds(&self, frame: &Frame) -> Aabb {
        let half: Vec3 = extents(&frame.axis(2), self.outer_radius_m, self.half_height_m);
        Aabb::around(&frame.position, &half)
    }

    fn on_plane(&self, frame: &Frame, up: &Vec3, take: TakeCorner<'_>) {
        self.disk().on_plane(frame, up, take);
    }

    fn signed_distance(&self, p: &Vec3) -> Option<(f64, Vec3)> {
        let (rho, radial) = polar(p);
        let (inner, outer, half) = (self.inner_radius_m, self.outer_radius_m, self.half_height_m);
        Some(revolve(rectangle(rho, p.z, inner, outer, half), &radial))
    }
}

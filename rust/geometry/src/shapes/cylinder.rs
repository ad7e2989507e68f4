//! Cylinder with flat ends.

use crate::aabb::Aabb;
use crate::convex::{Convex, Kind, TakeCorner};
use crate::description::Description;
use crate::disk::Disk;
use crate::error::{GeometryError, positive};
use crate::facing::{FLAT_COSINE, FLAT_TILT, Facing, disk_on_plane};
use crate::mass::MassProperties;
use crate::outline::{Outline, revolved};
use crate::polygon::Polygon;
use crate::pose::{Frame, Vec3};
use crate::segment_face::Segment;
use crate::signed_distance::{polar, rectangle, revolve};
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
}

/// Half sides of the box around a cylinder about `axis`.
#[inline]
pub(crate) fn extents(axis: &Vec3, radius: f64, half_height: f64) -> Vec3 {
    axis.map(|c| half_height * c.abs() + radius * (1.0 - c * c).max(0.0).sqrt())
}

impl Cylinder {
    /// The flat end on the side of `outward`, a unit vector along the axis.
    pub(crate) fn end(&self, frame: &Frame, outward: &Vec3) -> Disk {
        Disk {
            centre: frame.position + outward * self.half_height_m,
            normal: *outward,
            reference: frame.axis(0),
            radius: self.radius_m,
        }
    }
}

impl Kind for Cylinder {
    const NAME: &'static str = "cylinder";

    fn read<D: Description>(from: &D) -> Result<Self, D::Error> {
        Ok(Self::new(
            from.number("radius_m")?,
            from.number("height_m")?,
        )?)
    }
}

impl Convex for Cylinder {
    fn support(&self, d: &Vec3) -> Vec3 {
        let across = (d.x * d.x + d.y * d.y).sqrt();
        let scale = if across > 0.0 {
            self.radius_m / across
        } else {
            0.0
        };
        Vec3::new(d.x * scale, d.y * scale, self.half_height_m.copysign(d.z))
    }

    fn size(&self) -> f64 {
        self.radius_m.min(self.half_height_m)
    }

    fn mass(&self, density: f64) -> MassProperties {
        let (r, h) = (self.radius_m, self.half_height_m);
        let mass = density * PI * r * r * 2.0 * h;
        let across = mass * (r * r / 4.0 + h * h / 3.0);
        MassProperties::diagonal(mass, across, across, mass * r * r / 2.0)
    }

    fn facing(&self, frame: &Frame, d: &Vec3, _: &mut Polygon) -> Facing {
        let local = frame.local_vector(d);
        if local.z.abs() > FLAT_COSINE {
            let outward = frame.axis(2) * 1.0_f64.copysign(local.z);
            return Facing::Disk(self.end(frame, &outward));
        }
        if local.z.abs() < FLAT_TILT {
            let side = Vec3::new(local.x, local.y, 0.0).normalize() * self.radius_m;
            let reach = Vec3::new(0.0, 0.0, self.half_height_m);
            return Facing::Edge(Segment::placed(frame, [side - reach, side + reach], 0.0));
        }
        Facing::Corner
    }

    fn outline(&self) -> Outline {
        let (r, h) = (self.radius_m, self.half_height_m);
        revolved(&[(r, -h), (r, h)], false)
    }

    fn bounds(&self, frame: &Frame) -> Aabb {
        Aabb::around(
            &frame.position,
            &extents(&frame.axis(2), self.radius_m, self.half_height_m),
        )
    }

    fn on_plane(&self, frame: &Frame, up: &Vec3, take: TakeCorner<'_>) {
        disk_on_plane(frame, -self.half_height_m, self.radius_m, 0, up, take);
        disk_on_plane(frame, self.half_height_m, self.radius_m, 8, up, take);
    }

    fn signed_distance(&self, p: &Vec3) -> Option<(f64, Vec3)> {
        let (rho, radial) = polar(p);
        let flat = rectangle(rho, p.z, 0.0, self.radius_m, self.half_height_m);
        Some(revolve(flat, &radial))
    }
}

//! Cone.

use crate::aabb::Aabb;
use crate::contact::feature;
use crate::convex::{Convex, Kind, TakeCorner};
use crate::description::Description;
use crate::disk::Disk;
use crate::error::{GeometryError, positive};
use crate::facing::{FLAT_COSINE, Facing, disk_on_plane};
use crate::mass::MassProperties;
use crate::outline::{Outline, revolved};
use crate::polygon::Polygon;
use crate::pose::{Frame, Vec3};
use crate::segment_face::Segment;
use crate::signed_distance::{polar, revolve};
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
}

impl Cone {
    /// Distance in the half plane rho >= 0 to the triangle that the cone is turned from.
    fn distance_to_triangle(&self, rho: f64, z: f64) -> (f64, f64, f64) {
        let (nr, nz) = self.side_normal();
        let h = self.half_height_m;
        let side = rho * nr + (z - h) * nz;
        let base = -h - z;
        if side <= 0.0 && base <= 0.0 {
            return if side >= base {
                (side, nr, nz)
            } else {
                (base, 0.0, -1.0)
            };
        }
        // Nearest point on the slanted side from apex (0, h) to rim (radius, -h), and on the base.
        let slant = self.radius_m.hypot(2.0 * h);
        let along = ((rho * nz - (z - h) * nr) / slant).clamp(0.0, 1.0);
        let on_side = (along * self.radius_m, h - along * 2.0 * h);
        let on_base = (rho.min(self.radius_m), -h);
        let reach = |q: (f64, f64)| (rho - q.0).hypot(z - q.1);
        let q = if reach(on_side) <= reach(on_base) {
            on_side
        } else {
            on_base
        };
        let norm = reach(q);
        if norm > 0.0 {
            (norm, (rho - q.0) / norm, (z - q.1) / norm)
        } else {
            (0.0, nr, nz)
        }
    }
}

impl Kind for Cone {
    const NAME: &'static str = "cone";

    fn read<D: Description>(from: &D) -> Result<Self, D::Error> {
        Ok(Self::new(
            from.number("radius_m")?,
            from.number("height_m")?,
        )?)
    }
}

impl Convex for Cone {
    fn support(&self, d: &Vec3) -> Vec3 {
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

    fn size(&self) -> f64 {
        self.radius_m.min(self.half_height_m)
    }

    fn mass(&self, density: f64) -> MassProperties {
        let (r, h) = (self.radius_m, 2.0 * self.half_height_m);
        let mass = density * PI * r * r * h / 3.0;
        let across = mass * (3.0 / 20.0 * r * r + 3.0 / 80.0 * h * h);
        let mut properties = MassProperties::diagonal(mass, across, across, 0.3 * mass * r * r);
        properties.centre_m.z = -0.25 * h;
        properties
    }

    fn facing(&self, frame: &Frame, d: &Vec3, _: &mut Polygon) -> Facing {
        let local = frame.local_vector(d);
        if local.z < -FLAT_COSINE {
            let down = -frame.axis(2);
            return Facing::Disk(Disk {
                centre: frame.position + down * self.half_height_m,
                normal: down,
                reference: frame.axis(0),
                radius: self.radius_m,
            });
        }
        let (across, along) = self.side_normal();
        if local.x.hypot(local.y) * across + local.z * along > FLAT_COSINE {
            let apex = Vec3::new(0.0, 0.0, self.half_height_m);
            let radial = Vec3::new(local.x, local.y, 0.0).normalize();
            let ends = [apex, radial * self.radius_m - apex];
            return Facing::Edge(Segment::placed(frame, ends, 0.0));
        }
        Facing::Corner
    }

    fn outline(&self) -> Outline {
        let h = self.half_height_m;
        revolved(&[(self.radius_m, -h), (0.0, h)], false)
    }

    fn bounds(&self, frame: &Frame) -> Aabb {
        let axis = frame.axis(2);
        let base = frame.position - axis * self.half_height_m;
        let apex = frame.position + axis * self.half_height_m;
        let half = axis.map(|c| self.radius_m * (1.0 - c * c).max(0.0).sqrt());
        Aabb {
            min: (base - half).inf(&apex),
            max: (base + half).sup(&apex),
        }
    }

    fn on_plane(&self, frame: &Frame, up: &Vec3, take: TakeCorner<'_>) {
        disk_on_plane(frame, -self.half_height_m, self.radius_m, 0, up, take);
        let apex = frame.point(&Vec3::new(0.0, 0.0, self.half_height_m));
        take(apex, 0.0, feature::other(8));
    }

    fn signed_distance(&self, p: &Vec3) -> Option<(f64, Vec3)> {
        let (rho, radial) = polar(p);
        Some(revolve(self.distance_to_triangle(rho, p.z), &radial))
    }
}

//! Capsule: a cylinder with hemispherical ends.

use crate::aabb::Aabb;
use crate::contact::feature;
use crate::convex::{Convex, Kind, TakeCorner};
use crate::description::Description;
use crate::error::{GeometryError, positive};
use crate::facing::{FLAT_TILT, Facing};
use crate::mass::MassProperties;
use crate::outline::{Outline, arc, revolved};
use crate::polygon::Polygon;
use crate::pose::{Frame, Vec3};
use crate::segment_face::Segment;
use crate::signed_distance::from_point;
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
}

impl Kind for Capsule {
    const NAME: &'static str = "capsule";

    fn read<D: Description>(from: &D) -> Result<Self, D::Error> {
        Ok(Self::new(
            from.number("radius_m")?,
            from.number("length_m")?,
        )?)
    }
}

impl Convex for Capsule {
    fn support(&self, d: &Vec3) -> Vec3 {
        Vec3::new(0.0, 0.0, self.half_length_m.copysign(d.z))
    }

    fn size(&self) -> f64 {
        // Without a radius it is an edge.
        if self.radius_m == 0.0 {
            self.half_length_m
        } else {
            self.radius_m
        }
    }

    fn mass(&self, density: f64) -> MassProperties {
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

    fn facing(&self, frame: &Frame, d: &Vec3, _: &mut Polygon) -> Facing {
        if frame.local_vector(d).z.abs() < FLAT_TILT {
            let reach = Vec3::new(0.0, 0.0, self.half_length_m);
            return Facing::Edge(Segment::placed(frame, [-reach, reach], self.radius_m));
        }
        Facing::Corner
    }

    fn outline(&self) -> Outline {
        let (r, l) = (self.radius_m, self.half_length_m);
        let mut profile = arc(r, -l, -1.0, 0.0);
        profile.extend(arc(r, l, 0.0, 1.0));
        revolved(&profile, false)
    }

    fn rounding(&self) -> f64 {
        self.radius_m
    }

    fn bounds(&self, frame: &Frame) -> Aabb {
        let half = (frame.axis(2) * self.half_length_m)
            .abs()
            .add_scalar(self.radius_m);
        Aabb::around(&frame.position, &half)
    }

    fn on_plane(&self, frame: &Frame, _: &Vec3, take: TakeCorner<'_>) {
        let reach = frame.axis(2) * self.half_length_m;
        take(frame.position - reach, self.radius_m, feature::other(0));
        take(frame.position + reach, self.radius_m, feature::other(1));
    }

    fn signed_distance(&self, p: &Vec3) -> Option<(f64, Vec3)> {
        let z = p.z.clamp(-self.half_length_m, self.half_length_m);
        Some(from_point(p, &Vec3::new(0.0, 0.0, z), self.radius_m))
    }
}

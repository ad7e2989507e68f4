//! Sphere.

use crate::aabb::Aabb;
use crate::contact::feature;
use crate::convex::{Convex, Kind, TakeCorner};
use crate::description::Description;
use crate::error::{GeometryError, positive};
use crate::facing::Facing;
use crate::mass::MassProperties;
use crate::outline::{Outline, arc, revolved};
use crate::polygon::Polygon;
use crate::pose::{Frame, Vec3};
use crate::signed_distance::from_point;
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
}

impl Kind for Sphere {
    const NAME: &'static str = "sphere";

    fn read<D: Description>(from: &D) -> Result<Self, D::Error> {
        Ok(Self::new(from.number("radius_m")?)?)
    }
}

impl Convex for Sphere {
    fn support(&self, _: &Vec3) -> Vec3 {
        Vec3::zeros()
    }

    fn size(&self) -> f64 {
        // Without a radius it is a point, which has no size of its own.
        if self.radius_m == 0.0 {
            f64::INFINITY
        } else {
            self.radius_m
        }
    }

    fn mass(&self, density: f64) -> MassProperties {
        let mass = density * 4.0 / 3.0 * PI * self.radius_m.powi(3);
        let moment = 0.4 * mass * self.radius_m.powi(2);
        MassProperties::diagonal(mass, moment, moment, moment)
    }

    fn facing(&self, _: &Frame, _: &Vec3, _: &mut Polygon) -> Facing {
        Facing::Corner
    }

    fn outline(&self) -> Outline {
        revolved(&arc(self.radius_m, 0.0, -1.0, 1.0), false)
    }

    fn rounding(&self) -> f64 {
        self.radius_m
    }

    fn bounds(&self, frame: &Frame) -> Aabb {
        Aabb::around(&frame.position, &Vec3::repeat(self.radius_m))
    }

    fn on_plane(&self, frame: &Frame, _: &Vec3, take: TakeCorner<'_>) {
        take(frame.position, self.radius_m, feature::other(0));
    }

    fn signed_distance(&self, p: &Vec3) -> Option<(f64, Vec3)> {
        Some(from_point(p, &Vec3::zeros(), self.radius_m))
    }
}

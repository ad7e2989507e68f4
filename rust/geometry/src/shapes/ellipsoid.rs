//! Ellipsoid.

use crate::aabb::Aabb;
use crate::convex::{Convex, Kind};
use crate::description::Description;
use crate::error::{GeometryError, positive};
use crate::facing::Facing;
use crate::mass::MassProperties;
use crate::outline::{Outline, arc, revolved};
use crate::polygon::Polygon;
use crate::pose::{Frame, Vec3};
use std::f64::consts::PI;

/// An ellipsoid centred in its frame, its axes along the local ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ellipsoid {
    /// Half axes (m).
    pub half_m: Vec3,
}

impl Ellipsoid {
    /// An ellipsoid from its half axes.
    pub fn new([x_m, y_m, z_m]: [f64; 3]) -> Result<Self, GeometryError> {
        Ok(Self {
            half_m: Vec3::new(
                positive("ellipsoid", "half_axes_m along x", x_m)?,
                positive("ellipsoid", "half_axes_m along y", y_m)?,
                positive("ellipsoid", "half_axes_m along z", z_m)?,
            ),
        })
    }
}

impl Kind for Ellipsoid {
    const NAME: &'static str = "ellipsoid";

    fn read<D: Description>(from: &D) -> Result<Self, D::Error> {
        Ok(Self::new(from.numbers("half_axes_m")?)?)
    }
}

impl Convex for Ellipsoid {
    /// The image of a ball's: with S the half axes, S (S d) / |S d|.
    fn support(&self, d: &Vec3) -> Vec3 {
        let stretched = self.half_m.component_mul(d);
        let length = stretched.norm();
        if length > 0.0 {
            self.half_m.component_mul(&(stretched / length))
        } else {
            Vec3::new(0.0, 0.0, self.half_m.z)
        }
    }

    fn size(&self) -> f64 {
        self.half_m.min()
    }

    fn mass(&self, density: f64) -> MassProperties {
        let h = self.half_m;
        let mass = density * 4.0 / 3.0 * PI * h.x * h.y * h.z;
        let s = h.component_mul(&h) * (mass / 5.0);
        MassProperties::diagonal(mass, s.y + s.z, s.z + s.x, s.x + s.y)
    }

    fn facing(&self, _: &Frame, _: &Vec3, _: &mut Polygon) -> Facing {
        Facing::Corner
    }

    fn outline(&self) -> Outline {
        let mut ball = revolved(&arc(1.0, 0.0, -1.0, 1.0), false);
        for v in &mut ball.vertices {
            v.component_mul_assign(&self.half_m);
        }
        ball
    }

    fn bounds(&self, frame: &Frame) -> Aabb {
        let half = Vec3::from_fn(|i, _| {
            frame
                .axes
                .row(i)
                .transpose()
                .component_mul(&self.half_m)
                .norm()
        });
        Aabb::around(&frame.position, &half)
    }
}

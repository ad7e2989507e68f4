//! Box (called cuboid where `Box` would be mistaken for the pointer).

use crate::aabb::Aabb;
use crate::error::{GeometryError, positive};
use crate::mass::MassProperties;
use crate::pose::{Frame, Vec3};

/// A box centred in its frame, its sides along the local axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cuboid {
    /// Half lengths of the sides (m).
    pub half_m: Vec3,
}

impl Cuboid {
    /// A box from its full side lengths.
    pub fn new(x_m: f64, y_m: f64, z_m: f64) -> Result<Self, GeometryError> {
        Ok(Self {
            half_m: Vec3::new(
                positive("box", "x_m", x_m)?,
                positive("box", "y_m", y_m)?,
                positive("box", "z_m", z_m)?,
            ) * 0.5,
        })
    }

    pub(crate) fn support(&self, d: &Vec3) -> Vec3 {
        self.half_m.zip_map(d, f64::copysign)
    }

    pub(crate) fn bounds(&self, frame: &Frame) -> Aabb {
        Aabb::around(&frame.position, &(frame.axes.abs() * self.half_m))
    }

    pub(crate) fn mass(&self, density: f64) -> MassProperties {
        let h = self.half_m;
        let mass = density * 8.0 * h.x * h.y * h.z;
        let s = h.component_mul(&h) * (mass / 3.0);
        MassProperties::diagonal(mass, s.y + s.z, s.z + s.x, s.x + s.y)
    }

    /// Corner `k` in local coordinates: bit i of `k` set means the positive side of axis i.
    #[inline]
    pub(crate) fn corner(&self, k: usize) -> Vec3 {
        Vec3::from_fn(|i, _| {
            if k >> i & 1 == 1 {
                self.half_m[i]
            } else {
                -self.half_m[i]
            }
        })
    }

    /// The corners of the face on the positive or negative side of `axis`, anticlockwise seen
    /// from outside.
    #[inline]
    pub(crate) fn face(axis: usize, positive: bool) -> [usize; 4] {
        let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
        if positive {
            let w = 1 << axis;
            [w, w | u, w | u | v, w | v]
        } else {
            [0, v, u | v, u]
        }
    }
}

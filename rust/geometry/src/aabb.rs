//! Boxes along the world's axes that bound shapes.

use crate::pose::Vec3;

/// A box along the world's axes; infinite sides are allowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aabb {
    /// Lowest corner (m).
    pub min: Vec3,
    /// Highest corner (m).
    pub max: Vec3,
}

impl Aabb {
    /// The box around `centre` with the given half sides.
    #[inline]
    pub fn around(centre: &Vec3, half: &Vec3) -> Self {
        Self {
            min: centre - half,
            max: centre + half,
        }
    }

    /// The whole space.
    pub fn everything() -> Self {
        Self {
            min: Vec3::repeat(f64::NEG_INFINITY),
            max: Vec3::repeat(f64::INFINITY),
        }
    }

    /// The box that holds all points; empty (turned inside out) without points.
    pub fn of_points<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> Self {
        let empty = Self {
            min: Vec3::repeat(f64::INFINITY),
            max: Vec3::repeat(f64::NEG_INFINITY),
        };
        points.into_iter().fold(empty, |b, p| Self {
            min: b.min.inf(p),
            max: b.max.sup(p),
        })
    }

    /// The box grown by `by` on every side.
    #[inline]
    pub fn grown(&self, by: f64) -> Self {
        Self {
            min: self.min.add_scalar(-by),
            max: self.max.add_scalar(by),
        }
    }

    /// Whether the boxes share a point.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.x <= other.max.x
            && self.max.x >= other.min.x
            && self.min.y <= other.max.y
            && self.max.y >= other.min.y
            && self.min.z <= other.max.z
            && self.max.z >= other.min.z
    }

    /// Whether `other` lies inside.
    #[inline]
    pub fn contains(&self, other: &Self) -> bool {
        (0..3).all(|i| self.min[i] <= other.min[i] && self.max[i] >= other.max[i])
    }
}

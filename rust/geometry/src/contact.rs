//! What a pair of shapes has to say to each other: contact points.
//!
//! # Contract
//! For shapes A and B every point holds
//! - `normal`: unit, from A towards B;
//! - `gap`: signed distance along the normal, > 0 apart, < 0 overlapping; points beyond the
//!   detection margin are left out;
//! - `position`: half way between the two surfaces;
//! - `feature`: a number that stays the same while the point moves with the motion of the shapes.
//!
//! Swapping A and B gives the same points with turned normals. Each point carries the normal of its
//! own features (corner on face: the face's normal; edge on edge: their cross product), so that a
//! tilted face has exact gaps everywhere and no normal depends on which face was called first.

use crate::pose::Vec3;

/// One contact point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactPoint {
    /// Half way between the surfaces (m).
    pub position: Vec3,
    /// Unit normal from A towards B.
    pub normal: Vec3,
    /// Signed distance (m): positive apart, negative overlapping.
    pub gap: f64,
    /// Which features meet: the point's name within its pair, kept from step to step.
    pub feature: u32,
}

impl ContactPoint {
    /// Stands where one is to be written.
    pub(crate) const NONE: Self = Self {
        position: Vec3::new(0.0, 0.0, 0.0),
        normal: Vec3::new(0.0, 0.0, 0.0),
        gap: 0.0,
        feature: 0,
    };
}

/// Where pair functions put their points: keeps only those within the margin.
pub(crate) struct Points<'a> {
    pub margin: f64,
    pub list: &'a mut Vec<ContactPoint>,
}

impl Points<'_> {
    #[inline]
    pub fn push(&mut self, position: Vec3, normal: Vec3, gap: f64, feature: u32) {
        if gap <= self.margin {
            self.list.push(ContactPoint {
                position,
                normal,
                gap,
                feature,
            });
        }
    }

    /// A point of A's surface whose partner lies `gap` farther along the normal.
    #[inline]
    pub fn push_on_a(&mut self, on_a: Vec3, normal: Vec3, gap: f64, feature: u32) {
        self.push(on_a + normal * (0.5 * gap), normal, gap, feature);
    }

    /// A point of B's surface whose partner lies `gap` back along the normal.
    #[inline]
    pub fn push_on_b(&mut self, on_b: Vec3, normal: Vec3, gap: f64, feature: u32) {
        self.push(on_b - normal * (0.5 * gap), normal, gap, feature);
    }
}

/// Feature numbers: two bits of kind, fifteen for each shape.
pub(crate) mod feature {
    /// A vertex of A on B.
    pub const fn vertex_a(i: u32) -> u32 {
        1 << 30 | i << 15
    }
    /// A vertex of B on A.
    pub const fn vertex_b(j: u32) -> u32 {
        2 << 30 | j
    }
    /// An edge of A across an edge of B.
    pub const fn edges(i: u32, j: u32) -> u32 {
        3 << 30 | i << 15 | j
    }
    /// Anything else, numbered by the pair.
    pub const fn other(k: u32) -> u32 {
        k
    }
    /// The same feature with A and B exchanged.
    pub const fn swapped(f: u32) -> u32 {
        let (i, j) = (f >> 15 & 0x7fff, f & 0x7fff);
        match f >> 30 {
            1 => vertex_b(i),
            2 => vertex_a(j),
            3 => edges(j, i),
            _ => f,
        }
    }
}

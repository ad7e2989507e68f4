//! Box (called cuboid where `Box` would be mistaken for the pointer).

use crate::aabb::Aabb;
use crate::contact::feature;
use crate::convex::{Convex, Kind, TakeCorner};
use crate::description::Description;
use crate::error::{GeometryError, positive};
use crate::facing::{FLAT_COSINE, FLAT_TILT, Facing};
use crate::mass::MassProperties;
use crate::outline::Outline;
use crate::polygon::Polygon;
use crate::pose::{Frame, Vec3};
use crate::segment_face::Segment;

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

impl Cuboid {
    /// The box's side that looks along `d`.
    pub(crate) fn set_face(&self, face: &mut Polygon, frame: &Frame, d: &Vec3) {
        let local = frame.local_vector(d);
        let axis = local.abs().imax();
        let outward = local[axis] > 0.0;
        face.reset(frame.axis(axis) * if outward { 1.0 } else { -1.0 });
        let corners = Self::face(axis, outward);
        for k in 0..4 {
            let (c, next) = (corners[k], corners[(k + 1) % 4]);
            face.push(
                frame.point(&self.corner(c)),
                c as u16,
                edge_name(c, next) as u16,
            );
        }
    }

    /// The box's edge along axis `i` that lies farthest along `d`, with its name.
    pub(crate) fn edge_along(&self, frame: &Frame, i: usize, d: &Vec3) -> (u32, [Vec3; 2]) {
        let local = frame.local_vector(d);
        let low = (0..3)
            .filter(|&k| k != i && local[k] > 0.0)
            .fold(0, |c, k| c | 1 << k);
        let high = low | 1 << i;
        let ends = [
            frame.point(&self.corner(low)),
            frame.point(&self.corner(high)),
        ];
        (edge_name(low, high) as u32, ends)
    }
}

/// The edge between two neighbouring corners: its direction and the sides it lies on.
fn edge_name(c: usize, d: usize) -> usize {
    let along = (c ^ d).trailing_zeros() as usize;
    along * 8 + (c & d)
}

impl Kind for Cuboid {
    const NAME: &'static str = "box";

    fn read<D: Description>(from: &D) -> Result<Self, D::Error> {
        let [x, y, z] = from.numbers("size_m")?;
        Ok(Self::new(x, y, z)?)
    }
}

impl Convex for Cuboid {
    fn support(&self, d: &Vec3) -> Vec3 {
        self.half_m.zip_map(d, f64::copysign)
    }

    fn size(&self) -> f64 {
        self.half_m.min()
    }

    fn mass(&self, density: f64) -> MassProperties {
        let h = self.half_m;
        let mass = density * 8.0 * h.x * h.y * h.z;
        let s = h.component_mul(&h) * (mass / 3.0);
        MassProperties::diagonal(mass, s.y + s.z, s.z + s.x, s.x + s.y)
    }

    fn facing(&self, frame: &Frame, d: &Vec3, polygon: &mut Polygon) -> Facing {
        let size = frame.local_vector(d).abs();
        if size.max() > FLAT_COSINE {
            self.set_face(polygon, frame, d);
            return Facing::Polygon;
        }
        let along = size.imin();
        if size[along] < FLAT_TILT {
            let (_, ends) = self.edge_along(frame, along, d);
            let rounding = 0.0;
            return Facing::Edge(Segment { ends, rounding });
        }
        Facing::Corner
    }

    fn outline(&self) -> Outline {
        // Bit i of a corner's number is its side of axis i.
        let loops: [[u32; 4]; 6] = [
            [0, 4, 6, 2],
            [1, 3, 7, 5],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 2, 3, 1],
            [4, 5, 7, 6],
        ];
        Outline {
            vertices: (0..8).map(|k| self.corner(k)).collect(),
            polygons: loops.map(|corners| corners.to_vec()).to_vec(),
        }
    }

    fn bounds(&self, frame: &Frame) -> Aabb {
        Aabb::around(&frame.position, &(frame.axes.abs() * self.half_m))
    }

    fn on_plane(&self, frame: &Frame, _: &Vec3, take: TakeCorner<'_>) {
        for k in 0..8 {
            let corner = frame.point(&self.corner(k));
            take(corner, 0.0, feature::vertex_a(k as u32));
        }
    }

    fn signed_distance(&self, p: &Vec3) -> Option<(f64, Vec3)> {
        let excess = p.abs() - self.half_m;
        if excess.max() > 0.0 {
            let d = p - p.zip_map(&self.half_m, |x, h| x.clamp(-h, h));
            let norm = d.norm();
            return Some((norm, d / norm));
        }
        let i = excess.imax();
        let mut outward = Vec3::zeros();
        outward[i] = 1.0_f64.copysign(p[i]);
        Some((excess[i], outward))
    }
}

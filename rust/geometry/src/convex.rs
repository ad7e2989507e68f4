//! What a convex shape says of itself: all that contacts, bodies and pictures need, in the shape's own file.
//!
//! Required is what no other shape can know: support, size, mass, the flat or straight part that faces a direction,
//! and the surface to draw. The rest follows from these by general ways that are right for every convex shape; a shape
//! says it itself where it knows a closed form.

use crate::aabb::Aabb;
use crate::contact::feature;
use crate::description::Description;
use crate::facing::{Facing, rim_on_plane};
use crate::mass::MassProperties;
use crate::outline::Outline;
use crate::polygon::Polygon;
use crate::pose::{Frame, Mat3, Vec3};
use crate::shapes::polyhedron::Face;

/// Takes points of a shape that may touch a plane: place, radius around it, name.
pub(crate) type TakeCorner<'a> = &'a mut dyn FnMut(Vec3, f64, u32);

/// A convex shape, or one that others meet as such.
pub(crate) trait Convex {
    /// A point of the core farthest along the local direction `d`, not zero. The core is the shape without its
    /// [`Convex::rounding`].
    fn support(&self, d: &Vec3) -> Vec3;

    /// A length typical of the shape's smaller sides (m); the scale of its tolerances.
    fn size(&self) -> f64;

    /// Mass, centre and inertia for a density (kg/m3), in the shape's own frame.
    fn mass(&self, density: f64) -> MassProperties;

    /// The part of the core that faces along the unit vector `d` of the world; a polygon is left in the buffer.
    fn facing(&self, frame: &Frame, d: &Vec3, polygon: &mut Polygon) -> Facing;

    /// The surface as polygons, anticlockwise seen from outside.
    fn outline(&self) -> Outline;

    /// Radius by which the shape exceeds its core.
    fn rounding(&self) -> f64 {
        0.0
    }

    /// A point inside, in the world.
    fn middle(&self, frame: &Frame) -> Vec3 {
        frame.position
    }

    /// The box around the shape placed at `frame`.
    fn bounds(&self, frame: &Frame) -> Aabb {
        let r = self.rounding();
        let reach = |i: usize, side: f64| {
            let d = Vec3::ith(i, side);
            frame.point(&self.support(&frame.local_vector(&d)))[i] + side * r
        };
        Aabb {
            min: Vec3::from_fn(|i, _| reach(i, -1.0)),
            max: Vec3::from_fn(|i, _| reach(i, 1.0)),
        }
    }

    /// A point of the shape itself farthest along the local direction `d`.
    fn farthest(&self, d: &Vec3) -> Vec3 {
        match self.rounding() {
            0.0 => self.support(d),
            r => d.try_normalize(0.0).unwrap_or_else(Vec3::z) * r + self.support(d),
        }
    }

    /// Points that may touch a plane whose unit normal is `up`, named so that they keep their names while the shape
    /// moves. In general: the corners of what faces the plane, or the lowest point.
    fn on_plane(&self, frame: &Frame, up: &Vec3, take: TakeCorner<'_>) {
        let (mut polygon, r) = (Polygon::default(), self.rounding());
        match self.facing(frame, &-up, &mut polygon) {
            Facing::Polygon => {
                for (&p, &name) in polygon.points.iter().zip(&polygon.corners) {
                    take(p, r, feature::vertex_a(u32::from(name)));
                }
            }
            Facing::Edge(edge) => {
                let ends = edge.ends.into_iter().zip(0..);
                ends.for_each(|(p, k)| take(p, r, feature::other(k)));
            }
            Facing::Disk(disk) => {
                let (x, z) = (disk.reference, disk.normal);
                let axes = Mat3::from_columns(&[x, z.cross(&x), z]);
                rim_on_plane(disk.centre, &axes, disk.radius, 0, up, take);
            }
            Facing::Corner => {
                let lowest = self.support(&frame.local_vector(&-up));
                take(frame.point(&lowest), r, feature::other(0));
            }
        }
    }

    /// Signed distance from a local point to the surface, negative inside, and the outward unit normal there: exact
    /// outside, and inside towards the nearest side. None where there is no closed form: balls then meet the shape by
    /// its support.
    fn signed_distance(&self, _: &Vec3) -> Option<(f64, Vec3)> {
        None
    }

    /// Faces whose normals are worth trying when shapes overlap deeply, beside axes and diagonals.
    fn faces(&self) -> &[Face] {
        &[]
    }
}

/// A shape as files describe it.
pub(crate) trait Kind: Sized {
    /// Its name in messages and files.
    const NAME: &'static str;
    /// The shape of a description.
    fn read<D: Description>(from: &D) -> Result<Self, D::Error>;
}

//! What a core shows in a given direction: a corner, a straight edge or generator, or a flat face.

use crate::disk::Disk;
use crate::gjk::Core;
use crate::pairs::cuboid_cuboid::{edge_along, set_face};
use crate::pairs::cylinder_cylinder::end;
use crate::pairs::half_space::FLAT_TILT;
use crate::polygon::Polygon;
use crate::pose::Vec3;
use crate::segment_face::Segment;
use crate::shape::Shape;

/// The part of a core that faces a direction; a polygon is left in the buffer given.
pub(crate) enum Facing {
    Corner,
    Edge(Segment),
    Disk(Disk),
    Polygon,
}

impl Facing {
    /// Sine of the angle by which a flat part is turned away from facing along `d` squarely.
    pub fn tilt(&self, d: &Vec3, polygon: &Polygon) -> Option<f64> {
        match self {
            Facing::Corner | Facing::Edge(_) => None,
            Facing::Disk(s) => Some(s.normal.cross(d).norm()),
            Facing::Polygon => Some(polygon.normal.cross(d).norm()),
        }
    }
}

/// Cosine of the tilt up to which a face counts as facing.
pub(crate) const FLAT_COSINE: f64 = 0.953_939_2;

/// The part of `core` that faces along the unit vector `d`.
pub(crate) fn facing(core: &Core, d: &Vec3, polygon: &mut Polygon) -> Facing {
    let frame = core.frame;
    let local = frame.local_vector(d);
    let rounding = core.rounding();
    let edge = |p: Vec3, q: Vec3| {
        Facing::Edge(Segment {
            ends: [frame.point(&p), frame.point(&q)],
            rounding,
        })
    };
    let radial = || Vec3::new(local.x, local.y, 0.0).normalize();
    match core.shape {
        Shape::Box(s) => {
            let size = local.abs();
            if size.max() > FLAT_COSINE {
                set_face(polygon, s, frame, d);
                return Facing::Polygon;
            }
            let along = size.imin();
            if size[along] < FLAT_TILT {
                let (_, ends) = edge_along(s, frame, along, d);
                return Facing::Edge(Segment { ends, rounding });
            }
            Facing::Corner
        }
        Shape::Capsule(s) if local.z.abs() < FLAT_TILT => {
            let reach = Vec3::new(0.0, 0.0, s.half_length_m);
            edge(-reach, reach)
        }
        Shape::Cylinder(_) | Shape::Ring(_) => {
            let s = match core.shape {
                Shape::Cylinder(s) => *s,
                Shape::Ring(s) => s.outline(),
                _ => unreachable!(),
            };
            if local.z.abs() > FLAT_COSINE {
                return Facing::Disk(end(&s, frame, &(frame.axis(2) * 1.0_f64.copysign(local.z))));
            }
            if local.z.abs() < FLAT_TILT {
                let (side, reach) = (radial() * s.radius_m, Vec3::new(0.0, 0.0, s.half_height_m));
                return edge(side - reach, side + reach);
            }
            Facing::Corner
        }
        Shape::Cone(s) => {
            if local.z < -FLAT_COSINE {
                let down = -frame.axis(2);
                return Facing::Disk(Disk {
                    centre: frame.position + down * s.half_height_m,
                    normal: down,
                    reference: frame.axis(0),
                    radius: s.radius_m,
                });
            }
            let (across, along) = s.side_normal();
            if local.x.hypot(local.y) * across + local.z * along > FLAT_COSINE {
                let apex = Vec3::new(0.0, 0.0, s.half_height_m);
                return edge(apex, radial() * s.radius_m - apex);
            }
            Facing::Corner
        }
        Shape::Polyhedron(s) => {
            let (face, cosine) = s.face_towards(&local);
            if cosine > FLAT_COSINE {
                s.set_face(polygon, frame, face);
                return Facing::Polygon;
            }
            let (ends, sine) = s.edge_towards(&local);
            if sine < FLAT_TILT {
                edge(ends[0], ends[1])
            } else {
                Facing::Corner
            }
        }
        Shape::Sphere(_) | Shape::Capsule(_) | Shape::HalfSpace(_) | Shape::Mesh(_) => {
            Facing::Corner
        }
    }
}

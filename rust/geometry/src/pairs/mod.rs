//! Contact points of pairs of shapes. One file for each pair, or family of pairs with one algorithm,
//! and the table that sends a pair to its file.

use crate::contact::{ContactPoint, Points, feature};
use crate::contact_workspace::Workspace;
use crate::gjk::Core;
use crate::pose::Frame;
use crate::shape::Shape;

pub(crate) mod convex;
pub(crate) mod cuboid_cuboid;
pub(crate) mod cuboid_cylinder;
pub(crate) mod cylinder_cylinder;
pub(crate) mod half_space;
pub(crate) mod mesh;
pub(crate) mod pin_ring;
pub(crate) mod sphere;

/// Appends to `list` the contact points of A and B whose gap is at most `margin_m`.
pub fn contact_points(
    (a, frame_a): (&Shape, &Frame),
    (b, frame_b): (&Shape, &Frame),
    margin_m: f64,
    work: &mut Workspace,
    list: &mut Vec<ContactPoint>,
) {
    if rank(a) <= rank(b) {
        ordered(
            (a, frame_a),
            (b, frame_b),
            work,
            &mut Points {
                margin: margin_m,
                list,
            },
        );
    } else {
        let first = list.len();
        ordered(
            (b, frame_b),
            (a, frame_a),
            work,
            &mut Points {
                margin: margin_m,
                list,
            },
        );
        for p in &mut list[first..] {
            p.normal = -p.normal;
            p.feature = feature::swapped(p.feature);
        }
    }
}

/// The order in which the table below expects its shapes.
fn rank(shape: &Shape) -> u8 {
    match shape {
        Shape::Sphere(_) => 0,
        Shape::Box(_) => 1,
        Shape::Cylinder(_) => 2,
        Shape::Capsule(_) => 3,
        Shape::Cone(_) => 4,
        Shape::Polyhedron(_) => 5,
        Shape::Ring(_) => 6,
        Shape::Mesh(_) => 7,
        Shape::HalfSpace(_) => 9,
    }
}

/// The table of pairs.
fn ordered(
    (a, fa): (&Shape, &Frame),
    (b, fb): (&Shape, &Frame),
    work: &mut Workspace,
    points: &mut Points,
) {
    match (a, b) {
        (_, Shape::HalfSpace(_)) => half_space::shape_half_space(a, fa, fb, points),
        (Shape::Mesh(_), Shape::Mesh(_)) => {}
        (_, Shape::Mesh(m)) => mesh::shape_mesh((a, fa), (m, fb), work, points),
        (Shape::Sphere(s), _) if sphere::sphere_shape(&fa.position, s.radius_m, b, fb, points) => {}
        (Shape::Box(x), Shape::Box(y)) => {
            cuboid_cuboid::cuboid_cuboid((a, x, fa), (b, y, fb), work, points)
        }
        (Shape::Box(x), Shape::Cylinder(y)) => {
            cuboid_cylinder::cuboid_cylinder((a, x, fa), (b, y, fb), work, points);
        }
        (Shape::Cylinder(x), Shape::Cylinder(y)) => {
            cylinder_cylinder::cylinder_cylinder((a, x, fa), (b, y, fb), work, points);
        }
        (Shape::Capsule(x), Shape::Ring(y)) => {
            pin_ring::capsule_ring((a, x, fa), (b, y, fb), work, points);
        }
        (Shape::Cylinder(x), Shape::Ring(y)) => {
            pin_ring::cylinder_ring((a, x, fa), (y, fb), work, points);
        }
        _ => {
            convex::convex_convex(
                &Core {
                    shape: a,
                    frame: fa,
                },
                &Core {
                    shape: b,
                    frame: fb,
                },
                work,
                points,
            );
        }
    }
}

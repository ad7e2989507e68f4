//! Contact points of pairs of shapes. One file for each pair, or family of pairs with one algorithm,
//! and the table that sends a pair to its file.

use crate::contact::{ContactPoint, Points, feature};
use crate::contact_workspace::Workspace;
use crate::gjk::Core;
use crate::pose::Frame;
use crate::shape::{Form, Shape};

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
    if a.rank() <= b.rank() {
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

/// The table of pairs, whose shapes come in the order of the list of shapes.
fn ordered(
    (a, fa): (&Shape, &Frame),
    (b, fb): (&Shape, &Frame),
    work: &mut Workspace,
    points: &mut Points,
) {
    match (a, b) {
        (Shape::Box(x), Shape::Box(y)) => {
            return cuboid_cuboid::cuboid_cuboid((x, fa), (y, fb), work, points);
        }
        (Shape::Box(x), Shape::Cylinder(y)) => {
            return cuboid_cylinder::cuboid_cylinder((x, fa), (y, fb), work, points);
        }
        (Shape::Cylinder(x), Shape::Cylinder(y)) => {
            return cylinder_cylinder::cylinder_cylinder((x, fa), (y, fb), work, points);
        }
        (Shape::Capsule(x), Shape::Ring(y)) => {
            return pin_ring::capsule_ring((x, fa), (y, fb), work, points);
        }
        (Shape::Cylinder(x), Shape::Ring(y)) => {
            return pin_ring::cylinder_ring((x, fa), (y, fb), work, points);
        }
        // All others go the way of their forms.
        _ => {}
    }
    match (a.form(), b.form()) {
        (Form::Convex(x), Form::Convex(y)) => {
            if let Shape::Sphere(s) = a
                && sphere::sphere_shape(&fa.position, s.radius_m, y, fb, points)
            {
                return;
            }
            let (one, two) = (
                Core {
                    shape: x,
                    frame: fa,
                },
                Core {
                    shape: y,
                    frame: fb,
                },
            );
            convex::convex_convex(&one, &two, work, points);
        }
        (Form::Convex(x), Form::HalfSpace(_)) => half_space::shape_half_space(x, fa, fb, points),
        (Form::Convex(x), Form::Mesh(y)) => mesh::shape_mesh((x, fa), (y, fb), work, points),
        // Ground does not meet ground.
        (Form::Mesh(_) | Form::HalfSpace(_), _) => {}
    }
}

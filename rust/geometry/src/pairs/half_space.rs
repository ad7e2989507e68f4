//! Any shape (A) on a half-space (B): the shape's corners, rims and round ends against the plane.
//!
//! A flat disk gives four rim points fixed to the body, so that a standing cylinder keeps its points
//! while it slides and turns, and its lowest rim point as soon as it is tilted: the one place where a
//! rocking or rolling rim touches. That point runs along the rim at a rate of 1/tilt, so it is left
//! out below a tilt of `LEAST_TILT`, where the fixed points are lower by less than 1e-4 of a radius
//! times 1 - cos 45.

use crate::contact::{Points, feature};
use crate::pose::{Frame, Vec3, reject};
use crate::shape::Shape;

/// Sine of the tilt from which on a rim has a lowest point of its own.
pub(crate) const LEAST_TILT: f64 = 1e-4;
/// Sine of the tilt up to which a face or a side gives its outline and not only its lowest point.
pub(crate) const FLAT_TILT: f64 = 0.3;

/// Points of `shape` on the half-space at `ground`.
pub(crate) fn shape_half_space(shape: &Shape, frame: &Frame, ground: &Frame, points: &mut Points) {
    let up = ground.axis(2);
    let mut corner = |p: Vec3, radius: f64, feature: u32| {
        let gap = (p - ground.position).dot(&up) - radius;
        points.push_on_a(p - up * radius, -up, gap, feature);
    };
    match shape {
        Shape::Sphere(s) => corner(frame.position, s.radius_m, feature::other(0)),
        Shape::Capsule(s) => {
            let reach = frame.axis(2) * s.half_length_m;
            corner(frame.position - reach, s.radius_m, feature::other(0));
            corner(frame.position + reach, s.radius_m, feature::other(1));
        }
        Shape::Box(s) => {
            for k in 0..8 {
                corner(frame.point(&s.corner(k)), 0.0, feature::vertex_a(k as u32));
            }
        }
        Shape::Polyhedron(s) => {
            for (k, v) in s.vertices().iter().enumerate() {
                corner(frame.point(v), 0.0, feature::vertex_a(k as u32));
            }
        }
        Shape::Cylinder(s) => {
            disk(frame, -s.half_height_m, s.radius_m, 0, &up, &mut corner);
            disk(frame, s.half_height_m, s.radius_m, 8, &up, &mut corner);
        }
        Shape::Ring(s) => {
            disk(
                frame,
                -s.half_height_m,
                s.outer_radius_m,
                0,
                &up,
                &mut corner,
            );
            disk(
                frame,
                s.half_height_m,
                s.outer_radius_m,
                8,
                &up,
                &mut corner,
            );
        }
        Shape::Cone(s) => {
            disk(frame, -s.half_height_m, s.radius_m, 0, &up, &mut corner);
            corner(
                frame.point(&Vec3::new(0.0, 0.0, s.half_height_m)),
                0.0,
                feature::other(8),
            );
        }
        Shape::HalfSpace(_) | Shape::Mesh(_) => {}
    }
}

/// The rim points of the disk at local height `z` that may touch a plane with normal `up`.
fn disk(
    frame: &Frame,
    z: f64,
    radius: f64,
    first: u32,
    up: &Vec3,
    corner: &mut impl FnMut(Vec3, f64, u32),
) {
    let axis = frame.axis(2);
    let centre = frame.position + axis * z;
    let down = reject(&-up, &axis);
    let tilt = down.norm();
    if tilt > LEAST_TILT {
        corner(
            centre + down * (radius / tilt),
            0.0,
            feature::other(first + 4),
        );
    }
    if tilt < FLAT_TILT {
        let (x, y) = (frame.axis(0) * radius, frame.axis(1) * radius);
        for (k, p) in [x, y, -x, -y].into_iter().enumerate() {
            corner(centre + p, 0.0, feature::other(first + k as u32));
        }
    }
}

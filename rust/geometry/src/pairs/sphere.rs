//! A sphere (A) on anything with a known signed distance (B): one point.
//!
//! `signed_distance` gives, for a point in the shape's frame, the distance to the surface (negative
//! inside) and the outward unit normal there; exact outside, and inside towards the nearest side.

use crate::contact::{Points, feature};
use crate::pose::{Frame, Vec3};
use crate::shape::Shape;
use crate::shapes::cone::Cone;
use crate::shapes::cuboid::Cuboid;

/// The point of a sphere of `radius` at `centre` on `shape`; false if the shape has no closed form.
pub(crate) fn sphere_shape(
    centre: &Vec3,
    radius: f64,
    shape: &Shape,
    frame: &Frame,
    points: &mut Points,
) -> bool {
    let local = frame.local_point(centre);
    let Some((distance, outward)) = signed_distance(shape, &local) else {
        return false;
    };
    let normal = -frame.vector(&outward);
    points.push_on_a(
        centre + normal * radius,
        normal,
        distance - radius,
        feature::other(0),
    );
    true
}

/// Signed distance from a local point to the shape, and the outward normal.
pub(crate) fn signed_distance(shape: &Shape, p: &Vec3) -> Option<(f64, Vec3)> {
    Some(match shape {
        Shape::Sphere(s) => from_point(p, &Vec3::zeros(), s.radius_m),
        Shape::Capsule(s) => {
            let z = p.z.clamp(-s.half_length_m, s.half_length_m);
            from_point(p, &Vec3::new(0.0, 0.0, z), s.radius_m)
        }
        Shape::HalfSpace(_) => (p.z, Vec3::z()),
        Shape::Box(s) => cuboid(s, p),
        Shape::Cylinder(s) => {
            let (rho, radial) = polar(p);
            revolve(
                rectangle(rho, p.z, 0.0, s.radius_m, s.half_height_m),
                &radial,
            )
        }
        Shape::Ring(s) => {
            let (rho, radial) = polar(p);
            revolve(
                rectangle(
                    rho,
                    p.z,
                    s.inner_radius_m,
                    s.outer_radius_m,
                    s.half_height_m,
                ),
                &radial,
            )
        }
        Shape::Cone(s) => {
            let (rho, radial) = polar(p);
            revolve(triangle(s, rho, p.z), &radial)
        }
        Shape::Polyhedron(_) | Shape::Mesh(_) => return None,
    })
}

fn from_point(p: &Vec3, core: &Vec3, radius: f64) -> (f64, Vec3) {
    let d = p - core;
    let norm = d.norm();
    // Concentric: any direction is right; square to the axis suits a capsule too.
    let outward = if norm > 1e-150 { d / norm } else { Vec3::x() };
    (norm - radius, outward)
}

fn polar(p: &Vec3) -> (f64, Vec3) {
    let rho = (p.x * p.x + p.y * p.y).sqrt();
    (
        rho,
        if rho > 1e-150 {
            Vec3::new(p.x / rho, p.y / rho, 0.0)
        } else {
            Vec3::x()
        },
    )
}

/// From (distance, radial part, axial part) in the half plane of a body of revolution.
fn revolve((distance, across, along): (f64, f64, f64), radial: &Vec3) -> (f64, Vec3) {
    (distance, radial * across + Vec3::z() * along)
}

fn cuboid(s: &Cuboid, p: &Vec3) -> (f64, Vec3) {
    let excess = p.abs() - s.half_m;
    if excess.max() > 0.0 {
        let d = p - p.zip_map(&s.half_m, |x, h| x.clamp(-h, h));
        let norm = d.norm();
        return (norm, d / norm);
    }
    let i = excess.imax();
    let mut outward = Vec3::zeros();
    outward[i] = 1.0_f64.copysign(p[i]);
    (excess[i], outward)
}

/// Distance in the half plane rho >= 0 to the rectangle inner..outer x -half..half; without a hole
/// (inner = 0) the inner side is no surface.
fn rectangle(rho: f64, z: f64, inner: f64, outer: f64, half: f64) -> (f64, f64, f64) {
    let (nearest_rho, nearest_z) = (rho.clamp(inner, outer), z.clamp(-half, half));
    let (dr, dz) = (rho - nearest_rho, z - nearest_z);
    let norm = (dr * dr + dz * dz).sqrt();
    if norm > 0.0 {
        return (norm, dr / norm, dz / norm);
    }
    let (out, cap) = (rho - outer, z.abs() - half);
    let hole = if inner > 0.0 {
        inner - rho
    } else {
        f64::NEG_INFINITY
    };
    if cap >= out && cap >= hole {
        (cap, 0.0, 1.0_f64.copysign(z))
    } else if out >= hole {
        (out, 1.0, 0.0)
    } else {
        (hole, -1.0, 0.0)
    }
}

/// Distance in the half plane to the triangle of a cone.
fn triangle(s: &Cone, rho: f64, z: f64) -> (f64, f64, f64) {
    let (nr, nz) = s.side_normal();
    let h = s.half_height_m;
    let side = rho * nr + (z - h) * nz;
    let base = -h - z;
    if side <= 0.0 && base <= 0.0 {
        return if side >= base {
            (side, nr, nz)
        } else {
            (base, 0.0, -1.0)
        };
    }
    // Nearest point on the slanted side from apex (0, h) to rim (radius, -h), and on the base.
    let slant = s.radius_m.hypot(2.0 * h);
    let along = ((rho * nz - (z - h) * nr) / slant).clamp(0.0, 1.0);
    let on_side = (along * s.radius_m, h - along * 2.0 * h);
    let on_base = (rho.min(s.radius_m), -h);
    let reach = |q: (f64, f64)| (rho - q.0).hypot(z - q.1);
    let q = if reach(on_side) <= reach(on_base) {
        on_side
    } else {
        on_base
    };
    let norm = reach(q);
    if norm > 0.0 {
        (norm, (rho - q.0) / norm, (z - q.1) / norm)
    } else {
        (0.0, nr, nz)
    }
}

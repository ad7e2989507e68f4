//! Parts of signed distances that shapes share: the distance to the surface, negative inside, and the outward unit
//! normal there.

use crate::pose::Vec3;

/// To the surface of a ball around `core`.
pub(crate) fn from_point(p: &Vec3, core: &Vec3, radius: f64) -> (f64, Vec3) {
    let d = p - core;
    let norm = d.norm();
    // Concentric: any direction is right; square to the axis suits a capsule too.
    let outward = if norm > 1e-150 { d / norm } else { Vec3::x() };
    (norm - radius, outward)
}

/// Distance from the z axis, and the direction away from it.
pub(crate) fn polar(p: &Vec3) -> (f64, Vec3) {
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
pub(crate) fn revolve((distance, across, along): (f64, f64, f64), radial: &Vec3) -> (f64, Vec3) {
    (distance, radial * across + Vec3::z() * along)
}

/// Distance in the half plane rho >= 0 to the rectangle inner..outer x -half..half; without a hole
/// (inner = 0) the inner side is no surface.
pub(crate) fn rectangle(rho: f64, z: f64, inner: f64, outer: f64, half: f64) -> (f64, f64, f64) {
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

//! Flat disk on flat disk: points on the rim of their overlap (a lens, or the smaller disk).
//!
//! - Four points seen from the middle of the lens in directions fixed half way between the two
//!   bodies' own axes: they move smoothly through full overlap, where the corners of the lens have
//!   no place of their own.
//! - The two corners of the lens, once the offset is a tenth of a radius.
//! - The deepest point of the lens, once the disks are tilted to each other.
//!
//! On A's rim the normal is that of B's face, and the other way round; where the two rims are close
//! it passes from one to the other over a fiftieth of a radius.

use crate::contact::{Points, feature};
use crate::facing::LEAST_TILT;
use crate::polygon::{GRAZE, Overlap, within_cone};
use crate::pose::{Vec3, reject};

/// Offset of the axes, relative to the smaller radius, from which on the lens has corners.
const CORNER_OFFSET: f64 = 0.1;
/// Distance between the rims, relative to the smaller radius, over which the normal passes over.
const RIM_BLEND: f64 = 0.02;

/// A flat end of a body of revolution.
pub(crate) struct Disk {
    pub centre: Vec3,
    /// Outward.
    pub normal: Vec3,
    /// Any direction in the plane fixed to the body.
    pub reference: Vec3,
    pub radius: f64,
}

impl Disk {
    /// The point of the rim in the direction of `d`.
    pub fn rim(&self, d: &Vec3) -> Vec3 {
        self.centre + reject(d, &self.normal).normalize() * self.radius
    }

    /// Signed height of `p` above the disk's plane.
    pub fn above(&self, p: &Vec3) -> f64 {
        (p - self.centre).dot(&self.normal)
    }
}

/// Points of disk `a` on disk `b`, whose outward normals look at each other.
pub(crate) fn disk_disk(a: &Disk, b: &Disk, points: &mut Points) -> Overlap {
    let n = (a.normal - b.normal).normalize();
    let offset = reject(&(b.centre - a.centre), &n);
    let d = offset.norm();
    let small = a.radius.min(b.radius);
    let (low, high) = ((-a.radius).max(d - b.radius), a.radius.min(d + b.radius));
    if high <= low {
        return Overlap::Apart(low - high);
    }
    if high - low < GRAZE * 2.0 * small {
        return Overlap::Graze;
    }
    // In-plane places are given relative to A's centre.
    let middle = if d > 0.0 {
        offset * ((low + high) / (2.0 * d))
    } else {
        Vec3::zeros()
    };
    let (ua, ub) = (
        reject(&a.reference, &n).normalize(),
        reject(&b.reference, &n).normalize(),
    );
    let u = (ua + ub)
        .try_normalize(1e-9)
        .unwrap_or_else(|| n.cross(&ua));
    let v = n.cross(&u);
    for (k, w) in [u, v, -u, -v].into_iter().enumerate() {
        let exit = |centre: Vec3, radius: f64| {
            let c = centre - middle;
            let along = c.dot(&w);
            along
                + (along * along + radius * radius - c.norm_squared())
                    .max(0.0)
                    .sqrt()
        };
        let (exit_a, exit_b) = (exit(Vec3::zeros(), a.radius), exit(offset, b.radius));
        let share = ((exit_b - exit_a) / (RIM_BLEND * small)).clamp(-1.0, 1.0);
        let normal = (a.normal * (1.0 - share) - b.normal * (1.0 + share)).normalize();
        let name = feature::other(k as u32);
        if exit_a <= exit_b {
            let p = a.rim(&(middle + w * exit_a));
            let q = p - n * (b.above(&p) / b.normal.dot(&n));
            points.push((p + q) * 0.5, normal, (q - p).dot(&normal), name);
        } else {
            let q = b.rim(&(middle + w * exit_b - offset));
            let p = q - n * (a.above(&q) / a.normal.dot(&n));
            points.push((p + q) * 0.5, normal, (q - p).dot(&normal), name);
        }
    }

    let crossing = d > (a.radius - b.radius).abs();
    let corner = |side: f64| {
        let along = (d * d + a.radius * a.radius - b.radius * b.radius) / (2.0 * d);
        let across = (a.radius * a.radius - along * along).max(0.0).sqrt();
        let e = offset / d;
        let place = e * along + n.cross(&e) * (side * across);
        let (p, q) = (a.rim(&place), b.rim(&(place - offset)));
        let edges = a
            .normal
            .cross(&(p - a.centre))
            .cross(&b.normal.cross(&(q - b.centre)));
        let normal = within_cone(&edges, &n, (a.normal + b.normal).norm());
        ((p + q) * 0.5, normal, (q - p).dot(&normal))
    };
    let show_corners = crossing && d > CORNER_OFFSET * small;
    if show_corners {
        for (k, side) in [(4, 1.0), (5, -1.0)] {
            let (position, normal, gap) = corner(side);
            points.push(position, normal, gap, feature::other(k));
        }
    }

    // Downhill for A over B's plane, and for B over A's: the same way, in the plane of both normals.
    let tilt = reject(&b.normal, &a.normal);
    if tilt.norm() > LEAST_TILT {
        let p = a.rim(&-tilt);
        let q = b.rim(&-reject(&a.normal, &b.normal));
        let name = feature::other(6);
        if reject(&(p - b.centre), &n).norm() <= b.radius {
            points.push_on_a(p, -b.normal, b.above(&p), name);
        } else if reject(&(q - a.centre), &n).norm() <= a.radius {
            points.push_on_b(q, a.normal, a.above(&q), name);
        } else if crossing && !show_corners {
            let (one, two) = (corner(1.0), corner(-1.0));
            let (position, normal, gap) = if one.2 <= two.2 { one } else { two };
            points.push(position, normal, gap, name);
        }
    }
    Overlap::Region
}

//! Flat disk (A) on flat polygon (B).
//!
//! Four rim points fixed to the disk's body where the polygon lies under them, the polygon's corners
//! under the disk, the crossings of rim and edges, and the lowest rim point of a tilted disk.

use crate::contact::{Points, feature};
use crate::disk::Disk;
use crate::facing::LEAST_TILT;
use crate::polygon::{GRAZE, MERGE, Overlap, Polygon, within_cone};
use crate::pose::reject;

const RIM: u32 = 0x2000;
const CROSSING: u32 = 0x1_0000;

pub(crate) fn disk_polygon(a: &Disk, b: &Polygon, points: &mut Points) -> Overlap {
    let n = (a.normal - b.normal).normalize();
    let len = b.points.len();
    let mut beyond = f64::NEG_INFINITY;
    for k in 0..len {
        let edge = b.points[(k + 1) % len] - b.points[k];
        let outward = edge.cross(&b.normal).normalize();
        beyond = beyond.max(outward.dot(&(a.centre - b.points[k])));
    }
    if beyond > a.radius {
        return Overlap::Apart(beyond - a.radius);
    }
    if beyond > a.radius * (1.0 - 2.0 * GRAZE) {
        return Overlap::Graze;
    }
    let mut met = false;
    let merge = MERGE * a.radius;
    let above = |p: &_| b.normal.dot(&(p - b.points[0]));
    let side = a.normal.cross(&a.reference);
    for (k, d) in [a.reference, side, -a.reference, -side]
        .into_iter()
        .enumerate()
    {
        let p = a.centre + d * a.radius;
        if b.under(&p, merge) {
            met = true;
            points.push_on_a(p, -b.normal, above(&p), feature::other(RIM + k as u32));
        }
    }
    let tilt = reject(&b.normal, &a.normal);
    if tilt.norm() > LEAST_TILT {
        let p = a.rim(&-tilt);
        if b.under(&p, 0.0) {
            met = true;
            points.push_on_a(p, -b.normal, above(&p), feature::other(RIM + 4));
        }
    }
    for k in 0..len {
        let (q, next) = (b.points[k], b.points[(k + 1) % len]);
        let (flat, along) = (
            reject(&(q - a.centre), &a.normal),
            reject(&(next - q), &a.normal),
        );
        if flat.norm() <= a.radius {
            met = true;
            let name = feature::vertex_b(u32::from(b.corners[k]));
            points.push_on_b(q, a.normal, a.above(&q), name);
        }
        // |flat + t along| = radius
        let (qa, qb, qc) = (
            along.norm_squared(),
            flat.dot(&along),
            flat.norm_squared() - a.radius * a.radius,
        );
        let discriminant = qb * qb - qa * qc;
        if discriminant <= 0.0 {
            continue;
        }
        let root = discriminant.sqrt();
        for (which, t) in [(0, (-qb - root) / qa), (1, (-qb + root) / qa)] {
            if !(0.0..=1.0).contains(&t) {
                continue;
            }
            met = true;
            let on_b = q + (next - q) * t;
            let on_a = a.centre + flat + along * t;
            let tangent = a.normal.cross(&(on_a - a.centre));
            let normal = within_cone(
                &tangent.cross(&(next - q)),
                &n,
                (a.normal + b.normal).norm(),
            );
            let name = feature::other(CROSSING + 2 * u32::from(b.edges[k]) + which);
            points.push(
                (on_a + on_b) * 0.5,
                normal,
                (on_b - on_a).dot(&normal),
                name,
            );
        }
    }
    if met {
        Overlap::Region
    } else {
        Overlap::Apart(0.0)
    }
}

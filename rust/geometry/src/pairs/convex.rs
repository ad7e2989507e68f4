//! Any convex shape (A) on any other (B), by the separation of their cores.

use crate::contact::{Points, feature};
use crate::contact_workspace::Workspace;
use crate::disk::disk_disk;
use crate::disk_polygon::disk_polygon;
use crate::facing::{FLAT_TILT, Facing};
use crate::gjk::{Core, Separation, separation};
use crate::polygon::{Overlap, polygon_polygon};
use crate::pose::Vec3;
use crate::segment_face::{segment_disk, segment_polygon, segment_segment};

/// Relative error of an outline's least gap beyond which the nearest point itself is added.
const MISSED: f64 = 1e-3;
/// Name of the nearest point itself.
const WITNESS: u32 = feature::other(0x4000);

/// The nearest pair of points alone.
pub(crate) fn witness(
    a: &Core,
    b: &Core,
    size: f64,
    candidates: impl IntoIterator<Item = Vec3>,
    points: &mut Points,
) {
    let (ra, rb) = (a.rounding(), b.rounding());
    let found = separation(a, b, size, points.margin + ra + rb, candidates);
    push_witness(&found, ra, rb, points);
}

pub(crate) fn push_witness(found: &Separation, ra: f64, rb: f64, points: &mut Points) {
    let position = (found.on_a + found.normal * ra + found.on_b - found.normal * rb) * 0.5;
    points.push(position, found.normal, found.gap - ra - rb, WITNESS);
}

const C2: f64 = std::f64::consts::FRAC_1_SQRT_2;
const C3: f64 = 0.577_350_269_189_625_8;
/// Directions to the faces, edges and corners of a cube.
const COMPASS: [Vec3; 26] = [
    Vec3::new(1.0, 0.0, 0.0),
    Vec3::new(-1.0, 0.0, 0.0),
    Vec3::new(0.0, 1.0, 0.0),
    Vec3::new(0.0, -1.0, 0.0),
    Vec3::new(0.0, 0.0, 1.0),
    Vec3::new(0.0, 0.0, -1.0),
    Vec3::new(C2, C2, 0.0),
    Vec3::new(C2, -C2, 0.0),
    Vec3::new(-C2, C2, 0.0),
    Vec3::new(-C2, -C2, 0.0),
    Vec3::new(C2, 0.0, C2),
    Vec3::new(C2, 0.0, -C2),
    Vec3::new(-C2, 0.0, C2),
    Vec3::new(-C2, 0.0, -C2),
    Vec3::new(0.0, C2, C2),
    Vec3::new(0.0, C2, -C2),
    Vec3::new(0.0, -C2, C2),
    Vec3::new(0.0, -C2, -C2),
    Vec3::new(C3, C3, C3),
    Vec3::new(C3, C3, -C3),
    Vec3::new(C3, -C3, C3),
    Vec3::new(C3, -C3, -C3),
    Vec3::new(-C3, C3, C3),
    Vec3::new(-C3, C3, -C3),
    Vec3::new(-C3, -C3, C3),
    Vec3::new(-C3, -C3, -C3),
];

/// The points of A on B: the nearest pair of points, and where flat or straight parts face each
/// other, the outline of their overlap. Returns the separation of the cores where it is within the margin.
pub(crate) fn convex_convex(
    a: &Core,
    b: &Core,
    work: &mut Workspace,
    points: &mut Points,
) -> Option<Separation> {
    let size = a.shape.size().min(b.shape.size());
    let compass = COMPASS
        .iter()
        .flat_map(|d| [a.frame.vector(d), b.frame.vector(d)]);
    let faces_a = a.shape.faces().iter().map(|f| a.frame.vector(&f.normal));
    let faces_b = b.shape.faces().iter().map(|f| -b.frame.vector(&f.normal));
    let candidates = compass.chain(faces_a).chain(faces_b);
    let (ra, rb) = (a.rounding(), b.rounding());
    let found = separation(a, b, size, points.margin + ra + rb, candidates);
    let gap = found.gap - ra - rb;
    if gap > points.margin {
        return None;
    }
    let n = found.normal;
    let first = points.list.len();
    let [face_a, face_b] = &mut work.faces;
    let (facing_a, facing_b) = (
        a.shape.facing(a.frame, &n, face_a),
        b.shape.facing(b.frame, &-n, face_b),
    );
    let overlap = match (&facing_a, &facing_b) {
        (Facing::Corner, _) | (_, Facing::Corner) => None,
        (Facing::Polygon, Facing::Polygon) => {
            Some(polygon_polygon(face_a, face_b, &mut work.outlines, points))
        }
        (Facing::Disk(x), Facing::Disk(y)) => Some(disk_disk(x, y, points)),
        (Facing::Disk(x), Facing::Polygon) => Some(disk_polygon(x, face_b, points)),
        (Facing::Polygon, Facing::Disk(y)) => Some(turned(points, |p| disk_polygon(y, face_a, p))),
        (Facing::Edge(x), Facing::Polygon) => Some(segment_polygon(x, face_b, points)),
        (Facing::Polygon, Facing::Edge(y)) => {
            Some(turned(points, |p| segment_polygon(y, face_a, p)))
        }
        (Facing::Edge(x), Facing::Disk(y)) => Some(segment_disk(x, y, points)),
        (Facing::Disk(x), Facing::Edge(y)) => Some(turned(points, |p| segment_disk(y, x, p))),
        (Facing::Edge(x), Facing::Edge(y)) => {
            let (dx, dy) = (x.ends[1] - x.ends[0], y.ends[1] - y.ends[0]);
            let parallel = dx.cross(&dy).norm() < FLAT_TILT * dx.norm() * dy.norm();
            parallel.then(|| segment_segment(x, y, &n, points))
        }
    };
    // No point can be nearer than the nearest: crossings of tilted parts are inexact by the tilt
    // squared, and are held to it.
    let mut least = f64::INFINITY;
    for p in &mut points.list[first..] {
        p.gap = p.gap.max(gap);
        least = least.min(p.gap);
    }
    let missing = match overlap {
        None => true,
        Some(Overlap::Region) => least > gap + MISSED * size,
        Some(other) => match (facing_a.tilt(&n, face_a), facing_b.tilt(&n, face_b)) {
            (Some(a), Some(b)) => other.touches_elsewhere(a.max(b), gap, size),
            // Edges have no flush sides to graze by.
            _ => true,
        },
    };
    if missing {
        push_witness(&found, ra, rb, points);
    }
    Some(found)
}

/// Runs a pair function written for (B, A), and turns its points round.
pub(crate) fn turned(points: &mut Points, run: impl FnOnce(&mut Points) -> Overlap) -> Overlap {
    let first = points.list.len();
    let overlap = run(points);
    for p in &mut points.list[first..] {
        p.normal = -p.normal;
        p.feature = feature::swapped(p.feature);
    }
    overlap
}

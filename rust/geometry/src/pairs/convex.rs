//! Any convex shape (A) on any other (B), by the separation of their cores.

use crate::contact::{Points, feature};
use crate::contact_workspace::Workspace;
use crate::gjk::{Core, separation};
use crate::pose::Vec3;

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
    let found = separation(a, b, size, candidates);
    let (ra, rb) = (a.rounding(), b.rounding());
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

/// The points of A on B.
pub(crate) fn convex_convex(a: &Core, b: &Core, _work: &mut Workspace, points: &mut Points) {
    let candidates = COMPASS
        .iter()
        .flat_map(|d| [a.frame.vector(d), b.frame.vector(d)]);
    witness(a, b, a.shape.size().min(b.shape.size()), candidates, points);
}

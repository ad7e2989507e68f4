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

/// The points of A on B.
pub(crate) fn convex_convex(a: &Core, b: &Core, _work: &mut Workspace, points: &mut Points) {
    let candidates = (0..3).flat_map(|i| {
        let (x, y) = (a.frame.axis(i), b.frame.axis(i));
        [x, -x, y, -y]
    });
    witness(a, b, a.shape.size().min(b.shape.size()), candidates, points);
}

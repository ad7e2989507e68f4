//! Any convex shape (A) on a half-space (B): the shape's corners, rims and round ends against the plane.

use crate::contact::Points;
use crate::convex::Convex;
use crate::pose::Frame;

/// Points of `shape` on the half-space at `ground`.
pub(crate) fn shape_half_space(
    shape: &dyn Convex,
    frame: &Frame,
    ground: &Frame,
    points: &mut Points,
) {
    let up = ground.axis(2);
    shape.on_plane(frame, &up, &mut |p, radius, feature| {
        let gap = (p - ground.position).dot(&up) - radius;
        points.push_on_a(p - up * radius, -up, gap, feature);
    });
}

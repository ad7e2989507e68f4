//! A sphere (A) on anything with a known signed distance (B): one point.

use crate::contact::{Points, feature};
use crate::convex::Convex;
use crate::pose::{Frame, Vec3};

/// The point of a sphere of `radius` at `centre` on `shape`; false if the shape has no closed form.
pub(crate) fn sphere_shape(
    centre: &Vec3,
    radius: f64,
    shape: &dyn Convex,
    frame: &Frame,
    points: &mut Points,
) -> bool {
    let local = frame.local_point(centre);
    let Some((distance, outward)) = shape.signed_distance(&local) else {
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

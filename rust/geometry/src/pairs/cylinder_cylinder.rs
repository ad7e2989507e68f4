//! Cylinder (A) on cylinder (B): end on end, side on side, side across side; the rest by the
//! general convex path.
//!
//! Nearly parallel cylinders meet either by their ends (the overlap of two disks) or by their sides.
//! Side by side they touch along a line: its two ends are points where the rim of one cylinder
//! meets the round side of the other, found exactly; if the axes cross, so does the point between.

use crate::circle::{Circle, Extreme};
use crate::contact::{Points, feature};
use crate::contact_workspace::Workspace;
use crate::disk::disk_disk;
use crate::facing::{FLAT_TILT, LEAST_TILT};
use crate::gjk::Core;
use crate::pairs::convex;
use crate::polygon::{GRAZE, Overlap};
use crate::pose::{Frame, Vec3, polar, reject};
use crate::segment::nearest_on_segments;
use crate::shapes::cylinder::Cylinder;

/// Overlap of crossing sides, relative to the smaller radius, beyond which another way out may be
/// shorter.
const SHALLOW: f64 = 0.2;

pub(crate) fn cylinder_cylinder(
    (a, frame_a): (&Cylinder, &Frame),
    (b, frame_b): (&Cylinder, &Frame),
    work: &mut Workspace,
    points: &mut Points,
) {
    let (za, zb) = (frame_a.axis(2), frame_b.axis(2));
    let cosine = za.dot(&zb);
    let sine = za.cross(&zb).norm();
    let between = frame_b.position - frame_a.position;
    let reach_a = a.half_height_m + b.half_height_m * cosine.abs() + b.radius_m * sine;
    let reach_b = b.half_height_m + a.half_height_m * cosine.abs() + a.radius_m * sine;
    if between.dot(&za).abs() > reach_a + points.margin
        || between.dot(&zb).abs() > reach_b + points.margin
    {
        return;
    }
    let cores = (
        Core {
            shape: a,
            frame: frame_a,
        },
        Core {
            shape: b,
            frame: frame_b,
        },
    );
    if sine >= FLAT_TILT {
        let near = nearest_on_segments(&ends(a, frame_a), &ends(b, frame_b));
        let apart = near.on_b - near.on_a;
        let distance = apart.norm();
        let gap = distance - a.radius_m - b.radius_m;
        if gap > points.margin {
            return;
        }
        if near.inside && gap > -SHALLOW * a.radius_m.min(b.radius_m) {
            let normal = apart / distance;
            points.push_on_a(
                near.on_a + normal * a.radius_m,
                normal,
                gap,
                feature::other(18),
            );
        } else {
            convex::convex_convex(&cores.0, &cores.1, work, points);
        }
        return;
    }

    let zb_along = zb * 1.0_f64.copysign(cosine);
    let mean = (za + zb_along).normalize();
    let height = between.dot(&mean);
    let (half_a, half_b) = (
        a.half_height_m * za.dot(&mean),
        b.half_height_m * zb_along.dot(&mean),
    );
    let axial_gap = height.abs() - half_a - half_b;
    let (low, high) = ((-half_a).max(height - half_b), half_a.min(height + half_b));
    let level = 0.5 * (low + high);
    let on_axis_a = frame_a.position + za * (level / za.dot(&mean));
    let on_axis_b = frame_b.position + zb_along * ((level - height) / zb_along.dot(&mean));
    let side_gap = (on_axis_b - on_axis_a).norm() - a.radius_m - b.radius_m;
    // Within the length of the overlap the axes leave the level distance by no more than this.
    let spread = (high - low).max(0.0) * 0.5 * sine;
    if side_gap - spread > points.margin {
        return;
    }
    let size = a
        .radius_m
        .min(b.radius_m)
        .min(a.half_height_m)
        .min(b.half_height_m);
    if axial_gap >= side_gap {
        let up = 1.0_f64.copysign(height);
        let end_a = a.end(frame_a, &(za * up));
        let end_b = b.end(frame_b, &(zb_along * -up));
        let overlap = disk_disk(&end_a, &end_b, points);
        if overlap.touches_elsewhere(sine, axial_gap, size) {
            convex::witness(&cores.0, &cores.1, size, [mean * up], points);
        }
    } else if high - low < GRAZE * 2.0 * size {
        let overlap = if axial_gap > 0.0 {
            Overlap::Apart(axial_gap)
        } else {
            Overlap::Graze
        };
        if overlap.touches_elsewhere(sine, side_gap, size) {
            let across = reject(&between, &mean).normalize();
            convex::witness(&cores.0, &cores.1, size, [across], points);
        }
    } else {
        for (k, up) in [(16, 1.0), (17, -1.0)] {
            // The overlap ends where the first of the two cylinders does.
            if (up * height + half_b) >= half_a {
                let circle = Circle {
                    centre: frame_a.position + za * (up * a.half_height_m),
                    normal: za,
                    radius: a.radius_m,
                };
                let (rim, outward, gap) = rim_on_side(&circle, b, frame_b);
                points.push_on_a(rim, -outward, gap, feature::other(k));
            } else {
                let circle = Circle {
                    centre: frame_b.position + zb_along * (up * b.half_height_m),
                    normal: zb,
                    radius: b.radius_m,
                };
                let (rim, outward, gap) = rim_on_side(&circle, a, frame_a);
                points.push_on_b(rim, outward, gap, feature::other(k));
            }
        }
        if sine > LEAST_TILT {
            let near = nearest_on_segments(&ends(a, frame_a), &ends(b, frame_b));
            if near.inside {
                let (distance, normal) = polar(&(near.on_b - near.on_a), &mean);
                let gap = distance - a.radius_m - b.radius_m;
                points.push_on_a(
                    near.on_a + normal * a.radius_m,
                    normal,
                    gap,
                    feature::other(18),
                );
            }
        }
    }
}

fn ends(s: &Cylinder, frame: &Frame) -> [Vec3; 2] {
    let reach = frame.axis(2) * s.half_height_m;
    [frame.position - reach, frame.position + reach]
}

/// The rim's point nearest to the axis of a cylinder, the outward normal of that cylinder's side
/// there, and the gap.
fn rim_on_side(rim: &Circle, s: &Cylinder, frame: &Frame) -> (Vec3, Vec3, f64) {
    let axis = frame.axis(2);
    let e = rim.towards_line(&frame.position, &axis, Extreme::Nearest);
    let q = rim.centre + e * rim.radius;
    let (rho, outward) = polar(&reject(&(q - frame.position), &axis), &axis);
    (q, outward, rho - s.radius_m)
}

//! Box (A) on cylinder (B): the flat end or the side of the cylinder on a face of the box; the rest
//! by the general convex path.

use crate::contact::Points;
use crate::contact_workspace::Workspace;
use crate::convex::Convex;
use crate::disk_polygon::disk_polygon;
use crate::gjk::Core;
use crate::pairs::convex::{convex_convex, turned};
use crate::polygon::Overlap;
use crate::pose::{Frame, reject};
use crate::segment_face::{Segment, segment_polygon};
use crate::shapes::cuboid::Cuboid;
use crate::shapes::cylinder::{Cylinder, extents};

/// Sine of the tilt up to which the outline of the facing parts is as good as exact.
const SQUARE: f64 = 0.05;
/// Overlap, relative to the smaller size, beyond which another way out may be shorter.
const SHALLOW: f64 = 0.05;

pub(crate) fn cuboid_cylinder(
    (a, frame_a): (&Cuboid, &Frame),
    (b, frame_b): (&Cylinder, &Frame),
    work: &mut Workspace,
    points: &mut Points,
) {
    let axis = frame_b.axis(2);
    let local_axis = frame_a.local_vector(&axis);
    let centre = frame_a.local_point(&frame_b.position);
    let gaps = centre.abs() - a.half_m - extents(&local_axis, b.radius_m, b.half_height_m);
    let k = gaps.imax();
    if gaps[k] > points.margin {
        return;
    }
    if gaps[k] > -SHALLOW * a.size().min(b.size()) {
        let outward = frame_a.axis(k) * 1.0_f64.copysign(centre[k]);
        let cosine = local_axis[k].abs();
        let face = &mut work.faces[0];
        let overlap = if 1.0 - cosine * cosine < SQUARE * SQUARE {
            a.set_face(face, frame_a, &outward);
            let facing = axis * -1.0_f64.copysign(axis.dot(&outward));
            let disk = b.end(frame_b, &facing);
            Some(turned(points, |p| disk_polygon(&disk, face, p)))
        } else if cosine < SQUARE {
            a.set_face(face, frame_a, &outward);
            let side = frame_b.position - reject(&outward, &axis).normalize() * b.radius_m;
            let reach = axis * b.half_height_m;
            let generator = Segment {
                ends: [side - reach, side + reach],
                rounding: 0.0,
            };
            Some(turned(points, |p| segment_polygon(&generator, face, p)))
        } else {
            None
        };
        if overlap == Some(Overlap::Region) {
            return;
        }
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
    convex_convex(&cores.0, &cores.1, work, points);
}

//! Cylinder (A, the pin) in a ring (B, the hole): exact, with clearance.
//!
//! The wall of the hole is a straight tube -t <= z <= t of radius R. A pin of radius r < R can touch it
//! at two stations: at each end of the tube the tube's rim meets the pin's side (nearest point of
//! a circle to the pin's axis), or, if the pin ends inside the tube, the pin's rim meets the wall
//! (farthest point of a circle from the tube's axis). Parallel axes touch at both stations at once.
//! If the whole clearance lies within the margin, four places fixed to the ring are added at each
//! station, so that a tight pin is held from all sides and not only from where it is nearest.

use crate::circle::{Circle, Extreme};
use crate::contact::{Points, feature};
use crate::contact_workspace::Workspace;
use crate::pairs::cylinder_cylinder::cylinder_cylinder;
use crate::pose::{Frame, Vec3, reject};
use crate::shape::Shape;
use crate::shapes::cylinder::Cylinder;
use crate::shapes::ring::Ring;

/// Least cosine between pin and hole for the pin to count as passing through.
const PASSING: f64 = 0.2;

pub(crate) fn cylinder_ring(
    (shape_a, pin, frame_pin): (&Shape, &Cylinder, &Frame),
    (ring, frame_ring): (&Ring, &Frame),
    work: &mut Workspace,
    points: &mut Points,
) {
    let axis = frame_pin.axis(2);
    let tube = frame_ring.axis(2);
    let cosine = axis.dot(&tube);
    let from_ring = frame_pin.position - frame_ring.position;
    let height = from_ring.dot(&tube);
    let at_middle = from_ring - axis * (height / cosine);
    let passes = pin.radius_m < ring.inner_radius_m
        && cosine.abs() > PASSING
        && at_middle.norm_squared() < ring.inner_radius_m.powi(2);
    if !passes {
        let outline = Shape::Cylinder(ring.outline());
        let disk = ring.outline();
        return cylinder_cylinder(
            (shape_a, pin, frame_pin),
            (&outline, &disk, frame_ring),
            work,
            points,
        );
    }
    let upward = axis * 1.0_f64.copysign(cosine);
    for (k, side) in [(0, -1.0), (1, 1.0)] {
        let pin_end = side * height + pin.half_height_m * cosine.abs();
        if pin_end <= -ring.half_height_m {
            return;
        }
        if pin_end >= ring.half_height_m {
            let rim = Circle {
                centre: frame_ring.position + tube * (side * ring.half_height_m),
                normal: tube,
                radius: ring.inner_radius_m,
            };
            let e = rim.towards_line(&frame_pin.position, &axis, Extreme::Nearest);
            side_on_rim(
                pin,
                frame_pin,
                &(rim.centre + e * rim.radius),
                feature::other(k),
                points,
            );
            if ring.inner_radius_m - pin.radius_m < points.margin {
                let (x, y) = (frame_ring.axis(0), frame_ring.axis(1));
                for (i, d) in [x, y, -x, -y].into_iter().enumerate() {
                    let name = feature::other(8 + 4 * k + i as u32);
                    side_on_rim(pin, frame_pin, &(rim.centre + d * rim.radius), name, points);
                }
            }
        } else {
            let rim = Circle {
                centre: frame_pin.position + upward * (side * pin.half_height_m),
                normal: axis,
                radius: pin.radius_m,
            };
            let e = rim.towards_line(&frame_ring.position, &tube, Extreme::Farthest);
            let q = rim.centre + e * rim.radius;
            let radial = reject(&(q - frame_ring.position), &tube);
            let rho = radial.norm();
            points.push_on_a(
                q,
                radial / rho,
                ring.inner_radius_m - rho,
                feature::other(2 + k),
            );
        }
    }
}

/// A point of the hole's rim against the side of the pin.
fn side_on_rim(pin: &Cylinder, frame: &Frame, q: &Vec3, name: u32, points: &mut Points) {
    let radial = reject(&(q - frame.position), &frame.axis(2));
    let rho = radial.norm();
    points.push_on_b(*q, radial / rho, rho - pin.radius_m, name);
}

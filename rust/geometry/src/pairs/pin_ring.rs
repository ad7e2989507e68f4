//! A pin (A: cylinder or capsule) in a ring (B, the hole): exact, with clearance.
//!
//! The wall of the hole is a straight tube -t <= z <= t of radius R. A pin of radius r < R can touch it
//! at two stations: at each end of the tube the tube's rim meets the pin's side (nearest point of
//! a circle to the pin's axis), or, if the pin ends inside the tube, the pin's rim meets the wall
//! (farthest point of a circle from the tube's axis; for a capsule its end ball). Parallel axes touch
//! at both stations at once. If the whole clearance lies within the margin, four places fixed to the
//! ring are added at each station, so that a tight pin is held from all sides and not only from
//! where it is nearest.

use crate::circle::{Circle, Extreme};
use crate::contact::{Points, feature};
use crate::contact_workspace::Workspace;
use crate::gjk::Core;
use crate::pairs::convex::convex_convex;
use crate::pairs::cylinder_cylinder::cylinder_cylinder;
use crate::pairs::sphere::sphere_shape;
use crate::pose::{Frame, Vec3, polar, reject};
use crate::shapes::capsule::Capsule;
use crate::shapes::cylinder::Cylinder;
use crate::shapes::ring::Ring;

/// Least cosine between pin and hole for the pin to count as passing through.
const PASSING: f64 = 0.2;

/// The straight part of a pin.
struct Pin<'a> {
    radius: f64,
    half_length: f64,
    frame: &'a Frame,
}

impl Pin<'_> {
    /// Whether the pin is thin enough for the hole and its axis goes through it.
    fn passes(&self, ring: &Ring, frame: &Frame) -> bool {
        let (axis, tube) = (self.frame.axis(2), frame.axis(2));
        let cosine = axis.dot(&tube);
        let from_ring = self.frame.position - frame.position;
        let at_middle = from_ring - axis * (from_ring.dot(&tube) / cosine);
        self.radius < ring.inner_radius_m
            && cosine.abs() > PASSING
            && at_middle.norm_squared() < ring.inner_radius_m.powi(2)
    }

    /// Points at the two ends of the tube; `end_inside` is called with the number of the station and
    /// the end of the pin's axis where the pin ends inside the tube.
    fn stations(
        &self,
        ring: &Ring,
        frame: &Frame,
        points: &mut Points,
        mut end_inside: impl FnMut(u32, Vec3, &mut Points),
    ) {
        let (axis, tube) = (self.frame.axis(2), frame.axis(2));
        let cosine = axis.dot(&tube);
        let height = (self.frame.position - frame.position).dot(&tube);
        let upward = axis * 1.0_f64.copysign(cosine);
        let end = |side: f64| self.frame.position + upward * (side * self.half_length);
        let reach = |side: f64| side * height + self.half_length * cosine.abs();
        for (k, side) in [(0, -1.0), (1, 1.0)] {
            // The whole pin is beyond the other end of the tube.
            if reach(side) <= -ring.half_height_m {
                return end_inside(k, end(side), points);
            }
        }
        for (k, side) in [(0, -1.0), (1, 1.0)] {
            if reach(side) < ring.half_height_m {
                end_inside(k, end(side), points);
                continue;
            }
            let rim = Circle {
                centre: frame.position + tube * (side * ring.half_height_m),
                normal: tube,
                radius: ring.inner_radius_m,
            };
            let e = rim.towards_line(&self.frame.position, &axis, Extreme::Nearest);
            self.side_on_rim(&(rim.centre + e * rim.radius), feature::other(k), points);
            if ring.inner_radius_m - self.radius < points.margin {
                let (x, y) = (frame.axis(0), frame.axis(1));
                for (i, d) in [x, y, -x, -y].into_iter().enumerate() {
                    let name = feature::other(8 + 4 * k + i as u32);
                    self.side_on_rim(&(rim.centre + d * rim.radius), name, points);
                }
            }
        }
    }

    /// A point of the hole's rim against the side of the pin.
    fn side_on_rim(&self, q: &Vec3, name: u32, points: &mut Points) {
        let axis = self.frame.axis(2);
        let (rho, outward) = polar(&reject(&(q - self.frame.position), &axis), &axis);
        points.push_on_b(*q, outward, rho - self.radius, name);
    }
}

pub(crate) fn cylinder_ring(
    (cylinder, frame_a): (&Cylinder, &Frame),
    (ring, frame_b): (&Ring, &Frame),
    work: &mut Workspace,
    points: &mut Points,
) {
    let pin = Pin {
        radius: cylinder.radius_m,
        half_length: cylinder.half_height_m,
        frame: frame_a,
    };
    if !pin.passes(ring, frame_b) {
        let disk = ring.disk();
        return cylinder_cylinder((cylinder, frame_a), (&disk, frame_b), work, points);
    }
    let tube = frame_b.axis(2);
    pin.stations(ring, frame_b, points, |k, centre, points| {
        if (centre - frame_b.position).dot(&tube).abs() >= ring.half_height_m {
            return;
        }
        let rim = Circle {
            centre,
            normal: frame_a.axis(2),
            radius: cylinder.radius_m,
        };
        let e = rim.towards_line(&frame_b.position, &tube, Extreme::Farthest);
        let q = rim.centre + e * rim.radius;
        let (rho, outward) = polar(&reject(&(q - frame_b.position), &tube), &tube);
        points.push_on_a(q, outward, ring.inner_radius_m - rho, feature::other(2 + k));
    });
}

pub(crate) fn capsule_ring(
    (capsule, frame_a): (&Capsule, &Frame),
    (ring, frame_b): (&Ring, &Frame),
    work: &mut Workspace,
    points: &mut Points,
) {
    let pin = Pin {
        radius: capsule.radius_m,
        half_length: capsule.half_length_m,
        frame: frame_a,
    };
    if !pin.passes(ring, frame_b) {
        let cores = (
            Core {
                shape: capsule,
                frame: frame_a,
            },
            Core {
                shape: ring,
                frame: frame_b,
            },
        );
        convex_convex(&cores.0, &cores.1, work, points);
        return;
    }
    pin.stations(ring, frame_b, points, |k, centre, points| {
        let first = points.list.len();
        sphere_shape(&centre, capsule.radius_m, ring, frame_b, points);
        points.list[first..]
            .iter_mut()
            .for_each(|p| p.feature = feature::other(2 + k));
    });
}

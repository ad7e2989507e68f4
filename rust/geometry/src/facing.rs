//! What a core shows in a given direction: a corner, a straight edge or generator, or a flat face.

use crate::contact::feature;
use crate::convex::TakeCorner;
use crate::disk::Disk;
use crate::polygon::Polygon;
use crate::pose::{Frame, Mat3, Vec3, reject};
use crate::segment_face::Segment;

/// Sine of the tilt from which on a rim has a lowest point of its own.
pub(crate) const LEAST_TILT: f64 = 1e-4;
/// Sine of the tilt up to which a face or a side gives its outline and not only its lowest point.
pub(crate) const FLAT_TILT: f64 = 0.3;
/// Cosine of the tilt up to which a face counts as facing.
pub(crate) const FLAT_COSINE: f64 = 0.953_939_2;

/// The part of a core that faces a direction; a polygon is left in the buffer given.
pub(crate) enum Facing {
    Corner,
    Edge(Segment),
    Disk(Disk),
    Polygon,
}

impl Facing {
    /// Sine of the angle by which a flat part is turned away from facing along `d` squarely.
    pub fn tilt(&self, d: &Vec3, polygon: &Polygon) -> Option<f64> {
        match self {
            Facing::Corner | Facing::Edge(_) => None,
            Facing::Disk(s) => Some(s.normal.cross(d).norm()),
            Facing::Polygon => Some(polygon.normal.cross(d).norm()),
        }
    }
}

/// The rim points of the flat disk at local height `z` that may touch a plane with normal `up`.
///
/// A flat disk gives four rim points fixed to the body, so that a standing cylinder keeps its points while it slides and
/// turns, and its lowest rim point as soon as it is tilted: the one place where a rocking or rolling rim touches. That
/// point runs along the rim at a rate of 1/tilt, so it is left out below a tilt of `LEAST_TILT`, where the fixed points
/// are lower by less than 1e-4 of a radius times 1 - cos 45.
pub(crate) fn disk_on_plane(
    frame: &Frame,
    z: f64,
    radius: f64,
    first: u32,
    up: &Vec3,
    take: TakeCorner<'_>,
) {
    let centre = frame.position + frame.axis(2) * z;
    rim_on_plane(centre, &frame.axes, radius, first, up, take);
}

/// The same for the disk about the third of `axes`.
pub(crate) fn rim_on_plane(
    centre: Vec3,
    axes: &Mat3,
    radius: f64,
    first: u32,
    up: &Vec3,
    take: TakeCorner<'_>,
) {
    let axis = axes.column(2).into_owned();
    let down = reject(&-up, &axis);
    let tilt = down.norm();
    if tilt > LEAST_TILT {
        take(
            centre + down * (radius / tilt),
            0.0,
            feature::other(first + 4),
        );
    }
    if tilt < FLAT_TILT {
        let (x, y) = (axes.column(0) * radius, axes.column(1) * radius);
        for (k, p) in [x, y, -x, -y].into_iter().enumerate() {
            take(centre + p, 0.0, feature::other(first + k as u32));
        }
    }
}

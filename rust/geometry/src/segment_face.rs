//! A straight edge or generator (A) lying on a flat face (B), or along another straight edge.
//!
//! On a face: the two ends of the part over the face. Along another edge: the two ends of the
//! common length.

use crate::contact::{Points, feature};
use crate::disk::Disk;
use crate::polygon::{GRAZE, Overlap, Polygon, within_cone};
use crate::pose::{Frame, Vec3, reject};

const ENDS: u32 = 0x3000;
const EDGE: u32 = 0x1_8000;

/// A straight piece of a core's surface, with the radius of the rounding around it.
pub(crate) struct Segment {
    pub ends: [Vec3; 2],
    pub rounding: f64,
}

impl Segment {
    /// The segment with these ends in `frame`.
    pub fn placed(frame: &Frame, ends: [Vec3; 2], rounding: f64) -> Self {
        let ends = [frame.point(&ends[0]), frame.point(&ends[1])];
        Self { ends, rounding }
    }

    fn at(&self, t: f64) -> Vec3 {
        self.ends[0].lerp(&self.ends[1], t)
    }
}

/// The segment on a polygon, both with their rounding.
pub(crate) fn segment_polygon(a: &Segment, b: &Polygon, points: &mut Points) -> Overlap {
    let along = a.ends[1] - a.ends[0];
    let len = b.points.len();
    let (mut low, mut high) = ((0.0, None), (1.0, None));
    let mut apart = f64::NEG_INFINITY;
    for k in 0..len {
        let edge = b.points[(k + 1) % len] - b.points[k];
        let outward = edge.cross(&b.normal).normalize();
        let (start, rate) = (outward.dot(&(a.ends[0] - b.points[k])), outward.dot(&along));
        apart = apart.max(start.min(start + rate));
        if rate.abs() <= 1e-12 * along.norm() {
            continue;
        }
        let t = -start / rate;
        if rate > 0.0 && t < high.0 {
            high = (t, Some(k));
        } else if rate < 0.0 && t > low.0 {
            low = (t, Some(k));
        }
    }
    if apart > 0.0 || high.0 <= low.0 {
        return Overlap::Apart(apart.max(0.0));
    }
    if high.0 - low.0 < GRAZE {
        return Overlap::Graze;
    }
    let n = -b.normal;
    let slope = reject(&along, &n).norm();
    let tilt = along.dot(&n).atan2(slope).abs();
    for (which, (t, edge)) in [(0, low), (1, high)] {
        let p = a.at(t);
        let height = (p - b.points[0]).dot(&b.normal);
        let (normal, name) = match edge {
            None => (n, feature::other(ENDS + which)),
            Some(k) => {
                let across = along.cross(&(b.points[(k + 1) % len] - b.points[k]));
                let name = feature::other(EDGE + 2 * u32::from(b.edges[k]) + which);
                (within_cone(&across, &n, tilt), name)
            }
        };
        let on_b = p + n * height;
        points.push(
            (p + normal * a.rounding + on_b) * 0.5,
            normal,
            (on_b - p).dot(&normal) - a.rounding,
            name,
        );
    }
    Overlap::Region
}

/// The segment on a disk.
pub(crate) fn segment_disk(a: &Segment, b: &Disk, points: &mut Points) -> Overlap {
    let flat = reject(&(a.ends[0] - b.centre), &b.normal);
    let along = reject(&(a.ends[1] - a.ends[0]), &b.normal);
    let (qa, qb, qc) = (
        along.norm_squared(),
        flat.dot(&along),
        flat.norm_squared() - b.radius * b.radius,
    );
    let nearest = flat + along * (-qb / qa).clamp(0.0, 1.0);
    let beyond = nearest.norm() - b.radius;
    if beyond > 0.0 {
        return Overlap::Apart(beyond);
    }
    let root = (qb * qb - qa * qc).max(0.0).sqrt();
    let (low, high) = (((-qb - root) / qa).max(0.0), ((-qb + root) / qa).min(1.0));
    if high - low < GRAZE {
        return Overlap::Graze;
    }
    let n = -b.normal;
    let whole = a.ends[1] - a.ends[0];
    let tilt = whole.dot(&n).atan2(along.norm()).abs();
    for (which, t) in [(0, low), (1, high)] {
        let p = a.at(t);
        let on_b = p + n * b.above(&p);
        // Where the disk ends first, its rim and the segment cross.
        let normal = if t > 0.0 && t < 1.0 {
            let tangent = n.cross(&(on_b - b.centre));
            within_cone(&whole.cross(&tangent), &n, tilt)
        } else {
            n
        };
        points.push(
            (p + normal * a.rounding + on_b) * 0.5,
            normal,
            (on_b - p).dot(&normal) - a.rounding,
            feature::other(ENDS + which),
        );
    }
    Overlap::Region
}

/// Two nearly parallel segments whose surfaces look at each other along `n`.
pub(crate) fn segment_segment(a: &Segment, b: &Segment, n: &Vec3, points: &mut Points) -> Overlap {
    let (da, mut db) = (a.ends[1] - a.ends[0], b.ends[1] - b.ends[0]);
    let mut first = b.ends[0];
    if da.dot(&db) < 0.0 {
        (first, db) = (b.ends[1], -db);
    }
    let mean = (da.normalize() + db.normalize()).normalize();
    let start = mean.dot(&(first - a.ends[0]));
    let (length_a, length_b) = (mean.dot(&da), mean.dot(&db));
    let (low, high) = (0.0_f64.max(start), length_a.min(start + length_b));
    if high <= low {
        return Overlap::Apart(low - high);
    }
    if high - low < GRAZE * length_a.min(length_b) {
        return Overlap::Graze;
    }
    let rounding = a.rounding + b.rounding;
    for (which, level) in [(0, low), (1, high)] {
        let (p, q) = (
            a.at(level / length_a),
            first + db * ((level - start) / length_b),
        );
        let across = reject(&(q - p), &mean);
        // Round surfaces have a normal at each place; sharp edges that all but touch have not.
        let normal = if rounding > 0.0 {
            across
                .try_normalize(1e-6 * rounding)
                .filter(|m| m.dot(n) > 0.0)
                .unwrap_or(*n)
        } else {
            *n
        };
        let position = (p + normal * a.rounding + q - normal * b.rounding) * 0.5;
        points.push(
            position,
            normal,
            across.dot(&normal) - rounding,
            feature::other(ENDS + which),
        );
    }
    Overlap::Region
}

//! Box (A) on box (B): separating axes, then the overlap of the two facing sides.
//!
//! The fifteen axes of Gottschalk, Lin and Manocha (1996). A face axis gives the polygon overlap of
//! the two faces; an edge axis, if clearly better, gives one edge-on-edge point. Boxes apart in a
//! diagonal direction (no face over the other) go to the distance search.

use crate::contact::{Points, feature};
use crate::contact_workspace::Workspace;
use crate::facing::FLAT_COSINE;
use crate::gjk::Core;
use crate::pairs::convex;
use crate::polygon::polygon_polygon;
use crate::pose::Frame;
use crate::segment::nearest_on_segments;
use crate::shapes::cuboid::Cuboid;

/// By how much (relative to size) an edge axis must beat a face axis: near ties are face contacts.
const EDGE_BIAS: f64 = 1e-6;

pub(crate) fn cuboid_cuboid(
    (a, frame_a): (&Cuboid, &Frame),
    (b, frame_b): (&Cuboid, &Frame),
    work: &mut Workspace,
    points: &mut Points,
) {
    let turn = frame_a.axes.tr_mul(&frame_b.axes);
    let between = frame_b.position - frame_a.position;
    let (in_a, in_b) = (frame_a.axes.tr_mul(&between), frame_b.axes.tr_mul(&between));
    let (ha, hb) = (a.half_m, b.half_m);
    let sep_a = in_a.abs() - ha - turn.abs() * hb;
    let sep_b = in_b.abs() - hb - turn.abs().tr_mul(&ha);
    let face_gap = sep_a.max().max(sep_b.max());
    if face_gap > points.margin {
        return;
    }
    let size = ha.min().min(hb.min());
    let mut edge_gap = f64::NEG_INFINITY;
    let mut edge = (0, 0);
    for i in 0..3 {
        let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            let length2 = 1.0 - turn[(i, j)] * turn[(i, j)];
            if length2 < 1e-6 {
                continue;
            }
            let reach = ha[i1] * turn[(i2, j)].abs()
                + ha[i2] * turn[(i1, j)].abs()
                + hb[j1] * turn[(i, j2)].abs()
                + hb[j2] * turn[(i, j1)].abs();
            let gap = ((in_a[i2] * turn[(i1, j)] - in_a[i1] * turn[(i2, j)]).abs() - reach)
                / length2.sqrt();
            if gap > edge_gap {
                (edge_gap, edge) = (gap, (i, j));
            }
        }
    }
    if edge_gap > points.margin {
        return;
    }
    let (normal, flat) = if sep_a.max() >= sep_b.max() {
        let k = sep_a.imax();
        (
            frame_a.axis(k) * 1.0_f64.copysign(in_a[k]),
            turn.row(k).abs().max(),
        )
    } else {
        let k = sep_b.imax();
        (
            frame_b.axis(k) * 1.0_f64.copysign(in_b[k]),
            turn.column(k).abs().max(),
        )
    };
    let parallel = flat > FLAT_COSINE;
    if edge_gap > face_gap + EDGE_BIAS * size {
        let (i, j) = edge;
        let across = frame_a.axis(i).cross(&frame_b.axis(j)).normalize();
        let across = across * 1.0_f64.copysign(across.dot(&between));
        // Edges across nearly parallel faces are corners of the faces' overlap.
        if !parallel || across.dot(&normal) < FLAT_COSINE {
            let side_a = a.edge_along(frame_a, i, &across);
            let side_b = b.edge_along(frame_b, j, &-across);
            let near = nearest_on_segments(&side_a.1, &side_b.1);
            if near.inside {
                let gap = (near.on_b - near.on_a).dot(&across);
                let name = feature::edges(side_a.0, side_b.0);
                points.push((near.on_a + near.on_b) * 0.5, across, gap, name);
                return;
            }
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
    if !parallel && face_gap > 0.0 {
        convex::convex_convex(&cores.0, &cores.1, work, points);
        return;
    }
    let [face_a, face_b] = &mut work.faces;
    a.set_face(face_a, frame_a, &normal);
    b.set_face(face_b, frame_b, &-normal);
    let overlap = polygon_polygon(face_a, face_b, &mut work.outlines, points);
    let tilt = (1.0 - flat * flat).max(0.0).sqrt();
    if overlap.touches_elsewhere(tilt, face_gap, size) {
        convex::witness(&cores.0, &cores.1, size, [normal], points);
    }
}

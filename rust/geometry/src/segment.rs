//! Nearest points of two segments (Ericson 2005, section 5.1.9).

use crate::pose::Vec3;

/// Nearest points of two segments.
pub(crate) struct NearSegments {
    pub on_a: Vec3,
    pub on_b: Vec3,
    /// Both points lie strictly inside their segments, which are not parallel.
    pub inside: bool,
}

/// Nearest points of segments `a` and `b`; for parallel ones any nearest pair.
pub(crate) fn nearest_on_segments(a: &[Vec3; 2], b: &[Vec3; 2]) -> NearSegments {
    let (da, db) = (a[1] - a[0], b[1] - b[0]);
    let r = a[0] - b[0];
    let (aa, bb, ab) = (da.norm_squared(), db.norm_squared(), da.dot(&db));
    let (ar, br) = (da.dot(&r), db.dot(&r));
    // |da x db|^2 by the cross product: the difference of products would lose half the digits.
    let cross2 = da.cross(&db).norm_squared();
    let parallel = cross2 <= 1e-24 * aa * bb;
    let s_free = if parallel {
        0.5
    } else {
        (ab * br - ar * bb) / cross2
    };
    let s_line = s_free.clamp(0.0, 1.0);
    let t_free = (ab * s_line + br) / bb;
    let t = t_free.clamp(0.0, 1.0);
    let s = if t == t_free {
        s_line
    } else {
        ((ab * t - ar) / aa).clamp(0.0, 1.0)
    };
    let inside = !parallel && s_free > 0.0 && s_free < 1.0 && t_free > 0.0 && t_free < 1.0;
    NearSegments {
        on_a: a[0] + da * s,
        on_b: b[0] + db * t,
        inside,
    }
}

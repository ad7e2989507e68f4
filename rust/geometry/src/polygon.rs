//! Flat polygon on flat polygon: the corners of their overlap, each with the gap and normal of the
//! features that make it.
//!
//! Corners of A over B's face, corners of B over A's face, and crossings of edges. A corner within
//! `MERGE` of the other's outline counts as inside, and two such corners that coincide are one
//! point: aligned stacks keep four points whatever the rounding of their yaw.

use crate::contact::{Points, feature};
use crate::pose::{Vec3, tangents};

/// Relative tolerance within which corners lie on an outline.
pub(crate) const MERGE: f64 = 1e-5;
/// Relative width below which an overlap is no support: neighbours in a flat course, whose corners
/// graze by rounding or a small overlap, must not catch on each other.
pub(crate) const GRAZE: f64 = 1e-3;

/// A convex polygon in space, anticlockwise seen from outside, with names of its corners and edges
/// (edge k runs from corner k to the next).
#[derive(Default)]
pub(crate) struct Polygon {
    pub normal: Vec3,
    pub points: Vec<Vec3>,
    pub corners: Vec<u16>,
    pub edges: Vec<u16>,
}

impl Polygon {
    pub fn reset(&mut self, normal: Vec3) {
        self.normal = normal;
        self.points.clear();
        self.corners.clear();
        self.edges.clear();
    }

    pub fn push(&mut self, point: Vec3, corner: u16, edge: u16) {
        self.points.push(point);
        self.corners.push(corner);
        self.edges.push(edge);
    }

    /// Whether the foot of `p` on the polygon's plane lies in it, to within `tolerance`.
    pub fn under(&self, p: &Vec3, tolerance: f64) -> bool {
        let len = self.points.len();
        (0..len).all(|k| {
            let edge = self.points[(k + 1) % len] - self.points[k];
            let beyond = edge.cross(&self.normal).dot(&(p - self.points[k]));
            beyond <= 0.0 || beyond * beyond <= tolerance * tolerance * edge.norm_squared()
        })
    }
}

/// How two flat outlines lie over each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Overlap {
    /// They share a region (its points have been emitted).
    Region,
    /// They share less than a strip of relative width `GRAZE`.
    Graze,
    /// They are this far apart in their plane.
    Apart(f64),
}

/// Sine of the tilt up to which grazing parts are taken for neighbours in a flat course.
pub(crate) const FLUSH: f64 = 0.05;

impl Overlap {
    /// Whether flat parts that do not lie over each other still touch by their nearest points. Parts that
    /// lie flush do not, while they graze: a block sliding along a course of blocks must not catch
    /// on the next one. `gap` is the greatest separation of the shapes, found square to the parts: if they
    /// overlap by more than a graze, they do so in every direction, and are no neighbours.
    pub fn touches_elsewhere(self, tilt: f64, gap: f64, size: f64) -> bool {
        let graze = GRAZE * size;
        match self {
            Overlap::Region => false,
            Overlap::Graze => tilt >= FLUSH || gap < -graze,
            Overlap::Apart(apart) => tilt >= FLUSH || gap < -graze || apart.min(gap) > graze,
        }
    }
}

/// A polygon in the plane with the outward unit normals of its edges.
#[derive(Default)]
pub(crate) struct Outline {
    points: Vec<[f64; 2]>,
    normals: Vec<[f64; 2]>,
    /// How far beyond each edge the points of the other outline lie, edge after edge.
    others: Vec<f64>,
}

impl Outline {
    fn set(&mut self, polygon: &Polygon, origin: &Vec3, t: &Vec3, s: &Vec3, orientation: f64) {
        self.points.clear();
        self.normals.clear();
        for p in &polygon.points {
            let d = p - origin;
            self.points.push([d.dot(t), d.dot(s)]);
        }
        for k in 0..self.points.len() {
            let (p, q) = (self.points[k], self.points[(k + 1) % self.points.len()]);
            let (dx, dy) = (q[0] - p[0], q[1] - p[1]);
            let scale = orientation / (dx * dx + dy * dy).sqrt().max(f64::MIN_POSITIVE);
            self.normals.push([dy * scale, -dx * scale]);
        }
    }

    /// Signed distance of `p` from the line of edge `k`, positive outside.
    #[inline]
    fn beyond(&self, k: usize, p: &[f64; 2]) -> f64 {
        self.normals[k][0] * (p[0] - self.points[k][0])
            + self.normals[k][1] * (p[1] - self.points[k][1])
    }

    /// Greatest separation along this outline's edge normals, whether it is a graze, and the least
    /// width of the outline.
    fn against(&mut self, other: &Outline) -> (f64, bool, f64) {
        let (mut apart, mut graze, mut least_width) = (f64::NEG_INFINITY, false, f64::INFINITY);
        self.others.clear();
        for k in 0..self.points.len() {
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for p in &other.points {
                let d = self.beyond(k, p);
                self.others.push(d);
                low = low.min(d);
                high = high.max(d);
            }
            let width = self
                .points
                .iter()
                .fold(0.0_f64, |w, p| w.max(-self.beyond(k, p)));
            apart = apart.max(low);
            graze |= -low < GRAZE * width.min(high - low);
            least_width = least_width.min(width);
        }
        (apart, graze, least_width)
    }
}

/// Two outlines, kept to spare allocation.
#[derive(Default)]
pub(crate) struct Outlines {
    a: Outline,
    b: Outline,
}

/// Points of face `a` on face `b`, whose outward normals look at each other.
pub(crate) fn polygon_polygon(
    a: &Polygon,
    b: &Polygon,
    outlines: &mut Outlines,
    points: &mut Points,
) -> Overlap {
    let n = (a.normal - b.normal).normalize();
    let (t, s) = tangents(&n);
    let origin = a.points[0];
    let (flat_a, flat_b) = (&mut outlines.a, &mut outlines.b);
    flat_a.set(a, &origin, &t, &s, 1.0);
    flat_b.set(b, &origin, &t, &s, -1.0);
    let (apart_a, graze_a, width_a) = flat_a.against(flat_b);
    let (apart_b, graze_b, width_b) = flat_b.against(flat_a);
    let apart = apart_a.max(apart_b);
    if apart > 0.0 {
        return Overlap::Apart(apart);
    }
    if graze_a || graze_b {
        return Overlap::Graze;
    }
    let merge = MERGE * width_a.min(width_b);
    let (len_a, len_b) = (a.points.len(), b.points.len());
    let tilt = (a.normal + b.normal).norm();

    for i in 0..len_a {
        if !b.under(&a.points[i], merge) {
            continue;
        }
        let p = a.points[i];
        let gap = (p - b.points[0]).dot(&b.normal);
        let twin = (0..len_b).find(|&j| coincide(&flat_a.points[i], &flat_b.points[j], merge));
        match twin {
            None => points.push_on_a(
                p,
                -b.normal,
                gap,
                feature::vertex_a(u32::from(a.corners[i])),
            ),
            Some(j) => {
                let q = b.points[j];
                let gap = 0.5 * (gap + (q - a.points[0]).dot(&a.normal));
                points.push(
                    (p + q) * 0.5,
                    n,
                    gap,
                    feature::vertex_a(u32::from(a.corners[i])),
                );
            }
        }
    }
    for j in 0..len_b {
        let flat = &flat_b.points[j];
        if a.under(&b.points[j], merge) && !flat_a.points.iter().any(|p| coincide(p, flat, merge)) {
            let q = b.points[j];
            let gap = (q - a.points[0]).dot(&a.normal);
            points.push_on_b(q, a.normal, gap, feature::vertex_b(u32::from(b.corners[j])));
        }
    }
    for i in 0..len_a {
        let i1 = (i + 1) % len_a;
        for j in 0..len_b {
            let j1 = (j + 1) % len_b;
            let beyond_b = &flat_b.others[j * len_a..(j + 1) * len_a];
            let beyond_a = &flat_a.others[i * len_b..(i + 1) * len_b];
            let (a0, a1) = (beyond_b[i], beyond_b[i1]);
            let (b0, b1) = (beyond_a[j], beyond_a[j1]);
            if !straddles(a0, a1, merge) || !straddles(b0, b1, merge) {
                continue;
            }
            let on_a = a.points[i].lerp(&a.points[i1], a0 / (a0 - a1));
            let on_b = b.points[j].lerp(&b.points[j1], b0 / (b0 - b1));
            let across = (a.points[i1] - a.points[i]).cross(&(b.points[j1] - b.points[j]));
            let normal = within_cone(&across, &n, tilt);
            let gap = (on_b - on_a).dot(&normal);
            let name = feature::edges(u32::from(a.edges[i]), u32::from(b.edges[j]));
            points.push((on_a + on_b) * 0.5, normal, gap, name);
        }
    }
    Overlap::Region
}

#[inline]
fn coincide(p: &[f64; 2], q: &[f64; 2], merge: f64) -> bool {
    (p[0] - q[0]).abs() <= 2.0 * merge && (p[1] - q[1]).abs() <= 2.0 * merge
}

#[inline]
fn straddles(d0: f64, d1: f64, tolerance: f64) -> bool {
    d0.max(d1) > tolerance && d0.min(d1) < -tolerance
}

/// The edge-edge normal `across`, turned towards `n` so far that it leaves it by no more than twice
/// the faces' own tilt: nearly parallel edges have no normal of their own.
pub(crate) fn within_cone(across: &Vec3, n: &Vec3, tilt: f64) -> Vec3 {
    let Some(unit) = across.try_normalize(f64::MIN_POSITIVE) else {
        return *n;
    };
    let unit = if unit.dot(n) < 0.0 { -unit } else { unit };
    let off = unit - n;
    let excess = off.norm();
    if excess <= 2.0 * tilt {
        unit
    } else {
        (n + off * (2.0 * tilt / excess)).normalize()
    }
}

//! Any shape (A) on a triangle mesh (B).
//!
//! Three kinds of contact, each found once:
//! - corners, rims and round ends of the shape over a triangle: the half-space contact with the
//!   triangle's plane, kept where its foot falls on the triangle, or under a hollow edge of it. The point
//!   is named after the shape's feature, so it keeps its name while it slides from triangle to triangle;
//! - ridges under the shape: the edge as a segment, kept if the normal lies between the two
//!   triangles';
//! - peaks under the shape: the vertex as a point, kept if no edge leads nearer.
//!
//! A ridge or a peak inside the shape pushes it out on its outer side, whatever way out were the shortest.

use crate::contact::{ContactPoint, Points};
use crate::contact_workspace::Workspace;
use crate::convex::Convex;
use crate::gjk::Core;
use crate::pairs::{convex, half_space, sphere};
use crate::pose::{Frame, Mat3, Vec3, tangents};
use crate::shapes::capsule::Capsule;
use crate::shapes::mesh::Mesh;
use crate::shapes::sphere::Sphere;

/// Overlap with a triangle, relative to the shape's size, beyond which the shape is on its other side.
const DEEPEST: f64 = 0.5;
/// Times that a triangle is nearer which alone decides for a point behind two that stick out.
const NEARER: f64 = 4.0;
/// Slack of the cones of ridges and peaks.
const CONE: f64 = 1e-6;
/// Share of a ridge that belongs to its ends.
const ENDS: f64 = 1e-6;
/// Most turns of a search for a direction.
const TURNS: usize = 50;
/// Names of points on ridges and peaks.
const RIDGE: u32 = 0x2000_0000;
const PEAK: u32 = 0x1000_0000;

pub(crate) fn shape_mesh(
    (a, frame_a): (&dyn Convex, &Frame),
    (mesh, frame_b): (&Mesh, &Frame),
    work: &mut Workspace,
    points: &mut Points,
) {
    // In the mesh's frame, so that triangles need no turning.
    let local = Frame {
        position: frame_b.local_point(&frame_a.position),
        axes: frame_b.axes.tr_mul(&frame_a.axes),
    };
    let mut triangles = std::mem::take(&mut work.triangles);
    let mut found = std::mem::take(&mut work.found);
    mesh.query(&a.bounds(&local).grown(points.margin), &mut triangles);
    found.clear();
    for &t in &triangles {
        over_triangle(a, &local, mesh, t, points.margin, &mut found);
    }
    let rounding = a.rounding();
    found.retain(|p| !behind(mesh, &triangles, p, rounding));
    keep_nearest(&mut found, rounding);
    for &t in &triangles {
        for e in mesh.triangles()[t as usize].edges {
            if mesh.edge(e).owner == t && mesh.edge(e).ridge {
                over_ridge(a, &local, mesh, e, points.margin, work, &mut found);
            }
        }
        for v in mesh.triangles()[t as usize].corners {
            if mesh.peak(v).owner == t && !mesh.peak(v).edges.is_empty() {
                over_peak(a, &local, mesh, v, points.margin, work, &mut found);
            }
        }
    }
    for p in &found {
        points.push(
            frame_b.point(&p.position),
            frame_b.vector(&p.normal),
            p.gap,
            p.feature,
        );
    }
    work.triangles = triangles;
    work.found = found;
}

/// Points of the shape's features whose foot falls on triangle `t`.
fn over_triangle(
    a: &dyn Convex,
    frame: &Frame,
    mesh: &Mesh,
    t: u32,
    margin: f64,
    found: &mut Vec<ContactPoint>,
) {
    let triangle = &mesh.triangles()[t as usize];
    let corners = triangle.corners.map(|v| mesh.vertices()[v as usize]);
    let (x, y) = tangents(&triangle.normal);
    let plane = Frame {
        position: corners[0],
        axes: Mat3::from_columns(&[x, y, triangle.normal]),
    };
    let first = found.len();
    half_space::shape_half_space(
        a,
        frame,
        &plane,
        &mut Points {
            margin,
            list: found,
        },
    );
    let deepest = -DEEPEST * a.size();
    let mut kept = first;
    for i in first..found.len() {
        let p = found[i];
        let foot = p.position + p.normal * (0.5 * p.gap);
        if p.gap >= deepest && falls_on(mesh, t, &foot, p.gap) {
            found[kept] = p;
            kept += 1;
        }
    }
    found.truncate(kept);
}

/// Whether `foot`, in the plane of triangle `t`, lies on it; it belongs to a point at this distance from the plane.
fn falls_on(mesh: &Mesh, t: u32, foot: &Vec3, distance: f64) -> bool {
    let triangle = &mesh.triangles()[t as usize];
    let corners = triangle.corners.map(|v| mesh.vertices()[v as usize]);
    (0..3).all(|k| {
        let along = corners[(k + 1) % 3] - corners[k];
        let length = along.norm();
        // What is below a hollow edge has its feet beyond it, in both triangles.
        let beyond = mesh.edge(triangle.edges[k]).hollow * (-distance).max(0.0) + 1e-9 * length;
        triangle.normal.cross(&along).dot(&(foot - corners[k])) >= -beyond * length
    })
}

/// Whether a point of the shape lies behind a triangle although the surface is nearer elsewhere: a corner on top of a cliff
/// is behind the cliff's face, and yet outside.
fn behind(mesh: &Mesh, triangles: &[u32], p: &ContactPoint, rounding: f64) -> bool {
    let depth = -(p.gap + rounding);
    depth > 0.0 && {
        let centre = p.position - p.normal * (0.5 * p.gap + rounding);
        triangles.iter().any(|&t| {
            let triangle = &mesh.triangles()[t as usize];
            let corner = mesh.vertices()[triangle.corners[0] as usize];
            let distance = (centre - corner).dot(&triangle.normal);
            let foot = centre - triangle.normal * distance;
            // Of two triangles that stick out together, to leave one is to leave both; of two in a hollow it is not.
            let sticks_out = (centre - foot).dot(&p.normal) < depth;
            sticks_out && NEARER * distance.abs() < depth && falls_on(mesh, t, &foot, distance)
        })
    }
}

/// Of several points of one feature of the shape, keeps one of each normal. Second and later ones get names of their own.
fn keep_nearest(found: &mut Vec<ContactPoint>, rounding: f64) {
    // By feature; the one nearest to the surface first.
    let distance = |p: &ContactPoint| (p.gap + rounding).abs();
    found.sort_unstable_by(|p, q| {
        p.feature
            .cmp(&q.feature)
            .then(distance(p).total_cmp(&distance(q)))
    });
    let mut kept = 0;
    let mut start = 0;
    for i in 0..found.len() {
        let p = found[i];
        if kept == 0 || p.feature != found[kept - 1].feature {
            start = kept;
        }
        let same = &found[start..kept];
        if !same.iter().any(|q| q.normal.dot(&p.normal) > 1.0 - 1e-9) {
            found[kept] = p;
            kept += 1;
        }
    }
    found.truncate(kept);
    let mut count = 0;
    for i in 1..found.len() {
        count = if found[i].feature == found[i - 1].feature - 256 * count {
            count + 1
        } else {
            0
        };
        found[i].feature += 256 * count;
    }
}

/// Points of the shape on the ridge `e`.
fn over_ridge(
    a: &dyn Convex,
    frame: &Frame,
    mesh: &Mesh,
    e: u32,
    margin: f64,
    work: &mut Workspace,
    found: &mut Vec<ContactPoint>,
) {
    let edge = mesh.edge(e);
    let [p, q] = edge.corners.map(|v| mesh.vertices()[v as usize]);
    let half = 0.5 * (q - p).norm();
    let along = (q - p) / (2.0 * half);
    let (x, y) = tangents(&along);
    let place = Frame {
        position: (p + q) * 0.5,
        axes: Mat3::from_columns(&[x, y, along]),
    };
    let segment = Capsule {
        radius_m: 0.0,
        half_length_m: half,
    };
    let first = found.len();
    let (one, two) = (
        Core { shape: a, frame },
        Core {
            shape: &segment,
            frame: &place,
        },
    );
    let mut list = Points {
        margin,
        list: found,
    };
    let nearest = convex::convex_convex(&one, &two, work, &mut list);
    let deepest = -DEEPEST * a.size();
    let of_ridge = |point: &ContactPoint| {
        let out = -point.normal;
        let between = edge.inward.iter().flatten().all(|d| out.dot(d) <= CONE);
        // At the ends the peaks have the word, unless the shape lies along the ridge. A disk that ends above the
        // ridge says its own normal there.
        let foot = point.position + point.normal * (0.5 * point.gap);
        let inner = (foot - place.position).dot(&along).abs() < (1.0 - ENDS) * half;
        between && (out.dot(&along).abs() < 0.05 || inner) && point.gap >= deepest
    };
    let mut kept = first;
    for i in first..found.len() {
        if of_ridge(&found[i]) {
            found[kept] = found[i];
            kept += 1;
        }
    }
    found.truncate(kept);
    // Where outlines cross at a corner, their normals may miss the ridge's and the nearest points still be on it. What
    // overlaps the ridge is pushed out on its outer side, even if another way out were shorter.
    if let (true, Some(mut nearest)) = (kept == first, nearest) {
        if nearest.gap < one.rounding() {
            let inner = edge.inward.iter().flatten().copied();
            let Some(out) = outward(-nearest.normal, inner.chain([along, -along])) else {
                return;
            };
            nearest.normal = -out;
        }
        let mut list = Points {
            margin,
            list: found,
        };
        convex::push_witness(&nearest, one.rounding(), two.rounding(), &mut list);
        if !found[first..].iter().all(of_ridge) {
            found.truncate(first);
        }
    }
    for point in &mut found[first..] {
        point.feature = RIDGE | e << 3 | (point.feature & 7);
    }
}

/// The direction nearest to `out` that leads into none of `inner`, unit vectors; none if it is not found.
fn outward(out: Vec3, inner: impl Iterator<Item = Vec3> + Clone) -> Option<Vec3> {
    let mut n = out;
    for _ in 0..TURNS {
        let mut worst = 0.0_f64;
        for d in inner.clone() {
            let into = n.dot(&d);
            if into > 0.0 {
                n -= d * into;
                worst = worst.max(into);
            }
        }
        n = n.try_normalize(1e-3)?;
        if worst <= 0.5 * CONE {
            return Some(n);
        }
    }
    None
}

/// The point of the shape on the peak `v`.
fn over_peak(
    a: &dyn Convex,
    frame: &Frame,
    mesh: &Mesh,
    v: u32,
    margin: f64,
    work: &mut Workspace,
    found: &mut Vec<ContactPoint>,
) {
    let at = mesh.vertices()[v as usize];
    let first = found.len();
    let mut list = Points {
        margin,
        list: found,
    };
    if !sphere::sphere_shape(&at, 0.0, a, frame, &mut list) {
        let ball = Sphere { radius_m: 0.0 };
        let place = Frame {
            position: at,
            ..Frame::identity()
        };
        convex::convex_convex(
            &Core {
                shape: &ball,
                frame: &place,
            },
            &Core { shape: a, frame },
            work,
            &mut list,
        );
    }
    let deepest = -DEEPEST * a.size();
    // Here the vertex is the first of the pair: the normal points from it to the shape.
    let edges = &mesh.peak(v).edges;
    let keep = found[first..].first().copied().and_then(|mut p| {
        if p.gap < 0.0 {
            p.normal = outward(p.normal, edges.iter().copied())?;
        }
        (p.gap >= deepest && edges.iter().all(|d| p.normal.dot(d) <= CONE)).then_some(p)
    });
    found.truncate(first);
    if let Some(mut p) = keep {
        p.normal = -p.normal;
        p.feature = PEAK | v;
        found.push(p);
    }
}

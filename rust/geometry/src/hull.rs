//! Convex hull of a small cloud of points, its flat faces merged.
//!
//! Incremental: a tetrahedron of extreme points grows by one point at a time; the triangles that see
//! the point are replaced by a fan from the horizon. Neighbouring triangles in one plane are then
//! merged to polygons, so that a face of a block is one face and not the accident of a triangulation.

use crate::pose::Vec3;

/// Distance below which a point is in a plane while the hull grows, relative to the extent.
const PLANE: f64 = 1e-11;
/// Distance below which neighbouring triangles are one face, relative to the extent.
const COPLANAR: f64 = 1e-7;

/// The faces of the hull as loops of point indices, anticlockwise seen from outside; none if the
/// points span no volume.
pub(crate) fn convex_hull(points: &[Vec3]) -> Option<Vec<Vec<usize>>> {
    let extent = points
        .iter()
        .map(|p| (p - points[0]).norm())
        .fold(0.0, f64::max);
    let triangles = grow(points, PLANE * extent)?;
    Some(merge(points, &triangles, COPLANAR * extent))
}

fn normal(points: &[Vec3], t: &[usize; 3]) -> Vec3 {
    let n = (points[t[1]] - points[t[0]]).cross(&(points[t[2]] - points[t[0]]));
    n.try_normalize(0.0).unwrap_or_else(Vec3::zeros)
}

fn farthest(count: usize, measure: impl Fn(usize) -> f64) -> (usize, f64) {
    (0..count)
        .map(|i| (i, measure(i)))
        .fold(
            (0, f64::NEG_INFINITY),
            |best, x| if x.1 > best.1 { x } else { best },
        )
}

/// Triangles of the hull.
fn grow(points: &[Vec3], tolerance: f64) -> Option<Vec<[usize; 3]>> {
    let (count, p) = (points.len(), points);
    if count < 4 {
        return None;
    }
    let (a, _) = farthest(count, |i| p[i].x);
    let (b, length) = farthest(count, |i| (p[i] - p[a]).norm());
    if length <= tolerance {
        return None;
    }
    let along = (p[b] - p[a]) / length;
    let (c, width) = farthest(count, |i| along.cross(&(p[i] - p[a])).norm());
    if width <= tolerance {
        return None;
    }
    let up = normal(p, &[a, b, c]);
    let (d, height) = farthest(count, |i| up.dot(&(p[i] - p[a])).abs());
    if height <= tolerance {
        return None;
    }
    let (b, c) = if up.dot(&(p[d] - p[a])) > 0.0 {
        (c, b)
    } else {
        (b, c)
    };
    let mut faces = vec![[a, b, c], [a, d, b], [b, d, c], [c, d, a]];
    for i in 0..count {
        if [a, b, c, d].contains(&i) {
            continue;
        }
        let sees = |t: &[usize; 3]| normal(p, t).dot(&(p[i] - p[t[0]])) > tolerance;
        let (seen, mut kept): (Vec<[usize; 3]>, Vec<[usize; 3]>) =
            faces.iter().partition(|t| sees(t));
        // The horizon: directed edges of seen triangles whose opposite is not seen.
        let edges: Vec<[usize; 2]> = seen
            .iter()
            .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
            .collect();
        for e in &edges {
            if !edges.contains(&[e[1], e[0]]) {
                kept.push([e[0], e[1], i]);
            }
        }
        faces = kept;
    }
    Some(faces)
}

/// Merges neighbouring triangles in one plane, and drops corners inside a straight edge.
fn merge(points: &[Vec3], triangles: &[[usize; 3]], tolerance: f64) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = vec![usize::MAX; triangles.len()];
    let area = |t: &[usize; 3]| {
        (points[t[1]] - points[t[0]])
            .cross(&(points[t[2]] - points[t[0]]))
            .norm()
    };
    // Large triangles first: their planes are the best known.
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|&i, &j| {
        area(&triangles[j])
            .total_cmp(&area(&triangles[i]))
            .then(i.cmp(&j))
    });
    let mut loops = Vec::new();
    for &seed in &order {
        if group[seed] != usize::MAX {
            continue;
        }
        let n = normal(points, &triangles[seed]);
        let origin = points[triangles[seed][0]];
        let flat = |t: &[usize; 3]| {
            let turned = normal(points, t).dot(&n) > 0.9 || area(t) <= tolerance * tolerance;
            turned
                && t.iter()
                    .all(|&v| n.dot(&(points[v] - origin)).abs() <= tolerance)
        };
        group[seed] = seed;
        let mut members = vec![seed];
        let mut k = 0;
        while k < members.len() {
            let t = triangles[members[k]];
            for (j, other) in triangles.iter().enumerate() {
                let shares = (0..3).any(|e| {
                    let (from, to) = (t[e], t[(e + 1) % 3]);
                    (0..3).any(|f| other[f] == to && other[(f + 1) % 3] == from)
                });
                if group[j] == usize::MAX && shares && flat(other) {
                    group[j] = seed;
                    members.push(j);
                }
            }
            k += 1;
        }
        loops.push(outline(points, triangles, &members, &n, tolerance));
    }
    loops.retain(|l| l.len() >= 3);
    loops
}

/// The outer loop of a group of triangles, starting at its lowest index.
fn outline(
    points: &[Vec3],
    triangles: &[[usize; 3]],
    members: &[usize],
    n: &Vec3,
    tolerance: f64,
) -> Vec<usize> {
    let edges: Vec<[usize; 2]> = members
        .iter()
        .flat_map(|&m| {
            let t = triangles[m];
            [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]
        })
        .collect();
    let outer: Vec<[usize; 2]> = edges
        .iter()
        .filter(|e| !edges.contains(&[e[1], e[0]]))
        .copied()
        .collect();
    let Some(first) = outer.iter().map(|e| e[0]).min() else {
        return Vec::new();
    };
    let mut round = vec![first];
    while round.len() <= outer.len() {
        let here = round[round.len() - 1];
        match outer.iter().find(|e| e[0] == here) {
            Some(e) if e[1] != first => round.push(e[1]),
            _ => break,
        }
    }
    // A corner that does not turn left is none.
    let mut k = 0;
    while round.len() > 3 && k < round.len() {
        let len = round.len();
        let (before, here, after) = (
            points[round[(k + len - 1) % len]],
            points[round[k]],
            points[round[(k + 1) % len]],
        );
        let chord = (after - before).norm().max(f64::MIN_POSITIVE);
        if (here - before).cross(&(after - here)).dot(n) <= tolerance * chord {
            round.remove(k);
            k = k.saturating_sub(1);
        } else {
            k += 1;
        }
    }
    round
}

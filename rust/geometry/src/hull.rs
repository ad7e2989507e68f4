//! Convex hull of a cloud of points, its flat faces merged.
//!
//! Incremental: a tetrahedron of extreme points grows by one point at a time; the triangles that see
//! the point are replaced by a fan from the horizon. Neighbouring triangles in one plane are then
//! merged to polygons, so that a face of a block is one face and not the accident of a triangulation.

use crate::pose::Vec3;
use std::collections::{BTreeMap, BTreeSet};

/// Distance below which a point is in a plane while the hull grows, relative to the extent.
const PLANE: f64 = 1e-11;
/// Distance below which neighbouring triangles are one face, relative to the extent.
const COPLANAR: f64 = 1e-7;
/// Most points that are added in the order given.
const AS_GIVEN: usize = 256;

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

/// A tetrahedron of extreme points, its triangles facing outwards; none if the points span no volume.
fn first_tetrahedron(p: &[Vec3], tolerance: f64) -> Option<[usize; 4]> {
    let count = p.len();
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
    Some(if up.dot(&(p[d] - p[a])) > 0.0 {
        [a, c, b, d]
    } else {
        [a, b, c, d]
    })
}

/// Triangles of the hull, in the order in which they were made.
fn grow(points: &[Vec3], tolerance: f64) -> Option<Vec<[usize; 3]>> {
    let first = first_tetrahedron(points, tolerance)?;
    let mut hull = Hull::new(points, tolerance, first);
    for i in insertion_order(points.len()) {
        hull.insert(i);
    }
    let whole = hull.triangles.into_iter().filter(|t| !t.gone);
    Some(whole.map(|t| t.corners).collect())
}

/// The order in which points are added: as given for few, else shuffled by fixed numbers, without which points that
/// come in rows would be looked at again and again.
fn insertion_order(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    if count > AS_GIVEN {
        let mut state = 1_u64;
        for k in (1..count).rev() {
            // Knuth's linear congruential numbers (MMIX); their high bits are enough to mix.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            order.swap(k, (state >> 33) as usize % (k + 1));
        }
    }
    order
}

struct Triangle {
    corners: [usize; 3],
    normal: Vec3,
    /// Triangles across the edges from each corner to the next.
    across: [usize; 3],
    /// Points that see this triangle and wait, each noted with one triangle.
    waiting: Vec<usize>,
    gone: bool,
}

/// A hull that grows, and of each point outside it one triangle that the point sees (Clarkson and Shor, 1989, keep all
/// of them): near n log n for points in mixed order.
struct Hull<'a> {
    points: &'a [Vec3],
    tolerance: f64,
    triangles: Vec<Triangle>,
    /// The triangle a point is noted with; none inside the hull.
    noted: Vec<Option<usize>>,
}

impl<'a> Hull<'a> {
    fn new(points: &'a [Vec3], tolerance: f64, [a, b, c, d]: [usize; 4]) -> Self {
        let mut hull = Self {
            points,
            tolerance,
            triangles: Vec::new(),
            noted: vec![None; points.len()],
        };
        let across = [[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]];
        for (corners, across) in [[a, b, c], [a, d, b], [b, d, c], [c, d, a]]
            .into_iter()
            .zip(across)
        {
            hull.add(corners, across);
        }
        let waiting = (0..points.len()).filter(|i| ![a, b, c, d].contains(i));
        hull.note(waiting.collect(), 0..4);
        hull
    }

    fn add(&mut self, corners: [usize; 3], across: [usize; 3]) {
        self.triangles.push(Triangle {
            corners,
            normal: normal(self.points, &corners),
            across,
            waiting: Vec::new(),
            gone: false,
        });
    }

    fn sees(&self, point: usize, triangle: usize) -> bool {
        let t = &self.triangles[triangle];
        let away = self.points[point] - self.points[t.corners[0]];
        t.normal.dot(&away) > self.tolerance
    }

    /// Notes points with the first of some triangles that they see.
    fn note(&mut self, points: Vec<usize>, among: std::ops::Range<usize>) {
        for i in points {
            self.noted[i] = among.clone().find(|&t| self.sees(i, t));
            if let Some(t) = self.noted[i] {
                self.triangles[t].waiting.push(i);
            }
        }
    }

    /// Replaces the triangles that a point sees by a fan from their border to it.
    fn insert(&mut self, point: usize) {
        let Some(start) = self.noted[point] else {
            return;
        };
        let mut seen = vec![start];
        self.triangles[start].gone = true;
        let mut k = 0;
        while k < seen.len() {
            for t in self.triangles[seen[k]].across {
                if !self.triangles[t].gone && self.sees(point, t) {
                    self.triangles[t].gone = true;
                    seen.push(t);
                }
            }
            k += 1;
        }
        seen.sort_unstable();
        let first = self.triangles.len();
        // Of each triangle of the fan the corner it starts and ends at.
        let (mut starts, mut ends) = (BTreeMap::new(), BTreeMap::new());
        for &t in &seen {
            let (corners, across) = (self.triangles[t].corners, self.triangles[t].across);
            for e in 0..3 {
                if self.triangles[across[e]].gone {
                    continue;
                }
                let (new, from, to) = (self.triangles.len(), corners[e], corners[(e + 1) % 3]);
                let back = &mut self.triangles[across[e]];
                let edge = (0..3).find(|&f| back.corners[f] == to && back.across[f] == t);
                if let Some(f) = edge {
                    back.across[f] = new;
                }
                self.add([from, to, point], [across[e], new, new]);
                starts.insert(from, new);
                ends.insert(to, new);
            }
        }
        for t in first..self.triangles.len() {
            let [from, to, _] = self.triangles[t].corners;
            // The edges to and from the point belong to the next and the one before.
            if let (Some(&next), Some(&before)) = (starts.get(&to), ends.get(&from)) {
                self.triangles[t].across = [self.triangles[t].across[0], next, before];
            }
        }
        let last = self.triangles.len();
        for t in seen {
            let waiting = std::mem::take(&mut self.triangles[t].waiting);
            self.note(waiting, first..last);
        }
    }
}

/// Merges neighbouring triangles in one plane, and drops corners inside a straight edge.
fn merge(points: &[Vec3], triangles: &[[usize; 3]], tolerance: f64) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = vec![usize::MAX; triangles.len()];
    let owner: BTreeMap<[usize; 2], usize> = (0..triangles.len())
        .flat_map(|j| (0..3).map(move |e| (j, e)))
        .map(|(j, e)| ([triangles[j][e], triangles[j][(e + 1) % 3]], j))
        .collect();
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
            let mut near: [Option<usize>; 3] =
                std::array::from_fn(|e| owner.get(&[t[(e + 1) % 3], t[e]]).copied());
            near.sort_unstable();
            for j in near.into_iter().flatten() {
                if group[j] == usize::MAX && flat(&triangles[j]) {
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
    let known: BTreeSet<[usize; 2]> = edges.iter().copied().collect();
    let mut outer: BTreeMap<usize, usize> = BTreeMap::new();
    for [from, to] in edges {
        if !known.contains(&[to, from]) {
            outer.entry(from).or_insert(to);
        }
    }
    let Some((&first, _)) = outer.first_key_value() else {
        return Vec::new();
    };
    let mut round = vec![first];
    while round.len() <= outer.len() {
        match outer.get(&round[round.len() - 1]) {
            Some(&next) if next != first => round.push(next),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of a sphere, by Fibonacci's spiral: sorted along z, all of them corners.
    fn spiral(count: usize) -> Vec<Vec3> {
        let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
        (0..count)
            .map(|k| {
                let z = 1.0 - (2 * k + 1) as f64 / count as f64;
                let (sin, cos) = (golden * k as f64).sin_cos();
                let r = (1.0 - z * z).sqrt();
                Vec3::new(r * cos, r * sin, z)
            })
            .collect()
    }

    #[test]
    fn every_point_of_a_sphere_is_a_corner_and_no_point_lies_outside() {
        // Below and above the count from which on points are shuffled.
        for count in [AS_GIVEN, 3000] {
            let points = spiral(count);
            let triangles = grow(&points, PLANE * 2.0).unwrap();
            // Euler: 2 n - 4 triangles over n corners.
            assert_eq!(triangles.len(), 2 * count - 4);
            for t in triangles.iter().step_by(1 + count / 100) {
                let n = normal(&points, t);
                let beyond = points.iter().map(|p| n.dot(&(p - points[t[0]])));
                assert!(beyond.fold(0.0, f64::max) < 1e-10);
            }
        }
    }

    #[test]
    fn a_grid_of_points_is_a_box_of_six_faces_in_any_order() {
        let side = 9;
        let mut points: Vec<Vec3> = (0..side * side * side)
            .map(|k| {
                Vec3::new(
                    (k % side) as f64,
                    (k / side % side) as f64,
                    (k / side / side) as f64,
                )
            })
            .collect();
        for _ in 0..2 {
            let faces = convex_hull(&points).unwrap();
            assert_eq!(faces.len(), 6);
            assert!(faces.iter().all(|f| f.len() == 4));
            points.reverse();
        }
    }
}

//! Signed separation of two convex shapes from their support functions alone.
//!
//! Apart, the distance is found by the algorithm of Gilbert, Johnson and Keerthi (1988): the point
//! nearest to the origin of the Minkowski difference, approached by growing and trimming a simplex.
//! Overlapping or nearly touching, the signed gap is still max over unit n of
//!   sep(n) = min_B n.x - max_A n.x,
//! and is climbed without polytope expansion: B is moved out by t n_k until the shapes are apart by
//! a small distance, and the normal found there is n_(k+1). sep(n_k) never falls, since
//! sep(n_(k+1)) >= sep(n_k) by n_k.n_(k+1) <= 1; the error shrinks by about t/radius a turn, so
//! shallow overlaps of smooth shapes come out to rounding and polytopes exactly.
//! Round shapes enter by their cores (a ball is a point, a capsule a segment): exact and cheap.

use crate::pose::{Frame, Vec3};
use crate::shape::Shape;

/// A convex shape at its place, without its rounding.
#[derive(Clone, Copy)]
pub(crate) struct Core<'a> {
    pub shape: &'a Shape,
    pub frame: &'a Frame,
}

impl Core<'_> {
    /// Radius by which the shape exceeds its core.
    pub fn rounding(&self) -> f64 {
        match self.shape {
            Shape::Sphere(s) => s.radius_m,
            Shape::Capsule(s) => s.radius_m,
            _ => 0.0,
        }
    }

    /// The core's farthest point along the world direction `d`.
    pub fn support(&self, d: &Vec3) -> Vec3 {
        let local = self.frame.local_vector(d);
        let point = match self.shape {
            Shape::Sphere(_) => Vec3::zeros(),
            Shape::Capsule(s) => Vec3::new(0.0, 0.0, s.half_length_m.copysign(local.z)),
            Shape::Box(s) => s.support(&local),
            Shape::Cylinder(s) => s.support(&local),
            Shape::Cone(s) => s.support(&local),
            Shape::Ring(s) => s.outline().support(&local),
            Shape::HalfSpace(_) => Vec3::zeros(),
        };
        self.frame.point(&point)
    }
}

/// Where two cores are nearest, or overlap least.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Separation {
    /// Unit normal from A to B.
    pub normal: Vec3,
    /// Signed distance of the cores.
    pub gap: f64,
    /// Nearest point of A.
    pub on_a: Vec3,
    /// Nearest point of B.
    pub on_b: Vec3,
}

/// A point of the Minkowski difference B - A with its parents.
#[derive(Clone, Copy)]
struct Vertex {
    w: Vec3,
    on_a: Vec3,
    on_b: Vec3,
}

/// At most four vertices and the weights of the point nearest to the origin.
struct Simplex {
    vertices: [Vertex; 4],
    weights: [f64; 4],
    len: usize,
}

/// The distance of A and B moved by `shift`, or none if they overlap or all but touch
/// (nearer than `touching`).
fn distance(a: &Core, b: &Core, shift: &Vec3, start: &Vec3, touching: f64) -> Option<Separation> {
    let vertex = |d: &Vec3| {
        // Farthest of B - A along -d: the origin lies on the side of d.
        let (on_b, on_a) = (b.support(&-d) + shift, a.support(d));
        Vertex {
            w: on_b - on_a,
            on_a,
            on_b,
        }
    };
    let first = vertex(start);
    let mut simplex = Simplex {
        vertices: [first; 4],
        weights: [1.0, 0.0, 0.0, 0.0],
        len: 1,
    };
    let mut v = first.w;
    for _ in 0..100 {
        let norm2 = v.norm_squared();
        if norm2 <= touching * touching {
            return None;
        }
        let next = vertex(&v);
        // No point of B - A lies nearer along v than v itself does: v is the answer.
        let repeated = simplex.vertices[..simplex.len]
            .iter()
            .any(|x| x.w == next.w);
        if repeated || norm2 - v.dot(&next.w) <= 4e-16 * norm2 {
            break;
        }
        let before = (simplex.vertices, simplex.weights, simplex.len);
        simplex.vertices[simplex.len] = next;
        simplex.len += 1;
        match simplex.nearest() {
            None => return None,
            Some(nearer) if nearer.norm_squared() < norm2 => v = nearer,
            Some(_) => {
                // Rounding has the last word: keep the better of the two.
                (simplex.vertices, simplex.weights, simplex.len) = before;
                break;
            }
        }
    }
    let gap = v.norm();
    let blend = |pick: fn(&Vertex) -> Vec3| {
        (0..simplex.len).fold(Vec3::zeros(), |sum, i| {
            sum + pick(&simplex.vertices[i]) * simplex.weights[i]
        })
    };
    Some(Separation {
        normal: v / gap,
        gap,
        on_a: blend(|x| x.on_a),
        on_b: blend(|x| x.on_b) - shift,
    })
}

impl Simplex {
    /// Trims the simplex to the face that holds the point nearest to the origin and returns that
    /// point; none if the origin is inside.
    fn nearest(&mut self) -> Option<Vec3> {
        let w: [Vec3; 4] = std::array::from_fn(|i| self.vertices[i].w);
        let (keep, weights) = match self.len {
            2 => on_segment(&w, 0, 1),
            3 => on_triangle(&w, 0, 1, 2),
            4 => on_tetrahedron(&w)?,
            _ => ([0, 0, 0], [1.0, 0.0, 0.0]),
        };
        let old = self.vertices;
        self.len = 0;
        let mut point = Vec3::zeros();
        for i in 0..3 {
            if weights[i] > 0.0 {
                self.vertices[self.len] = old[keep[i]];
                self.weights[self.len] = weights[i];
                self.len += 1;
                point += w[keep[i]] * weights[i];
            }
        }
        Some(point)
    }
}

type Nearest = ([usize; 3], [f64; 3]);

fn on_segment(w: &[Vec3; 4], i: usize, j: usize) -> Nearest {
    let d = w[j] - w[i];
    let length2 = d.norm_squared();
    let t = if length2 > 0.0 {
        (-w[i].dot(&d) / length2).clamp(0.0, 1.0)
    } else {
        0.0
    };
    ([i, j, j], [1.0 - t, t, 0.0])
}

/// Nearest point of a triangle by Voronoi regions (Ericson 2005, section 5.1.5).
fn on_triangle(w: &[Vec3; 4], i: usize, j: usize, k: usize) -> Nearest {
    let (a, b, c) = (w[i], w[j], w[k]);
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (-ab.dot(&a), -ac.dot(&a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return ([i, j, k], [1.0, 0.0, 0.0]);
    }
    let (d3, d4) = (-ab.dot(&b), -ac.dot(&b));
    if d3 >= 0.0 && d4 <= d3 {
        return ([i, j, k], [0.0, 1.0, 0.0]);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return on_segment(w, i, j);
    }
    let (d5, d6) = (-ab.dot(&c), -ac.dot(&c));
    if d6 >= 0.0 && d5 <= d6 {
        return ([i, j, k], [0.0, 0.0, 1.0]);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return on_segment(w, i, k);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return on_segment(w, j, k);
    }
    let sum = va + vb + vc;
    if sum <= 0.0 {
        return on_segment(w, i, j);
    }
    ([i, j, k], [va / sum, vb / sum, vc / sum])
}

/// Nearest point on the faces of a tetrahedron that look at the origin; none if it is inside.
fn on_tetrahedron(w: &[Vec3; 4]) -> Option<Nearest> {
    let faces = [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 3, 2, 0]];
    let mut best: Option<(f64, Nearest)> = None;
    for [i, j, k, opposite] in faces {
        let normal = (w[j] - w[i]).cross(&(w[k] - w[i]));
        let inner = (w[opposite] - w[i]).dot(&normal);
        let origin = -w[i].dot(&normal);
        // A flat tetrahedron (inner = 0) shows every face.
        if origin * inner < 0.0 || inner == 0.0 {
            let nearest = on_triangle(w, i, j, k);
            let point = w[nearest.0[0]] * nearest.1[0]
                + w[nearest.0[1]] * nearest.1[1]
                + w[nearest.0[2]] * nearest.1[2];
            let norm2 = point.norm_squared();
            if best.is_none_or(|(least, _)| norm2 < least) {
                best = Some((norm2, nearest));
            }
        }
    }
    best.map(|(_, nearest)| nearest)
}

/// Signed separation of the cores of A and B. `size` is a length typical of the smaller shape;
/// `candidates` are normals worth trying when the cores overlap (faces, axes).
pub(crate) fn separation(
    a: &Core,
    b: &Core,
    size: f64,
    candidates: impl IntoIterator<Item = Vec3>,
) -> Separation {
    let towards = b.frame.position - a.frame.position;
    let start = towards.try_normalize(1e-12 * size).unwrap_or_else(Vec3::z);
    let near = distance(a, b, &Vec3::zeros(), &start, 1e-4 * size);
    if let Some(found) = near {
        return found;
    }
    let sep = |n: &Vec3| n.dot(&(b.support(&-n) - a.support(n)));
    let mut normal = start;
    let mut best = sep(&start);
    for n in candidates {
        let s = sep(&n);
        if s > best {
            (normal, best) = (n, s);
        }
    }
    let mut result = Separation {
        normal,
        gap: best,
        on_a: a.support(&normal),
        on_b: b.support(&-normal),
    };
    for _ in 0..40 {
        let shift = normal * (1e-3 * size - best);
        let Some(found) = distance(a, b, &shift, &normal, 0.0) else {
            break;
        };
        let gap = found.gap - shift.dot(&found.normal);
        let turn = (found.normal - normal).norm();
        if gap < result.gap - 1e-13 * size {
            break;
        }
        result = Separation { gap, ..found };
        normal = found.normal;
        best = gap;
        if turn < 1e-9 {
            break;
        }
    }
    result
}

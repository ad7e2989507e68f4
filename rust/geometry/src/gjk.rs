//! Signed separation of two convex shapes from their support functions alone.
//!
//! Apart, the distance is found by the algorithm of Gilbert, Johnson and Keerthi (1988): the point
//! nearest to the origin of the Minkowski difference, approached by growing and trimming a simplex.
//! Overlapping or nearly touching, the signed gap is still max over unit n of
//!   sep(n) = min_B n.x - max_A n.x,
//! and is climbed without polytope expansion: B is moved out by t n_k until the shapes are apart by
//! a small distance, and the normal found there is n_(k+1). sep(n_k) never falls, since
//! sep(n_(k+1)) >= sep(n_k) by n_k.n_(k+1) <= 1; the error shrinks by about t/radius a turn, so
//! shallow overlaps of smooth shapes come out to about 1e-10 of their size, polytopes to rounding.
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
        let nearest = match self.len {
            2 => on_segment(&w, 0, 1),
            3 => on_triangle(&w, 0, 1, 2),
            _ => on_tetrahedron(&w)?,
        };
        let old = self.vertices;
        self.len = 0;
        for i in 0..3 {
            if nearest.weights[i] > 0.0 {
                self.vertices[self.len] = old[nearest.keep[i]];
                self.weights[self.len] = nearest.weights[i];
                self.len += 1;
            }
        }
        Some(nearest.point)
    }
}

/// Indices of up to three vertices, the weights of the nearest point, and that point.
#[derive(Clone, Copy)]
struct Nearest {
    keep: [usize; 3],
    weights: [f64; 3],
    point: Vec3,
}

fn on_segment(w: &[Vec3; 4], i: usize, j: usize) -> Nearest {
    let d = w[j] - w[i];
    let length2 = d.norm_squared();
    let t = if length2 > 0.0 {
        (-w[i].dot(&d) / length2).clamp(0.0, 1.0)
    } else {
        0.0
    };
    // From the nearer end: the farther one would bring its own rounding.
    let point = if t <= 0.5 {
        w[i] + d * t
    } else {
        w[j] - d * (1.0 - t)
    };
    Nearest {
        keep: [i, j, j],
        weights: [1.0 - t, t, 0.0],
        point,
    }
}

/// Nearest point of a triangle: the foot of the origin if it falls inside, else the best of the
/// edges. (Voronoi regions misjudge slivers, of which smooth shapes make many.)
fn on_triangle(w: &[Vec3; 4], i: usize, j: usize, k: usize) -> Nearest {
    let (a, b, c) = (w[i], w[j], w[k]);
    let normal = (b - a).cross(&(c - a));
    let area2 = normal.norm_squared();
    let weights = [
        b.cross(&(c - b)).dot(&normal),
        c.cross(&(a - c)).dot(&normal),
        a.cross(&(b - a)).dot(&normal),
    ];
    if area2 > 0.0 && weights.iter().all(|&x| x > 0.0) {
        let sum = weights[0] + weights[1] + weights[2];
        let point = normal * ((a + b + c).dot(&normal) / (3.0 * area2));
        return Nearest {
            keep: [i, j, k],
            weights: weights.map(|x| x / sum),
            point,
        };
    }
    let edges = [
        on_segment(w, i, j),
        on_segment(w, j, k),
        on_segment(w, k, i),
    ];
    let nearer = |x: Nearest, y: Nearest| {
        if y.point.norm_squared() < x.point.norm_squared() {
            y
        } else {
            x
        }
    };
    nearer(nearer(edges[0], edges[1]), edges[2])
}

/// Nearest point on the faces of a tetrahedron; none if the origin is inside. All faces are asked:
/// on smooth shapes the last tetrahedra are so flat that the side of a face is a matter of rounding,
/// while the nearest of four triangles is always a point of the hull.
fn on_tetrahedron(w: &[Vec3; 4]) -> Option<Nearest> {
    let faces = [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 3, 2, 0]];
    let mut inside = true;
    let mut best = on_segment(w, 0, 1);
    let (mut least, mut altitude2) = (f64::INFINITY, f64::INFINITY);
    for [i, j, k, opposite] in faces {
        let normal = (w[j] - w[i]).cross(&(w[k] - w[i]));
        let height = (w[opposite] - w[i]).dot(&normal);
        let origin = -w[i].dot(&normal);
        inside &= origin * height > 0.0;
        altitude2 = altitude2.min(height * height / normal.norm_squared());
        let nearest = on_triangle(w, i, j, k);
        let norm2 = nearest.point.norm_squared();
        if norm2 < least {
            (least, best) = (norm2, nearest);
        }
    }
    // A point inside is nearer to some face than the least altitude.
    (!inside || least > altitude2).then_some(best)
}

/// Number of starting normals that are climbed when the cores overlap.
const CLIMBS: usize = 3;

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
    if let Some(found) = distance(a, b, &Vec3::zeros(), &start, 1e-4 * size) {
        return found;
    }
    // The best normals that are not neighbours of better ones, best first.
    let mut starts = [(f64::NEG_INFINITY, start); CLIMBS];
    for n in std::iter::once(start).chain(candidates) {
        let s = n.dot(&(b.support(&-n) - a.support(&n)));
        let twin = starts
            .iter()
            .position(|x| x.0 > f64::NEG_INFINITY && x.1.dot(&n) > 0.9);
        let slot = twin.unwrap_or(CLIMBS - 1);
        if s > starts[slot].0 {
            starts[slot] = (s, n);
            starts.sort_by(|x, y| y.0.total_cmp(&x.0));
        }
    }
    let mut best = climb(a, b, size, &starts[0].1);
    for (s, n) in &starts[1..] {
        if s.is_finite() {
            let other = climb(a, b, size, n);
            if other.gap > best.gap + 1e-9 * size {
                best = other;
            }
        }
    }
    best
}

/// Climbs from the normal `start` to a normal of greatest separation.
fn climb(a: &Core, b: &Core, size: f64, start: &Vec3) -> Separation {
    let sep = |n: &Vec3| n.dot(&(b.support(&-n) - a.support(n)));
    let (mut normal, mut gap) = (*start, sep(start));
    let mut result = Separation {
        normal,
        gap,
        on_a: a.support(&normal),
        on_b: b.support(&-normal),
    };
    for _ in 0..40 {
        let shift = normal * (1e-2 * size - gap);
        let Some(found) = distance(a, b, &shift, &normal, 0.0) else {
            break;
        };
        gap = sep(&found.normal);
        let turn = (found.normal - normal).norm();
        normal = found.normal;
        if gap < result.gap - 1e-9 * size {
            break;
        }
        if gap > result.gap || turn < 1e-5 {
            result = Separation {
                gap: gap.max(result.gap),
                ..found
            };
        }
        if turn < 1e-9 {
            break;
        }
    }
    result
}

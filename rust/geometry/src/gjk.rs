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

use crate::convex::Convex;
use crate::pose::{Frame, Vec3};

/// A convex shape at its place, without its rounding.
#[derive(Clone, Copy)]
pub(crate) struct Core<'a> {
    pub shape: &'a dyn Convex,
    pub frame: &'a Frame,
}

impl Core<'_> {
    /// Radius by which the shape exceeds its core.
    pub fn rounding(&self) -> f64 {
        self.shape.rounding()
    }

    /// A point inside.
    pub fn middle(&self) -> Vec3 {
        self.shape.middle(self.frame)
    }

    /// The core's farthest point along the world direction `d`.
    #[inline]
    pub fn support(&self, d: &Vec3) -> Vec3 {
        let local = self.frame.local_vector(d);
        self.frame.point(&self.shape.support(&local))
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

/// Relative error of the distance at which the search ends; that of the normal is its square root.
const CONVERGED: f64 = 1e-13;

/// How the distance search looks at the two cores.
struct Look {
    /// B is moved by this.
    shift: Vec3,
    /// Both are shrunk about their middles by this factor.
    scale: f64,
    /// Relative error at which the search ends.
    converged: f64,
    /// Distance beyond which any lower bound will do.
    beyond: f64,
}

/// The distance of A and B, or none if they overlap.
fn distance(a: &Core, b: &Core, start: &Vec3, look: &Look) -> Option<Separation> {
    let keep = 1.0 - look.scale;
    let (kept_a, kept_b) = (a.middle() * keep, b.middle() * keep + look.shift);
    let vertex = |d: &Vec3| {
        // Farthest of B - A along -d: the origin lies on the side of d.
        let (on_b, on_a) = (
            b.support(&-d) * look.scale + kept_b,
            a.support(d) * look.scale + kept_a,
        );
        Vertex {
            w: on_b - on_a,
            on_a,
            on_b,
        }
    };
    let first = vertex(start);
    let mut simplex = [first; 4];
    let mut nearest = Nearest {
        point: first.w,
        norm2: first.w.norm_squared(),
        len: 1,
        ..Nearest::none()
    };
    for _ in 0..100 {
        let (v, norm2) = (nearest.point, nearest.norm2);
        if norm2 == 0.0 {
            return None;
        }
        let next = vertex(&v);
        let bound = v.dot(&next.w);
        // No point of B - A lies nearer along v than v itself does: v is the answer.
        let repeated = simplex[..nearest.len].iter().any(|x| x.w == next.w);
        let far = bound > 0.0 && bound * bound > look.beyond * look.beyond * norm2;
        if repeated || far || norm2 - bound <= look.converged * norm2 {
            break;
        }
        let mut grown = simplex;
        grown[nearest.len] = next;
        let w: [Vec3; 4] = std::array::from_fn(|i| grown[i].w);
        let nearer = match nearest.len {
            1 => on_segment(&w, 0, 1),
            2 => on_triangle(&w),
            _ => on_tetrahedron(&w)?,
        };
        // Rounding has the last word: keep the better of the two.
        if nearer.norm2 >= norm2 {
            break;
        }
        for i in 0..nearer.len {
            simplex[i] = grown[nearer.keep[i]];
        }
        nearest = nearer;
    }
    let gap = nearest.norm2.sqrt();
    let (mut on_a, mut on_b) = (Vec3::zeros(), -look.shift);
    for (x, weight) in simplex[..nearest.len].iter().zip(nearest.weights) {
        on_a += x.on_a * weight;
        on_b += x.on_b * weight;
    }
    Some(Separation {
        normal: nearest.point / gap,
        gap,
        on_a,
        on_b,
    })
}

/// The point of a simplex nearest to the origin: the corners that span it, their weights (all
/// positive), the point and its squared distance.
#[derive(Clone, Copy)]
struct Nearest {
    keep: [usize; 3],
    weights: [f64; 3],
    len: usize,
    point: Vec3,
    norm2: f64,
}

impl Nearest {
    fn none() -> Self {
        Self {
            keep: [0; 3],
            weights: [1.0, 0.0, 0.0],
            len: 0,
            point: Vec3::zeros(),
            norm2: f64::INFINITY,
        }
    }

    #[inline]
    fn or(self, other: Self) -> Self {
        if other.norm2 < self.norm2 {
            other
        } else {
            self
        }
    }
}

#[inline]
fn on_segment(w: &[Vec3; 4], i: usize, j: usize) -> Nearest {
    let d = w[j] - w[i];
    let (length2, t) = (d.norm_squared(), -w[i].dot(&d));
    if t <= 0.0 || length2 == 0.0 {
        return Nearest {
            keep: [i, 0, 0],
            len: 1,
            point: w[i],
            norm2: w[i].norm_squared(),
            ..Nearest::none()
        };
    }
    if t >= length2 {
        return Nearest {
            keep: [j, 0, 0],
            len: 1,
            point: w[j],
            norm2: w[j].norm_squared(),
            ..Nearest::none()
        };
    }
    let t = t / length2;
    // From the nearer end: the farther one would bring its own rounding.
    let point = if t <= 0.5 {
        w[i] + d * t
    } else {
        w[j] - d * (1.0 - t)
    };
    Nearest {
        keep: [i, j, 0],
        weights: [1.0 - t, t, 0.0],
        len: 2,
        point,
        norm2: point.norm_squared(),
    }
}

/// Nearest point of a triangle whose last corner is new: the foot of the origin if it falls inside,
/// else the better of the two new edges. (Voronoi regions misjudge slivers, of which smooth shapes
/// make many.)
#[inline]
fn on_triangle(w: &[Vec3; 4]) -> Nearest {
    on_segment(w, 0, 2)
        .or(on_segment(w, 1, 2))
        .or(foot(w, 0, 1, 2).0)
}

/// The foot of the origin on a triangle's plane, if it falls inside; and the triangle's normal.
#[inline]
fn foot(w: &[Vec3; 4], i: usize, j: usize, k: usize) -> (Nearest, Vec3) {
    let (a, b, c) = (w[i], w[j], w[k]);
    let (ab, bc, ca) = (b - a, c - b, a - c);
    let normal = ab.cross(&bc);
    let area2 = normal.norm_squared();
    let (x, y, z) = (
        b.cross(&bc).dot(&normal),
        c.cross(&ca).dot(&normal),
        a.cross(&ab).dot(&normal),
    );
    if area2 == 0.0 || x <= 0.0 || y <= 0.0 || z <= 0.0 {
        return (Nearest::none(), normal);
    }
    let sum = x + y + z;
    let point = normal * ((a + b + c).dot(&normal) / (3.0 * area2));
    let weights = [x / sum, y / sum, z / sum];
    (
        Nearest {
            keep: [i, j, k],
            weights,
            len: 3,
            point,
            norm2: point.norm_squared(),
        },
        normal,
    )
}

/// Nearest point on the faces of a tetrahedron whose last corner is new; none if the origin is inside.
/// The old face needs no look: the new corner lies nearer. On smooth shapes the last tetrahedra are
/// so flat that the side of a face is a matter of rounding, while the nearest of the candidates is
/// always a point of the hull.
fn on_tetrahedron(w: &[Vec3; 4]) -> Option<Nearest> {
    let mut best = on_segment(w, 0, 3)
        .or(on_segment(w, 1, 3))
        .or(on_segment(w, 2, 3));
    let (mut inside, mut altitude2) = (true, f64::INFINITY);
    for [i, j, opposite] in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
        let (inner, normal) = foot(w, i, j, 3);
        let height = (w[opposite] - w[3]).dot(&normal);
        inside &= -w[3].dot(&normal) * height > 0.0;
        altitude2 = altitude2.min(height * height / normal.norm_squared());
        best = best.or(inner);
    }
    // A point inside is nearer to some face than the least altitude.
    (!inside || best.norm2 > altitude2).then_some(best)
}

/// Share of their sizes that shapes keep in the first look for a normal.
const SHRUNK: f64 = 0.9;
/// Distance, relative to size, to which overlapping shapes are moved apart while climbing.
const CLEAR: f64 = 2e-3;
/// Overlap, relative to size, up to which the first climb is trusted to have found the shortest way.
const SHALLOW: f64 = 0.01;
/// Number of starting normals that are climbed when it is not.
const CLIMBS: usize = 3;

/// Signed separation of the cores of A and B. `size` is a length typical of the smaller shape; of
/// separations beyond `beyond` only a lower bound greater than it is given; `candidates` are normals
/// worth trying when the cores overlap deeply (faces, axes).
pub(crate) fn separation(
    a: &Core,
    b: &Core,
    size: f64,
    beyond: f64,
    candidates: impl IntoIterator<Item = Vec3>,
) -> Separation {
    let along = |n: &Vec3| {
        let (on_a, on_b) = (a.support(n), b.support(&-n));
        Separation {
            normal: *n,
            gap: n.dot(&(on_b - on_a)),
            on_a,
            on_b,
        }
    };
    let towards = b.middle() - a.middle();
    let start = towards.try_normalize(1e-12 * size).unwrap_or_else(Vec3::z);
    let first = along(&start);
    if first.gap > beyond {
        return first;
    }
    let rough = Look {
        shift: Vec3::zeros(),
        scale: SHRUNK,
        converged: 1e-3,
        beyond: f64::INFINITY,
    };
    let mut best = first;
    if let Some(found) = distance(a, b, &start, &rough) {
        let second = along(&found.normal);
        if second.gap > beyond {
            return second;
        }
        if second.gap > CLEAR * size {
            let fine = Look {
                shift: Vec3::zeros(),
                scale: 1.0,
                converged: CONVERGED,
                beyond,
            };
            if let Some(found) = distance(a, b, &second.normal, &fine) {
                return found;
            }
        }
        best = climb(a, b, size, &second.normal);
        if best.gap > -SHALLOW * size {
            return best;
        }
    }
    // The best normals that are not neighbours of better ones, best first.
    let mut starts = [(f64::NEG_INFINITY, start); CLIMBS];
    for n in std::iter::once(start).chain(candidates) {
        let gap = along(&n).gap;
        let twin = starts
            .iter()
            .position(|x| x.0 > f64::NEG_INFINITY && x.1.dot(&n) > 0.9);
        let slot = twin.unwrap_or(CLIMBS - 1);
        if gap > starts[slot].0 {
            starts[slot] = (gap, n);
            starts.sort_by(|x, y| y.0.total_cmp(&x.0));
        }
    }
    for (gap, n) in &starts {
        if gap.is_finite() {
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
        let shift = normal * (CLEAR * size - gap);
        let look = Look {
            shift,
            scale: 1.0,
            converged: CONVERGED,
            beyond: f64::INFINITY,
        };
        let Some(found) = distance(a, b, &normal, &look) else {
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
        if turn < 1e-7 {
            break;
        }
    }
    result
}

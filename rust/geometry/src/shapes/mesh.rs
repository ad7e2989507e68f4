//! Triangle mesh: fixed ground of any form.
//!
//! The surface is one-sided: triangles are anticlockwise seen from outside. Each edge and vertex
//! knows whether it sticks out (a ridge, a peak, a border); only those can touch a shape by themselves.
//! Flat and hollow edges never do, so a body sliding over a triangulated plane feels no triangles.

use crate::aabb::Aabb;
use crate::convex::Kind;
use crate::description::Description;
use crate::error::GeometryError;
use crate::outline::Outline;
use crate::pose::{Frame, Vec3};
use crate::shape::finite_points;

/// Sine of the angle between two triangles from which on their edge is a ridge.
const RIDGE: f64 = 1e-6;
/// Most triangles a mesh may have: feature numbers hold its edges.
const MOST_TRIANGLES: usize = 1 << 24;
/// Triangles in a leaf of the search tree.
const LEAF: usize = 4;

/// A triangle of the surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Triangle {
    /// Indices of its corners.
    pub corners: [u32; 3],
    /// Outward unit normal.
    pub normal: Vec3,
    /// Indices of its edges, from each corner to the next.
    pub(crate) edges: [u32; 3],
}

/// An edge that may touch by itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Edge {
    pub corners: [u32; 2],
    /// The first triangle that has it.
    pub owner: u32,
    /// In each neighbouring triangle, the direction square to the edge into the triangle.
    pub inward: [Option<Vec3>; 2],
    /// Sticks out.
    pub ridge: bool,
    /// Tangent of the angle between its triangles' normals where it is hollow, else zero.
    pub hollow: f64,
}

/// A vertex that may touch by itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Peak {
    /// The first triangle that has it.
    pub owner: u32,
    /// Directions of all edges from here; empty if it cannot stick out.
    pub edges: Vec<Vec3>,
}

#[derive(Debug, Clone, PartialEq)]
struct Node {
    bounds: Aabb,
    /// A leaf's range in `order`, or the index of the second child (the first follows its parent).
    start: u32,
    count: u32,
}

/// A surface of triangles.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    vertices: Vec<Vec3>,
    triangles: Vec<Triangle>,
    edges: Vec<Edge>,
    peaks: Vec<Peak>,
    nodes: Vec<Node>,
    order: Vec<u32>,
}

impl Mesh {
    /// A surface from its vertices and triangles, anticlockwise seen from outside.
    pub fn new(vertices: Vec<Vec3>, triangles: &[[u32; 3]]) -> Result<Self, GeometryError> {
        finite_points("mesh: vertex", &vertices)?;
        if triangles.is_empty() {
            return Err(GeometryError::TooFew {
                shape: "mesh",
                key: "triangles",
                count: 0,
                least: 1,
            });
        }
        if triangles.len() > MOST_TRIANGLES {
            return Err(GeometryError::TooMany {
                shape: "mesh",
                key: "triangles",
                count: triangles.len(),
                most: MOST_TRIANGLES,
            });
        }
        let names = edge_names(&vertices, triangles)?;
        let mut surface = Vec::with_capacity(triangles.len());
        let mut edges: Vec<Edge> = Vec::with_capacity(triangles.len() / 2 * 3);
        // Of each edge met before, where the first triangle that has it starts along it, and that triangle's normal.
        let mut firsts: Vec<(u32, Vec3)> = Vec::with_capacity(triangles.len() / 2 * 3);
        for (t, (&corners, &names)) in triangles.iter().zip(&names).enumerate() {
            let p = corners.map(|v| vertices[v as usize]);
            let across = (p[1] - p[0]).cross(&(p[2] - p[0]));
            let longest = (0..3)
                .map(|k| (p[(k + 1) % 3] - p[k]).norm())
                .fold(0.0, f64::max);
            if across.norm() <= 1e-12 * longest * longest {
                return Err(GeometryError::TriangleArea { triangle: t });
            }
            let normal = across.normalize();
            for k in 0..3 {
                let (from, to) = (corners[k], corners[(k + 1) % 3]);
                let inward = normal.cross(&(p[(k + 1) % 3] - p[k])).normalize();
                if names[k] as usize == edges.len() {
                    firsts.push((from, normal));
                    edges.push(Edge {
                        corners: [from.min(to), from.max(to)],
                        owner: t as u32,
                        inward: [Some(inward), None],
                        ridge: true,
                        hollow: 0.0,
                    });
                    continue;
                }
                let (start, other) = firsts[names[k] as usize];
                let edge = &mut edges[names[k] as usize];
                if start == from && edge.inward[1].is_none() {
                    let other = edge.owner as usize;
                    return Err(GeometryError::TriangleTurned { triangle: t, other });
                }
                edge.inward[1] = Some(inward);
                let (sine, cosine) = (other.dot(&inward), other.dot(&normal));
                edge.ridge = sine < -RIDGE;
                edge.hollow = sine.max(0.0) / cosine.max(0.1);
            }
            surface.push(Triangle {
                corners,
                normal,
                edges: names,
            });
        }
        let mut peaks = vec![
            Peak {
                owner: u32::MAX,
                edges: Vec::new()
            };
            vertices.len()
        ];
        for (t, triangle) in surface.iter().enumerate() {
            for &v in &triangle.corners {
                let peak = &mut peaks[v as usize];
                peak.owner = peak.owner.min(t as u32);
            }
        }
        for e in &edges {
            let along =
                (vertices[e.corners[1] as usize] - vertices[e.corners[0] as usize]).normalize();
            peaks[e.corners[0] as usize].edges.push(along);
            peaks[e.corners[1] as usize].edges.push(-along);
        }
        let mut ridged = vec![false; vertices.len()];
        for e in edges.iter().filter(|e| e.ridge) {
            e.corners.iter().for_each(|&v| ridged[v as usize] = true);
        }
        for (peak, ridged) in peaks.iter_mut().zip(ridged) {
            if !ridged {
                peak.edges = Vec::new();
            }
        }
        let mut mesh = Self {
            vertices,
            triangles: surface,
            edges,
            peaks,
            nodes: Vec::new(),
            order: Vec::new(),
        };
        let mut order: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
        mesh.grow_tree(&mut order, 0);
        mesh.order = order;
        Ok(mesh)
    }

    /// The vertices.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// The triangles.
    pub fn triangles(&self) -> &[Triangle] {
        &self.triangles
    }

    pub(crate) fn outline(&self) -> Outline {
        Outline {
            vertices: self.vertices.clone(),
            polygons: self.triangles.iter().map(|t| t.corners.to_vec()).collect(),
        }
    }

    pub(crate) fn edge(&self, e: u32) -> &Edge {
        &self.edges[e as usize]
    }

    pub(crate) fn peak(&self, v: u32) -> &Peak {
        &self.peaks[v as usize]
    }

    pub(crate) fn bounds(&self, frame: &Frame) -> Aabb {
        let local = &self.nodes[0].bounds;
        let (centre, half) = ((local.min + local.max) * 0.5, (local.max - local.min) * 0.5);
        Aabb::around(&frame.point(&centre), &(frame.axes.abs() * half))
    }

    /// Writes to `found` the triangles whose boxes overlap `wanted`, in rising order.
    pub(crate) fn query(&self, wanted: &Aabb, found: &mut Vec<u32>) {
        found.clear();
        let mut next = 0_usize;
        // A subtree's nodes follow each other: skipping one is a jump to the node after it.
        while next < self.nodes.len() {
            let node = &self.nodes[next];
            if !node.bounds.overlaps(wanted) {
                next = if node.count > 0 {
                    next + 1
                } else {
                    node.start as usize
                };
                continue;
            }
            if node.count > 0 {
                let range = node.start as usize..(node.start + node.count) as usize;
                found.extend(
                    self.order[range]
                        .iter()
                        .filter(|&&t| self.triangle_bounds(t).overlaps(wanted)),
                );
            }
            next += 1;
        }
        found.sort_unstable();
    }

    fn triangle_bounds(&self, t: u32) -> Aabb {
        let corners = self.triangles[t as usize].corners;
        Aabb::of_points(corners.iter().map(|&v| &self.vertices[v as usize]))
    }

    /// Appends the tree over `order[..]` (whose first element has place `first` overall): an inner
    /// node's `start` is the node after its subtree.
    fn grow_tree(&mut self, order: &mut [u32], first: u32) {
        let bounds =
            order
                .iter()
                .map(|&t| self.triangle_bounds(t))
                .fold(Aabb::of_points([]), |a, b| Aabb {
                    min: a.min.inf(&b.min),
                    max: a.max.sup(&b.max),
                });
        let here = self.nodes.len();
        if order.len() <= LEAF {
            self.nodes.push(Node {
                bounds,
                start: first,
                count: order.len() as u32,
            });
            return;
        }
        self.nodes.push(Node {
            bounds,
            start: 0,
            count: 0,
        });
        let axis = (bounds.max - bounds.min).imax();
        let centre = |t: u32| {
            let b = self.triangle_bounds(t);
            b.min[axis] + b.max[axis]
        };
        let mut placed: Vec<(f64, u32)> = order.iter().map(|&t| (centre(t), t)).collect();
        let half = order.len() / 2;
        placed.select_nth_unstable_by(half, |s, t| s.0.total_cmp(&t.0).then(s.1.cmp(&t.1)));
        for (place, (_, t)) in order.iter_mut().zip(placed) {
            *place = t;
        }
        let (low, high) = order.split_at_mut(half);
        self.grow_tree(low, first);
        self.grow_tree(high, first + half as u32);
        self.nodes[here].start = self.nodes.len() as u32;
    }
}

impl Kind for Mesh {
    const NAME: &'static str = "mesh";

    fn read<D: Description>(from: &D) -> Result<Self, D::Error> {
        let vertices = from.points("vertices_m")?;
        Ok(Self::new(vertices, &from.triangles("triangles")?)?)
    }
}

/// The edges of each triangle, from each corner to the next, numbered as they are first met.
fn edge_names(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<Vec<[u32; 3]>, GeometryError> {
    let mut sides: Vec<(u64, u32)> = Vec::with_capacity(3 * triangles.len());
    for (t, corners) in triangles.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices.len()) {
            return Err(GeometryError::TriangleVertex {
                triangle: t,
                vertex: vertex as usize,
                vertices: vertices.len(),
            });
        }
        for k in 0..3 {
            let (from, to) = (u64::from(corners[k]), u64::from(corners[(k + 1) % 3]));
            sides.push((from.min(to) << 32 | from.max(to), (3 * t + k) as u32));
        }
    }
    // Sorted, the sides of one edge follow each other, the one met first before the others.
    sides.sort_unstable();
    let mut first = vec![0_u32; sides.len()];
    let mut start = 0;
    for i in 0..sides.len() {
        if sides[i].0 != sides[start].0 {
            start = i;
        }
        first[sides[i].1 as usize] = sides[start].1;
    }
    let mut count = 0;
    for side in 0..first.len() {
        // What is met first gets the next number, the others that of the first, which is known by then.
        if first[side] as usize == side {
            first[side] = count;
            count += 1;
        } else {
            first[side] = first[first[side] as usize];
        }
    }
    Ok(first.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect())
}

//! Convex polyhedron, from its vertices.

use crate::aabb::Aabb;
use crate::contact::feature;
use crate::convex::{Convex, Kind, TakeCorner};
use crate::description::Description;
use crate::error::GeometryError;
use crate::facing::{FLAT_COSINE, FLAT_TILT, Facing};
use crate::hull::convex_hull;
use crate::mass::MassProperties;
use crate::outline::Outline;
use crate::polygon::Polygon;
use crate::pose::{Frame, Mat3, Vec3};
use crate::segment_face::Segment;
use crate::shape::finite_points;
use std::collections::BTreeMap;

/// A flat face: its outward normal and the loop of its corners.
#[derive(Debug, Clone, PartialEq)]
pub struct Face {
    /// Outward unit normal.
    pub normal: Vec3,
    /// Indices of its corners, anticlockwise seen from outside.
    pub corners: Vec<u16>,
    /// Index of the edge from each corner to the next.
    pub edges: Vec<u16>,
}

/// The convex hull of a cloud of points, with coplanar faces merged.
#[derive(Debug, Clone, PartialEq)]
pub struct Polyhedron {
    vertices: Vec<Vec3>,
    faces: Vec<Face>,
    edges: Vec<[u16; 2]>,
    size: f64,
    middle: Vec3,
}

impl Polyhedron {
    /// Most vertices a hull may have: feature numbers hold fifteen bits.
    pub const MOST_VERTICES: usize = 8192;

    /// The hull of the given points; points inside it are dropped.
    pub fn new(points: &[Vec3]) -> Result<Self, GeometryError> {
        finite_points("polyhedron: vertex", points)?;
        let flat = GeometryError::Flat {
            vertices: points.len(),
        };
        if points.len() < 4 {
            return Err(flat);
        }
        let loops = convex_hull(points).ok_or(flat)?;
        let mut used: Vec<usize> = loops.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        if used.len() > Self::MOST_VERTICES {
            return Err(GeometryError::TooMany {
                shape: "polyhedron",
                key: "vertices on the hull",
                count: used.len(),
                most: Self::MOST_VERTICES,
            });
        }
        let vertices: Vec<Vec3> = used.iter().map(|&i| points[i]).collect();
        let mut edges: Vec<[u16; 2]> = Vec::new();
        let mut numbers: BTreeMap<[u16; 2], u16> = BTreeMap::new();
        let mut faces = Vec::new();
        for round in &loops {
            let corners: Vec<u16> = round
                .iter()
                .map(|i| used.binary_search(i).expect("a corner is a vertex") as u16)
                .collect();
            let len = corners.len();
            let names = (0..len).map(|k| {
                let (p, q) = (corners[k], corners[(k + 1) % len]);
                let edge = [p.min(q), p.max(q)];
                *numbers.entry(edge).or_insert_with(|| {
                    edges.push(edge);
                    (edges.len() - 1) as u16
                })
            });
            let names: Vec<u16> = names.collect();
            // Newell's normal uses all corners alike.
            let sum = (0..len).fold(Vec3::zeros(), |n, k| {
                n + vertices[corners[k] as usize].cross(&vertices[corners[(k + 1) % len] as usize])
            });
            faces.push(Face {
                normal: sum.normalize(),
                corners,
                edges: names,
            });
        }
        let mut polyhedron = Self {
            vertices,
            faces,
            edges,
            size: 0.0,
            middle: Vec3::zeros(),
        };
        let solid = polyhedron.mass(1.0);
        polyhedron.size = 0.5 * solid.mass_kg.cbrt();
        polyhedron.middle = solid.centre_m;
        Ok(polyhedron)
    }

    /// The corners of the hull.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// The faces of the hull.
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    fn farthest_corner(&self, d: &Vec3) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, v) in self.vertices.iter().enumerate() {
            let reach = v.dot(d);
            if reach > best.1 {
                best = (i, reach);
            }
        }
        best.0
    }

    /// The face that looks most along the local direction `d`, and the cosine.
    pub(crate) fn face_towards(&self, d: &Vec3) -> (usize, f64) {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, f) in self.faces.iter().enumerate() {
            let cosine = f.normal.dot(d);
            if cosine > best.1 {
                best = (i, cosine);
            }
        }
        best
    }

    /// The edge at the corner farthest along `d` that is most nearly square to it, and the sine.
    pub(crate) fn edge_towards(&self, d: &Vec3) -> ([Vec3; 2], f64) {
        let corner = self.farthest_corner(d) as u16;
        let mut best = ([Vec3::zeros(); 2], f64::INFINITY);
        for e in self.edges.iter().filter(|e| e.contains(&corner)) {
            let ends = [self.vertices[e[0] as usize], self.vertices[e[1] as usize]];
            let sine = (ends[1] - ends[0]).normalize().dot(d).abs();
            if sine < best.1 {
                best = (ends, sine);
            }
        }
        best
    }

    pub(crate) fn set_face(&self, polygon: &mut Polygon, frame: &Frame, face: usize) {
        let face = &self.faces[face];
        polygon.reset(frame.vector(&face.normal));
        for (&corner, &edge) in face.corners.iter().zip(&face.edges) {
            polygon.push(frame.point(&self.vertices[corner as usize]), corner, edge);
        }
    }
}

impl Kind for Polyhedron {
    const NAME: &'static str = "polyhedron";

    fn read<D: Description>(from: &D) -> Result<Self, D::Error> {
        Ok(Self::new(&from.points("vertices_m")?)?)
    }
}

impl Convex for Polyhedron {
    fn support(&self, d: &Vec3) -> Vec3 {
        self.vertices[self.farthest_corner(d)]
    }

    fn size(&self) -> f64 {
        self.size
    }

    /// Exact: the solid is the signed sum of the tetrahedra from one point to the triangles of the
    /// surface; for each, the integral of x x^T is V/20 (sum of v v^T + (sum v)(sum v)^T).
    fn mass(&self, density: f64) -> MassProperties {
        let apex = self.vertices.iter().sum::<Vec3>() / self.vertices.len() as f64;
        let (mut volume, mut first, mut second) = (0.0, Vec3::zeros(), Mat3::zeros());
        for face in &self.faces {
            let corner = |k: usize| self.vertices[face.corners[k] as usize] - apex;
            for k in 1..face.corners.len() - 1 {
                let (a, b, c) = (corner(0), corner(k), corner(k + 1));
                let v = a.dot(&b.cross(&c)) / 6.0;
                let sum = a + b + c;
                volume += v;
                first += sum * (v / 4.0);
                let squares = a * a.transpose()
                    + b * b.transpose()
                    + c * c.transpose()
                    + sum * sum.transpose();
                second += squares * (v / 20.0);
            }
        }
        let centre = first / volume;
        let spread = (second - centre * centre.transpose() * volume) * density;
        MassProperties {
            mass_kg: density * volume,
            centre_m: apex + centre,
            inertia_kg_m2: Mat3::identity() * spread.trace() - spread,
        }
    }

    fn facing(&self, frame: &Frame, d: &Vec3, polygon: &mut Polygon) -> Facing {
        let local = frame.local_vector(d);
        let (face, cosine) = self.face_towards(&local);
        if cosine > FLAT_COSINE {
            self.set_face(polygon, frame, face);
            return Facing::Polygon;
        }
        let (ends, sine) = self.edge_towards(&local);
        if sine < FLAT_TILT {
            Facing::Edge(Segment::placed(frame, ends, 0.0))
        } else {
            Facing::Corner
        }
    }

    fn outline(&self) -> Outline {
        let corners = |face: &Face| face.corners.iter().map(|&c| u32::from(c)).collect();
        Outline {
            vertices: self.vertices.clone(),
            polygons: self.faces.iter().map(corners).collect(),
        }
    }

    fn middle(&self, frame: &Frame) -> Vec3 {
        frame.point(&self.middle)
    }

    fn bounds(&self, frame: &Frame) -> Aabb {
        let placed: Aabb = self.vertices.iter().fold(Aabb::of_points([]), |b, v| {
            let p = frame.point(v);
            Aabb {
                min: b.min.inf(&p),
                max: b.max.sup(&p),
            }
        });
        placed
    }

    fn on_plane(&self, frame: &Frame, _: &Vec3, take: TakeCorner<'_>) {
        for (k, v) in self.vertices.iter().enumerate() {
            take(frame.point(v), 0.0, feature::vertex_a(k as u32));
        }
    }

    fn faces(&self) -> &[Face] {
        &self.faces
    }
}

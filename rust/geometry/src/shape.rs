//! The closed list of shapes. A new shape is a file in `shapes`, a variant here, and a pair file
//! where the general convex path is not exact or fast enough.

use crate::aabb::Aabb;
use crate::error::{GeometryError, finite, positive};
use crate::mass::MassProperties;
use crate::pose::{Frame, Vec3};
use crate::shapes::capsule::Capsule;
use crate::shapes::cone::Cone;
use crate::shapes::cuboid::Cuboid;
use crate::shapes::cylinder::Cylinder;
use crate::shapes::half_space::HalfSpace;
use crate::shapes::mesh::Mesh;
use crate::shapes::polyhedron::Polyhedron;
use crate::shapes::ring::Ring;
use crate::shapes::sphere::Sphere;
use std::sync::Arc;

/// Any shape a contactor can have.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Ball.
    Sphere(Sphere),
    /// Box.
    Box(Cuboid),
    /// Cylinder with flat ends.
    Cylinder(Cylinder),
    /// Cylinder with round ends.
    Capsule(Capsule),
    /// Cone.
    Cone(Cone),
    /// Convex polyhedron.
    Polyhedron(Arc<Polyhedron>),
    /// Everything below a plane.
    HalfSpace(HalfSpace),
    /// Hollow disk.
    Ring(Ring),
    /// Surface of triangles, fixed ground.
    Mesh(Arc<Mesh>),
}

impl Shape {
    /// A ball around the origin.
    pub fn sphere(radius_m: f64) -> Result<Self, GeometryError> {
        Sphere::new(radius_m).map(Self::Sphere)
    }

    /// A box centred at the origin, from its full side lengths.
    pub fn cuboid(x_m: f64, y_m: f64, z_m: f64) -> Result<Self, GeometryError> {
        Cuboid::new(x_m, y_m, z_m).map(Self::Box)
    }

    /// A cylinder about z, centred at the origin.
    pub fn cylinder(radius_m: f64, height_m: f64) -> Result<Self, GeometryError> {
        Cylinder::new(radius_m, height_m).map(Self::Cylinder)
    }

    /// A capsule about z, centred at the origin; `length_m` is the straight part alone.
    pub fn capsule(radius_m: f64, length_m: f64) -> Result<Self, GeometryError> {
        Capsule::new(radius_m, length_m).map(Self::Capsule)
    }

    /// A cone about z, base at -height/2 and apex at +height/2.
    pub fn cone(radius_m: f64, height_m: f64) -> Result<Self, GeometryError> {
        Cone::new(radius_m, height_m).map(Self::Cone)
    }

    /// The convex hull of the given points.
    pub fn polyhedron(points: &[Vec3]) -> Result<Self, GeometryError> {
        Polyhedron::new(points).map(|p| Self::Polyhedron(Arc::new(p)))
    }

    /// A surface of triangles, anticlockwise seen from outside; fixed ground.
    pub fn mesh(vertices: Vec<Vec3>, triangles: &[[u32; 3]]) -> Result<Self, GeometryError> {
        Mesh::new(vertices, triangles).map(|m| Self::Mesh(Arc::new(m)))
    }

    /// A surface z(x, y) over a regular grid (see [`Mesh::height_field`]); fixed ground.
    pub fn height_field(
        columns: usize,
        rows: usize,
        spacing_m: [f64; 2],
        heights_m: &[f64],
    ) -> Result<Self, GeometryError> {
        Mesh::height_field(columns, rows, spacing_m, heights_m).map(|m| Self::Mesh(Arc::new(m)))
    }

    /// Everything below z = 0.
    pub fn half_space() -> Self {
        Self::HalfSpace(HalfSpace)
    }

    /// A hollow disk about z, centred at the origin.
    pub fn ring(
        inner_radius_m: f64,
        outer_radius_m: f64,
        height_m: f64,
    ) -> Result<Self, GeometryError> {
        Ring::new(inner_radius_m, outer_radius_m, height_m).map(Self::Ring)
    }

    /// The shape's name in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sphere(_) => "sphere",
            Self::Box(_) => "box",
            Self::Cylinder(_) => "cylinder",
            Self::Capsule(_) => "capsule",
            Self::Cone(_) => "cone",
            Self::Polyhedron(_) => "polyhedron",
            Self::HalfSpace(_) => "half-space",
            Self::Ring(_) => "ring",
            Self::Mesh(_) => "mesh",
        }
    }

    /// The box around the shape placed at `frame`.
    pub fn bounds(&self, frame: &Frame) -> Aabb {
        match self {
            Self::Sphere(s) => s.bounds(frame),
            Self::Box(s) => s.bounds(frame),
            Self::Cylinder(s) => s.bounds(frame),
            Self::Capsule(s) => s.bounds(frame),
            Self::Cone(s) => s.bounds(frame),
            Self::Polyhedron(s) => s.bounds(frame),
            Self::HalfSpace(s) => s.bounds(frame),
            Self::Ring(s) => s.bounds(frame),
            Self::Mesh(s) => s.bounds(frame),
        }
    }

    /// Mass, centre and inertia for a uniform density, in the shape's own frame.
    pub fn mass_properties(&self, density_kg_per_m3: f64) -> Result<MassProperties, GeometryError> {
        let density = positive(self.name(), "density_kg_per_m3", density_kg_per_m3)?;
        Ok(match self {
            Self::Sphere(s) => s.mass(density),
            Self::Box(s) => s.mass(density),
            Self::Cylinder(s) => s.mass(density),
            Self::Capsule(s) => s.mass(density),
            Self::Cone(s) => s.mass(density),
            Self::Polyhedron(s) => s.mass(density),
            Self::Ring(s) => s.mass(density),
            Self::HalfSpace(_) | Self::Mesh(_) => {
                return Err(GeometryError::NoMass { shape: self.name() });
            }
        })
    }

    /// A length typical of the shape's smaller sides (m); the scale of its tolerances.
    pub fn size(&self) -> f64 {
        match self {
            // Without a radius it is a point, which has no size of its own.
            Self::Sphere(s) if s.radius_m == 0.0 => f64::INFINITY,
            Self::Sphere(s) => s.radius_m,
            Self::Box(s) => s.half_m.min(),
            Self::Cylinder(s) => s.radius_m.min(s.half_height_m),
            // Without a radius it is an edge.
            Self::Capsule(s) if s.radius_m == 0.0 => s.half_length_m,
            Self::Capsule(s) => s.radius_m,
            Self::Cone(s) => s.radius_m.min(s.half_height_m),
            Self::Polyhedron(s) => s.size(),
            Self::HalfSpace(_) | Self::Mesh(_) => f64::INFINITY,
            Self::Ring(s) => s.outer_radius_m.min(s.half_height_m),
        }
    }

    /// Half the width along a local unit direction (m); infinite for unbounded shapes.
    pub fn half_width(&self, direction: &Vec3) -> f64 {
        match (self.support(direction), self.support(&-direction)) {
            (Some(far), Some(near)) => 0.5 * (far - near).dot(direction),
            _ => f64::INFINITY,
        }
    }

    /// A point of the convex hull farthest along the local direction `d`; none for unbounded shapes.
    pub fn support(&self, d: &Vec3) -> Option<Vec3> {
        match self {
            Self::Sphere(s) => Some(d.try_normalize(0.0).unwrap_or_else(Vec3::z) * s.radius_m),
            Self::Box(s) => Some(s.support(d)),
            Self::Cylinder(s) => Some(s.support(d)),
            Self::Capsule(s) => {
                let ball = d.try_normalize(0.0).unwrap_or_else(Vec3::z) * s.radius_m;
                Some(ball + Vec3::new(0.0, 0.0, s.half_length_m.copysign(d.z)))
            }
            Self::Cone(s) => Some(s.support(d)),
            Self::Polyhedron(s) => Some(s.support(d)),
            Self::Ring(s) => Some(s.outline().support(d)),
            Self::HalfSpace(_) | Self::Mesh(_) => None,
        }
    }
}

/// Refuses a list of points that holds NaN or an infinite number.
pub(crate) fn finite_points(what: &str, points: &[Vec3]) -> Result<(), GeometryError> {
    points
        .iter()
        .enumerate()
        .try_for_each(|(i, p)| finite(&format!("{what} {i}"), p.as_slice()))
}

//! The closed list of shapes. A new convex shape is a file in `shapes` and a line in the table here; a pair file only
//! where the general convex path is not exact or fast enough.

use crate::aabb::Aabb;
use crate::convex::{Convex, Kind};
use crate::description::Description;
use crate::error::{GeometryError, finite, positive};
use crate::mass::MassProperties;
use crate::outline::Outline;
use crate::pose::{Frame, Vec3};
use crate::shapes::{
    capsule::Capsule, cone::Cone, cuboid::Cuboid, cylinder::Cylinder, ellipsoid::Ellipsoid,
    half_space::HalfSpace, height_field::HeightField, mesh::Mesh, polyhedron::Polyhedron,
    ring::Ring, sphere::Sphere,
};
use std::sync::Arc;

/// The enum and what it passes on, from one list: variant, what it holds, its type.
macro_rules! shapes {
    ($($(#[$doc:meta])* $shape:ident($held:ty) = $kind:ty,)+) => {
        /// Any shape a contactor can have. Pairs are looked up in the order of this list.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Shape {
            $($(#[$doc])* $shape($held),)+
            /// Surface of triangles, fixed ground.
            Mesh(Arc<Mesh>),
            /// Everything below a plane.
            HalfSpace(HalfSpace),
        }

        /// What a shape is to others.
        pub(crate) enum Form<'a> {
            Convex(&'a dyn Convex),
            Mesh(&'a Mesh),
            HalfSpace(&'a HalfSpace),
        }

        impl Shape {
            /// The names that [`Shape::read`] knows.
            pub const NAMES: &'static [&'static str] = &[
                $(<$kind as Kind>::NAME,)+ Mesh::NAME, HeightField::NAME, HalfSpace::NAME,
            ];

            /// The shape of a name and its numbers; none of an unknown name.
            pub fn read<D: Description>(name: &str, from: &D) -> Option<Result<Self, D::Error>> {
                $(if name == <$kind as Kind>::NAME {
                    return Some(<$kind as Kind>::read(from).map(|s| Self::$shape(s.into())));
                })+
                if name == HeightField::NAME {
                    return Some(HeightField::read(from).map(|s| Self::Mesh(Arc::new(s.0))));
                }
                if name == Mesh::NAME {
                    return Some(Mesh::read(from).map(|s| Self::Mesh(Arc::new(s))));
                }
                (name == HalfSpace::NAME).then(|| HalfSpace::read(from).map(Self::HalfSpace))
            }

            /// The shape's name in messages.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$shape(_) => <$kind as Kind>::NAME,)+
                    Self::Mesh(_) => Mesh::NAME,
                    Self::HalfSpace(_) => HalfSpace::NAME,
                }
            }

            #[inline]
            pub(crate) fn form(&self) -> Form<'_> {
                match self {
                    $(Self::$shape(s) => {
                        let s: &$kind = s;
                        Form::Convex(s)
                    })+
                    Self::Mesh(s) => Form::Mesh(s),
                    Self::HalfSpace(s) => Form::HalfSpace(s),
                }
            }

            /// Place in the list.
            #[inline]
            pub(crate) fn rank(&self) -> usize {
                #[derive(Clone, Copy)]
                enum Rank { $($shape,)+ Mesh, HalfSpace }
                (match self {
                    $(Self::$shape(_) => Rank::$shape,)+
                    Self::Mesh(_) => Rank::Mesh,
                    Self::HalfSpace(_) => Rank::HalfSpace,
                }) as usize
            }
        }
    };
}

shapes! {
    /// Ball.
    Sphere(Sphere) = Sphere,
    /// Box.
    Box(Cuboid) = Cuboid,
    /// Cylinder with flat ends.
    Cylinder(Cylinder) = Cylinder,
    /// Cylinder with round ends.
    Capsule(Capsule) = Capsule,
    /// Cone.
    Cone(Cone) = Cone,
    /// Convex polyhedron.
    Polyhedron(Arc<Polyhedron>) = Polyhedron,
    /// Ellipsoid.
    Ellipsoid(Ellipsoid) = Ellipsoid,
    /// Hollow disk.
    Ring(Ring) = Ring,
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

    /// An ellipsoid centred at the origin, from its three half axes.
    pub fn ellipsoid(x_m: f64, y_m: f64, z_m: f64) -> Result<Self, GeometryError> {
        Ellipsoid::new([x_m, y_m, z_m]).map(Self::Ellipsoid)
    }

    /// A surface of triangles, anticlockwise seen from outside; fixed ground.
    pub fn mesh(vertices: Vec<Vec3>, triangles: &[[u32; 3]]) -> Result<Self, GeometryError> {
        Mesh::new(vertices, triangles).map(|m| Self::Mesh(Arc::new(m)))
    }

    /// A surface z(x, y) over a regular grid (see [`HeightField::new`]); fixed ground.
    pub fn height_field(
        columns: usize,
        rows: usize,
        spacing_m: [f64; 2],
        heights_m: &[f64],
    ) -> Result<Self, GeometryError> {
        HeightField::new(columns, rows, spacing_m, heights_m).map(|s| Self::Mesh(Arc::new(s.0)))
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

    /// The box around the shape placed at `frame`.
    pub fn bounds(&self, frame: &Frame) -> Aabb {
        match self.form() {
            Form::Convex(s) => s.bounds(frame),
            Form::Mesh(s) => s.bounds(frame),
            Form::HalfSpace(s) => s.bounds(frame),
        }
    }

    /// Mass, centre and inertia for a uniform density, in the shape's own frame.
    pub fn mass_properties(&self, density_kg_per_m3: f64) -> Result<MassProperties, GeometryError> {
        let density = positive(self.name(), "density_kg_per_m3", density_kg_per_m3)?;
        match self.form() {
            Form::Convex(s) => Ok(s.mass(density)),
            Form::Mesh(_) | Form::HalfSpace(_) => Err(GeometryError::NoMass { shape: self.name() }),
        }
    }

    /// A length typical of the shape's smaller sides (m); the scale of its tolerances. Infinite for ground.
    pub fn size(&self) -> f64 {
        match self.form() {
            Form::Convex(s) => s.size(),
            Form::Mesh(_) | Form::HalfSpace(_) => f64::INFINITY,
        }
    }

    /// A point farthest along the local direction `d`; none for ground.
    pub fn support(&self, d: &Vec3) -> Option<Vec3> {
        match self.form() {
            Form::Convex(s) => Some(s.farthest(d)),
            Form::Mesh(_) | Form::HalfSpace(_) => None,
        }
    }

    /// Half the width along a local unit direction (m); infinite for ground.
    pub fn half_width(&self, direction: &Vec3) -> f64 {
        match (self.support(direction), self.support(&-direction)) {
            (Some(far), Some(near)) => 0.5 * (far - near).dot(direction),
            _ => f64::INFINITY,
        }
    }

    /// The surface as polygons; of a half-space a square of side 2 `extent_m` about its origin.
    pub fn outline(&self, extent_m: f64) -> Outline {
        match self.form() {
            Form::Convex(s) => s.outline(),
            Form::Mesh(s) => s.outline(),
            Form::HalfSpace(s) => s.outline(extent_m),
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

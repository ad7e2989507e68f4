//! Shapes, mass properties, contact manifolds, and the broad phase that finds which pairs to ask.
//!
//! A body carries [`Contactor`]s: a [`Shape`] at a [`Pose`] on the body, in a collision group. A
//! [`Visibility`] table says which groups see each other. The [`Detector`] turns the poses of the
//! bodies into [`Manifold`]s of [`ContactPoint`]s: position, normal from A to B, signed gap, and a
//! feature number that names the point from step to step. Single pairs: [`contact_points`].
//!
//! Lengths in metres, f64 throughout, no randomness and no thread: the same poses give the same bits,
//! whatever came before. Nothing is allocated once the buffers have grown.
//!
//! How exact: pairs in closed form (half-spaces with anything, spheres with anything but polyhedra,
//! faces of boxes, ends and sides of cylinders, pins in holes, corners on meshes) to rounding; pairs of
//! polytopes and capsules too; the general path with curved rims to 1e-9 of the size in the gap and 1e-5
//! in the normal, while overlaps stay below a twentieth of the size. Crossings of edges on faces
//! tilted by t carry a relative error of t^2 in their gap.

mod aabb;
mod broad_phase;
mod circle;
mod contact;
mod contact_workspace;
mod convex;
mod description;
mod detector;
mod disk;
mod disk_polygon;
mod error;
mod facing;
mod gjk;
mod hull;
mod mass;
mod outline;
mod pairs;
mod polygon;
mod pose;
mod segment;
mod segment_face;
mod shape;
pub mod shapes;
mod signed_distance;
mod visibility;

pub use aabb::Aabb;
pub use broad_phase::BroadPhase;
pub use contact::ContactPoint;
pub use contact_workspace::Workspace;
pub use description::Description;
pub use detector::{Contactor, Detector, Manifold};
pub use error::GeometryError;
pub use mass::MassProperties;
pub use outline::{Outline, SEGMENTS};
pub use pairs::contact_points;
pub use pose::{Frame, Mat3, Pose, Quat, Vec3, tangents};
pub use shape::Shape;
pub use visibility::Visibility;

//! Shapes, mass properties, contact manifolds, and the broad phase that finds which pairs to ask.
//!
//! Lengths in metres, f64 throughout, no randomness and no thread: the same poses give the same bits.

mod aabb;
mod circle;
mod contact;
mod contact_workspace;
mod disk;
mod error;
mod gjk;
mod mass;
mod pairs;
mod polygon;
mod pose;
mod segment;
mod shape;
pub mod shapes;

pub use aabb::Aabb;
pub use contact::ContactPoint;
pub use contact_workspace::Workspace;
pub use error::GeometryError;
pub use mass::MassProperties;
pub use pairs::contact_points;
pub use pose::{Frame, Mat3, Pose, Quat, Vec3, tangents};
pub use shape::Shape;

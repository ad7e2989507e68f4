//! Shapes, mass properties, contact manifolds, and the broad phase that finds which pairs to ask.
//!
//! Lengths in metres, f64 throughout, no randomness and no thread: the same poses give the same bits.

mod aabb;
mod error;
mod mass;
mod pose;
mod shape;
pub mod shapes;

pub use aabb::Aabb;
pub use error::GeometryError;
pub use mass::MassProperties;
pub use pose::{Frame, Mat3, Pose, Quat, Vec3, tangents};
pub use shape::Shape;

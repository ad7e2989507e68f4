//! Shapes, mass properties, contact manifolds, and the broad phase that finds which pairs to ask.
//!
//! Lengths in metres, f64 throughout, no randomness and no thread: the same poses give the same bits.

mod aabb;
mod broad_phase;
mod circle;
mod contact;
mod contact_workspace;
mod detector;
mod disk;
mod disk_polygon;
mod error;
mod facing;
mod gjk;
mod hull;
mod mass;
mod pairs;
mod polygon;
mod pose;
mod segment;
mod segment_face;
mod shape;
pub mod shapes;
mod visibility;

pub use aabb::Aabb;
pub use broad_phase::BroadPhase;
pub use contact::ContactPoint;
pub use contact_workspace::Workspace;
pub use detector::{Contactor, Detector, Manifold};
pub use error::GeometryError;
pub use mass::MassProperties;
pub use pairs::contact_points;
pub use pose::{Frame, Mat3, Pose, Quat, Vec3, tangents};
pub use shape::Shape;
pub use visibility::Visibility;

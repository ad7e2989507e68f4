//! Spherical grains in a periodic cell or between rigid walls, by explicit time steps in three dimensions with rotations.
//!
//! One step (leapfrog: positions at full, velocities at half steps):
//!
//! ```text
//! contacts of all overlapping pairs  ->  forces, torques, stress
//! servo                              ->  rate of each edge of the cell
//! damped Newton and Euler equations  ->  velocities, positions, cell
//! ```
//!
//! Velocities are those beside the homogeneous deformation of the cell. Pairs stand in a flat array sorted by grain and
//! are visited in that order by one thread: the same input gives the same bits. SI throughout; stress and strain are
//! positive in compression at the boundary of this crate.
//!
//! [`Packing`] is a set of grains at rest ([`make_packing`] makes one), [`World`] what moves, [`load`] a test on it.

mod cloud;
mod compaction;
mod contact;
mod control;
mod error;
mod forces;
mod frame;
mod integrate;
mod loading;
mod measure;
mod neighbours;
mod packing;
mod stable_step;
mod touching;
mod walls;
mod world;

pub use cloud::{SizeCurve, TOYOURA, cloud};
pub use compaction::{Compaction, Made, make_packing};
pub use contact::{Contact, Motion, advance};
pub use control::{Axis, Servo};
pub use error::GrainError;
pub use frame::{DrawnContact, Frame, frame};
pub use loading::{Loading, Path, Program, Row, Test, load};
pub use measure::{Energy, Measured, ORIENTATION_BINS, measure};
pub use packing::Packing;
pub use world::{Damping, Material, World};

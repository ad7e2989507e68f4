//! Contact and impact laws: pure functions, one file each.
//!
//! An impact law gives the force between two masses from their indentation `d` (m, positive when they overlap) and its
//! rate `d'` (m/s, positive while they approach). Every law takes the coefficient of restitution `e` as a direct
//! input. What the literature prints often delivers another value than the one it names; so each law has two
//! dampings: [`Damping::Exact`] solves for the damping that delivers `e` in a free collision of two masses, and
//! [`Damping::Nominal`] uses the printed formula.
//!
//! [`contact`] holds the laws of rigid bodies: impact and friction at one contact of a time step; [`grain`] those of
//! spherical grains that overlap a little.
//!
//! [`Law`] is the table of laws, [`Impact`] a law with its numbers put in. To add a law: one file, one line in
//! each table of `law.rs`, and the compiler names the matches that want an arm.

mod damping;
mod error;
mod impact;
mod law;
mod memory;

mod indentation_relation;
mod viscous_relation;

pub mod contact;
pub mod grain;
pub mod hertz;
pub mod hertz_damp;
pub mod hertz_damp_ye;
pub mod hunt_crossley;
pub mod jankowski;
pub mod kelvin_voigt;
pub mod kelvin_voigt_tension;
pub mod linear;
pub mod mahmoud_jankowski;
pub mod rigid;
pub mod ye;

pub use damping::Damping;
pub use error::LawError;
pub use impact::{Gradient, Impact};
pub use law::{Law, LawFacts, SMALLEST_RESTITUTION};
pub use memory::{Memory, SLOWEST_APPROACH_M_S};

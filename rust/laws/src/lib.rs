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
//! [`SpringLaw`] is the table of springs that yield, open or slide, [`Hysteresis`] one with its numbers put in.
//!
//! [`Law`] is the table of impact laws, [`Impact`] a law with its numbers put in. To add one: a file in `impact/` and
//! a line in `impact/table.rs`; the compiler names what the file does not say.

mod error;
mod hysteresis;
mod impact;
mod viscous_relation;

pub mod contact;
pub mod grain;

pub use error::LawError;
pub use hysteresis::{
    Hysteresis, NumberFacts, Past, Response, SpringFacts, SpringLaw, Watch as SpringWatch,
};
pub use impact::{
    Damping, Gradient, Impact, Law, LawFacts, Memory, SLOWEST_APPROACH_M_S, SMALLEST_RESTITUTION,
};

//! Springs that yield, open or slide, and dampers that are not linear: force against elongation and its rate.
//!
//! A law's force is `linear e + F(e, e', past)`: the linear part goes into the stiffness matrix, [`Hysteresis`] is the
//! rest. Elongation `e` (m) grows when the ends part, the force (N) is positive when it pulls them together. Laws but the
//! damper's are independent of rate: force and past are functions of the path of the elongation alone, so that a fixed step
//! may go along a straight path whatever the scheme. For integrators that locate events a law is a set of branches
//! on which it is smooth, and planes in elongation, rate and flowing variable at which one branch ends.
//!
//! [`SpringLaw`] is the table. To add a law: a file here that says what it takes and which [`Form`] it has, and a line
//! in `table.rs`; a form of its own is a variant of [`Form`].

mod bilinear;
mod bouc_wen;
mod form;
mod friction;
mod gap;
mod hook;
mod lead_rubber;
mod linear;
mod menegotto_pinto;
mod one_sided;
mod past;
mod pendulum;
mod power_damper;
mod slider;
mod table;

pub use form::{Hysteresis, Response, Watch};
pub use past::Past;
pub use table::{NumberFacts, SpringFacts, SpringLaw};

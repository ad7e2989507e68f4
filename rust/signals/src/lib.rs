//! What sampled accelerations do to linear oscillators.
//!
//! [`response_spectrum`] gives the peaks of damped oscillators on a base that moves as a record says, with straight
//! lines between its samples: no error of integration, peaks located between samples. SI units throughout.

mod error;
mod oscillator;
mod spectrum;

pub use error::SignalError;
pub use spectrum::{Spectrum, response_spectrum};

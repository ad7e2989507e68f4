//! Extended Kalman filter and smoother over oscillators whose parameters may drift.
//!
//! The state of a system, displacements and velocities, is augmented with parameters that are believed constant but
//! allowed to wander (Green, Chodora, Zhu and Atamturktur, "Towards the validation of dynamical models in regions
//! where there is no data", Eqs. 1-25, 33-40). A model that must vary its parameters to follow the data is not to be
//! trusted beyond them.
//!
//! [`Augmented`] advances a system from sample to sample by Runge-Kutta steps with their exact tangent; [`filter`] and
//! [`smooth`] know nothing of it but the trait [`Dynamics`]. [`respond`] and [`misfit`] run the same steps with constant
//! parameters. SI units throughout.

mod augmented;
mod constant;
mod dynamics;
mod error;
mod filter;
mod smoother;
mod update;

pub use augmented::{Augmented, Inputs, RatioDamper, Sensed, Sensor, Tracked};
pub use constant::{misfit, respond};
pub use dynamics::Dynamics;
pub use error::KalmanError;
pub use filter::{Filtered, Settings, filter};
pub use smoother::{Smoothed, smooth};

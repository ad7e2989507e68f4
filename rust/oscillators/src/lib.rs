//! Masses on springs that collide.
//!
//! A [`System`] describes lumped masses, springs, dampers, contacts and the motion of the base they stand on;
//! [`simulate`] integrates it with the [`Integrator`] asked for and returns a [`Run`]: histories, impacts, peaks and
//! an energy account. Displacements and velocities are relative to the base, accelerations absolute (what an
//! accelerometer reads). SI units throughout.
//!
//! Equation of motion: `M u'' + C u' + K u + k3 e^3 + B' F(B u - gap, B u') = -M 1 a_base(t)`, `F` an impact law of
//! [`percuss_laws`] for each contact, `C = alpha M + beta K +` dampers, `e` the elongation of a cubic spring.

mod batch;
mod error;
mod fixed_step;
mod free_collision;
mod located;
mod matrices;
mod results;
mod simulate;
mod system;
mod tangent;

pub use batch::simulate_many;
pub use error::OscillatorError;
pub use free_collision::{Collision, achieved_restitution, free_collision};
pub use results::energy::EnergyAccount;
pub use results::impacts::ImpactEvent;
pub use results::run::{Peaks, Run};
pub use results::sampling::{MOST_SAMPLES, sample_times};
pub use simulate::{Integrator, Settings, simulate};
pub use system::base_motion::{BaseMotion, Harmonic};
pub use system::model::Model;
pub use system::parameter::Parameter;
pub use system::record::Record;
pub use system::{Contact, Damper, Node, Rayleigh, Spring, System};
pub use tangent::{Load, Tangent};

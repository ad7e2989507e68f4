//! Masses on springs that collide.
//!
//! A [`System`] describes lumped masses, springs, dampers, contacts and the motion of the base they stand on;
//! [`simulate`] integrates it with the [`Integrator`] asked for and returns a [`Run`]: histories, impacts, peaks and
//! an energy account. Displacements and velocities are relative to the base, accelerations absolute (what an
//! accelerometer reads). SI units throughout.
//!
//! Equation of motion: `M u'' + C u' + K u + k3 e^3 + B' F(B u - gap, B u') = -M 1 a_base(t)`, `F` an impact law of
//! [`percuss_laws`] for each contact, `C = alpha M + beta K +` dampers, `e` the elongation of a cubic spring.

mod banded;
mod base_motion;
mod batch;
mod condensed;
mod dense;
mod diagonal;
mod dop853;
mod dop853_coefficients;
mod energy;
mod error;
mod fixed_step;
mod flight;
mod free_collision;
mod impacts;
mod located;
mod model;
mod parameter;
mod polynomial;
mod propagator;
mod record;
mod rigid_impact;
mod root;
mod run;
mod sampling;
mod simulate;
mod system;
mod tangent;

mod central_difference;
mod moreau_jean;
mod newmark;
mod runge_kutta;

pub use base_motion::{BaseMotion, Harmonic};
pub use batch::simulate_many;
pub use energy::EnergyAccount;
pub use error::OscillatorError;
pub use free_collision::{Collision, achieved_restitution, free_collision};
pub use impacts::ImpactEvent;
pub use model::Model;
pub use parameter::Parameter;
pub use record::Record;
pub use run::{Peaks, Run};
pub use sampling::{MOST_SAMPLES, sample_times};
pub use simulate::{Integrator, Settings, simulate};
pub use system::{Contact, Damper, Node, Rayleigh, Spring, System};
pub use tangent::{Load, Tangent};

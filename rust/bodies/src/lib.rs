//! Rigid bodies whose mass distribution is known in distribution only: random Euler tensors.
//!
//! The Euler tensor over the mass, Z = 1/m int x x' dm about the centre of mass, gives the inertia J = m (tr(Z) I - Z)
//! (Batou and Soize, 2013, Eqs. 1.11-1.14). J belongs to a real body, triangle inequality included, exactly if Z is
//! positive semidefinite. [`KummerBeta`] is the law of largest entropy of Z between two bounds with a given mean:
//!
//! ```text
//! p(G) ~ det(G)^-lambda_l det(Gmax - G)^-lambda_u exp(-tr(mu G)),  0 < G < Gmax,  E[G] = I        (Eq. 1.18)
//! ```
//!
//! for the tensor in units of its mean. In the frame of Gmax, U = Gmax^-1/2 G Gmax^-1/2 is a matrix Beta(2 - lambda_l,
//! 2 - lambda_u) tilted by exp(-tr(D U)), D diagonal: D is the minimum of a convex function whose derivatives are five
//! nested one-dimensional integrals (damped Newton), and draws are exact by rejection. A draw is a
//! function of a seed and of six numbers, its key: the same bits on any thread and in any order. Units: those of the
//! bounds.
//!
//! ```
//! use percuss_bodies::{Bounds, KummerBeta, inertia};
//!
//! // A plate of 1.0 x 0.4 x 0.1 m: the mean is that of even density, three times the squared half edges bound it.
//! let mean = [1.0 / 12.0, 0.16 / 12.0, 0.01 / 12.0, 0.0, 0.0, 0.0];
//! let law = KummerBeta::new(&Bounds { lower: [0.0; 6], upper: mean.map(|z| 9.0 * z), mean }, -5.0, -5.0)?;
//! assert!((law.multipliers()[0] - 6.348_660_6).abs() < 1e-6);
//! let [xx, yy, zz, ..] = inertia(20.0, law.draw(1, [0.5; 6]));
//! assert!(xx > 0.0 && xx < yy + zz);
//! # Ok::<(), percuss_bodies::BodyError>(())
//! ```

mod bessel;
mod dual;
mod error;
mod gauss;
mod kummer_beta;
mod moments;
mod proposal;
mod symmetric;

pub use error::{BodyError, Result};
pub use kummer_beta::{Bounds, KummerBeta, Method};
pub use symmetric::Symmetric;

/// Inertia about the centre of mass, m (tr(Z) I - Z), of a body of mass m and Euler tensor m Z.
pub fn inertia(mass: f64, [xx, yy, zz, xy, xz, yz]: Symmetric) -> Symmetric {
    [yy + zz, xx + zz, xx + yy, -xy, -xz, -yz].map(|entry| mass * entry)
}

//! Sparse polynomial-chaos expansions of model responses.
//!
//! From a design of experiments in canonical variables (one orthonormal family per parameter) and the outputs of its
//! runs to an expansion per output, with errors that can be trusted, fast evaluation with gradients, and
//! sensitivity indices.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use percuss_chaos::{Design, Family, Options, fit, indices};
//!
//! // y = x0 + 2 x0 x1 on a small grid of [-1, 1]^2.
//! let points: Vec<f64> = (0..49).flat_map(|i| [(i % 7) as f64 / 3.0 - 1.0, (i / 7) as f64 / 3.0 - 1.0]).collect();
//! let values: Vec<f64> = points.chunks(2).map(|x| x[0] + 2.0 * x[0] * x[1]).collect();
//! let design = Design::new(&[Family::Legendre; 2], &points, &values, 1)?;
//! let options = Options { degrees: vec![1, 2, 3], ..Options::default() };
//! let fitted = fit(&design, &options, &AtomicBool::new(false))?;
//! assert!((fitted.expansion.predict(&[0.5, 0.5])?[0] - 1.0).abs() < 1e-12);
//! // Var = 1/3 + 4/9: the first parameter alone has 3/7 of it.
//! assert!((indices(&fitted.expansion, &[])[0].first[0] - 3.0 / 7.0).abs() < 1e-12);
//! # Ok::<(), percuss_chaos::ChaosError>(())
//! ```

mod basis;
mod bootstrap;
mod contest;
mod design;
mod error;
mod expansion;
mod family;
mod fit;
mod folds;
mod kernel;
mod least_angle;
mod least_squares;
mod matching_pursuit;
mod nested;
mod ordinary;
mod path;
mod screening;
mod sobol;
mod stream;
mod truncation;
mod vector;

pub use bootstrap::bootstrap_coefficients;
pub use design::Design;
pub use error::{ChaosError, Result};
pub use expansion::Expansion;
pub use family::{Family, Recurrence};
pub use fit::{Fit, Method, Options, OutputFit, Search, fit};
pub use kernel::{Adjoint, LANES, Scratch};
pub use least_squares::LooError;
pub use nested::{Nested, nested};
pub use sobol::{Indices, indices};
pub use truncation::{Candidates, HIGHEST_DEGREE, MOST_PARAMETERS};

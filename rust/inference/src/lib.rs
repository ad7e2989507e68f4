//! Random-walk Metropolis and Hamiltonian Monte Carlo on chaos surrogates, with everything a step needs in one loop.
//!
//! A posterior is a product of priors and of Gaussian data (Gupta et al., 2023, Eqs. C.9-C.10), seen from an unbounded
//! space in which chains walk:
//!
//! ```text
//! log p(z) = sum_k log prior_k(x_k) + log |dx/dz| + log p(y | x),   y_i = f_j(x) + s_j + e_i,   x = x(z)
//! ```
//!
//! with f_j outputs of expansions, s_j the error of an expansion, one for all data of an output, and e_i of a known
//! variance and the square of an inferred standard deviation (see `likelihood`). Chains go side by side, `LANES` at a time: one pass over the terms of the expansions serves all of them. A chain has its own stream of
//! random numbers, so that its draws are the same bits at any number of threads, and whatever chains stand beside it.
//!
//! Units: parameters and data in SI, as the caller has them; z has none.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use percuss_chaos::{Expansion, Family};
//! use percuss_inference::*;
//!
//! // y = x on a uniform prior in [-1, 1], measured as 0.2 +- 0.1. The first Legendre polynomial is sqrt(3) x.
//! let line = Expansion::new(&[Family::Legendre], vec![1], vec![0, 1], vec![0], vec![1.0 / 3f64.sqrt()])?;
//! let input = Input { column: 0, form: Form::Linear, centre: 0.0, factor: 1.0 };
//! let datum = Datum { forward: 0, output: 0, observed: 0.2, variance: 0.01, unknown: None };
//! let flat = Prior::new(PriorShape::Flat, 0.0, -(2f64.ln()));
//! let parameter = Parameter { support: Support::Between, origin: -1.0, scale: 2.0, prior: flat };
//! let posterior = Posterior::new(vec![parameter], vec![Forward { expansion: line, inputs: vec![input], error: None }], vec![datum])?;
//! let start = Start { positions: &[0.0; 8], log_density: &posterior.log_density(&[0.0; 8])? };
//! let block = advance(&posterior, start, &[0.3], Length { draws: 500, thin: 5 }, 1, &AtomicBool::new(false))?;
//! let mean = block.positions.iter().map(|z| 2.0 / (1.0 + (-z).exp()) - 1.0).sum::<f64>() / 4000.0;
//! assert!((mean - 0.2).abs() < 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cholesky;
mod error;
mod hamiltonian;
mod likelihood;
mod metropolis;
mod ornstein_uhlenbeck;
mod parameter;
mod posterior;
mod prior;

pub use error::{InferenceError, Result};
pub use hamiltonian::{Glided, Trajectories, glide};
pub use likelihood::CommonError;
pub use metropolis::{Block, Length, Start, advance};
pub use ornstein_uhlenbeck::{Process, Solved};
pub use parameter::{Parameter, Support};
pub use posterior::{Datum, Form, Forward, Input, Posterior};
pub use prior::{Prior, PriorShape};

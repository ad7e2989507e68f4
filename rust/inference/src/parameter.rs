//! From the unbounded space to a parameter, by the support of its prior:
//!
//! ```text
//! all of R       x = origin + scale z
//! (low, inf)     x = origin + scale exp(z)
//! (-inf, high)   x = origin - scale exp(-z)
//! (low, high)    x = origin + scale / (1 + exp(-z))
//! ```
//!
//! the same maps, and limits, as `percuss.inference.transform` has.

use crate::prior::Prior;

/// exp(-z) and the distance from a bound stay normal numbers.
const FARTHEST: f64 = 690.0;

/// Which values a parameter may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// All real numbers.
    Everywhere,
    /// Above `origin`.
    Above,
    /// Below `origin`.
    Below,
    /// From `origin` to `origin + scale`.
    Between,
}

/// A parameter that is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Which of the four maps.
    pub support: Support,
    /// The finite bound, or the centre.
    pub origin: f64,
    /// Scale of the map, above zero.
    pub scale: f64,
    /// Density of its values.
    pub prior: Prior,
}

impl Parameter {
    /// Values x at z. What log |dx/dz| has beside log(scale) is added to `logs`, except -2 log(1 + exp(-|z|)), whose
    /// argument is multiplied into `products`: one logarithm for all parameters.
    pub(crate) fn place<const L: usize>(
        &self,
        z: &[f64; L],
        logs: &mut [f64; L],
        products: &mut [f64; L],
    ) -> [f64; L] {
        let Self { origin, scale, .. } = *self;
        let mut x = [0.0; L];
        match self.support {
            Support::Everywhere => {
                for i in 0..L {
                    x[i] = origin + scale * z[i];
                }
            }
            Support::Above => {
                for i in 0..L {
                    x[i] = origin + scale * z[i].clamp(-FARTHEST, FARTHEST).exp();
                    logs[i] += z[i];
                }
            }
            Support::Below => {
                for i in 0..L {
                    x[i] = origin - scale * (-z[i]).clamp(-FARTHEST, FARTHEST).exp();
                    logs[i] -= z[i];
                }
            }
            Support::Between => {
                for i in 0..L {
                    let small = (-z[i].abs()).exp();
                    let part = if z[i] < 0.0 { small } else { 1.0 } / (1.0 + small);
                    // Never beyond the high bound by rounding.
                    x[i] = (origin + scale * part).min(origin + scale);
                    logs[i] -= z[i].abs();
                    products[i] *= 1.0 + small;
                }
            }
        }
        x
    }

    /// dx/dz, and the derivative of log |dx/dz|.
    pub(crate) fn slope(&self, z: f64) -> (f64, f64) {
        // Beyond FARTHEST x does not change with z.
        let exp = |z: f64| {
            if z.abs() < FARTHEST {
                self.scale * z.exp()
            } else {
                0.0
            }
        };
        match self.support {
            Support::Everywhere => (self.scale, 0.0),
            Support::Above => (exp(z), 1.0),
            Support::Below => (exp(-z), -1.0),
            Support::Between => {
                let small = (-z.abs()).exp();
                let whole = 1.0 + small;
                let towards = (1.0 - small) / whole;
                (
                    self.scale * small / (whole * whole),
                    if z < 0.0 { towards } else { -towards },
                )
            }
        }
    }
}

//! Log densities of priors. Normalising constants are not computed here but taken over from whoever has them: the log
//! density at one point, the anchor, determines it.

/// How a log density varies with x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PriorShape {
    /// Uniform.
    Flat,
    /// Normal, cut or not.
    Normal {
        /// Mean of the uncut normal.
        mean: f64,
        /// Standard deviation of the uncut normal.
        std: f64,
    },
    /// log x is normal.
    Lognormal {
        /// Mean of log x.
        mu: f64,
        /// Standard deviation of log x.
        sigma: f64,
    },
    /// Gamma.
    Gamma {
        /// Shape parameter.
        shape: f64,
        /// Scale parameter.
        scale: f64,
    },
    /// Beta on [low, high].
    Beta {
        /// Exponent plus one at the low end.
        alpha: f64,
        /// Exponent plus one at the high end.
        beta: f64,
        /// Low end.
        low: f64,
        /// High end.
        high: f64,
    },
    /// log x is uniform.
    LogUniform,
}

impl PriorShape {
    fn log(&self, x: f64) -> f64 {
        match *self {
            Self::Flat => 0.0,
            Self::Normal { mean, std } => {
                let z = (x - mean) / std;
                -0.5 * z * z
            }
            Self::Lognormal { mu, sigma } => {
                let log = x.ln();
                let z = (log - mu) / sigma;
                -0.5 * z * z - log
            }
            Self::Gamma { shape, scale } => {
                let y = x / scale;
                times_log(shape - 1.0, y) - y
            }
            Self::Beta {
                alpha,
                beta,
                low,
                high,
            } => {
                let width = high - low;
                times_log(alpha - 1.0, (x - low) / width)
                    + times_log(beta - 1.0, (high - x) / width)
            }
            Self::LogUniform => -x.ln(),
        }
    }
}

impl PriorShape {
    /// Derivative of `log`.
    fn slope(&self, x: f64) -> f64 {
        match *self {
            Self::Flat => 0.0,
            Self::Normal { mean, std } => (mean - x) / (std * std),
            Self::Lognormal { mu, sigma } => ((mu - x.ln()) / (sigma * sigma) - 1.0) / x,
            Self::Gamma { shape, scale } => (shape - 1.0) / x - 1.0 / scale,
            Self::Beta {
                alpha,
                beta,
                low,
                high,
            } => (alpha - 1.0) / (x - low) - (beta - 1.0) / (high - x),
            Self::LogUniform => -1.0 / x,
        }
    }
}

/// a log x, and 0 for a = 0 whatever x.
fn times_log(a: f64, x: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a * x.ln() }
}

/// A normalised log density; x is taken to be inside the support, where transforms keep it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    shape: PriorShape,
    constant: f64,
}

impl Prior {
    /// The prior of this shape whose log density at `anchor` is `log_density`.
    pub fn new(shape: PriorShape, anchor: f64, log_density: f64) -> Self {
        Self {
            shape,
            constant: log_density - shape.log(anchor),
        }
    }

    /// Log density.
    pub fn log_density(&self, x: f64) -> f64 {
        self.constant + self.shape.log(x)
    }

    /// Derivative of the log density.
    pub(crate) fn slope(&self, x: f64) -> f64 {
        self.shape.slope(x)
    }

    /// Add the log density to each of `sums`; a flat one is a constant and costs nothing more.
    pub(crate) fn add<const L: usize>(&self, x: &[f64; L], sums: &mut [f64; L]) {
        if self.shape == PriorShape::Flat {
            sums.iter_mut().for_each(|sum| *sum += self.constant);
        } else {
            for (sum, &x) in sums.iter_mut().zip(x) {
                *sum += self.log_density(x);
            }
        }
    }
}

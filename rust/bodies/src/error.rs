//! What can be wrong with the law of a tensor.

/// Everything this crate refuses.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BodyError {
    /// A number out of range.
    #[error("{key} = {value}: {allowed}")]
    Value {
        /// Its name.
        key: &'static str,
        /// The value found.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A tensor that must lie above another one.
    #[error(
        "{above} - {below} has the eigenvalue {smallest:.6e}: it must be positive definite, all its eigenvalues above 0"
    )]
    Order {
        /// The larger tensor.
        above: &'static str,
        /// The smaller one.
        below: &'static str,
        /// Smallest eigenvalue of the difference.
        smallest: f64,
    },
    /// No multiplier was found that gives the mean.
    #[error(
        "upper is {ratio:.6} times the mean (both above lower) along one axis: the mean is too near a bound for lower_exponent and upper_exponent; ratios between 1.01 and 1e4 are safe"
    )]
    Mean {
        /// The ratio furthest from two.
        ratio: f64,
    },
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, BodyError>;

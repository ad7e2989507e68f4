//! What can be wrong with a filter's settings, its data or its course.

use percuss_oscillators::OscillatorError;
use thiserror::Error;

/// Bad input or a filter that cannot go on; each message names the value and what is allowed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum KalmanError {
    /// The system itself, or a parameter that left what it can take.
    #[error("sample {sample}: {source}")]
    System {
        /// Where in the record.
        sample: usize,
        /// What is wrong.
        source: OscillatorError,
    },
    /// A list of the wrong length.
    #[error("{what} has {found} values where {expected} are needed")]
    Length {
        /// Name of the list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// What it must be.
        expected: usize,
    },
    /// A number that must be positive.
    #[error("{what} {index} is {value}: it must be positive and finite")]
    NotPositive {
        /// Name of the quantity.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A number that must not be negative.
    #[error("{what} {index} is {value}: it must be zero or positive, and finite")]
    Negative {
        /// Name of the quantity.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A number that must be finite.
    #[error("{what} {index} is {value}: it must be finite")]
    NotFinite {
        /// Name of the quantity.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// Nothing is measured.
    #[error("there is no sensor: at least one is needed")]
    NoSensor,
    /// A parameter, mass or contact that is not there.
    #[error("{what} {index} does not exist in this system")]
    Unknown {
        /// Kind of element.
        what: &'static str,
        /// The index given.
        index: usize,
    },
    /// A law that acts by impulse has no force to differentiate.
    #[error("contact {contact} has the rigid law, which has no force: take a compliant one")]
    Rigid {
        /// Index of the contact.
        contact: usize,
    },
    /// A spring whose force hangs on its past, which is no part of the estimated state.
    #[error(
        "spring {spring} of those with a law remembers its past, which a filter does not estimate: take a linear, gap or hook spring"
    )]
    Remembers {
        /// Its index among the springs with a law.
        spring: usize,
    },
    /// An estimate that is no longer finite.
    #[error(
        "the estimate is no longer finite at sample {sample}: take more substeps or a smaller drift"
    )]
    Diverged {
        /// Where in the record.
        sample: usize,
    },
    /// A covariance that is no longer positive definite.
    #[error(
        "the predicted covariance at sample {sample} is not positive definite: nothing to smooth with"
    )]
    Covariance {
        /// Where in the record.
        sample: usize,
    },
}

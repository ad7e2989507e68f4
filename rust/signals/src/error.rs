//! What is refused.

/// Everything this crate refuses.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SignalError {
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
    /// Instants and accelerations do not fit each other.
    #[error(
        "{times} instants and {values} accelerations: as many of one as of the other are needed, and at least 2"
    )]
    Length {
        /// How many instants.
        times: usize,
        /// How many accelerations.
        values: usize,
    },
    /// Instants must rise.
    #[error("sample {index}: its time {time_s} s does not come after the one before it")]
    Order {
        /// Index of the sample, from 0.
        index: usize,
        /// Its time.
        time_s: f64,
    },
}

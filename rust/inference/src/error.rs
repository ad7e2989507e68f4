//! What can be wrong with a posterior or with what chains start from.

/// Everything this crate refuses.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InferenceError {
    /// A table whose length does not fit the others.
    #[error("{what} holds {found} values, expected {expected}")]
    Shape {
        /// Which table.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that would fit.
        expected: usize,
    },
    /// A number that names something that is not there.
    #[error("{what} names number {found}, but there are {count}, from 0")]
    Missing {
        /// Which reference.
        what: &'static str,
        /// The number.
        found: usize,
        /// How many there are.
        count: usize,
    },
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
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, InferenceError>;

/// Refuse a table of another length.
pub(crate) fn check_length(what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        Ok(())
    } else {
        Err(InferenceError::Shape {
            what,
            found,
            expected,
        })
    }
}

/// Refuse the number of something that is not there.
pub(crate) fn check_place(what: &'static str, found: usize, count: usize) -> Result<()> {
    if found < count {
        Ok(())
    } else {
        Err(InferenceError::Missing { what, found, count })
    }
}

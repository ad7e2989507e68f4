//! How errors of the core reach Python: as `ValueError` with the sentence the core wrote.

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// Bad input: the sentence names the key, the value and what is allowed.
pub fn bad_input(fault: impl Display) -> PyErr {
    PyValueError::new_err(fault.to_string())
}

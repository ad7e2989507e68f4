//! Response spectra: arrays in, arrays out.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use percuss_signals::response_spectrum as spectrum_of;
use pyo3::prelude::*;

use crate::error::bad_input;

type Columns<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
);

/// Largest relative displacement, relative velocity and absolute acceleration of damped oscillators on a base that
/// moves as sampled.
#[pyfunction]
fn response_spectrum<'py>(
    py: Python<'py>,
    times_s: PyReadonlyArray1<'py, f64>,
    accelerations_m_s2: PyReadonlyArray1<'py, f64>,
    periods_s: PyReadonlyArray1<'py, f64>,
    damping: f64,
) -> PyResult<Columns<'py>> {
    let (times, values) = (times_s.as_slice()?, accelerations_m_s2.as_slice()?);
    let periods = periods_s.as_slice()?;
    let found = py
        .detach(|| spectrum_of(times, values, periods, damping))
        .map_err(bad_input)?;
    Ok((
        found.displacement_m.into_pyarray(py),
        found.velocity_m_s.into_pyarray(py),
        found.acceleration_m_s2.into_pyarray(py),
    ))
}

/// Add the functions of this file.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(response_spectrum, module)?)
}

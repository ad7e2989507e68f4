//! Posteriors on chaos surrogates: arrays in, arrays out.

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use percuss_inference::{
    CommonError, Datum, Form, Forward, InferenceError, Input, Length, Parameter, Posterior, Prior,
    PriorShape, Start, Support, Trajectories, advance, glide,
};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::chaos::{ChaosExpansion, list, rows};
use crate::error::bad_input;
use crate::interruptible::interruptible;

/// Support, origin, scale; kind and fields of the prior, a point and the log density there.
type ParameterSpec = (String, f64, f64, String, Vec<f64>, f64, f64);
/// Number of the parameter, form, centre, factor.
type InputSpec = (usize, String, f64, f64);
/// Covariance of the outputs (row by row), scales and shares of its mixture.
type ErrorSpec = (Vec<f64>, Vec<f64>, Vec<f64>);
type ForwardSpec = (Py<ChaosExpansion>, Vec<InputSpec>, Option<ErrorSpec>);
/// Positions (chains, draws, parameters), log density (chains, draws), accepted proposals (chains,).
type Draws<'py> = (
    Bound<'py, PyArray3<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<u64>>,
);
/// Log density (points,), its gradient (points, parameters).
type Slopes<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);
/// Positions (chains, draws, parameters), log density (chains, draws), sums of acceptance (chains,), divergent trajectories
/// (chains,), gradients that each chain took.
type Glided<'py> = (
    Bound<'py, PyArray3<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u64>>,
    u64,
);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ChaosPosterior>()
}

fn raised(error: InferenceError) -> PyErr {
    match error {
        InferenceError::Shape { .. }
        | InferenceError::Missing { .. }
        | InferenceError::Value { .. } => bad_input(error),
        InferenceError::Interrupted => PyKeyboardInterrupt::new_err(error.to_string()),
    }
}

fn parameter_of(spec: &ParameterSpec) -> PyResult<Parameter> {
    let (support, origin, scale, kind, fields, anchor, log_density) = spec;
    let support = match support.as_str() {
        "everywhere" => Support::Everywhere,
        "above" => Support::Above,
        "below" => Support::Below,
        "between" => Support::Between,
        _ => {
            return Err(bad_input(format!(
                "support = {support:?}: allowed are everywhere, above, below, between"
            )));
        }
    };
    let shape = match (kind.as_str(), fields.as_slice()) {
        ("uniform", []) => PriorShape::Flat,
        ("normal", &[mean, std]) => PriorShape::Normal { mean, std },
        ("lognormal", &[mu, sigma]) => PriorShape::Lognormal { mu, sigma },
        ("gamma", &[shape, scale]) => PriorShape::Gamma { shape, scale },
        ("beta", &[alpha, beta, low, high]) => PriorShape::Beta {
            alpha,
            beta,
            low,
            high,
        },
        ("log-uniform", []) => PriorShape::LogUniform,
        _ => {
            return Err(bad_input(format!(
                "prior {kind:?} with {} fields: allowed are uniform (0), normal (2), lognormal (2), gamma (2), beta (4), log-uniform (0)",
                fields.len()
            )));
        }
    };
    Ok(Parameter {
        support,
        origin: *origin,
        scale: *scale,
        prior: Prior::new(shape, *anchor, *log_density),
    })
}

fn input_of((column, form, centre, factor): InputSpec) -> PyResult<Input> {
    let form = match form.as_str() {
        "linear" => Form::Linear,
        "logarithmic" => Form::Logarithmic,
        _ => {
            return Err(bad_input(format!(
                "form = {form:?}: allowed are linear, logarithmic"
            )));
        }
    };
    Ok(Input {
        column,
        form,
        centre,
        factor,
    })
}

/// The log density of a posterior whose forward models are expansions, and chains on it.
#[pyclass(module = "percuss._core", frozen)]
pub(crate) struct ChaosPosterior {
    inner: Posterior,
}

#[pymethods]
impl ChaosPosterior {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "columns of one table")]
    fn new(
        py: Python<'_>,
        parameters: Vec<ParameterSpec>,
        forwards: Vec<ForwardSpec>,
        forward: PyReadonlyArray1<'_, i64>,
        output: PyReadonlyArray1<'_, i64>,
        observed: PyReadonlyArray1<'_, f64>,
        variance: PyReadonlyArray1<'_, f64>,
        unknown: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let parameters: PyResult<Vec<_>> = parameters.iter().map(parameter_of).collect();
        let forwards: PyResult<Vec<_>> = forwards
            .into_iter()
            .map(|(expansion, inputs, error)| {
                let inputs: PyResult<Vec<_>> = inputs.into_iter().map(input_of).collect();
                Ok(Forward {
                    expansion: expansion.borrow(py).inner.clone(),
                    inputs: inputs?,
                    error: error.map(|(covariance, scales, shares)| CommonError {
                        covariance,
                        scales,
                        shares,
                    }),
                })
            })
            .collect();
        let count = observed.len();
        if [forward.len(), output.len(), variance.len(), unknown.len()] != [count; 4] {
            return Err(PyValueError::new_err(
                "forward, output, observed, variance and unknown must have one entry a datum each",
            ));
        }
        let place = |number: i64| usize::try_from(number).map_err(bad_input);
        let (forward, output) = (list(&forward), list(&output));
        let (observed, variance, unknown) = (list(&observed), list(&variance), list(&unknown));
        let data: PyResult<Vec<_>> = (0..count)
            .map(|i| {
                Ok(Datum {
                    forward: place(forward[i])?,
                    output: place(output[i])?,
                    observed: observed[i],
                    variance: variance[i],
                    unknown: usize::try_from(unknown[i]).ok(),
                })
            })
            .collect();
        let inner = Posterior::new(parameters?, forwards?, data?).map_err(raised)?;
        Ok(Self { inner })
    }

    fn log_density<'py>(
        &self,
        py: Python<'py>,
        z: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let z = self.checked(&z, "z")?;
        let found = py.detach(|| self.inner.log_density(&z)).map_err(raised)?;
        Ok(found.into_pyarray(py))
    }

    #[pyo3(signature = (positions, log_density, factor, draws, thin, key, *, threads=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn advance<'py>(
        &self,
        py: Python<'py>,
        positions: PyReadonlyArray2<'py, f64>,
        log_density: PyReadonlyArray1<'py, f64>,
        factor: PyReadonlyArray2<'py, f64>,
        draws: usize,
        thin: usize,
        key: u64,
        threads: Option<usize>,
    ) -> PyResult<Draws<'py>> {
        let positions = self.checked(&positions, "positions")?;
        let factor = self.checked(&factor, "factor")?;
        let log_density = list(&log_density);
        let start = Start {
            positions: &positions,
            log_density: &log_density,
        };
        let length = Length { draws, thin };
        let block = interruptible(py, threads, |stop| {
            advance(&self.inner, start, &factor, length, key, stop)
        })?
        .map_err(raised)?;
        let (chains, dimension) = (log_density.len(), self.inner.dimension());
        Ok((
            block
                .positions
                .into_pyarray(py)
                .reshape([chains, draws, dimension])?,
            block
                .log_density
                .into_pyarray(py)
                .reshape([chains, draws])?,
            block.accepted.into_pyarray(py),
        ))
    }

    fn log_density_with_gradient<'py>(
        &self,
        py: Python<'py>,
        z: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Slopes<'py>> {
        let z = self.checked(&z, "z")?;
        let (found, gradient) = py
            .detach(|| self.inner.log_density_with_gradient(&z))
            .map_err(raised)?;
        let shape = [found.len(), self.inner.dimension()];
        Ok((
            found.into_pyarray(py),
            gradient.into_pyarray(py).reshape(shape)?,
        ))
    }

    #[pyo3(signature = (positions, log_density, factor, step, steps, draws, key, *, threads=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn glide<'py>(
        &self,
        py: Python<'py>,
        positions: PyReadonlyArray2<'py, f64>,
        log_density: PyReadonlyArray1<'py, f64>,
        factor: PyReadonlyArray2<'py, f64>,
        step: f64,
        steps: usize,
        draws: usize,
        key: u64,
        threads: Option<usize>,
    ) -> PyResult<Glided<'py>> {
        let positions = self.checked(&positions, "positions")?;
        let factor = self.checked(&factor, "factor")?;
        let log_density = list(&log_density);
        let start = Start {
            positions: &positions,
            log_density: &log_density,
        };
        let along = Trajectories {
            factor: &factor,
            step,
            steps,
        };
        let block = interruptible(py, threads, |stop| {
            glide(&self.inner, start, along, draws, key, stop)
        })?
        .map_err(raised)?;
        let (chains, dimension) = (log_density.len(), self.inner.dimension());
        Ok((
            block
                .positions
                .into_pyarray(py)
                .reshape([chains, draws, dimension])?,
            block
                .log_density
                .into_pyarray(py)
                .reshape([chains, draws])?,
            block.acceptance.into_pyarray(py),
            block.divergent.into_pyarray(py),
            block.gradients,
        ))
    }
}

impl ChaosPosterior {
    fn checked(&self, points: &PyReadonlyArray2<'_, f64>, name: &str) -> PyResult<Vec<f64>> {
        let (width, dimension) = (points.shape()[1], self.inner.dimension());
        if width != dimension {
            return Err(bad_input(format!(
                "{name} has {width} columns, expected one per parameter: {dimension}"
            )));
        }
        Ok(rows(points))
    }
}

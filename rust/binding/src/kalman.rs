//! Filters over oscillators whose parameters drift: conversions for `percuss_kalman`.

use numpy::{
    IntoPyArray, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use percuss_kalman::{
    Augmented, Inputs, KalmanError, RatioDamper, Sensed, Sensor, Settings, Tracked, filter, misfit,
    respond, smooth,
};
use percuss_oscillators::{Model, Parameter, System};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::bad_input;
use crate::oscillators::RunSpec;

/// What is tracked, measured and put in, as `percuss.validation.following` describes it; SI.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct FollowSpec<'py> {
    step_s: f64,
    substeps: usize,
    base_m_s2: Option<PyReadonlyArray1<'py, f64>>,
    forces_n: Vec<(usize, PyReadonlyArray1<'py, f64>)>,
    sensors: Vec<(String, usize)>,
    tracked: Vec<Vec<(String, usize)>>,
    ratios: Vec<(usize, usize, usize, f64, Option<usize>)>,
}

/// The same, owned, so that the interpreter can be let go.
struct Follow {
    system: System,
    inputs: Inputs,
    sensors: Vec<Sensor>,
    tracked: Vec<Tracked>,
    ratios: Vec<RatioDamper>,
}

fn parameter(kind: &str, index: usize) -> PyResult<Parameter> {
    Ok(match kind {
        "mass" => Parameter::Mass(index),
        "spring" => Parameter::SpringLinear(index),
        "cubic" => Parameter::SpringCubic(index),
        "damper" => Parameter::Damper(index),
        "contact-stiffness" => Parameter::ContactStiffness(index),
        "restitution" => Parameter::ContactRestitution(index),
        "gap" => Parameter::ContactGap(index),
        _ => return Err(bad_input(format!("`{kind}` is no number of an oscillator"))),
    })
}

fn sensor((quantity, mass): &(String, usize)) -> PyResult<Sensor> {
    let sensed = match quantity.as_str() {
        "displacement" => Sensed::Displacement,
        "velocity" => Sensed::Velocity,
        "acceleration" => Sensed::Acceleration,
        _ => return Err(bad_input(format!("`{quantity}` cannot be measured"))),
    };
    Ok(Sensor {
        sensed,
        mass: *mass,
    })
}

impl Follow {
    fn new(system: RunSpec, spec: &FollowSpec<'_>) -> PyResult<Self> {
        let list = |samples: &PyReadonlyArray1<'_, f64>| samples.as_array().to_vec();
        let numbers = |pairs: &Vec<(String, usize)>| {
            let numbers = pairs.iter().map(|(kind, index)| parameter(kind, *index));
            Ok(Tracked {
                numbers: numbers.collect::<PyResult<_>>()?,
            })
        };
        let ratio = |&(damper, spring, mass, ratio, tracked): &(_, _, _, _, _)| RatioDamper {
            damper,
            spring,
            mass,
            ratio,
            tracked,
        };
        Ok(Self {
            system: system.build().map_err(bad_input)?.0,
            inputs: Inputs {
                step_s: spec.step_s,
                substeps: spec.substeps,
                base_m_s2: spec.base_m_s2.as_ref().map(list).unwrap_or_default(),
                forces_n: spec
                    .forces_n
                    .iter()
                    .map(|(mass, samples)| (*mass, list(samples)))
                    .collect(),
            },
            sensors: spec.sensors.iter().map(sensor).collect::<PyResult<_>>()?,
            tracked: spec.tracked.iter().map(numbers).collect::<PyResult<_>>()?,
            ratios: spec.ratios.iter().map(ratio).collect(),
        })
    }

    fn dynamics(&self) -> Result<Augmented<'_>, KalmanError> {
        let model =
            Model::new(&self.system).map_err(|source| KalmanError::System { sample: 0, source })?;
        Augmented::new(
            model,
            &self.tracked,
            &self.ratios,
            &self.inputs,
            &self.sensors,
        )
    }
}

fn rows<'py>(
    py: Python<'py>,
    values: Vec<f64>,
    width: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let height = values.len() / width.max(1);
    values.into_pyarray(py).reshape([height, width])
}

/// Follow the data (samples, channels) with an extended Kalman filter, and smooth the course if asked.
#[pyfunction]
#[pyo3(signature = (system, follow, data, *, mean, covariance, drift, noise, use_first = false, smoothed = false))]
#[allow(clippy::too_many_arguments)]
fn filter_oscillators<'py>(
    py: Python<'py>,
    system: RunSpec,
    follow: FollowSpec<'py>,
    data: PyReadonlyArray2<'py, f64>,
    mean: Vec<f64>,
    covariance: PyReadonlyArray2<'py, f64>,
    drift: Vec<f64>,
    noise: Vec<f64>,
    use_first: bool,
    smoothed: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let follow = Follow::new(system, &follow)?;
    let settings = Settings {
        mean,
        covariance: covariance.as_array().iter().copied().collect(),
        drift,
        noise,
        use_first,
        keep: smoothed,
    };
    let data: Vec<f64> = data.as_array().iter().copied().collect();
    let (found, smooth_course) = py
        .detach(|| {
            let found = filter(&mut follow.dynamics()?, &settings, &data)?;
            let course = smoothed.then(|| smooth(&found)).transpose()?;
            Ok::<_, KalmanError>((found, course))
        })
        .map_err(bad_input)?;
    let (states, channels) = (found.states, found.channels);
    let dict = PyDict::new(py);
    for (name, values, width) in [
        ("mean", found.mean, states),
        ("std", found.std, states),
        ("innovation", found.innovation, channels),
        ("innovation_variance", found.innovation_variance, channels),
        ("covariance", found.covariance, states),
    ] {
        dict.set_item(name, rows(py, values, width)?)?;
    }
    dict.set_item("log_likelihood", found.log_likelihood)?;
    dict.set_item("used", found.used)?;
    dict.set_item("skipped", found.skipped)?;
    if let Some(course) = smooth_course {
        dict.set_item("smoothed_mean", rows(py, course.mean, states)?)?;
        dict.set_item("smoothed_std", rows(py, course.std, states)?)?;
    }
    Ok(dict)
}

/// Readings with constant parameters (points, tracked), from a start: (points, samples, channels).
#[pyfunction]
fn respond_oscillators<'py>(
    py: Python<'py>,
    system: RunSpec,
    follow: FollowSpec<'py>,
    start: Vec<f64>,
    parameters: PyReadonlyArray2<'py, f64>,
    samples: usize,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let follow = Follow::new(system, &follow)?;
    let points = parameters.shape()[0];
    let parameters: Vec<f64> = parameters.as_array().iter().copied().collect();
    let found = py
        .detach(|| respond(&follow.dynamics()?, &start, &parameters, samples))
        .map_err(bad_input)?;
    found
        .into_pyarray(py)
        .reshape([points, samples, follow.sensors.len()])
}

/// Sums of squared differences from the data with constant parameters: (points, channels).
#[pyfunction]
fn misfit_oscillators<'py>(
    py: Python<'py>,
    system: RunSpec,
    follow: FollowSpec<'py>,
    start: Vec<f64>,
    parameters: PyReadonlyArray2<'py, f64>,
    data: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let follow = Follow::new(system, &follow)?;
    let parameters: Vec<f64> = parameters.as_array().iter().copied().collect();
    let data: Vec<f64> = data.as_array().iter().copied().collect();
    let found = py
        .detach(|| misfit(&follow.dynamics()?, &start, &parameters, &data))
        .map_err(bad_input)?;
    rows(py, found, follow.sensors.len())
}

/// Add the functions of this file.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(filter_oscillators, module)?)?;
    module.add_function(wrap_pyfunction!(respond_oscillators, module)?)?;
    module.add_function(wrap_pyfunction!(misfit_oscillators, module)?)
}

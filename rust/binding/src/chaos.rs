//! Chaos expansions: arrays in, arrays out.

use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use percuss_chaos::{
    ChaosError, Design, Expansion, Family, Method, Options, Search, bootstrap_coefficients, fit,
    indices, nested,
};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::interruptible::interruptible;

/// So few points take less time than giving the GIL back.
const FEW: usize = 4;
/// Points predicted between two looks for Ctrl-C.
const POINTS: usize = 1 << 16;

type FamilySpec = Vec<(String, Vec<f64>)>;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ChaosExpansion>()?;
    module.add_function(wrap_pyfunction!(chaos_fit, module)?)?;
    module.add_function(wrap_pyfunction!(chaos_nested, module)?)?;
    module.add_function(wrap_pyfunction!(chaos_bootstrap, module)?)
}

fn raised(error: ChaosError) -> PyErr {
    let message = error.to_string();
    match error {
        ChaosError::Shape { .. }
        | ChaosError::NotFinite { .. }
        | ChaosError::OutsideSupport { .. }
        | ChaosError::Family { .. }
        | ChaosError::Option { .. }
        | ChaosError::TooFewPoints { .. }
        | ChaosError::TooManyCandidates { .. }
        | ChaosError::SingularResample { .. } => PyValueError::new_err(message),
        ChaosError::Interrupted => PyKeyboardInterrupt::new_err(message),
    }
}

fn families_of(spec: &FamilySpec) -> PyResult<Vec<Family>> {
    spec.iter()
        .map(|(name, shape)| Family::from_name(name, shape).map_err(raised))
        .collect()
}

fn method_of(name: &str) -> PyResult<Method> {
    match name {
        "best" => Ok(Method::Best),
        "least-angle" => Ok(Method::LeastAngle),
        "matching-pursuit" => Ok(Method::MatchingPursuit),
        "ordinary" => Ok(Method::Ordinary),
        _ => Err(PyValueError::new_err(format!(
            "method = {name:?}: allowed are best, least-angle, matching-pursuit, ordinary"
        ))),
    }
}

fn name_of(method: Method) -> &'static str {
    match method {
        Method::Best => "best",
        Method::LeastAngle => "least-angle",
        Method::MatchingPursuit => "matching-pursuit",
        Method::Ordinary => "ordinary",
    }
}

fn options_of(
    degrees: Option<Vec<usize>>,
    q: Option<Vec<f64>>,
    method: &str,
    search: &str,
    max_candidates: usize,
) -> PyResult<Options> {
    let search = match search {
        "full" => Search::Full,
        "early" => Search::EarlyStopping,
        _ => {
            return Err(PyValueError::new_err(format!(
                "search = {search:?}: allowed are full, early"
            )));
        }
    };
    let default = Options::default();
    Ok(Options {
        degrees: degrees.unwrap_or(default.degrees),
        qs: q.unwrap_or(default.qs),
        method: method_of(method)?,
        search,
        max_candidates,
    })
}

/// The values of an array, row by row.
pub(crate) fn rows<T: Element + Copy>(array: &PyReadonlyArray2<'_, T>) -> Vec<T> {
    let array = array.as_array();
    // A slice of the array itself would come in the order of memory, by columns too.
    array
        .as_slice()
        .map_or_else(|| array.iter().copied().collect(), <[T]>::to_vec)
}

pub(crate) fn list<T: Element + Copy>(array: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    array.as_array().iter().copied().collect()
}

/// Values as an array of this width.
pub(crate) fn table<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    width: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let height = values.len().checked_div(width).unwrap_or(0);
    values.into_pyarray(py).reshape([height, width])
}

fn wholes<'py>(
    py: Python<'py>,
    values: impl IntoIterator<Item = usize>,
) -> Bound<'py, PyArray1<i64>> {
    values
        .into_iter()
        .map(|value| value as i64)
        .collect::<Vec<_>>()
        .into_pyarray(py)
}

fn design_of(
    families: &FamilySpec,
    points: &PyReadonlyArray2<'_, f64>,
    values: &PyReadonlyArray2<'_, f64>,
) -> PyResult<Design> {
    let families = families_of(families)?;
    let (shape, outputs) = (points.shape(), values.shape());
    if shape[1] != families.len() || shape[0] != outputs[0] {
        return Err(PyValueError::new_err(format!(
            "points {shape:?} and values {outputs:?} do not fit {} families: points are (runs, parameters), values (runs, outputs)",
            families.len()
        )));
    }
    Design::new(&families, &rows(points), &rows(values), outputs[1]).map_err(raised)
}

/// Polynomial-chaos expansions of several outputs over one list of multi-indices.
#[pyclass(module = "percuss._core", frozen)]
pub(crate) struct ChaosExpansion {
    pub(crate) inner: Expansion,
}

#[pymethods]
impl ChaosExpansion {
    #[new]
    fn new(
        families: FamilySpec,
        indices: PyReadonlyArray2<'_, u8>,
        offsets: PyReadonlyArray1<'_, i64>,
        terms: PyReadonlyArray1<'_, u32>,
        coefficients: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let families = families_of(&families)?;
        if indices.shape()[1] != families.len() {
            let width = indices.shape()[1];
            return Err(PyValueError::new_err(format!(
                "indices have {width} columns, expected one per family: {}",
                families.len()
            )));
        }
        let offsets: Result<Vec<usize>, _> =
            list(&offsets).into_iter().map(usize::try_from).collect();
        let offsets = offsets.map_err(|_| PyValueError::new_err("offsets must not be negative"))?;
        let inner = Expansion::new(
            &families,
            rows(&indices),
            offsets,
            list(&terms),
            list(&coefficients),
        );
        Ok(Self {
            inner: inner.map_err(raised)?,
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let this = slf.get();
        let arguments = (
            this.families(),
            this.indices(py)?,
            this.offsets(py),
            this.terms(py),
            this.coefficients(py),
        );
        Ok((slf.get_type(), arguments).into_pyobject(py)?.into_any())
    }

    #[getter]
    fn families(&self) -> FamilySpec {
        self.inner
            .families()
            .iter()
            .map(|family| (family.name().to_owned(), family.shape()))
            .collect()
    }

    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        table(py, self.inner.indices().to_vec(), self.inner.dimension())
    }

    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        wholes(py, self.inner.offsets().iter().copied())
    }

    #[getter]
    fn terms<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        self.inner.terms().to_vec().into_pyarray(py)
    }

    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.coefficients().to_vec().into_pyarray(py)
    }

    #[getter]
    fn outputs(&self) -> usize {
        self.inner.outputs()
    }

    #[getter]
    fn parameters(&self) -> usize {
        self.inner.dimension()
    }

    fn with_coefficients(&self, coefficients: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        Ok(Self {
            inner: self
                .inner
                .with_coefficients(list(&coefficients))
                .map_err(raised)?,
        })
    }

    fn predict<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let points = self.checked(&points)?;
        if points.len() <= FEW * self.inner.dimension() {
            let values = self.inner.predict(&points).map_err(raised)?;
            return table(py, values, self.inner.outputs());
        }
        let mut values =
            Vec::with_capacity(points.len() / self.inner.dimension() * self.inner.outputs());
        for batch in points.chunks(POINTS * self.inner.dimension()) {
            values.extend(py.detach(|| self.inner.predict(batch)).map_err(raised)?);
            py.check_signals()?;
        }
        table(py, values, self.inner.outputs())
    }

    #[pyo3(signature = (points, slopes=None))]
    fn predict_with_gradient<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
        slopes: Option<PyReadonlyArray2<'py, f64>>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyAny>)> {
        let points = self.checked(&points)?;
        let slopes = slopes.map(|slopes| self.checked(&slopes)).transpose()?;
        if let Some(slopes) = &slopes
            && slopes.len() != points.len()
        {
            return Err(PyValueError::new_err(
                "slopes must have the shape of points: (points, parameters)",
            ));
        }
        let (outputs, width) = (self.inner.outputs(), self.inner.dimension());
        let (mut values, mut gradients) = (vec![], vec![]);
        for from in (0..points.len()).step_by(POINTS * width) {
            let range = from..points.len().min(from + POINTS * width);
            let slopes = slopes.as_ref().map(|slopes| &slopes[range.clone()]);
            let (y, g) = py
                .detach(|| self.inner.predict_with_gradient(&points[range], slopes))
                .map_err(raised)?;
            values.extend(y);
            gradients.extend(g);
            py.check_signals()?;
        }
        let count = points.len() / width;
        let gradients = gradients
            .into_pyarray(py)
            .reshape([count, outputs, width])?
            .into_any();
        Ok((table(py, values, outputs)?, gradients))
    }

    #[pyo3(signature = (groups=None))]
    fn sobol<'py>(
        &self,
        py: Python<'py>,
        groups: Option<Vec<Vec<usize>>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let dimension = self.inner.dimension();
        let groups = groups.unwrap_or_default();
        if let Some(parameter) = groups
            .iter()
            .flatten()
            .find(|&&parameter| parameter >= dimension)
        {
            return Err(PyValueError::new_err(format!(
                "groups name parameter {parameter}: allowed are 0 to {}",
                dimension - 1
            )));
        }
        let bits: Vec<u64> = groups
            .iter()
            .map(|group| group.iter().fold(0, |bits, &k| bits | 1 << k))
            .collect();
        let found = indices(&self.inner, &bits);
        let column = |of: fn(&percuss_chaos::Indices) -> f64| {
            found.iter().map(of).collect::<Vec<_>>().into_pyarray(py)
        };
        let wide = |of: fn(&percuss_chaos::Indices) -> &Vec<f64>, width| {
            table(py, found.iter().flat_map(of).copied().collect(), width)
        };
        let result = PyDict::new(py);
        result.set_item("mean", column(|i| i.mean))?;
        result.set_item("variance", column(|i| i.variance))?;
        result.set_item("first", wide(|i| &i.first, dimension)?)?;
        result.set_item("total", wide(|i| &i.total, dimension)?)?;
        result.set_item("shapley", wide(|i| &i.shapley, dimension)?)?;
        let second: Vec<f64> = found.iter().flat_map(|i| &i.second).copied().collect();
        result.set_item(
            "second",
            second
                .into_pyarray(py)
                .reshape([found.len(), dimension, dimension])?,
        )?;
        let group_width = |of: fn(&percuss_chaos::Indices) -> &Vec<f64>| {
            found
                .iter()
                .flat_map(of)
                .copied()
                .collect::<Vec<_>>()
                .into_pyarray(py)
                .reshape([found.len(), bits.len()])
        };
        result.set_item("group_closed", group_width(|i| &i.group_closed)?)?;
        result.set_item("group_total", group_width(|i| &i.group_total)?)?;
        Ok(result)
    }
}

impl ChaosExpansion {
    fn checked(&self, points: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<f64>> {
        if points.shape()[1] != self.inner.dimension() {
            return Err(PyValueError::new_err(format!(
                "points have {} columns, expected one per parameter: {}",
                points.shape()[1],
                self.inner.dimension()
            )));
        }
        Ok(rows(points))
    }
}

/// Fit all outputs; the expansions and how they came about.
#[pyfunction]
#[pyo3(signature = (families, points, values, *, degrees=None, q=None, method="best", search="early", max_candidates=100_000, threads=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
fn chaos_fit<'py>(
    py: Python<'py>,
    families: FamilySpec,
    points: PyReadonlyArray2<'py, f64>,
    values: PyReadonlyArray2<'py, f64>,
    degrees: Option<Vec<usize>>,
    q: Option<Vec<f64>>,
    method: &str,
    search: &str,
    max_candidates: usize,
    threads: Option<usize>,
) -> PyResult<(ChaosExpansion, Bound<'py, PyDict>)> {
    let design = design_of(&families, &points, &values)?;
    let options = options_of(degrees, q, method, search, max_candidates)?;
    let fitted =
        interruptible(py, threads, |stop| fit(&design, &options, stop))?.map_err(raised)?;
    let outputs = &fitted.outputs;
    let column = |of: fn(&percuss_chaos::OutputFit) -> f64| {
        outputs.iter().map(of).collect::<Vec<_>>().into_pyarray(py)
    };
    let path = |of: fn(&percuss_chaos::LooError) -> f64| -> Vec<_> {
        outputs
            .iter()
            .map(|output| {
                output
                    .path
                    .iter()
                    .map(of)
                    .collect::<Vec<_>>()
                    .into_pyarray(py)
            })
            .collect()
    };
    let facts = PyDict::new(py);
    facts.set_item("points", fitted.points)?;
    facts.set_item("duplicates", fitted.duplicates)?;
    facts.set_item("capped", fitted.capped)?;
    facts.set_item("search", search)?;
    facts.set_item("degrees", wholes(py, options.degrees.iter().copied()))?;
    facts.set_item("q_norms", options.qs.clone().into_pyarray(py))?;
    facts.set_item(
        "constant",
        outputs
            .iter()
            .map(|o| o.constant)
            .collect::<Vec<_>>()
            .into_pyarray(py),
    )?;
    facts.set_item(
        "method",
        outputs
            .iter()
            .map(|o| name_of(o.method))
            .collect::<Vec<_>>(),
    )?;
    facts.set_item("degree", wholes(py, outputs.iter().map(|o| o.degree)))?;
    facts.set_item("q", column(|o| o.q))?;
    facts.set_item(
        "candidates",
        wholes(py, outputs.iter().map(|o| o.candidates)),
    )?;
    facts.set_item("loo", column(|o| o.loo.plain))?;
    facts.set_item("corrected_loo", column(|o| o.loo.corrected))?;
    facts.set_item("cross_validation", column(|o| o.cross_validation))?;
    facts.set_item("largest_leverage", column(|o| o.largest_leverage))?;
    facts.set_item("condition", column(|o| o.condition))?;
    let grid: Vec<f64> = outputs.iter().flat_map(|o| &o.grid).copied().collect();
    let shape = [outputs.len(), options.degrees.len(), options.qs.len()];
    facts.set_item("grid", grid.into_pyarray(py).reshape(shape)?)?;
    facts.set_item("path_loo", path(|error| error.plain))?;
    facts.set_item("path_corrected_loo", path(|error| error.corrected))?;
    Ok((
        ChaosExpansion {
            inner: fitted.expansion,
        },
        facts,
    ))
}

/// Cross-validation of the whole fit.
#[pyfunction]
#[pyo3(signature = (families, points, values, *, folds=10, seed=0, degrees=None, q=None, method="best", search="early", max_candidates=100_000, threads=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
fn chaos_nested<'py>(
    py: Python<'py>,
    families: FamilySpec,
    points: PyReadonlyArray2<'py, f64>,
    values: PyReadonlyArray2<'py, f64>,
    folds: usize,
    seed: u64,
    degrees: Option<Vec<usize>>,
    q: Option<Vec<f64>>,
    method: &str,
    search: &str,
    max_candidates: usize,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let design = design_of(&families, &points, &values)?;
    let options = options_of(degrees, q, method, search, max_candidates)?;
    let outputs = design.outputs();
    let found = interruptible(py, threads, |stop| {
        nested(&design, &options, folds, seed, stop)
    })?
    .map_err(raised)?;
    let result = PyDict::new(py);
    result.set_item("error", found.errors.into_pyarray(py))?;
    result.set_item("predictions", table(py, found.predictions, outputs)?)?;
    result.set_item("fold", wholes(py, found.folds))?;
    result.set_item(
        "degree",
        wholes(py, found.degrees).reshape([folds, outputs])?,
    )?;
    result.set_item("q", table(py, found.qs, outputs)?)?;
    result.set_item("terms", wholes(py, found.terms).reshape([folds, outputs])?)?;
    Ok(result)
}

/// Coefficients on resampled designs, the terms kept: replicates x coefficients.
#[pyfunction]
#[pyo3(signature = (expansion, points, values, *, replicates=100, seed=0, threads=None))]
fn chaos_bootstrap<'py>(
    py: Python<'py>,
    expansion: &Bound<'py, ChaosExpansion>,
    points: PyReadonlyArray2<'py, f64>,
    values: PyReadonlyArray2<'py, f64>,
    replicates: usize,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let expansion = &expansion.get().inner;
    let spec = expansion
        .families()
        .iter()
        .map(|family| (family.name().to_owned(), family.shape()))
        .collect();
    let design = design_of(&spec, &points, &values)?;
    let found = interruptible(py, threads, |stop| {
        bootstrap_coefficients(&design, expansion, replicates, seed, stop)
    })?
    .map_err(raised)?;
    found
        .into_pyarray(py)
        .reshape([replicates, expansion.terms().len()])
}

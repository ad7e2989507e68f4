//! The contact problem of one step: block rows of W in, impulses, velocities and a report out.

use std::time::Instant;

use numpy::{
    IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
};
use numpy::{PyUntypedArrayMethods, ndarray::ArrayView1};
use percuss_solvers::{
    BlockKind, BlockMatrix, Existence, Norm, Problem, Report, Settings, Solver, Vector3, Workspace,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::bad_input;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(contact_solvers, module)?)?;
    module.add_function(wrap_pyfunction!(solve_contact, module)?)
}

/// Names of the contact solvers.
#[pyfunction]
fn contact_solvers() -> Vec<&'static str> {
    Solver::TABLE.map(|(name, _)| name).to_vec()
}

type Solution<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyDict>,
);

/// Solve u = W r + q with Coulomb friction; W by compressed rows of 3x3 blocks. Blocks that `couples` marks are the
/// couple of the contact before.
#[pyfunction]
#[pyo3(signature = (starts, columns, blocks, q, mu, *, solver="auto", tolerance=1e-8, max_iterations=50_000,
                    max_factorisations=4_000, norm="energy", start=None, couples=None))]
#[allow(clippy::too_many_arguments)]
fn solve_contact<'py>(
    py: Python<'py>,
    starts: PyReadonlyArray1<'py, i64>,
    columns: PyReadonlyArray1<'py, i64>,
    blocks: PyReadonlyArray3<'py, f64>,
    q: PyReadonlyArray2<'py, f64>,
    mu: PyReadonlyArray1<'py, f64>,
    solver: &str,
    tolerance: f64,
    max_iterations: usize,
    max_factorisations: usize,
    norm: &str,
    start: Option<PyReadonlyArray2<'py, f64>>,
    couples: Option<PyReadonlyArray1<'py, bool>>,
) -> PyResult<Solution<'py>> {
    let solver = Solver::from_name(solver).map_err(bad_input)?;
    let settings = Settings {
        tolerance,
        max_iterations,
        max_factorisations,
    };
    if blocks.shape()[1..] != [3, 3] {
        return Err(bad_input(format!(
            "blocks have shape {:?}; each must be 3 x 3",
            blocks.shape()
        )));
    }
    let blocks: Vec<[f64; 9]> = blocks
        .as_array()
        .outer_iter()
        .map(|block| std::array::from_fn(|k| block[[k / 3, k % 3]]))
        .collect();
    let matrix = BlockMatrix::from_block_rows(
        &whole("starts", starts.as_array())?,
        &whole("columns", columns.as_array())?,
        &blocks,
    )
    .map_err(bad_input)?;
    let norm = Norm::from_name(norm).map_err(bad_input)?;
    let mu = mu.as_array().to_vec();
    let kinds = match &couples {
        Some(couples) => couples.as_array().iter().copied().map(kind).collect(),
        None => vec![BlockKind::Contact; mu.len()],
    };
    let problem = Problem::with_kinds(matrix, vectors("q", &q)?, mu, kinds)
        .map_err(bad_input)?
        .judged_in(norm);
    let mut r = match &start {
        Some(start) => vectors("start", start)?,
        None => vec![[0.0; 3]; problem.contacts()],
    };
    let mut u = vec![[0.0; 3]; problem.contacts()];
    let (report, seconds) = py.detach(|| {
        let begin = Instant::now();
        let mut workspace = Workspace::default();
        let report = solver.solve(&problem, &settings, &mut r, &mut u, &mut workspace);
        (report, begin.elapsed().as_secs_f64())
    });
    let report = report.map_err(bad_input)?;
    let facts = facts(py, &report)?;
    facts.set_item("seconds", seconds)?;
    if !report.converged {
        let (verdict, size, asymmetry) = match py.detach(|| problem.existence()) {
            Existence::Proven { margin } => ("proven", margin, 0.0),
            Existence::Nearby { margin, asymmetry } => ("nearby", margin, asymmetry),
            Existence::Refuted { residual } => ("refuted", residual, 0.0),
            Existence::Open => ("open", f64::NAN, 0.0),
        };
        facts.set_item("existence", (verdict, size, asymmetry))?;
        let backward = problem.backward_error(&r);
        let (impulses, change) = (table(py, backward.impulses)?, table(py, backward.change)?);
        facts.set_item("backward", (impulses, change, backward.relative))?;
    }
    Ok((table(py, r)?, table(py, u)?, facts))
}

fn kind(couple: bool) -> BlockKind {
    if couple {
        BlockKind::Couple
    } else {
        BlockKind::Contact
    }
}

fn whole(name: &str, values: ArrayView1<'_, i64>) -> PyResult<Vec<usize>> {
    values
        .iter()
        .map(|&value| {
            usize::try_from(value)
                .map_err(|_| bad_input(format!("{name} holds {value}; it must be at least 0")))
        })
        .collect()
}

fn vectors(name: &str, array: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<Vector3>> {
    if array.shape()[1] != 3 {
        return Err(bad_input(format!(
            "{name} has {} columns; a contact has 3",
            array.shape()[1]
        )));
    }
    Ok(array
        .as_array()
        .outer_iter()
        .map(|row| [row[0], row[1], row[2]])
        .collect())
}

fn table<'py>(py: Python<'py>, vectors: Vec<Vector3>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let height = vectors.len();
    vectors
        .into_flattened()
        .into_pyarray(py)
        .reshape([height, 3])
}

fn facts<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("converged", report.converged)?;
    facts.set_item("iterations", report.iterations)?;
    facts.set_item("factorisations", report.factorisations)?;
    facts.set_item("energy", report.residuals.energy)?;
    facts.set_item("plain", report.residuals.plain)?;
    facts.set_item("velocity", report.residuals.velocity)?;
    facts.set_item("siconos", report.residuals.siconos)?;
    Ok(facts)
}

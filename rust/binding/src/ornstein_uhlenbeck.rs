//! Errors along an axis that forget themselves exponentially: arrays in, arrays out.

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyReadonlyArray3, PyUntypedArrayMethods,
};
use percuss_inference::{Process, Result};
use pyo3::prelude::*;

use crate::error::bad_input;

type Whitened<'py> = (Bound<'py, PyArray3<f64>>, Bound<'py, PyArray1<f64>>);
type Solved<'py> = (Bound<'py, PyArray3<f64>>, Bound<'py, PyArray2<f64>>);

/// All processes over the same places, each with its vectors.
struct Processes<'a> {
    places: &'a [f64],
    std: &'a [f64],
    length: &'a [f64],
    variance: &'a [f64],
    vectors: &'a [f64],
    /// Vectors of each process.
    count: usize,
}

impl<'a> Processes<'a> {
    fn new(
        places: &'a PyReadonlyArray1<'_, f64>,
        std: &'a PyReadonlyArray1<'_, f64>,
        length: &'a PyReadonlyArray1<'_, f64>,
        variance: &'a PyReadonlyArray2<'_, f64>,
        vectors: &'a PyReadonlyArray3<'_, f64>,
    ) -> PyResult<Self> {
        let ([sets, entries], [groups, count, size]) = (
            [variance.shape()[0], variance.shape()[1]],
            [vectors.shape()[0], vectors.shape()[1], vectors.shape()[2]],
        );
        let (processes, most) = (std.len(), places.len());
        let each = |n: usize| n == 1 || n == processes;
        if length.len() != processes
            || !each(sets)
            || !each(groups)
            || entries != most
            || size != most
        {
            return Err(bad_input(format!(
                "{processes} std and {} lengths over {most} places have variances {sets} x {entries} and vectors {groups} x {count} x {size}",
                length.len()
            )));
        }
        Ok(Self {
            places: places.as_slice()?,
            std: std.as_slice()?,
            length: length.as_slice()?,
            variance: variance.as_slice()?,
            vectors: vectors.as_slice()?,
            count,
        })
    }

    /// The process of a number, and its vectors.
    fn at(&self, number: usize) -> (Process<'a>, &'a [f64]) {
        let size = self.places.len();
        (
            Process {
                places: self.places,
                std: self.std[number],
                length: self.length[number],
                variance: own(self.variance, number, size),
            },
            own(self.vectors, number, self.count * size),
        )
    }
}

/// The part of a process, or that which all of them share.
fn own(values: &[f64], number: usize, size: usize) -> &[f64] {
    if values.len() == size {
        values
    } else {
        &values[number * size..(number + 1) * size]
    }
}

/// Vectors with white entries where the given ones have the covariance of the process, and log determinants.
#[pyfunction]
fn ornstein_uhlenbeck_whiten<'py>(
    py: Python<'py>,
    places: PyReadonlyArray1<'py, f64>,
    std: PyReadonlyArray1<'py, f64>,
    length: PyReadonlyArray1<'py, f64>,
    variance: PyReadonlyArray2<'py, f64>,
    vectors: PyReadonlyArray3<'py, f64>,
) -> PyResult<Whitened<'py>> {
    let all = Processes::new(&places, &std, &length, &variance, &vectors)?;
    let (white, log_det) = py
        .detach(|| -> Result<_> {
            let mut white = Vec::with_capacity(all.std.len() * all.count * all.places.len());
            let mut log_det = Vec::with_capacity(all.std.len());
            for number in 0..all.std.len() {
                let (process, vectors) = all.at(number);
                log_det.push(process.whiten(vectors, &mut white)?);
            }
            Ok((white, log_det))
        })
        .map_err(bad_input)?;
    let shape = [all.std.len(), all.count, all.places.len()];
    Ok((
        white.into_pyarray(py).reshape(shape)?,
        log_det.into_pyarray(py),
    ))
}

/// The inverse covariance times vectors, and its diagonal.
#[pyfunction]
fn ornstein_uhlenbeck_solve<'py>(
    py: Python<'py>,
    places: PyReadonlyArray1<'py, f64>,
    std: PyReadonlyArray1<'py, f64>,
    length: PyReadonlyArray1<'py, f64>,
    variance: PyReadonlyArray2<'py, f64>,
    vectors: PyReadonlyArray3<'py, f64>,
) -> PyResult<Solved<'py>> {
    let all = Processes::new(&places, &std, &length, &variance, &vectors)?;
    let (solved, diagonal) = py
        .detach(|| -> Result<_> {
            let (mut solved, mut diagonal) = (vec![], vec![]);
            for number in 0..all.std.len() {
                let (process, vectors) = all.at(number);
                let own = process.solve(vectors)?;
                solved.extend(own.vectors);
                diagonal.extend(own.diagonal);
            }
            Ok((solved, diagonal))
        })
        .map_err(bad_input)?;
    let shape = [all.std.len(), all.count, all.places.len()];
    Ok((
        solved.into_pyarray(py).reshape(shape)?,
        diagonal.into_pyarray(py).reshape([shape[0], shape[2]])?,
    ))
}

/// Add the functions of this file.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ornstein_uhlenbeck_whiten, module)?)?;
    module.add_function(wrap_pyfunction!(ornstein_uhlenbeck_solve, module)?)
}

//! Laws of uncertain bodies: components in, draws out.

use numpy::{PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use percuss_bodies::{BodyError, Bounds, KummerBeta as Law, Method, Symmetric};
use pyo3::prelude::*;

use crate::chaos::{rows, table};
use crate::error::bad_input;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<KummerBeta>()
}

fn raised(error: BodyError) -> PyErr {
    match error {
        BodyError::Value { .. } | BodyError::Order { .. } | BodyError::Mean { .. } => {
            bad_input(error)
        }
    }
}

/// The law of a random tensor between two bounds; components xx, yy, zz, xy, xz, yz.
#[pyclass(frozen, module = "percuss._core")]
struct KummerBeta {
    law: Law,
}

#[pymethods]
impl KummerBeta {
    #[new]
    fn new(
        lower: Symmetric,
        upper: Symmetric,
        mean: Symmetric,
        lower_exponent: f64,
        upper_exponent: f64,
    ) -> PyResult<Self> {
        let bounds = Bounds { lower, upper, mean };
        let law = Law::new(&bounds, lower_exponent, upper_exponent).map_err(raised)?;
        Ok(Self { law })
    }

    /// The draw of each key (n, 6).
    fn draw<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        keys: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        if keys.shape()[1] != 6 {
            return Err(bad_input(format!(
                "keys have {} numbers a row, expected 6",
                keys.shape()[1]
            )));
        }
        let keys = rows(&keys);
        let drawn: Vec<f64> = py.detach(|| {
            let each = keys.chunks_exact(6);
            each.flat_map(|key| self.law.draw(seed, std::array::from_fn(|i| key[i])))
                .collect()
        });
        table(py, drawn, 6)
    }

    /// Eigenvalues of the upper bound in units of the mean, rising.
    #[getter]
    fn ratios(&self) -> [f64; 3] {
        self.law.ratios()
    }

    /// Components of the multiplier mu of the normalised tensor.
    #[getter]
    fn multiplier(&self) -> Symmetric {
        self.law.multiplier()
    }

    /// How draws are made, and the share of attempts that a trial kept.
    #[getter]
    fn method(&self) -> (&'static str, f64) {
        let name = match self.law.method() {
            Method::Beta => "beta",
            Method::Lower => "lower",
            Method::Upper => "upper",
            Method::Metropolis => "metropolis",
        };
        (name, self.law.kept())
    }
}

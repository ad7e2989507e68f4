//! Many small Parquet files as one, and what a file takes in memory.

use std::fs::File;
use std::io::Cursor;
use std::path::PathBuf;

use percuss_parquet::{merge, merge_files, size_in_memory};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::error::bad_input;

/// The rows of Parquet files of the same columns, in order, as one file without compression; refused above a size.
#[pyfunction]
fn merge_parquet<'py>(
    py: Python<'py>,
    files: Vec<PyBackedBytes>,
    largest_bytes: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let merged = py
        .detach(|| {
            let parts: Vec<&[u8]> = files.iter().map(|file| &**file).collect();
            merge(&parts, largest_bytes)
        })
        .map_err(bad_input)?;
    Ok(PyBytes::new(py, &merged))
}

/// The same of files on the disk, each of at most so many bytes that match the digest it carries; links are refused.
#[pyfunction]
fn merge_parquet_files(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    largest_file_bytes: usize,
    largest_bytes: usize,
) -> PyResult<Bound<'_, PyBytes>> {
    let merged = py
        .detach(|| merge_files(&paths, largest_file_bytes, largest_bytes))
        .map_err(bad_input)?;
    Ok(PyBytes::new(py, &merged))
}

/// A file that is in memory, or where it is.
#[derive(FromPyObject)]
enum Table {
    Bytes(PyBackedBytes),
    Path(PathBuf),
}

/// Bytes that the table of a Parquet file takes in memory at most, as the file says; nothing is unpacked.
#[pyfunction]
fn parquet_size(py: Python<'_>, file: Table) -> PyResult<u64> {
    py.detach(|| match file {
        Table::Bytes(data) => size_in_memory(&mut Cursor::new(&*data)).map_err(bad_input),
        Table::Path(path) => size_in_memory(&mut File::open(path)?).map_err(bad_input),
    })
}

/// Add the functions of this file.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(merge_parquet, module)?)?;
    module.add_function(wrap_pyfunction!(merge_parquet_files, module)?)?;
    module.add_function(wrap_pyfunction!(parquet_size, module)?)
}

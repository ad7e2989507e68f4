//! The extension module `percuss._core`: the only crate that names PyO3.
//!
//! Each area of the core adds its functions in a file of its own; this file is the module table.

mod bodies;
mod chaos;
mod contact;
mod error;
mod grains;
mod interruptible;
mod kalman;
mod ornstein_uhlenbeck;
mod oscillators;
mod parquet;
mod posterior;
mod rigid;
mod signals;

use pyo3::prelude::*;

/// How this core was built: part of every event, because results are repeatable to the bit only for one build.
#[pyfunction]
fn build_facts() -> [(&'static str, &'static str); 5] {
    [
        ("version", env!("CARGO_PKG_VERSION")),
        ("commit", env!("PERCUSS_COMMIT")),
        ("rustc", env!("PERCUSS_RUSTC")),
        ("target", env!("PERCUSS_TARGET")),
        ("profile", env!("PERCUSS_PROFILE")),
    ]
}

/// The `Cargo.lock` this core was built with: it pins every crate the numbers come from.
#[pyfunction]
fn cargo_lock() -> &'static str {
    include_str!("../../../Cargo.lock")
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(build_facts, module)?)?;
    module.add_function(wrap_pyfunction!(cargo_lock, module)?)?;
    bodies::register(module)?;
    chaos::register(module)?;
    contact::register(module)?;
    grains::register(module)?;
    kalman::register(module)?;
    oscillators::register(module)?;
    parquet::register(module)?;
    posterior::register(module)?;
    ornstein_uhlenbeck::register(module)?;
    rigid::register(module)?;
    signals::register(module)
}

//! The native half of the Python package `tangram`: arguments in, results out, no algorithm.

use pyo3::prelude::*;

/// Returns the version of the library, as in `Cargo.toml`.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Fills the module `tangram._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)
}

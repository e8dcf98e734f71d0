//! The command `tangram` inside a process of Python.

use std::ffi::OsString;

use pyo3::prelude::*;
use tangram_cli::{Invocation, run_as};

/// Runs the command on `words`, the name of the command first, and returns its exit status.
///
/// `program` starts the same command in a process of its own. A command line that is wrong, or
/// asks for help, ends this process.
#[pyfunction]
pub fn command(python: Python<'_>, words: Vec<OsString>, program: Vec<OsString>) -> u8 {
    python.detach(|| run_as(&Invocation { words, program }).number())
}

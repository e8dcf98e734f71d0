//! The books of a run over many models, for the package `tangram.fleet`.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tangram::fleet::{self, Format, Row, Source};
use tangram::onnx::file::{self, SaveOptions};

use crate::ModelError;

/// Files, bytes of all, bytes of memory at the peak with and without a check, fingerprint.
type Looked = (Vec<PathBuf>, u64, (u64, u64), String);

/// Looks at the files of the model at `path`: the files, bytes of all, bytes of memory at the peak
/// with and without a check, and the text that changes with any byte of them and of `request`.
#[pyfunction]
pub(crate) fn fleet_source(
    python: Python<'_>,
    path: PathBuf,
    request: &str,
    saturate: bool,
) -> PyResult<Looked> {
    python.detach(|| {
        let source = Source::open(&path).map_err(|why| ModelError::new_err(why.to_string()))?;
        let fingerprint = source.fingerprint(request)?;
        let peaks = (source.peak(true, saturate), source.peak(false, saturate));
        Ok((source.files, source.bytes, peaks, fingerprint))
    })
}

/// The models that a folder or a pattern stands for: where each is, and its name.
#[pyfunction]
pub(crate) fn fleet_find(path: PathBuf) -> PyResult<Vec<(PathBuf, PathBuf)>> {
    let found = fleet::find(&path).map_err(|why| PyValueError::new_err(why.to_string()))?;
    Ok(found.into_iter().map(|found| (found.path, found.name)).collect())
}

/// The rows of the journal in `folder`, as JSON.
#[pyfunction]
pub(crate) fn fleet_journal(folder: PathBuf) -> PyResult<String> {
    let rows = fleet::journal(&folder);
    serde_json::to_string(&rows).map_err(|why| PyValueError::new_err(why.to_string()))
}

/// Saves the model at `source`, with its weights, as the model at `target`: whoever looks there sees
/// the old one or this one.
#[pyfunction]
pub(crate) fn place_model(python: Python<'_>, source: PathBuf, target: PathBuf) -> PyResult<()> {
    let placed = python.detach(|| {
        let loaded = file::open(&source)?;
        file::save(&loaded.model, &loaded.files, &target, &SaveOptions::default())
    });
    placed.map_err(|why| ModelError::new_err(why.to_string()))
}

/// The table of rows in JSON, in the format that the name of a file asks for.
#[pyfunction]
pub(crate) fn fleet_table(rows: &str, name: &str) -> PyResult<String> {
    let rows: Vec<Row> =
        serde_json::from_str(rows).map_err(|why| PyValueError::new_err(why.to_string()))?;
    Ok(fleet::render(&rows, Format::of(Path::new(name))))
}

//! What changed between models, for `tangram.diff`.

use std::path::PathBuf;

use pyo3::prelude::*;
use tangram::diff::Diff;
use tangram::onnx::file::{self, Loaded};

use crate::ModelError;

/// A model file: where it is, or what it holds.
#[derive(FromPyObject)]
pub(crate) enum Given {
    Content(Vec<u8>),
    Path(PathBuf),
}

impl Given {
    fn load(self) -> PyResult<Loaded> {
        let loaded = match self {
            Given::Content(bytes) => file::decode(bytes.into()),
            Given::Path(path) => file::open(path),
        };
        loaded.map_err(|why| ModelError::new_err(why.to_string()))
    }
}

/// What changed from one model file to another: whether anything did, as JSON, as text.
#[pyfunction]
pub(crate) fn diff_models(
    python: Python<'_>,
    before: Given,
    after: Given,
) -> PyResult<(bool, String, String)> {
    let (before, after) = (before.load()?, after.load()?);
    let found = python.detach(|| Diff::of(&before, &after));
    let told = serde_json::to_string(&found).map_err(|why| ModelError::new_err(why.to_string()))?;
    Ok((!found.is_empty(), told, found.to_string()))
}

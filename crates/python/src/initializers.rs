//! Initializers that a caller gives in place of those of a model, before it is imported.

use bytes::Bytes;
use pyo3::prelude::*;
use tangram::dialects::interpret::Datum;
use tangram::onnx::file::{ExternalData, ExternalFiles, Loaded};
use tangram::onnx::proto::TensorProto;
use tangram::tensor::Tensor;

use crate::model::model_error;
use crate::value::Value;

/// What is given besides the model itself.
#[derive(Default, FromPyObject)]
pub(crate) struct Given<'py> {
    /// Where external data lies, if the model came without a file.
    #[pyo3(item)]
    folder: Option<String>,
    /// Values of initializers, with ONNX's numbers of their types.
    #[pyo3(item)]
    values: Vec<(String, i32, Bound<'py, Value>)>,
    /// Files of external data.
    #[pyo3(item)]
    files: Vec<(String, Vec<u8>)>,
}

/// The same without Python.
#[derive(Default)]
pub(crate) struct Initializers {
    folder: Option<String>,
    values: Vec<(String, i32, Tensor)>,
    files: Vec<(String, Bytes)>,
}

impl Given<'_> {
    /// Copies what is given: nobody changes a model that runs.
    pub(crate) fn copied(self) -> PyResult<Initializers> {
        let copy = |(name, kind, value): (String, i32, Bound<'_, Value>)| {
            let Datum::Tensor(tensor) = &value.get().datum() else {
                return Err(model_error(format!("initializer `{name}` is no tensor")));
            };
            let bytes = Bytes::copy_from_slice(tensor.bytes());
            let copy = Tensor::from_bytes(tensor.dtype(), tensor.shape(), bytes);
            Ok((name, kind, copy.map_err(model_error)?))
        };
        let values = self.values.into_iter().map(copy).collect::<PyResult<_>>()?;
        let files = self.files.into_iter().map(|(name, bytes)| (name, bytes.into())).collect();
        Ok(Initializers { folder: self.folder, values, files })
    }
}

impl Initializers {
    /// Puts what is given into a model; returns why it does not fit.
    pub(crate) fn apply(self, loaded: &mut Loaded) -> Result<(), String> {
        if let Some(folder) = self.folder {
            loaded.files = ExternalFiles::in_folder(folder);
        }
        let Some(graph) = &mut loaded.model.graph else { return Ok(()) };
        for tensor in &mut graph.initializer {
            if let Some((_, kind, value)) = self.values.iter().find(|one| one.0 == tensor.name()) {
                let own = tensor.data_type.unwrap_or_default();
                if own != *kind {
                    let name = tensor.name();
                    let text = format!("initializer `{name}` is of ONNX's type {own}, not {kind}");
                    return Err(text);
                }
                tensor.dims = value.shape().iter().map(|&extent| extent as i64).collect();
                fill(tensor, value.bytes().clone());
            } else if let Some(bytes) = inside(tensor, &self.files)? {
                fill(tensor, bytes);
            }
        }
        Ok(())
    }
}

/// The bytes of an external tensor in one of `files`, if it lies in one.
fn inside(tensor: &TensorProto, files: &[(String, Bytes)]) -> Result<Option<Bytes>, String> {
    if tensor.external_data.is_empty() {
        return Ok(None);
    }
    let data = ExternalData::of(tensor).map_err(|error| error.to_string())?;
    let Some((name, file)) = files.iter().find(|(name, _)| *name == data.location) else {
        return Ok(None);
    };
    let start = usize::try_from(data.offset).unwrap_or(usize::MAX);
    let len = data.length.map_or(file.len().saturating_sub(start), |len| len as usize);
    let end = start.checked_add(len).filter(|&end| end <= file.len());
    let end = end.ok_or_else(|| {
        format!("`{name}` has {} bytes, initializer `{}` ends later", file.len(), tensor.name())
    })?;
    Ok(Some(file.slice(start..end)))
}

/// Gives a tensor these elements and no others.
fn fill(tensor: &mut TensorProto, bytes: Bytes) {
    *tensor = TensorProto {
        dims: std::mem::take(&mut tensor.dims),
        data_type: tensor.data_type,
        name: tensor.name.take(),
        doc_string: tensor.doc_string.take(),
        raw_data: Some(bytes),
        ..TensorProto::default()
    };
}

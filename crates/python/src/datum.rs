//! Values as they cross the border: `(element type, shape, bytes)` for a tensor (on the way out a
//! byte array, which an array may own and change), a list of byte
//! strings in place of the bytes for a tensor of strings, a list for a sequence, `(keys, values)`,
//! two tensors, for a map (on the way out a dictionary, if its elements are texts or numbers of
//! Python), `None` for an optional value that is absent.

use bytes::Bytes;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyString};
use tangram::dialects::interpret::Datum;
use tangram::tensor::learned::map_of;
use tangram::tensor::{DType, Tensor};

use crate::EvaluationError;

fn failed(error: impl std::fmt::Display) -> PyErr {
    EvaluationError::new_err(error.to_string())
}

/// Reads a value from Python.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Datum> {
    if value.is_none() {
        return Ok(Datum::Optional(None));
    }
    if let Ok(list) = value.cast::<PyList>() {
        return list
            .iter()
            .map(|item| from_python(&item))
            .collect::<PyResult<_>>()
            .map(Datum::Sequence);
    }
    if value.len()? == 2 {
        return map_from(value);
    }
    let (dtype, shape, data): (String, Vec<usize>, Bound<'_, PyAny>) = value.extract()?;
    let dtype: DType = dtype.parse().map_err(failed)?;
    let tensor = match dtype {
        DType::String => Tensor::from_strings(&shape, data.extract::<Vec<Vec<u8>>>()?),
        _ => Tensor::from_bytes(dtype, &shape, Bytes::from_owner(data.extract::<PyBackedBytes>()?)),
    };
    tensor.map(Datum::Tensor).map_err(failed)
}

/// Reads a map, whose keys may come in any order.
fn map_from(value: &Bound<'_, PyAny>) -> PyResult<Datum> {
    let (keys, values): (Bound<'_, PyAny>, Bound<'_, PyAny>) = value.extract()?;
    match (from_python(&keys)?, from_python(&values)?) {
        (Datum::Tensor(keys), Datum::Tensor(values)) => {
            let (keys, values) = map_of(&keys, &values).map_err(failed)?;
            Ok(Datum::Map { keys, values })
        }
        _ => Err(failed("a map has tensors as keys and values")),
    }
}

/// Hands a value to Python.
pub(crate) fn to_python<'py>(python: Python<'py>, datum: &Datum) -> PyResult<Bound<'py, PyAny>> {
    match datum {
        Datum::Tensor(tensor) => {
            let data = match tensor.strings() {
                Some(strings) => {
                    let strings = strings.iter().map(|text| PyBytes::new(python, text));
                    PyList::new(python, strings)?.into_any()
                }
                None => PyByteArray::new(python, tensor.bytes()).into_any(),
            };
            (tensor.dtype().name(), tensor.shape().to_vec(), data).into_bound_py_any(python)
        }
        Datum::Sequence(items) => {
            let items: Vec<_> =
                items.iter().map(|item| to_python(python, item)).collect::<PyResult<_>>()?;
            Ok(PyList::new(python, items)?.into_any())
        }
        Datum::Map { keys, values } => {
            if let (Some(keys), Some(values)) = (items(python, keys)?, items(python, values)?) {
                let map = PyDict::new(python);
                keys.iter().zip(&values).try_for_each(|(key, value)| map.set_item(key, value))?;
                return Ok(map.into_any());
            }
            let of = |tensor: &Tensor| to_python(python, &Datum::Tensor(tensor.clone()));
            (of(keys)?, of(values)?).into_bound_py_any(python)
        }
        Datum::Optional(Some(inner)) => to_python(python, inner),
        Datum::Optional(None) | Datum::None => Ok(python.None().into_bound(python)),
    }
}

/// The elements of a tensor as objects of Python; `None` for types that Python has no number of.
fn items<'py>(python: Python<'py>, tensor: &Tensor) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    let items = if let Some(texts) = tensor.strings() {
        texts.iter().map(|text| text_of(python, text)).collect::<PyResult<_>>()?
    } else if tensor.dtype() == DType::F32 || tensor.dtype() == DType::F64 {
        let numbers = tensor.f64s().map_err(failed)?.into_iter();
        numbers.map(|number| number.into_bound_py_any(python)).collect::<PyResult<_>>()?
    } else if tensor.dtype() == DType::I64 || tensor.dtype() == DType::I32 {
        let numbers = tensor.i64s().map_err(failed)?.into_iter();
        numbers.map(|number| number.into_bound_py_any(python)).collect::<PyResult<_>>()?
    } else {
        return Ok(None);
    };
    Ok(Some(items))
}

/// A text; bytes that are none stay as surrogates, as everywhere on this border.
fn text_of<'py>(python: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(PyString::new(python, text).into_any()),
        Err(_) => PyBytes::new(python, bytes).call_method1("decode", ("utf-8", "surrogateescape")),
    }
}

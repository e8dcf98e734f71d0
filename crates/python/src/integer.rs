//! Integers of any size between Rust and Python.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt};
use tangram::presburger::Integer;

/// An integer that crosses as Python's `int`, whatever its size.
pub(crate) struct Number(pub Integer);

impl<'py> IntoPyObject<'py> for Number {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, python: Python<'py>) -> PyResult<Self::Output> {
        if let Some(value) = self.0.to_i64() {
            return Ok(value.into_pyobject(python)?.into_any());
        }
        let bytes = PyBytes::new(python, &self.0.to_signed_bytes());
        let signed = PyDict::new(python);
        signed.set_item("signed", true)?;
        python.get_type::<PyInt>().call_method("from_bytes", (bytes, "little"), Some(&signed))
    }
}

impl<'py> FromPyObject<'_, 'py> for Number {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // What counts as an index may stand for an integer, as numpy's do.
        let number = object.py().import("operator")?.call_method1("index", (object,))?;
        if let Ok(value) = number.extract::<i64>() {
            return Ok(Self(value.into()));
        }
        let bits: usize = number.call_method0("bit_length")?.extract()?;
        let signed = PyDict::new(object.py());
        signed.set_item("signed", true)?;
        let bytes = number.call_method("to_bytes", (bits / 8 + 1, "little"), Some(&signed))?;
        Ok(Self(Integer::from_signed_bytes(bytes.extract::<&[u8]>()?)))
    }
}

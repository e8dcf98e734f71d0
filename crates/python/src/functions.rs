//! Functions of Python that conditions of rules call.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};
use tangram::Library;
use tangram::dialects::{dims, dtype};
use tangram::gsl::eval::AttrValue;
use tangram::gsl::rules::NativeArgument;
use tangram::ir::{Module, Value};

/// The first exception that a function raised.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Raises it.
    pub(crate) fn again(&self) -> PyResult<()> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    pub(crate) fn note(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

/// Lets rules of `library` call `functions` by name. After one has raised, no rule that calls one
/// matches any more.
pub(crate) fn define(library: &mut Library, functions: Vec<(String, Py<PyAny>)>) -> Raised {
    let raised = Raised::default();
    for (name, function) in functions {
        let raised = raised.clone();
        let call = move |module: &Module, args: &[NativeArgument]| {
            if !raised.is_empty() {
                return None;
            }
            Python::attach(|python| match called(python, &function, module, args) {
                Ok(value) => value,
                Err(error) => {
                    raised.note(error);
                    None
                }
            })
        };
        library.define(&name, Arc::new(call));
    }
    raised
}

fn called(
    python: Python<'_>,
    function: &Py<PyAny>,
    module: &Module,
    args: &[NativeArgument],
) -> PyResult<Option<AttrValue>> {
    let args: Vec<Bound<'_, PyAny>> = args
        .iter()
        .map(|arg| match arg {
            NativeArgument::Value(value) => matched(python, module, *value),
            NativeArgument::Attribute(value) => to_python(python, value),
        })
        .collect::<PyResult<_>>()?;
    let result = function.bind(python).call1(PyTuple::new(python, args)?)?;
    from_python(&result)
}

/// What a pattern matched: a `gsl.attr.Matched` of name, element type and extents.
fn matched<'py>(python: Python<'py>, module: &Module, value: Value) -> PyResult<Bound<'py, PyAny>> {
    let class = python.import("gsl.attr")?.getattr("Matched")?;
    class.call1(matched_parts(python, module, value)?)
}

/// Name, element type and extents of a value.
pub(crate) type Parts<'py> = (Option<String>, Option<&'static str>, Option<Bound<'py, PyTuple>>);

/// What is known of a value.
pub(crate) fn matched_parts<'py>(
    python: Python<'py>,
    module: &Module,
    value: Value,
) -> PyResult<Parts<'py>> {
    let context = module.context();
    let ty = module.value_type(value);
    let name = module.value_name(value).map(|name| context.text(name).to_owned());
    let element = context.element_type(ty).and_then(|e| dtype::dtype_of(context, e));
    let shape = match context.as_tensor(ty) {
        None => None,
        Some((extents, _)) => {
            let extent = |dim: &tangram::ir::Dim| -> PyResult<Bound<'py, PyAny>> {
                match dim.as_static() {
                    Some(n) => Ok(n.into_pyobject(python)?.into_any()),
                    None if dim.is_unknown() => Ok(python.None().into_bound(python)),
                    None => Ok(dims::text(context, *dim).into_pyobject(python)?.into_any()),
                }
            };
            let extents = extents.iter().map(extent).collect::<PyResult<Vec<_>>>()?;
            Some(PyTuple::new(python, extents)?)
        }
    };
    Ok((name, element.map(|element| element.name()), shape))
}

fn to_python<'py>(python: Python<'py>, value: &AttrValue) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        AttrValue::Int(value) => value.into_pyobject(python)?.into_any(),
        AttrValue::Bool(value) => PyBool::new(python, *value).to_owned().into_any(),
        AttrValue::Float(value) | AttrValue::Single(value) => {
            PyFloat::new(python, *value).into_any()
        }
        AttrValue::Str(text) => PyString::new(python, text).into_any(),
        AttrValue::Tuple(fields) => {
            let fields = fields.iter().map(|field| to_python(python, field));
            PyTuple::new(python, fields.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        // An extent that is not a number.
        _ => python.None().into_bound(python),
    })
}

/// What a function returned; nothing for `None`, which refuses the match.
fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Option<AttrValue>> {
    if value.is_none() {
        return Ok(None);
    }
    // A truth value of Python is an integer, too.
    if value.is_instance_of::<PyBool>() {
        return Ok(Some(AttrValue::Bool(value.extract()?)));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(Some(AttrValue::Int(value.extract()?)));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(Some(AttrValue::Str(text)));
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(Some(AttrValue::Float(number)));
    }
    let fields = value.try_iter()?.map(|field| from_python(&field?));
    let fields: Option<Vec<AttrValue>> = fields.collect::<PyResult<_>>()?;
    Ok(fields.map(AttrValue::Tuple))
}

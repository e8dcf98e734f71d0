//! Functions of Python that conditions of rules call.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};
use tangram::Library;
use tangram::dialects::interpret::Datum;
use tangram::dialects::{constant, dims, dtype};
use tangram::gsl::eval::AttrValue;
use tangram::gsl::rules::NativeArgument;
use tangram::ir::{Loc, Module, OpState, Point, Value};
use tangram::rewrite::Rewriter;
use tangram::tensor::elementwise::cast;
use tangram::tensor::{DType, Tensor};

use crate::{EvaluationError, datum};

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
        define_builder(library, &name, &function, &raised);
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

/// Lets targets make a constant of constants by a function of arrays.
fn define_builder(library: &mut Library, name: &str, function: &Py<PyAny>, raised: &Raised) {
    let function = Python::attach(|python| function.clone_ref(python));
    let raised = raised.clone();
    let build = move |rewriter: &mut Rewriter<'_>,
                      point: Point,
                      operands: &[Value],
                      attributes: &[(String, AttrValue)]| {
        if !raised.is_empty() {
            return None;
        }
        let tensor = |value: &Value| constant::constant_tensor(rewriter.module(), *value);
        let tensors: Vec<Tensor> = operands.iter().map(tensor).collect::<Option<_>>()?;
        let dtype = attributes.iter().find_map(|(name, value)| match value {
            AttrValue::Str(text) if name == "dtype" => text.parse::<DType>().ok(),
            _ => None,
        });
        let made = Python::attach(|python| computed(python, &function, &tensors, dtype));
        let made = match made {
            Ok(made) => made?,
            Err(error) => {
                raised.note(error);
                return None;
            }
        };
        let key = format!("made.{}", rewriter.module().op_capacity());
        let attr = constant::computed_attr(rewriter.module_mut_unheard(), &made, &key);
        let context = rewriter.module().context_arc().clone();
        let mut state = OpState::new(context.name("nn.constant"), Loc::UNKNOWN);
        state.attrs = context.dict([(context.str("value"), attr)]);
        state.results.push(constant::tensor_type(&context, &made));
        let op = rewriter.create(point, state);
        Some(vec![rewriter.module().result(op, 0)])
    };
    library.define_builder(name, Arc::new(build));
}

/// What a function makes of arrays, in an element type if one is asked for; nothing for `None`.
fn computed(
    python: Python<'_>,
    function: &Py<PyAny>,
    tensors: &[Tensor],
    dtype: Option<DType>,
) -> PyResult<Option<Tensor>> {
    let arrays = tensors.iter().map(|t| datum::to_python(python, &Datum::Tensor(t.clone())));
    let arrays = PyTuple::new(python, arrays.collect::<PyResult<Vec<_>>>()?)?;
    let result = function.bind(python).call1(arrays)?;
    match datum::from_python(&result)? {
        Datum::Tensor(tensor) => match dtype {
            Some(dtype) => cast(&tensor, dtype)
                .map(Some)
                .map_err(|error| EvaluationError::new_err(error.to_string())),
            None => Ok(Some(tensor)),
        },
        _ => Ok(None),
    }
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

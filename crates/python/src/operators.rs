//! Operators that are declared from Python.

use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tangram::Library;
use tangram::dialects::interpret::Datum;
use tangram::dialects::{constant, dims, dtype};
use tangram::ir::{Context, Dim, Module, Type, TypeData, Value};
use tangram::onnx::declared::declare;
use tangram::onnx::proto::{AttributeProto, NodeProto};
use tangram::tensor::DType;

use crate::functions::{Raised, matched_parts};
use crate::model::rule_error;
use crate::{ModelError, datum};

/// Domain, name, whether it is pure, and what it gives: a function of operands and attributes, or the
/// text of a rule that defines it.
pub(crate) type Operator = (String, String, bool, Py<PyAny>);

/// Constants of more bytes are not shown to functions.
const SHOWN_BYTES: usize = 1 << 16;

/// What a function says of an output: an element type, and extents if their number is known.
type Output = Option<(String, Option<Vec<Option<Extent>>>)>;

#[derive(FromPyObject)]
enum Extent {
    Number(i64),
    Text(String),
}

/// Makes `operators` known to `context`. After a function has raised, none is called any more.
pub(crate) fn declare_all(context: &Context, operators: Vec<Operator>) -> Raised {
    let raised = Raised::default();
    let texts =
        |operator: &Operator| Python::attach(|python| operator.3.extract::<String>(python)).ok();
    let (defined, operators): (Vec<_>, Vec<_>) =
        operators.into_iter().partition(|operator| texts(operator).is_some());
    let mut library = Library::default();
    for text in defined.iter().filter_map(texts) {
        if let Err(error) = library.add_text("<definition>", &text, None) {
            raised.note(rule_error(error));
        }
    }
    library.define_in(context);
    for (domain, name, pure, function) in operators {
        let raised = raised.clone();
        let infer = move |module: &Module, node: &NodeProto, inputs: &[Option<Value>]| {
            if !raised.is_empty() {
                return Vec::new();
            }
            Python::attach(|python| match called(python, &function, module, node, inputs) {
                Ok(types) => types,
                Err(error) => {
                    raised.note(error);
                    Vec::new()
                }
            })
        };
        declare(context, &domain, &name, pure, Arc::new(infer));
    }
    raised
}

fn called(
    python: Python<'_>,
    function: &Py<PyAny>,
    module: &Module,
    node: &NodeProto,
    inputs: &[Option<Value>],
) -> PyResult<Vec<Option<Type>>> {
    let operands = inputs.iter().map(|input| operand(python, module, *input));
    let operands = PyList::new(python, operands.collect::<PyResult<Vec<_>>>()?)?;
    let attributes = PyDict::new(python);
    for attribute in &node.attribute {
        attributes.set_item(attribute.name(), value(python, attribute)?)?;
    }
    let found = function.bind(python).call1((operands, attributes))?;
    let found: Vec<Output> = found.extract()?;
    let context = module.context();
    found.into_iter().map(|output| output.map(|of| type_of(context, of)).transpose()).collect()
}

/// Name, element type and extents of an operand, and the data of a constant; nothing for an absent
/// one.
fn operand<'py>(
    python: Python<'py>,
    module: &Module,
    input: Option<Value>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(value) = input else { return Ok(python.None().into_bound(python)) };
    let (name, element, shape) = matched_parts(python, module, value)?;
    let tensor = constant::constant_tensor(module, value);
    let data = match tensor.filter(|tensor| tensor.bytes().len() <= SHOWN_BYTES) {
        Some(tensor) => datum::to_python(python, &Datum::Tensor(tensor))?,
        None => python.None().into_bound(python),
    };
    (name, element, shape, data).into_bound_py_any(python)
}

/// An attribute: numbers, texts and lists of them; nothing for graphs, types and tensors.
fn value<'py>(python: Python<'py>, of: &AttributeProto) -> PyResult<Bound<'py, PyAny>> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match of {
        a if a.i.is_some() => a.i.into_bound_py_any(python),
        a if a.f.is_some() => a.f.into_bound_py_any(python),
        a if a.s.is_some() => a.s.as_deref().map(text).into_bound_py_any(python),
        a if !a.ints.is_empty() => a.ints.as_slice().into_bound_py_any(python),
        a if !a.floats.is_empty() => a.floats.as_slice().into_bound_py_any(python),
        a if !a.strings.is_empty() => {
            let texts: Vec<String> = a.strings.iter().map(|bytes| text(bytes)).collect();
            texts.into_bound_py_any(python)
        }
        _ => Ok(python.None().into_bound(python)),
    }
}

fn type_of(context: &Context, of: (String, Option<Vec<Option<Extent>>>)) -> PyResult<Type> {
    let wrong = |what: String| ModelError::new_err(format!("a declared operator gives {what}"));
    let (element, shape) = of;
    let element: DType =
        element.parse().map_err(|_| wrong(format!("`{element}`, which is no element type")))?;
    let element = dtype::type_of(context, element);
    let Some(shape) = shape else { return Ok(context.ty(TypeData::UnrankedTensor(element))) };
    let extent = |extent: Option<Extent>| match extent {
        Some(Extent::Number(n)) if n >= 0 => Ok(Dim::fixed(n)),
        Some(Extent::Number(n)) => Err(wrong(format!("the extent {n}"))),
        Some(Extent::Text(text)) => dims::parse(context, context.str(&text))
            .map(|expr| dims::dim(context, &expr))
            .ok_or_else(|| wrong(format!("the extent `{text}`, which is no expression"))),
        None => Ok(Dim::UNKNOWN),
    };
    let extents: Vec<Dim> = shape.into_iter().map(extent).collect::<PyResult<_>>()?;
    Ok(context.tensor_type(&extents, element))
}

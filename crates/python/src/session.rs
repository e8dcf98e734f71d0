//! Sessions, as the package `tangram` wraps them.

use std::collections::BTreeMap;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyRuntimeError, PyRuntimeWarning, PyValueError};
use pyo3::prelude::*;
use tangram::dialects::interpret::Datum;
use tangram::native::{
    self, Coverage, Kind, Notice, Options, Progress, Request, SessionError, Target,
};
use tangram::pipeline;

use crate::EvaluationError;
use crate::model::{Model, pipeline_error};
use crate::value::{Flag, Value};

/// A model that runs.
#[pyclass(module = "tangram._native", frozen)]
pub(crate) struct Session {
    inner: native::Session,
}

type Timed = Vec<(String, Vec<String>, bool, f64)>;

#[pymethods]
impl Session {
    /// Compiles `model`; `optimize`: with the rules of the library applied; `threads`: 0 for as many
    /// as the machine has; `heard` is called with how many functions are written, how many files of them
    /// are built, and of how many.
    #[staticmethod]
    #[pyo3(signature = (model, optimize, exact, interpret, threads, heard=None))]
    fn of(
        python: Python<'_>,
        model: &Model,
        optimize: bool,
        exact: bool,
        interpret: bool,
        threads: usize,
        heard: Option<Py<PyAny>>,
    ) -> PyResult<Session> {
        let model = model.inner.clone();
        if let Some(why) = Options::default().cache.refused() {
            let text = std::ffi::CString::new(why.to_string()).unwrap_or_default();
            PyErr::warn(python, &python.get_type::<PyRuntimeWarning>(), &text, 3)?;
        }
        python.detach(|| {
            let mut options = Options::default();
            (options.exact, options.interpret, options.threads) = (exact, interpret, threads);
            options.notice = heard.map(|heard| {
                Notice::new(move |progress| {
                    let Progress { written, built, files } = progress;
                    // Who cannot listen does not stop the work.
                    Python::attach(|python| drop(heard.call1(python, (written, built, files))));
                })
            });
            let inner = pipeline::session(model, optimize, &options).map_err(pipeline_error)?;
            Ok(Session { inner })
        })
    }

    /// Name, kind and whether there is a default, of each input.
    fn inputs<'py>(&self, python: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>, bool)>> {
        let ports = self.inner.inputs().iter().enumerate();
        let input = |(i, port): (usize, &native::Port)| {
            Ok((port.name.clone(), kind(python, &port.kind)?, self.inner.has_default(i)))
        };
        ports.map(input).collect()
    }

    /// Name and kind of each output.
    fn outputs<'py>(&self, python: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let port = |port: &native::Port| Ok((port.name.clone(), kind(python, &port.kind)?));
        self.inner.outputs().iter().map(port).collect()
    }

    /// Runs the model; returns all outputs, and with `profile` for each step its name, its
    /// operations, whether it is compiled, and seconds. `targets`: for the first outputs, where they
    /// are to be written, or `None`; `stop`: ends the run when it is set.
    #[pyo3(signature = (names, values, profile, targets, stop=None))]
    fn run(
        &self,
        python: Python<'_>,
        names: Vec<String>,
        values: Vec<Bound<'_, Value>>,
        profile: bool,
        targets: Vec<Option<Bound<'_, Value>>>,
        stop: Option<Bound<'_, Flag>>,
    ) -> PyResult<(Vec<Value>, Timed)> {
        if names.len() != values.len() {
            return Err(PyValueError::new_err("as many names as values are needed"));
        }
        let values = values.iter().map(|value| value.get().datum());
        let inputs: Vec<(&str, Datum)> = names.iter().map(String::as_str).zip(values).collect();
        let target = |target: &Option<Bound<'_, Value>>| {
            let Some(value) = target else { return Ok(None) };
            let no_room = || PyValueError::new_err("an output cannot be written there");
            value.get().target().map(Some).ok_or_else(no_room)
        };
        let targets: Vec<Option<Target>> = targets.iter().map(target).collect::<PyResult<_>>()?;
        let mut request = Request::default();
        request.targets = &targets;
        request.profile = profile;
        request.stop = stop.as_ref().map(|flag| flag.get().as_atomic());
        let run = || self.inner.call(&inputs, &request);
        let (outputs, profile) = python.detach(run).map_err(session_error)?;
        let timed = |step: native::Timing| {
            (step.name, step.operations, step.compiled, step.time.as_secs_f64())
        };
        let steps = profile.map(|profile| profile.steps).unwrap_or_default();
        let outputs = outputs.into_iter().map(Value::of_output).collect::<PyResult<_>>()?;
        Ok((outputs, steps.into_iter().map(timed).collect()))
    }

    /// Each operation, how many of it are compiled, how many are not, and why, with counts.
    fn coverage(&self) -> Vec<(String, usize, usize, BTreeMap<String, usize>)> {
        let Coverage { operations, mut reasons, .. } = self.inner.coverage();
        let row = |(name, (compiled, reference)): (String, (usize, usize))| {
            let reasons = reasons.remove(&name).unwrap_or_default();
            (name, compiled, reference, reasons)
        };
        operations.into_iter().map(row).collect()
    }
}

fn session_error(error: SessionError) -> PyErr {
    let text = tangram::message(&error.to_string()).into_owned();
    match error {
        SessionError::Input(_) | SessionError::Output { .. } | SessionError::Target { .. } => {
            PyValueError::new_err(text)
        }
        SessionError::Broken(_) => PyRuntimeError::new_err(text),
        _ => EvaluationError::new_err(text),
    }
}

/// `("tensor", element type, extents)`, `("seq", what it holds)`, `("optional", what it holds)`,
/// `("map", what its values are, element type of its keys)`.
fn kind<'py>(python: Python<'py>, of: &Kind) -> PyResult<Bound<'py, PyAny>> {
    match of {
        Kind::Tensor { element, shape } => {
            let extent = |extent: &Option<tangram::affine::symbolic::Expr>| match extent {
                Some(expr) if !native::is_named(expr) => Ok(python.None().into_bound(python)),
                None => Ok(python.None().into_bound(python)),
                Some(expr) => match expr.as_int() {
                    Some(number) => number.into_bound_py_any(python),
                    // A symbol has the name that the model gives it, whatever that is.
                    None => expr
                        .as_symbol()
                        .map_or_else(|| expr.to_string(), str::to_owned)
                        .into_bound_py_any(python),
                },
            };
            let shape = shape.as_ref().map(|shape| shape.iter().map(extent).collect());
            let shape: Option<Vec<_>> = shape.transpose()?;
            ("tensor", element.map(|element| element.name()), shape).into_bound_py_any(python)
        }
        Kind::Sequence(held) => ("seq", kind(python, held)?).into_bound_py_any(python),
        Kind::Optional(held) => ("optional", kind(python, held)?).into_bound_py_any(python),
        Kind::Map { key, value } => {
            let key = key.map(|key| key.name());
            ("map", kind(python, value)?, key).into_bound_py_any(python)
        }
    }
}

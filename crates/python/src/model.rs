//! Models, as the package `tangram` wraps them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Instant;

use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyOSError, PyPermissionError, PyTypeError,
    PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tangram::check::{CheckOptions, Comparison};
use tangram::dialects::interpret::{Datum, interpret};
use tangram::onnx;
use tangram::onnx::edit::{Edits, edit};
use tangram::onnx::file::{ExternalPolicy, FileError, Loaded, SaveOptions, Storage};
use tangram::onnx::proto::StringStringEntryProto;
use tangram::picture::View;
use tangram::pipeline::{self, PipelineError};
use tangram::report;
use tangram::summary::Summary;
use tangram::tensor::Tensor;
use tangram::trace::{Graph, Trace};
use tangram::{Library, Options, Report, RulesError, check, ir};
use tangram_cli::by_onnxruntime;

use crate::datum;
use crate::functions;
use crate::initializers::{Given, Initializers};
use crate::interrupt::interruptibly_telling;
use crate::operators::{Operator, declare_all};
use crate::settings::{Settings, tell};
use crate::{EvaluationError, InvalidProtobuf, ModelError, RuleError};

pub(crate) fn model_error(error: impl std::fmt::Display) -> PyErr {
    ModelError::new_err(tangram::message(&error.to_string()).into_owned())
}

pub(crate) fn pipeline_error(error: PipelineError) -> PyErr {
    match error {
        PipelineError::Rules(error) => {
            RuleError::new_err(tangram::message(&error.to_string()).into_owned())
        }
        PipelineError::Library(error) => rule_error(error),
        other => model_error(other),
    }
}

/// A file that the system does not give is an `OSError`, as it is everywhere in Python.
fn loading_error(error: onnx::Error) -> PyErr {
    let message = tangram::message(&error.to_string()).into_owned();
    let refused = match &error {
        onnx::Error::File(file) => match &**file {
            FileError::Io { source, .. } => Some(source.kind()),
            FileError::Malformed { .. }
            | FileError::Decode { .. }
            | FileError::NotAModel { .. } => {
                return InvalidProtobuf::new_err(message);
            }
            _ => None,
        },
        _ => None,
    };
    match refused {
        None => model_error(error),
        Some(ErrorKind::NotFound) => PyFileNotFoundError::new_err(message),
        Some(ErrorKind::PermissionDenied) => PyPermissionError::new_err(message),
        Some(ErrorKind::IsADirectory) => PyIsADirectoryError::new_err(message),
        Some(_) => PyOSError::new_err(message),
    }
}

pub(crate) fn rule_error(error: RulesError) -> PyErr {
    RuleError::new_err(tangram::message(&error.to_string()).into_owned())
}

/// A model in IR.
#[pyclass(module = "tangram._native")]
#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) inner: onnx::Model,
    load: f64,
    /// The operator set that it is written in, if not its own.
    opset: Option<i64>,
}

impl Model {
    fn import(
        python: Python<'_>,
        operators: Vec<Operator>,
        initializers: Initializers,
        load: impl FnOnce() -> Result<Loaded, FileError> + Send,
    ) -> PyResult<Model> {
        let start = Instant::now();
        let context = tangram::dialects::context();
        let raised = declare_all(&context, operators);
        let load = || {
            let mut loaded = load().map_err(onnx::Error::from)?;
            let given = initializers.apply(&mut loaded);
            Ok(given.map(|()| pipeline::import_into(loaded, context)))
        };
        let inner = python.detach(load);
        raised.again()?;
        let inner = match inner {
            Ok(Ok(inner)) => inner,
            Ok(Err(unfit)) => return Err(model_error(unfit)),
            Err(error) => Err(PipelineError::Model(error)),
        };
        let inner = inner.map_err(|error| match error {
            PipelineError::Model(error) => loading_error(error),
            other => pipeline_error(other),
        })?;
        Ok(Model { inner, load: start.elapsed().as_secs_f64(), opset: None })
    }

    fn export(&self) -> Result<onnx::proto::ModelProto, PipelineError> {
        pipeline::export(&self.inner, self.opset)
    }
}

#[pymethods]
impl Model {
    /// Opens the model at `path`, whose own `operators` are declared; `given`: initializers in place of
    /// its own.
    #[staticmethod]
    #[pyo3(signature = (path, operators=vec![], given=None))]
    fn open(
        python: Python<'_>,
        path: PathBuf,
        operators: Vec<Operator>,
        given: Option<Given<'_>>,
    ) -> PyResult<Model> {
        let given = given.unwrap_or_default().copied()?;
        Model::import(python, operators, given, || onnx::file::open(&path))
    }

    /// Reads the model at `path` whole: who writes to the file later changes nothing of it; `given`:
    /// initializers in place of its own.
    #[staticmethod]
    #[pyo3(signature = (path, given=None))]
    fn read(python: Python<'_>, path: PathBuf, given: Option<Given<'_>>) -> PyResult<Model> {
        let given = given.unwrap_or_default().copied()?;
        Model::import(python, vec![], given, || onnx::file::open_whole(&path))
    }

    /// Decodes a model, whose own `operators` are declared; `given`: the folder of its external data,
    /// initializers in place of its own.
    #[staticmethod]
    #[pyo3(signature = (data, operators=vec![], given=None))]
    fn decode(
        python: Python<'_>,
        data: Vec<u8>,
        operators: Vec<Operator>,
        given: Option<Given<'_>>,
    ) -> PyResult<Model> {
        let given = given.unwrap_or_default().copied()?;
        Model::import(python, operators, given, || onnx::file::decode(data.into()))
    }

    /// Writes the model to `path`, its large weights as `external_data` says.
    fn save(&self, python: Python<'_>, path: PathBuf, external_data: &str) -> PyResult<()> {
        let storage = match external_data {
            "auto" => Storage::Auto,
            "inline" => Storage::Inline,
            "external" => Storage::External(ExternalPolicy::default()),
            "keep" => Storage::Keep,
            other => {
                let known = "`auto`, `inline`, `external` and `keep`";
                return Err(PyValueError::new_err(format!("`{other}` is none of {known}")));
            }
        };
        let options = SaveOptions { storage, ..SaveOptions::default() };
        let save =
            || Ok::<_, PipelineError>(self.inner.save_proto(&self.export()?, path, &options)?);
        python.detach(save).map_err(model_error)
    }

    /// The model with other extents of inputs (absent ones stay), least and greatest sizes of named
    /// dimensions, between other values, and without calls of its own functions.
    fn edit(
        &self,
        python: Python<'_>,
        input_shapes: Vec<(String, Vec<Option<i64>>)>,
        dims: Vec<(String, (i64, i64))>,
        inputs: Vec<String>,
        outputs: Vec<String>,
        inline_functions: bool,
    ) -> PyResult<Model> {
        let (fixed, ranges): (Vec<_>, Vec<_>) =
            dims.into_iter().partition(|(_, (least, greatest))| least == greatest);
        let dims = fixed.into_iter().map(|(name, (size, _))| (name, size)).collect();
        let edits = Edits {
            input_shapes,
            dims,
            ranges,
            inputs,
            outputs,
            inline_functions,
            ..Edits::default()
        };
        let inner = python.detach(|| edit(&self.inner, &edits)).map_err(model_error)?;
        Ok(Model { inner, ..self.clone() })
    }

    /// What the model is, as JSON.
    fn summary(&self, python: Python<'_>) -> PyResult<String> {
        let found = python.detach(|| Summary::of(&self.inner)).map_err(model_error)?;
        serde_json::to_string(&found).map_err(model_error)
    }

    /// Encodes the model.
    fn encode<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let encoded = python.detach(|| {
            let proto = self.export()?;
            let mut data = Vec::new();
            onnx::file::encode(&proto, &mut data)
                .map_err(|source| onnx::Error::Encode { source })?;
            Ok::<_, PipelineError>(data)
        });
        Ok(PyBytes::new(python, &encoded.map_err(model_error)?))
    }

    /// Producer, domain, description, name and description of the graph; the model's version; free
    /// pairs.
    fn metadata(&self) -> (Vec<String>, i64, BTreeMap<String, String>) {
        let header = self.inner.header();
        let graph = self.inner.graph_header().cloned().unwrap_or_default();
        let texts = [
            header.producer_name(),
            header.domain(),
            header.doc_string(),
            graph.name(),
            graph.doc_string(),
        ];
        let pair =
            |entry: &StringStringEntryProto| (entry.key().to_owned(), entry.value().to_owned());
        let pairs = header.metadata_props.iter().map(pair).collect();
        (texts.map(str::to_owned).to_vec(), header.model_version(), pairs)
    }

    /// The names of the inputs, in order.
    fn inputs(&self) -> Vec<String> {
        let module = &self.inner.module;
        let args = self.inner.graph().map(|block| module.args(block)).unwrap_or_default();
        let name = |&v| module.value_name(v).map(|name| module.context().text(name).to_owned());
        args.iter().map(|v| name(v).unwrap_or_default()).collect()
    }

    /// The names of the outputs, in order.
    fn outputs(&self) -> Vec<String> {
        self.inner.output_names()
    }

    /// The program as MLIR text, with the bytes of its weights or without.
    fn text(&self, python: Python<'_>, weights: bool) -> String {
        python.detach(|| match weights {
            true => ir::text::print(&self.inner.module),
            false => ir::text::print_elided(&self.inner.module),
        })
    }

    /// The graph as a picture: at most `limit` operations, those nearest to `around`; of equal
    /// blocks the first, with `fold`.
    fn svg(
        &self,
        python: Python<'_>,
        around: Option<String>,
        limit: usize,
        fold: bool,
    ) -> PyResult<String> {
        let view = View { around, limit, fold };
        python.detach(|| tangram::picture::svg(&self.inner, &view)).map_err(model_error)
    }

    /// Applies rules, each given by a name and, unless that says where it is, its text; returns the
    /// new model and a report in JSON; with `trace`, also what was done step by step: under that
    /// name as JSON (`false`) or as a page (`true`). `progress` hears how far the work is, rules
    /// may call `functions`.
    #[pyo3(signature = (rules, settings, trace=None, progress=None, functions=vec![]))]
    fn optimize(
        &self,
        python: Python<'_>,
        rules: Vec<(String, Option<String>)>,
        settings: Settings,
        trace: Option<(String, bool)>,
        progress: Option<Py<PyAny>>,
        functions: Vec<(String, Py<PyAny>)>,
    ) -> PyResult<(Model, String, Option<String>)> {
        let library = settings.library;
        let executable = python.import("sys")?.getattr("executable")?.extract().ok();
        let options = settings.options(trace.is_some(), executable)?;
        let mut set = match library {
            true => Library::shipped_for(&options).map_err(rule_error)?,
            false => Library::default(),
        };
        add_all(&mut set, &rules)?;
        let raised = functions::define(&mut set, functions);
        let mut model = self.clone();
        model.opset = options.opset.or(self.opset);
        let hear = |python: Python<'_>| tell(python, progress.as_ref(), &options.progress);
        let (told, steps) = interruptibly_telling(python, &options.cancel, hear, || {
            let before = trace.is_some().then(|| Graph::of(&self.inner.module));
            let report = optimise(self, &mut model, &set, &options)?;
            let told = serde_json::to_string(&report).map_err(model_error)?;
            let steps = trace.zip(before).map(|((name, page), before)| {
                let trace = Trace::new(&name, before, &report, &set);
                if page { trace.to_html() } else { trace.to_json() }
            });
            Ok((told, steps.transpose().map_err(model_error)?))
        })?;
        raised.again()?;
        Ok((model, told, steps))
    }

    /// The model with the operators in it known that rules define, each given by a name and, unless
    /// that says where it is, its text.
    fn defined(&self, rules: Vec<(String, Option<String>)>) -> PyResult<Model> {
        let mut set = Library::default();
        add_all(&mut set, &rules)?;
        let mut model = self.clone();
        pipeline::define(&mut model.inner, &set).map_err(pipeline_error)?;
        Ok(model)
    }

    /// Evaluates this model and `other` on the same inputs, random but for `data`: whether the outputs agree within
    /// the tolerance of their types, the largest difference relative to the greatest magnitude,
    /// and both in words. Raises `EvaluationError` where one cannot be evaluated.
    fn compare(
        &self,
        python: Python<'_>,
        other: &Model,
        shapes: Vec<(String, Vec<usize>)>,
        data: Vec<(String, Bound<'_, PyAny>)>,
        exact: bool,
        tolerance: Option<f64>,
    ) -> PyResult<(bool, f64, String)> {
        let data = tensors(data)?;
        let options = CheckOptions { shapes, exact, tolerance, data, ..CheckOptions::default() };
        let (before, after) = (&self.inner, &other.inner);
        let found = python
            .detach(|| check::compare(before, after, &options))
            .map_err(EvaluationError::new_err)?;
        Ok((found.holds(), found.relative, found.to_string()))
    }

    /// Evaluates this model and `other`, which may have its inputs in another order, on the same
    /// inputs; `runs` is how often, the seed, and a Python whose onnxruntime evaluates them in place of
    /// the reference kernels. Whether they agree, all as JSON, and in words.
    fn compare_files(
        &self,
        python: Python<'_>,
        other: &Model,
        shapes: Vec<(String, Vec<usize>)>,
        data: Vec<(String, Bound<'_, PyAny>)>,
        strict: (bool, Option<f64>),
        runs: (usize, u64, Option<OsString>),
    ) -> PyResult<(bool, String, String)> {
        let ((runs, seed, engine), (exact, tolerance)) = (runs, strict);
        let options = CheckOptions { seed, shapes, exact, tolerance, data: tensors(data)? };
        let (first, second) = (&self.inner, &other.inner);
        let found = python.detach(|| match &engine {
            None => check::compare_files(first, second, &options, runs),
            Some(engine) => by_onnxruntime(first, second, &options, runs, Some(engine))
                .map(|worst| Comparison { worst, ..Comparison::default() }),
        });
        let found = found.map_err(EvaluationError::new_err)?;
        let told = serde_json::to_string(&found).map_err(model_error)?;
        Ok((found.holds(), told, found.to_string()))
    }

    /// Why the first rule of `text`, which may call `functions`, is not applied, operation by
    /// operation: name of the operation, names of its results, the nearest miss; the empty text where
    /// it is.
    #[pyo3(signature = (text, functions=vec![]))]
    fn explain(
        &self,
        text: &str,
        functions: Vec<(String, Py<PyAny>)>,
    ) -> PyResult<Vec<(String, Vec<String>, String)>> {
        let mut library = Library::default();
        library.add_text("<text>", text, None).map_err(rule_error)?;
        let raised = functions::define(&mut library, functions);
        let found = tangram::explain::explain(&self.inner.module, &library);
        raised.again()?;
        found
            .map(|list| list.into_iter().map(|m| (m.operation, m.results, m.reason)).collect())
            .map_err(|error| RuleError::new_err(error.to_string()))
    }

    /// Evaluates the model on `inputs`, in the order of its inputs.
    fn evaluate<'py>(
        &self,
        python: Python<'py>,
        inputs: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let failed = |error: String| EvaluationError::new_err(error);
        let main = self.inner.main().ok_or_else(|| failed("the model has no graph".to_owned()))?;
        let data: Vec<Datum> = inputs.iter().map(datum::from_python).collect::<PyResult<_>>()?;
        let outputs = python.detach(|| interpret(&self.inner.module, main, &data));
        let outputs = outputs.map_err(|error| failed(error.to_string()))?;
        outputs.iter().map(|datum| datum::to_python(python, datum)).collect()
    }
}

/// Adds rules, each given by a name and, unless that says where it is, its text.
fn add_all(library: &mut Library, rules: &[(String, Option<String>)]) -> PyResult<()> {
    for (name, text) in rules {
        let added = match text {
            Some(text) => library.add_text(name, text, None),
            None => library.add(name),
        };
        added.map_err(rule_error)?;
    }
    Ok(())
}

/// The arrays of inputs, by name.
fn tensors(data: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Vec<(String, Tensor)>> {
    let tensor = |(name, value): (String, Bound<'_, PyAny>)| match datum::from_python(&value)? {
        Datum::Tensor(tensor) => Ok((name, tensor)),
        _ => Err(PyTypeError::new_err(format!("`{name}` needs an array"))),
    };
    data.into_iter().map(tensor).collect()
}

fn optimise(
    before: &Model,
    model: &mut Model,
    library: &Library,
    options: &Options,
) -> PyResult<Report> {
    let start = Instant::now();
    let mut told = pipeline::rewrite(&mut model.inner, library, options).map_err(pipeline_error)?;
    told.seconds.load = before.load;
    told.seconds.optimise = start.elapsed().as_secs_f64();
    let (old, new) = (before.export().map_err(model_error)?, model.export().map_err(model_error)?);
    told.count(&report::histogram(&old), &report::histogram(&new));
    Ok(told)
}

/// Reads and checks a rule text; raises `RuleError` with all that is wrong.
#[pyfunction]
pub(crate) fn check_rules(name: &str, text: &str) -> PyResult<Vec<String>> {
    let mut library = Library::default();
    library.add_text(name, text, None).map_err(rule_error)?;
    match library.errors() {
        found if found.is_empty() => {
            Ok(library.rules.iter().map(|rule| rule.rule.name().to_owned()).collect())
        }
        found => Err(RuleError::new_err(found)),
    }
}

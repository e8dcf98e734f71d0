//! What an optimisation is asked for, and what is told while it lasts.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tangram::check::CheckOptions;
use tangram::choose::{Choosing, Measuring, Native, Objective, Runtime};
use tangram::cost::CostModel;
use tangram::onnx::edit::{Narrowing, Precision};
use tangram::{Options, Progress, Strategy};
use tangram_cli::{Onnxruntime, measurements};

/// The options of `Workload.optimize`: the items of a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    pub(crate) library: bool,
    disable: Vec<String>,
    only: Vec<String>,
    max_seconds: Option<f64>,
    max_rewrites: Option<u64>,
    max_nodes: usize,
    fold_limit: Option<u64>,
    strategy: String,
    opset: Option<i64>,
    to: Option<String>,
    keep: Vec<String>,
    cost: Option<String>,
    explain: bool,
    exact: bool,
    steps: usize,
    target: Option<String>,
    objective: Option<String>,
    measure: Option<f64>,
    measurements: Option<PathBuf>,
    shapes: Vec<(String, Vec<usize>)>,
}

impl Settings {
    /// The options that these stand for; `traced` if every step is to be shown.
    ///
    /// `python` has what models are measured in.
    pub(crate) fn options(self, traced: bool, python: Option<OsString>) -> PyResult<Options> {
        let choosing = self.choosing(python)?;
        let strategy = match self.strategy.as_str() {
            "greedy" => Strategy::Greedy,
            "walk" => Strategy::Walk,
            "saturate" => Strategy::Saturate,
            other => {
                return wrong(format!("`{other}` is none of `greedy`, `walk` and `saturate`"));
            }
        };
        if traced && strategy == Strategy::Saturate {
            return wrong("a saturation has no steps that `trace` could show".to_owned());
        }
        let max_time = match self.max_seconds.map(Duration::try_from_secs_f64) {
            Some(Err(_)) => {
                return wrong("`max_seconds` must be a number of seconds, 0 or more".to_owned());
            }
            given => given.and_then(Result::ok),
        };
        let cost = match self.cost {
            None => CostModel::default(),
            Some(text) => CostModel::from_json(&text)
                .map_err(|why| PyValueError::new_err(format!("`cost`: {why}")))?,
        };
        let narrow = match self.to.as_deref().map(|to| (to, Precision::named(to))) {
            Some((to, None)) => {
                return wrong(format!("`to` is `{to}`, not `float16` or `bfloat16`"));
            }
            Some((_, Some(to))) => Some(Narrowing { to, keep: self.keep }),
            None if self.keep.is_empty() => None,
            None => return wrong("`keep` says what `to` leaves as it is: give both".to_owned()),
        };
        Ok(Options {
            strategy,
            disable: self.disable,
            only: self.only,
            max_time,
            max_rewrites: self.max_rewrites,
            max_nodes: self.max_nodes,
            fold_limit: self.fold_limit,
            opset: self.opset,
            choosing,
            narrow,
            cost,
            explain: self.explain,
            exact: self.exact,
            max_steps: self.steps,
            ..Options::default()
        })
    }
}

impl Settings {
    /// What is to be chosen by; nothing if it is not asked for.
    fn choosing(&self, python: Option<OsString>) -> PyResult<Option<Choosing>> {
        if self.target.is_none() && self.objective.is_none() && self.measure.is_none() {
            return Ok(None);
        }
        let runtime: Arc<dyn Runtime> = match self.target.as_deref().unwrap_or("onnxruntime") {
            "onnxruntime" => Arc::new(Onnxruntime { python }),
            "native" => Arc::new(Native),
            other => return wrong(format!("`target` is `{other}`, not `onnxruntime` or `native`")),
        };
        let named = self.objective.as_deref().unwrap_or("latency");
        let Some(objective) = Objective::named(named) else {
            let these = "`latency`, `memory` and `size`";
            return wrong(format!("`objective` is `{named}`, none of {these}"));
        };
        let measuring = match self.measure.map(Duration::try_from_secs_f64) {
            Some(Err(_)) => {
                return wrong("`measure` must be a number of seconds, 0 or more".to_owned());
            }
            None => None,
            Some(Ok(budget)) => Some(Measuring {
                budget,
                database: self.measurements.clone().or_else(measurements),
                inputs: CheckOptions { shapes: self.shapes.clone(), ..CheckOptions::default() },
            }),
        };
        Ok(Some(Choosing { objective, runtime, measuring }))
    }
}

fn wrong<T>(message: String) -> PyResult<T> {
    Err(PyValueError::new_err(message))
}

/// Calls `progress` with the operations of the program, how many were looked at, the rewrites so
/// far, and the round and the e-nodes of a saturation.
pub(crate) fn tell(
    python: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: &Progress,
) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let saturation = work.saturation();
    let counts =
        (work.operations(), work.visits(), work.rewrites(), saturation.round(), saturation.nodes());
    progress.call1(python, counts).map(|_| ())
}

//! What an optimisation is asked for, and what is told while it lasts.

use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tangram::cost::CostModel;
use tangram::onnx::edit::{Narrowing, Precision};
use tangram::{Options, Progress, Strategy};

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
}

impl Settings {
    /// The options that these stand for; `traced` if every step is to be shown.
    pub(crate) fn options(self, traced: bool) -> PyResult<Options> {
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
            narrow,
            cost,
            explain: self.explain,
            exact: self.exact,
            max_steps: self.steps,
            ..Options::default()
        })
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

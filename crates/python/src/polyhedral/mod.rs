//! Dependences, schedules and loops for Python.
//!
//! The package `python/tangram/polyhedral` puts classes with islpy's names on top.

mod ast;
mod tree;

use pyo3::prelude::*;
use tangram::presburger::{Budget, Union};
use tangram_polyhedral::Error;
use tangram_polyhedral::flow::Accesses;
use tangram_polyhedral::schedule::{Algorithm, Constraints, Fusion, Options};

pub(crate) use self::ast::{PyAst, PyExpr, PyNode};
pub(crate) use self::tree::PyTree;
use crate::PresburgerError;
use crate::presburger::{Failure, HIGHER, PyUnion, run_any};

impl Failure for Error {
    fn is_limit(&self) -> bool {
        Error::is_limit(self)
    }

    fn exception(self) -> PyErr {
        match self {
            Self::Presburger(error) => error.exception(),
            error if Error::is_limit(&error) => {
                PresburgerError::new_err(format!("{error}; {HIGHER}"))
            }
            other => PresburgerError::new_err(other.to_string()),
        }
    }
}

fn run<T: Send>(
    python: Python<'_>,
    work: impl Fn(&Budget) -> Result<T, Error> + Send + Sync,
) -> PyResult<T> {
    run_any(python, work)
}

/// The sources of accesses: must and may dependences, then sinks without a must or any source.
#[pyfunction]
pub(crate) fn compute_flow(
    python: Python<'_>,
    sink: &PyUnion,
    must_source: &PyUnion,
    may_source: &PyUnion,
    kill: &PyUnion,
    schedule: &PyUnion,
) -> PyResult<[PyUnion; 4]> {
    let accesses = Accesses {
        sink: sink.0.clone(),
        must_source: must_source.0.clone(),
        may_source: may_source.0.clone(),
        kill: kill.0.clone(),
        schedule: schedule.0.clone(),
    };
    let flow = run(python, |budget| accesses.flow(budget))?;
    let all = [flow.must_dependence, flow.may_dependence, flow.must_no_source, flow.may_no_source];
    Ok(all.map(PyUnion))
}

/// What a schedule must keep to and what it should bring together, by isl's names.
type Parts<'a> = Vec<(String, PyRef<'a, PyUnion>)>;

/// Computes a schedule of the instances in a domain.
#[pyfunction]
pub(crate) fn compute_schedule(
    python: Python<'_>,
    parts: Parts<'_>,
    feautrier: bool,
    fusion: &str,
    outer_coincidence: bool,
    max_coefficient: Option<i64>,
) -> PyResult<PyTree> {
    let mut constraints = Constraints::default();
    for (name, union) in &parts {
        let place = match name.as_str() {
            "domain" => &mut constraints.domain,
            "validity" => &mut constraints.validity,
            "coincidence" => &mut constraints.coincidence,
            "proximity" => &mut constraints.proximity,
            "condition" => &mut constraints.condition,
            "conditional_validity" => &mut constraints.conditional_validity,
            _ => {
                constraints.context = union.0.single().ok().cloned();
                continue;
            }
        };
        *place = union.0.clone();
    }
    let options = Options {
        algorithm: if feautrier { Algorithm::Feautrier } else { Algorithm::Pluto },
        fusion: match fusion {
            "none" => Fusion::None,
            "max" => Fusion::Max,
            _ => Fusion::Smart,
        },
        outer_coincidence,
        max_coefficient: max_coefficient.map(i128::from),
    };
    let found = run(python, |budget| constraints.schedule(&options, None, budget))?;
    Ok(PyTree(found.tree))
}

/// Reads constraints in isl's form: the names of those that are given, and what they are.
#[pyfunction]
pub(crate) fn read_constraints(
    python: Python<'_>,
    text: &str,
) -> PyResult<Vec<(&'static str, PyUnion)>> {
    let all = run(python, |budget| Constraints::parse(text, budget))?;
    let context = all.context.map_or_else(Union::empty, Union::from);
    let all = [
        ("domain", all.domain),
        ("context", context),
        ("validity", all.validity),
        ("coincidence", all.coincidence),
        ("proximity", all.proximity),
        ("condition", all.condition),
        ("conditional_validity", all.conditional_validity),
    ];
    let given = all.into_iter().filter(|(_, union)| union.relations().next().is_some());
    Ok(given.map(|(name, union)| (name, PyUnion(union))).collect())
}

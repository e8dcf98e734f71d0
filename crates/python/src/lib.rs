//! The native half of the Python package `tangram`: arguments in, results out, no algorithm.

mod command;
mod datum;
mod diff;
mod egraph;
mod fleet;
mod functions;
mod initializers;
mod integer;
mod interrupt;
mod mlir;
mod model;
mod operators;
mod polyhedral;
mod presburger;
mod rules;
mod session;
mod settings;
mod value;

// Exceptions have the names under which users catch them, and under which they are pickled.
use pyo3::exceptions::{PyException, PyOSError};
use pyo3::prelude::*;

pyo3::create_exception!(tangram, TangramError, PyException, "What Tangram cannot do, and why.");
pyo3::create_exception!(
    tangram,
    ModelError,
    TangramError,
    "A model that is wrong or cannot be written."
);
pyo3::create_exception!(
    tangram,
    InvalidProtobuf,
    ModelError,
    "Bytes that are no model, or one that was cut."
);
pyo3::create_exception!(tangram, RuleError, TangramError, "Rules that are wrong.");
pyo3::create_exception!(
    tangram,
    EvaluationError,
    TangramError,
    "A model that cannot be evaluated."
);

pyo3::create_exception!(
    tangram,
    PresburgerError,
    TangramError,
    "A request on integer sets that has no answer."
);

pyo3::create_exception!(
    tangram,
    EgraphError,
    TangramError,
    "A request on e-graphs that has no answer."
);

pyo3::create_exception!(
    tangram,
    MlirError,
    TangramError,
    "A program in MLIR's text, or a pipeline, that is wrong."
);

/// Returns the version of the library, as in `Cargo.toml`.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Writes a file whole: what is at `path` stays until the new content is complete.
#[pyfunction]
fn write_file(path: std::path::PathBuf, content: &[u8]) -> PyResult<()> {
    tangram_files::write(&path, content).map_err(|why| {
        let number = why.raw_os_error();
        let shown = path.display().to_string();
        match number {
            Some(number) => PyOSError::new_err((number, why.to_string(), shown)),
            None => PyOSError::new_err(format!("{shown}: {why}")),
        }
    })
}

/// Fills the module `tangram._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let python = module.py();
    module.add("TangramError", python.get_type::<TangramError>())?;
    module.add("ModelError", python.get_type::<ModelError>())?;
    module.add("InvalidProtobuf", python.get_type::<InvalidProtobuf>())?;
    module.add("RuleError", python.get_type::<RuleError>())?;
    module.add("EvaluationError", python.get_type::<EvaluationError>())?;
    module.add("PresburgerError", python.get_type::<PresburgerError>())?;
    module.add("EgraphError", python.get_type::<EgraphError>())?;
    module.add("MlirError", python.get_type::<MlirError>())?;
    module.add_function(wrap_pyfunction!(command::command, module)?)?;
    module.add_class::<egraph::PyEGraph>()?;
    module.add_class::<mlir::Operation>()?;
    module.add_class::<mlir::OperationValue>()?;
    module.add_class::<mlir::OperationRewriter>()?;
    module.add_function(wrap_pyfunction!(mlir::rewrite_program, module)?)?;
    module.add_class::<presburger::PyUnion>()?;
    module.add_class::<presburger::Bound>()?;
    module.add_class::<presburger::Bounds>()?;
    module.add_class::<presburger::Count>()?;
    module.add_class::<presburger::Counts>()?;
    module.add_class::<presburger::PyPwAff>()?;
    module.add_class::<presburger::PyPwMultiAff>()?;
    module.add_class::<presburger::PyUnionPwAff>()?;
    module.add_class::<presburger::PyUnionPwMultiAff>()?;
    module.add_class::<presburger::PyMultiUnionPwAff>()?;
    module.add_function(wrap_pyfunction!(write_file, module)?)?;
    module.add_function(wrap_pyfunction!(presburger::set_limits, module)?)?;
    module.add_function(wrap_pyfunction!(presburger::set_first_try, module)?)?;
    module.add_class::<polyhedral::PyTree>()?;
    module.add_class::<polyhedral::PyAst>()?;
    module.add_class::<polyhedral::PyNode>()?;
    module.add_class::<polyhedral::PyExpr>()?;
    module.add_function(wrap_pyfunction!(polyhedral::compute_flow, module)?)?;
    module.add_function(wrap_pyfunction!(polyhedral::compute_schedule, module)?)?;
    module.add_function(wrap_pyfunction!(polyhedral::read_constraints, module)?)?;
    module.add_class::<model::Model>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<value::Value>()?;
    module.add_class::<value::Flag>()?;
    module.add_function(wrap_pyfunction!(model::check_rules, module)?)?;
    module.add_function(wrap_pyfunction!(rules::rule_text, module)?)?;
    module.add_function(wrap_pyfunction!(rules::parse_rules, module)?)?;
    module.add_function(wrap_pyfunction!(rules::list_rules, module)?)?;
    module.add_function(wrap_pyfunction!(rules::verify_rules, module)?)?;
    module.add_function(wrap_pyfunction!(rules::operators, module)?)?;
    module.add_function(wrap_pyfunction!(rules::operation_of, module)?)?;
    module.add_function(wrap_pyfunction!(diff::diff_models, module)?)?;
    module.add_function(wrap_pyfunction!(fleet::place_model, module)?)?;
    module.add_function(wrap_pyfunction!(fleet::fleet_source, module)?)?;
    module.add_function(wrap_pyfunction!(fleet::fleet_find, module)?)?;
    module.add_function(wrap_pyfunction!(fleet::fleet_journal, module)?)?;
    module.add_function(wrap_pyfunction!(fleet::fleet_table, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)
}

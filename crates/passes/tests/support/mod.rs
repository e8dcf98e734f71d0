//! What the tests against `mlir-opt` share.

#![allow(dead_code, reason = "each test file uses a part")]

pub mod beside;
pub mod generate;
pub mod mutate;
pub mod strange;

#[path = "../../../ir/tests/peer/mod.rs"]
pub mod peer;

use tangram_ir::{Module, Op, text};
use tangram_passes::{Pipeline, RunOptions, Silent, run};

/// What `mlir-opt` prints for `input`; `None` if it is not installed.
pub fn mlir_opt(arguments: &[&str], input: &str) -> Option<String> {
    let said = peer::mlir_opt(arguments, input)?;
    Some(said.unwrap_or_else(|error| panic!("{error}")))
}

/// As [`mlir_opt`], with what it says when it fails.
pub fn asked(arguments: &[&str], input: &str) -> Option<Result<String, String>> {
    peer::mlir_opt(arguments, input)
}

/// The seeds that `TANGRAM_SEEDS=FROM..TO` asks for.
pub fn asked_seeds() -> Option<std::ops::Range<u64>> {
    let asked = std::env::var("TANGRAM_SEEDS").ok()?;
    let (from, to) = asked.split_once("..")?;
    Some(from.parse().ok()?..to.parse().ok()?)
}

/// Reads a program.
pub fn parse(source: &str) -> Module {
    let read = text::parse(source, "test.mlir", tangram_dialects::context());
    read.unwrap_or_else(|errors| panic!("{errors:?}\n{source}"))
}

/// Runs a pipeline, with the verifier between passes.
pub fn pass(module: &mut Module, pipeline: &str) {
    let pipeline = Pipeline::parse(pipeline).expect("a pipeline");
    let report = run(module, &pipeline, &RunOptions::default(), &mut Silent);
    let report = report.unwrap_or_else(|error| panic!("{error:?}"));
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
}

/// The functions of a module, in order.
pub fn functions(module: &Module) -> Vec<Op> {
    module.ops(module.body()).filter(|&op| module.name_text(op) == "func.func").collect()
}

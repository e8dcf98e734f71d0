//! What the tests against `mlir-opt` share.

#![allow(dead_code, reason = "each test file uses a part")]

pub mod generate;

use std::io::Write as _;
use std::process::{Command, Stdio};

use tangram_ir::{Module, Op, text};
use tangram_passes::{Pipeline, RunOptions, Silent, run};

/// What `mlir-opt` prints for `input`; `None` if it is not installed.
pub fn mlir_opt(arguments: &[&str], input: &str) -> Option<String> {
    let mut child = Command::new("mlir-opt-22")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().expect("mlir-opt ends");
    writer.join().expect("the writer ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
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

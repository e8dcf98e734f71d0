//! Other programs that tests ask, such as `mlir-opt`. Tests of other crates take this file in by
//! its path.

#![allow(dead_code, reason = "each test file uses a part")]

use std::io::Write as _;
use std::process::{Command, Stdio};

/// What the program `name` says: its output, or its errors if it fails; `None` if it is not
/// installed.
pub fn ask(name: &str, arguments: &[&str], input: &str) -> Option<Result<String, String>> {
    let mut child = Command::new(name)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    // It may write before it has read everything.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Some(if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) })
}

/// As [`ask`] of `mlir-opt` 22.
pub fn mlir_opt(arguments: &[&str], input: &str) -> Option<Result<String, String>> {
    ask("mlir-opt-22", arguments, input)
}

//! A process that aborts for lack of memory ends as any other error; another abort stays one.

#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

/// Says which child this process is, if it is one.
const CHILD: &str = "TANGRAM_ABORTS";
/// SIGABRT's number.
const ABORTED: i32 = 6;

/// Runs the test `child` alone, in a process of its own.
fn ended(how: &str) -> Output {
    let this = std::env::current_exe().expect("this test");
    let mut command = Command::new(this);
    command.args(["--exact", "child", "--nocapture"]).env(CHILD, how);
    command.output().expect("a child")
}

#[test]
fn child() {
    let Ok(how) = std::env::var(CHILD) else { return };
    tangram_files::end_without_memory("nothing is left\n", 2);
    if how == "memory" {
        tangram_files::memory_ended();
    }
    std::process::abort();
}

#[test]
fn what_has_no_memory_ends_with_a_message() {
    let output = ended("memory");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stderr.ends_with(b"nothing is left\n"), "{output:?}");
}

#[test]
fn another_abort_stays_one() {
    let output = ended("defect");
    assert_eq!(output.status.signal(), Some(ABORTED), "{output:?}");
    assert!(!output.stderr.ends_with(b"nothing is left\n"), "{output:?}");
}

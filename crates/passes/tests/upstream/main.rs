//! Upstream's own tests, from a folder that is given: how many programs come back as they were, and
//! how many tests of passes FileCheck accepts, file by file, with the reasons where they do not.
//!
//! The folder is `mlir/test` of the LLVM release that the installed `mlir-opt` is of:
//!
//! ```sh
//! TANGRAM_MLIR_TESTS=llvm-project/mlir/test cargo test -p tangram-passes --test upstream -- \
//!     --ignored --nocapture round_trips
//! ```
//!
//! `TANGRAM_MLIR_ONLY` takes the files whose path contains a text, `TANGRAM_MLIR_CACHE` names a
//! folder that keeps what `mlir-opt` said.

#[path = "../../../ir/tests/peer/mod.rs"]
mod peer;

mod filecheck;
mod folder;
mod pipelines;
mod round_trip;

use folder::Tally;

/// Every program that `mlir-opt` accepts is read, and means the same to it in both forms.
#[test]
#[ignore = "takes upstream's tests as a folder in `TANGRAM_MLIR_TESTS`"]
fn round_trips() {
    run("programs that come back", round_trip::file);
}

/// Programs are read as they are written.
#[test]
#[ignore = "takes upstream's tests as a folder in `TANGRAM_MLIR_TESTS`"]
fn reads() {
    run("programs that are read as they are written", round_trip::reads);
}

/// What our passes make of the programs of upstream's tests, judged by FileCheck.
#[test]
#[ignore = "takes upstream's tests as a folder in `TANGRAM_MLIR_TESTS`"]
fn passes() {
    run("tests of passes that hold", filecheck::file);
}

/// What a pipeline makes of upstream's programs is a program, here and to `mlir-opt`.
#[test]
#[ignore = "takes upstream's tests as a folder in `TANGRAM_MLIR_TESTS`"]
fn stays_valid() {
    run("programs that stay valid", pipelines::file);
}

/// Puts `judge` to every file and prints what it found.
fn run(what: &str, judge: fn(&folder::File) -> Tally) {
    let Some(files) = folder::files() else {
        println!("skipped: needs `TANGRAM_MLIR_TESTS`, mlir-opt-22 and FileCheck-22");
        return;
    };
    let tallies = folder::in_parallel(&files, judge);
    let (mut good, mut all) = (0, 0);
    for (file, tally) in files.iter().zip(&tallies).filter(|(_, tally)| tally.all > 0) {
        println!("{:>5} of {:>5}  {}", tally.good, tally.all, file.name);
        good += tally.good;
        all += tally.all;
    }
    println!("\nReasons:");
    for (file, tally) in files.iter().zip(&tallies) {
        for (part, reason) in &tally.reasons {
            println!("{}, part {part}: {reason}", file.name);
        }
    }
    println!("\n{good} of {all} {what}");
}

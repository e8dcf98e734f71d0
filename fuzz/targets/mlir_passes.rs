//! Generated programs, some of their words changed, through every pass: what was valid stays valid.
//!
//! The first half of the bytes chooses the program, the second half the changes.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/passes/tests/support/mod.rs"]
#[allow(dead_code)]
mod support;

use support::generate::{Random, function_of};
use support::{mutate, strange};

fuzz_target!(|bytes: &[u8]| {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let size = 4 + first.len().min(60);
    let source = function_of(Random::choosing(first), 1, size, false);
    let source = mutate::changed(&mut Random::choosing(second), source);
    strange::follow(&source, &strange::pipelines());
});

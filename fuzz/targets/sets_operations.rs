//! Sequences of operations on sets in a box, beside the same operations on their points.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/presburger/tests/fuzz/sequences.rs"]
#[allow(dead_code, reason = "the test has seeds")]
mod sequences;

use sequences::{Source, sequence};

fuzz_target!(|bytes: &[u8]| {
    sequence(&mut Source::choosing(bytes), bytes.len().div_ceil(8).min(12));
});

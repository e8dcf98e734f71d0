//! Files of e-graphs and of rules by structure: read or refused, and what is read is as it was.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/egraph/tests/fuzz/files.rs"]
mod files;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.iter();
    files::follow(&mut |end| bytes.next().map_or(0, |byte| usize::from(*byte) % end));
});

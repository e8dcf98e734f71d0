//! Whatever text: parsed or refused; what is parsed is printed as text that says the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tangram_ir::{text, verify};

fuzz_target!(|source: &str| {
    let read = |source: &str| text::parse(source, "fuzz.mlir", tangram_dialects::context());
    let Ok(module) = read(source) else { return };
    let printed = text::print(&module);
    let again = read(&printed).unwrap_or_else(|e| panic!("not read again: {e:?}\n{printed}"));
    assert_eq!(text::print(&again), printed, "the text is not stable");
    assert_eq!(verify(&module).is_ok(), verify(&again).is_ok(), "only one is valid:\n{printed}");
});

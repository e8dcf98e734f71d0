//! Whatever C: its static control parts are read or refused with a place.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tangram_presburger::Budget;

fuzz_target!(|source: &str| {
    // What is not affine is an error; only a panic or a hang is a fault here.
    let _ = tangram_scop::parts(source, &Budget::steps(100_000));
});

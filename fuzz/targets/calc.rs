//! Whatever program of the calculator: it runs, or is refused with a place.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tangram_calc::Session;

fuzz_target!(|program: &str| {
    // What is wrong is an error; only a panic or a hang is a fault here.
    let _ = Session::with_steps(20_000).run(program);
});

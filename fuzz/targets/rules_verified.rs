//! Rules by grammar, of any operation with any attributes: each gets a verdict, and none is a defect.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use tangram_dialects::nn;
use tangram_gsl::rules::Natives;
use tangram_gsl::text::parse;
use tangram_gsl::verify::{Doubt, Effort, Verdict, verify};

#[path = "../../crates/gsl/tests/panics/grammar.rs"]
mod grammar;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.iter();
    let mut draw = |end: usize| {
        let more = if end > 256 { bytes.next().map_or(0, |byte| usize::from(*byte) << 8) } else { 0 };
        bytes.next().map_or(0, |byte| (more + usize::from(*byte)) % end)
    };
    let count = nn::ops().count();
    let Some(op) = nn::ops().nth(draw(count)) else { return };
    let text = grammar::rule(&op.def, &mut draw);
    let Some(rule) = parse(&text).ok().and_then(|mut rules| rules.pop()) else { return };
    let effort = Effort { instances: 6, attempts: 30, covering: 0, ..Effort::default() };
    let natives = Arc::new(Natives::standard());
    let verdict = verify(&rule, &tangram_dialects::context(), &natives, &effort);
    if let Ok(Verdict::Unknown { doubt: Doubt::Defect, why }) = verdict {
        panic!("{text}\n{why}");
    }
});

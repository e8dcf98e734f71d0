//! Pipelines on programs that nothing here was made for: what comes out is a program.

use std::hash::{DefaultHasher, Hash, Hasher};

use tangram_passes::{Pipeline, RunOptions, Silent, run};

use crate::folder::{File, Tally, mlir_opt};
use crate::round_trip::{print, read};

/// What a program goes through: one of these, chosen by its text.
const PIPELINES: [&str; 6] = [
    "canonicalize,cse",
    "sccp,canonicalize,symbol-dce",
    "inline,cse,canonicalize{region-simplify=aggressive}",
    "cse,loop-invariant-code-motion,canonicalize",
    "lower-affine,canonicalize,convert-scf-to-cf,canonicalize,cse",
    "canonicalize{top-down=false},dce,cse",
];

/// Runs a pipeline on each program of `file` that `mlir-opt` accepts and puts what comes out to it.
pub(crate) fn file(file: &File) -> Tally {
    let parts = file.parts();
    let mut tally = Tally::default();
    let accepted = mlir_opt(&["--mlir-print-op-generic"], &parts);
    for (part, (source, theirs)) in parts.iter().zip(accepted).enumerate() {
        let (false, Ok(theirs)) = (source.trim().is_empty(), theirs) else { continue };
        let Ok(module) = read(source).or_else(|_| read(&theirs)) else { continue };
        // What is refused before is counted elsewhere.
        if tangram_ir::verify(&module).is_err() {
            continue;
        }
        let mut hasher = DefaultHasher::new();
        source.hash(&mut hasher);
        let pipeline = PIPELINES[(hasher.finish() % PIPELINES.len() as u64) as usize];
        tally.count(part, outcome(module, pipeline));
    }
    tally
}

fn outcome(mut module: tangram_ir::Module, passes: &str) -> Result<(), String> {
    let pipeline = Pipeline::parse(&format!("builtin.module({passes})")).expect("a pipeline");
    let told = |error: String| format!("{passes}: {}", error.lines().next().unwrap_or(""));
    run(&mut module, &pipeline, &RunOptions::default(), &mut Silent)
        .map_err(|error| told(error.to_string()))?;
    let text = print(&module, false);
    read(&text).map_err(|error| told(format!("our text is refused: {error}")))?;
    let again = mlir_opt(&[], &[text]).remove(0);
    again.map(drop).map_err(|error| told(format!("mlir-opt refuses it: {error}")))
}

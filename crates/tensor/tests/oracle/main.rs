//! Kernels against cases that the standard's reference evaluator computed.
//!
//! `spec/*.txt` is made by `spec/make.py`. `TANGRAM_ORACLE_CASES` may name a folder with more
//! cases in the same form, such as the standard's own node tests.

#![allow(clippy::unwrap_used, clippy::panic)]

mod case;
mod convert;
mod ops;

use std::path::Path;

use case::Case;
use tangram_tensor::{DType, Tensor};

#[test]
fn cases_of_the_reference_evaluator() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec");
    let mut failures = run_folder(&own);
    if let Some(more) = std::env::var_os("TANGRAM_ORACLE_CASES") {
        failures.extend(run_folder(Path::new(&more)));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn run_folder(folder: &Path) -> Vec<String> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "txt"))
        .collect();
    files.sort();
    let mut failures = Vec::new();
    for file in files {
        let cases = case::parse(&std::fs::read_to_string(&file).unwrap());
        assert!(!cases.is_empty(), "no case in {}", file.display());
        failures.extend(cases.iter().filter_map(|case| check(case).err()));
    }
    failures
}

fn check(case: &Case) -> Result<(), String> {
    let fail = |why: String| format!("{} ({}): {why}", case.name, case.op);
    let found = ops::run(case).map_err(|error| fail(error.to_string()))?;
    for (index, expected) in case.outputs.iter().enumerate() {
        let Some(expected) = expected else { continue };
        let found = found.get(index).ok_or_else(|| fail(format!("no result {index}")))?;
        compare(found, expected).map_err(|why| fail(format!("result {index}: {why}")))?;
    }
    Ok(())
}

/// Relative and absolute tolerance of a type, for results of sums of some dozen terms.
fn tolerance(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F64 => (1e-9, 1e-9),
        DType::F32 => (2e-5, 1e-5),
        DType::F16 => (4e-3, 2e-3),
        DType::BF16 => (3e-2, 2e-2),
        _ => (0.0, 0.0),
    }
}

fn compare(found: &Tensor, expected: &Tensor) -> Result<(), String> {
    let facts = |t: &Tensor| format!("{} {:?}", t.dtype(), t.shape());
    if facts(found) != facts(expected) {
        return Err(format!("expected {}, found {}", facts(expected), facts(found)));
    }
    let (relative, absolute) = tolerance(found.dtype());
    let (f, e) = (found.f64s().unwrap(), expected.f64s().unwrap());
    for (at, (&f, &e)) in f.iter().zip(&e).enumerate() {
        let same = f == e || f.is_nan() && e.is_nan();
        let near = (f - e).abs() <= absolute + relative * e.abs();
        if !same && !near {
            return Err(format!("element {at} is {f}, expected {e}"));
        }
    }
    Ok(())
}

//! Whatever text comes in: no panic, no invalid program, no end that never comes, in the parser, the
//! printer and every pass.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use support::mutate;
use tangram_ir::{Module, text, verify};
use tangram_passes::{PASSES, Pipeline, RunError, RunOptions, Silent, run};

/// How far a program got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reached {
    Text,
    Parsed,
    Valid,
}

/// Every pass alone, and those that make much of each other's results.
fn pipelines() -> Vec<String> {
    let alone = PASSES.iter().map(|pass| format!("builtin.module({})", pass.name));
    let nested = [
        "builtin.module(func.func(canonicalize{region-simplify=aggressive},cse,sccp,canonicalize))",
        "builtin.module(func.func(canonicalize{top-down=false max-num-rewrites=1000}))",
        "builtin.module(inline,symbol-dce,func.func(loop-invariant-code-motion,canonicalize,cse))",
        "builtin.module(lower-affine,convert-scf-to-cf,func.func(canonicalize,sccp,dce,canonicalize))",
        "builtin.module(convert-index-to-i64,reconcile-unrealized-casts,func.func(canonicalize))",
    ];
    alone.chain(nested.map(str::to_owned)).collect()
}

fn read(source: &str) -> Option<Module> {
    text::parse(source, "random.mlir", tangram_dialects::context()).ok()
}

/// Puts a program through everything; a panic here is what is looked for.
fn follow(source: &str, pipelines: &[Pipeline]) -> Reached {
    let Some(module) = read(source) else { return Reached::Text };
    let printed = text::print(&module);
    let again = read(&printed).unwrap_or_else(|| panic!("not read again:\n{printed}"));
    assert_eq!(text::print(&again), printed, "the text is not stable");
    if verify(&module).is_err() {
        return Reached::Parsed;
    }
    for pipeline in pipelines {
        let mut module = module.clone();
        let options = RunOptions { verify: true, check_patterns: false };
        match run(&mut module, pipeline, &options, &mut Silent) {
            Err(RunError::Broken { pass, errors }) => {
                panic!("`{pass}` broke it: {errors:?}\n{}", text::print(&module))
            }
            Ok(report) => assert!(report.warnings.is_empty(), "{:?}", report.warnings),
            // A pass may refuse what it cannot do.
            Err(_) => {}
        }
        let printed = text::print(&module);
        assert!(read(&printed).is_some(), "the result is not read again:\n{printed}");
    }
    Reached::Valid
}

/// The seeds of programs that something went wrong with, and how many programs were valid.
fn search(seeds: std::ops::Range<u64>) -> (Vec<u64>, usize) {
    let pipelines: Vec<Pipeline> =
        pipelines().iter().map(|text| Pipeline::parse(text).expect("a pipeline")).collect();
    let (mut wrong, mut valid) = (Vec::new(), 0);
    for seed in seeds {
        let source = mutate::program(seed);
        let reached = catch_unwind(AssertUnwindSafe(|| follow(&source, &pipelines)));
        match reached {
            Ok(reached) => valid += usize::from(reached == Reached::Valid),
            Err(_) => {
                println!("seed {seed}:\n{source}");
                wrong.push(seed);
            }
        }
    }
    (wrong, valid)
}

#[test]
fn hundreds_of_strange_programs() {
    let (wrong, valid) = search(1..301);
    assert_eq!(wrong, Vec::<u64>::new());
    assert!(valid >= 25, "only {valid} of 300 programs are valid");
}

/// `TANGRAM_SEEDS=FROM..TO` chooses the programs.
///
/// Seed 5871 is a loop whose region takes values of other types than it is given, which the
/// verifier of `affine.for` does not refuse yet.
#[test]
#[ignore = "takes minutes; `cargo xtask long` runs it"]
fn many_thousands_of_strange_programs() {
    let asked = std::env::var("TANGRAM_SEEDS").ok();
    let range = asked.as_deref().and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    let (wrong, valid) = search(range.unwrap_or(6_000..16_000));
    println!("{valid} valid");
    assert_eq!(wrong, Vec::<u64>::new());
}

//! One strange program through the parser, the printer, the verifier and every pass.

use tangram_ir::{Module, text, verify};
use tangram_passes::{PASSES, Pipeline, RunError, RunOptions, Silent, run};

/// How far a program got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reached {
    /// It is not a program.
    Text,
    /// It is one, but not a valid one.
    Parsed,
    /// Every pass had it.
    Valid,
}

/// Every pass alone, and those that make much of each other's results.
pub fn pipelines() -> Vec<Pipeline> {
    let alone = PASSES.iter().map(|pass| format!("builtin.module({})", pass.name));
    let nested = [
        "builtin.module(func.func(canonicalize{region-simplify=aggressive},cse,sccp,canonicalize))",
        "builtin.module(func.func(canonicalize{top-down=false max-num-rewrites=1000}))",
        "builtin.module(inline,symbol-dce,func.func(loop-invariant-code-motion,canonicalize,cse))",
        "builtin.module(lower-affine,convert-scf-to-cf,func.func(canonicalize,sccp,dce,canonicalize))",
        "builtin.module(convert-index-to-i64,reconcile-unrealized-casts,func.func(canonicalize))",
    ];
    let texts = alone.chain(nested.map(str::to_owned));
    texts.map(|text| Pipeline::parse(&text).expect("a pipeline")).collect()
}

fn read(source: &str) -> Option<Module> {
    text::parse(source, "random.mlir", tangram_dialects::context()).ok()
}

/// Puts a program through everything; panics if it comes out broken.
pub fn follow(source: &str, pipelines: &[Pipeline]) -> Reached {
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
            Ok(report) => {
                // Not every operation of a dialect can be lowered, which is said.
                let told = report.warnings.iter().filter(|told| told.code != "not-lowered");
                assert_eq!(told.count(), 0, "{:?}", report.warnings);
            }
            // A pass may refuse what it cannot do.
            Err(_) => {}
        }
        let printed = text::print(&module);
        assert!(read(&printed).is_some(), "the result is not read again:\n{printed}");
    }
    Reached::Valid
}

//! Random functions of vectors compute what they computed before they were canonicalised, where
//! `mlir-opt` lowers both and `mlir-runner` runs them.

#[path = "vector_random/generate.rs"]
mod generate;
mod support;

use std::ops::Range;

use support::peer;

const PIPELINE: &str = "builtin.module(func.func(canonicalize,cse,canonicalize))";

/// What `entry` gives, or why it does not run.
fn run(lowered: &str, entry: &str) -> Option<Result<i64, String>> {
    let arguments = ["-e", entry, "--entry-point-result=i32"];
    let answer = peer::ask("mlir-runner-22", &arguments, lowered)?;
    Some(answer.map(|text| text.trim().parse().expect("a number")))
}

/// `source` in LLVM's dialect, or the first lines of what `mlir-opt` says.
fn lower(source: &str) -> Option<Result<String, String>> {
    const LOWERING: &str = "--pass-pipeline=builtin.module(func.func(lower-vector-mask,\
                            lower-vector-multi-reduction),test-lower-to-llvm)";
    let lowered = peer::ask("mlir-opt-22", &[LOWERING], source)?;
    Some(lowered.map_err(|error| error.lines().take(4).collect::<Vec<_>>().join("\n")))
}

/// The program of `seeds` and what becomes of it.
fn both(seeds: Range<u64>) -> [String; 2] {
    let source = generate::program(seeds);
    let mut module = support::parse(&source);
    support::pass(&mut module, PIPELINE);
    [source, tangram_ir::text::print(&module)]
}

/// Compares the functions of `seeds` before and after, all at once, and fewer where that fails.
/// Returns how many were compared; `None` without the tools.
fn compare(seeds: Range<u64>) -> Option<u64> {
    let [source, after] = both(seeds.clone());
    let one = seeds.end - seeds.start == 1;
    let before = lower(&source)?.and_then(|lowered| run(&lowered, "main").expect("installed"));
    let found = lower(&after)?.and_then(|lowered| run(&lowered, "main").expect("installed"));
    match (&before, one) {
        (Ok(_), _) if before == found => Some(seeds.end - seeds.start),
        (Err(error), true) => {
            println!("seed {} does not run: {error}", seeds.start);
            Some(0)
        }
        (_, true) => panic!("{before:?}, then {found:?}\n{source}\nbecomes\n{after}"),
        (_, false) => {
            let middle = seeds.start + (seeds.end - seeds.start) / 2;
            Some(compare(seeds.start..middle)? + compare(middle..seeds.end)?)
        }
    }
}

/// Compares groups of functions; most of them have to run.
fn check(seeds: Range<u64>, group: u64) {
    if lower("").is_none() || run("", "main").is_none() {
        println!("skipped: needs mlir-opt-22 and mlir-runner-22");
        return;
    }
    let count = seeds.end - seeds.start;
    let starts = seeds.step_by(group as usize);
    let compared: u64 = starts.filter_map(|start| compare(start..start + group)).sum();
    println!("{compared} of {count} functions run");
    assert!(compared * 10 >= count * 9, "only {compared} of {count} functions run");
}

#[test]
fn canonical_vectors_hold_what_they_held() {
    check(0..50, 25);
}

#[test]
#[ignore = "takes minutes; `cargo xtask long` runs it"]
fn many_canonical_vectors_hold_what_they_held() {
    check(1000..11_000, 50);
}

//! Programs that nobody wrote through the reader and the printer: the generic form of a program, that
//! of its pretty text and what `mlir-opt` 22 prints of both are one.

mod support;

use support::{asked, asked_seeds, generate, parse};
use tangram_ir::{Module, text};

const GENERIC: &[&str] = &[
    "--allow-unregistered-dialect",
    "--split-input-file",
    "--mlir-print-op-generic",
    "--mlir-print-local-scope",
];
const SEPARATOR: &str = "// -----\n";

fn pretty(module: &Module) -> String {
    let mut out = String::new();
    let options = text::Options { generic: false, ..text::Options::default() };
    text::print_to(&mut out, module, options).expect("a string takes all");
    out
}

fn check(seeds: std::ops::Range<u64>) {
    let mut programs: Vec<String> = Vec::new();
    for seed in seeds {
        programs.push(generate::function(seed, 30, false));
        programs.push(generate::foreign_module(seed, 30));
    }
    let Some(theirs) = asked(GENERIC, &programs.join(SEPARATOR)) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    let theirs = theirs.expect("mlir-opt takes the programs");
    let ours: Vec<String> = programs.iter().map(|source| text::print(&parse(source))).collect();
    let texts: Vec<String> = programs.iter().map(|source| pretty(&parse(source))).collect();
    let again: Vec<String> = texts.iter().map(|text| text::print(&parse(text))).collect();
    for ((source, before), after) in programs.iter().zip(&ours).zip(&again) {
        assert_eq!(before, after, "generic(pretty(x)) is not generic(x) of\n{source}");
    }
    let read = asked(GENERIC, &texts.join(SEPARATOR)).expect("installed");
    let read = read.unwrap_or_else(|error| panic!("mlir-opt refuses our pretty text: {error}"));
    for (before, after) in theirs.split(SEPARATOR).zip(read.split(SEPARATOR)) {
        assert_eq!(before, after, "mlir-opt reads something else in our pretty text");
    }
    for (theirs, ours) in theirs.split(SEPARATOR).zip(&ours) {
        assert_eq!(theirs.trim_end(), ours.trim_end(), "the generic forms differ");
    }
}

#[test]
fn some_programs_come_back() {
    check(1..21);
}

#[test]
#[ignore = "takes minutes; `cargo xtask long` runs it"]
fn many_programs_come_back() {
    check(asked_seeds().unwrap_or(1000..2000));
}

/// Words for flags are read as they came, and have no place in the pretty form.
#[test]
fn overflow_flags_in_words_come_back() {
    let source = "\"func.func\"() <{sym_name = \"f\", function_type = (i32) -> i32}> ({\n^bb0(%a: i32):\n  \
                  %0 = \"llvm.shl\"(%a, %a) <{overflowFlags = #llvm.overflow<nsw>}> : (i32, i32) -> i32\n  \
                  \"func.return\"(%0) : (i32) -> ()\n}) : () -> ()\n";
    let before = parse(source);
    let after = parse(&pretty(&before));
    assert!(text::print(&before).contains("nsw"));
    assert_eq!(text::print(&before), text::print(&after));
}

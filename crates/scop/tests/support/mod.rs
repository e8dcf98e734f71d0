//! What tests of C programs share: reading, writing anew, compiling, and running.

// Each test uses a part of this.
#![allow(dead_code)]

pub mod device;
pub mod kernel;

use std::process::{Command, Output};

use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::optimise::Recipe;
use tangram_presburger::Budget;
use tangram_scop::{Detected, Emit, Part, detect, parts, rewrite};

pub const PRINTF: &str = "int printf(const char *, ...);\n";

/// Flags that find undefined behaviour.
pub const SANITIZED: &[&str] =
    &["-std=c99", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover"];

pub fn budget() -> Budget {
    Budget::steps(2_000_000_000)
}

/// Reads the parts that pragmas mark.
#[track_caller]
pub fn marked(text: &str) -> Vec<Part> {
    parts(text, &budget()).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Finds parts without pragmas.
#[track_caller]
pub fn detected(text: &str) -> Detected {
    detect(text, &budget()).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Writes all parts of a file anew, in tiles of odd sizes.
#[track_caller]
pub fn in_tiles(text: &str, parts: &[Part]) -> String {
    let mut recipe = Recipe::default();
    recipe.tile = Some(vec![3, 4]);
    let code = |part: &Part| {
        let best = part.scop.optimise(&recipe, &budget()).expect("a schedule");
        assert!(best.fallback.is_none(), "{:?}", best.fallback);
        let context = part.scop.context.as_ref();
        Ast::of_tree(&best.tree, context, &AstOptions::default(), &budget()).expect("code")
    };
    let codes: Vec<Ast> = parts.iter().map(code).collect();
    let pairs: Vec<_> = parts.iter().zip(codes.iter().map(Some)).collect();
    let emit = Emit { vectorize: true, ..Emit::default() };
    rewrite(text, &pairs, &emit).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

/// Writes the marked parts of a program anew and runs both; they print the same.
#[track_caller]
pub fn prints_the_same_anew(name: &str, text: &str) {
    print_the_same(name, text, &in_tiles(text, &marked(text)));
}

/// Runs two forms of a program under sanitizers; they print the same.
#[track_caller]
pub fn print_the_same(name: &str, before: &str, after: &str) {
    let runs = [before, after].map(|program| run(name, program, SANITIZED, &[&[]]));
    let [Some(one), Some(two)] = runs else { return };
    assert!(one[0].status.success() && !one[0].stdout.is_empty(), "{:?}", one[0]);
    let [a, b] = [&one[0], &two[0]].map(|run| String::from_utf8_lossy(&run.stdout).into_owned());
    let differing: Vec<_> = a.lines().zip(b.lines()).filter(|(a, b)| a != b).collect();
    assert!(differing.is_empty(), "{differing:?}\n{after}");
    assert_eq!(one[0], two[0], "{after}");
}

/// Compiles a C program and runs it with each list of arguments; nothing without a compiler.
pub fn run(name: &str, program: &str, flags: &[&str], runs: &[&[&str]]) -> Option<Vec<Output>> {
    let stem = std::env::temp_dir().join(format!("tangram-{name}-{}", std::process::id()));
    let (source, binary) = (stem.with_extension("c"), stem.with_extension("out"));
    std::fs::write(&source, program).expect("written");
    let mut compiler = Command::new("cc");
    compiler.args(flags).arg("-o").arg(&binary).arg(&source).arg("-lm");
    let Ok(compiled) = compiler.output() else {
        println!("skipped: needs cc");
        return None;
    };
    let messages = String::from_utf8_lossy(&compiled.stderr).into_owned();
    assert!(compiled.status.success(), "{messages}\n{program}");
    let threads = |arguments: &&[&str]| {
        let mut command = Command::new(&binary);
        command
            .args(*arguments)
            .env("OMP_NUM_THREADS", "4")
            .env("OMP_WAIT_POLICY", "passive")
            .output()
            .expect("runs")
    };
    let outputs = runs.iter().map(threads).collect();
    for path in [source, binary] {
        // A file that stays behind does no harm.
        let _ = std::fs::remove_file(path);
    }
    Some(outputs)
}

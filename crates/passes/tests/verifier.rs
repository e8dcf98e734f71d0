//! What `mlir-opt` refuses is refused here.
//!
//! Four things are not: an operation that has no definition, because tables need not be complete
//! here and what is in none is carried through; some numbers that `mlir-opt` calls out of range,
//! such as `-0`; sizes of segments as `i64`; and properties that an operation does not know.

mod support;

use support::mutate;
use tangram_ir::{text, verify};

/// Reasons of `mlir-opt` that are none here.
const CARRIED: [&str; 4] = [
    "unregistered",
    "integer constant out of range",
    "expected DenseI32ArrayAttr",
    "does not support properties",
];
const SPLIT: &str = "// -----\n";

/// What is wrong with each program, if `mlir-opt` refuses it. `None` if it is not installed.
fn refused_there(programs: &[String]) -> Option<Vec<Option<String>>> {
    let mut firsts = Vec::new();
    let mut input = String::new();
    for program in programs {
        firsts.push(input.lines().count() + 1);
        input += program;
        input += SPLIT;
    }
    let said = support::asked(&["--split-input-file", "-o", "/dev/null"], &input)?;
    let mut found = vec![None; programs.len()];
    for line in said.err().unwrap_or_default().lines() {
        let Some((place, message)) = line.split_once(" error: ") else { continue };
        let at: Option<usize> = place.split(':').nth(1).and_then(|at| at.parse().ok());
        let at = at.unwrap_or_else(|| panic!("a place in {line}"));
        let which = firsts.partition_point(|&first| first <= at) - 1;
        found[which].get_or_insert_with(|| message.to_owned());
    }
    Some(found)
}

/// What is wrong with a program.
fn refused_here(program: &str) -> Option<String> {
    let errors = match text::parse(program, "test.mlir", tangram_dialects::context()) {
        Ok(module) => verify(&module).err(),
        Err(errors) => Some(errors),
    };
    errors.map(|errors| errors[0].message.clone())
}

/// Seeds of programs, with a reason each.
type Reasons = Vec<(u64, String)>;

/// The seeds of programs that are refused there and not here, with the reason, and how many are
/// refused in both places, and here only.
fn compare(seeds: std::ops::Range<u64>) -> Option<(Reasons, usize, Reasons)> {
    let programs: Vec<String> = seeds.clone().map(mutate::program).collect();
    let there = refused_there(&programs)?;
    let (mut missed, mut both, mut more) = (Vec::new(), 0, Vec::new());
    for ((seed, program), there) in seeds.zip(&programs).zip(there) {
        match (refused_here(program), there) {
            (None, Some(reason)) if CARRIED.iter().any(|&word| reason.contains(word)) => {}
            (None, Some(reason)) => missed.push((seed, reason)),
            (Some(_), Some(_)) => both += 1,
            (Some(reason), None) => more.push((seed, reason)),
            (None, None) => {}
        }
    }
    Some((missed, both, more))
}

fn check(seeds: std::ops::Range<u64>) -> Option<usize> {
    let Some((missed, both, more)) = compare(seeds) else {
        println!("skipped: needs mlir-opt-22");
        return None;
    };
    println!("refused here only: {more:?}");
    assert_eq!(missed, []);
    Some(both)
}

#[test]
fn hundreds_of_wrong_programs() {
    if let Some(both) = check(1..401) {
        assert!(both >= 100, "only {both} of 400 programs are refused");
    }
}

/// `TANGRAM_SEEDS=FROM..TO` chooses the programs.
#[test]
#[ignore = "takes minutes; `cargo xtask long` runs it"]
fn many_thousands_of_wrong_programs() {
    let range = support::asked_seeds().unwrap_or(1_000..21_000);
    for start in range.clone().step_by(500) {
        check(start..(start + 500).min(range.end));
    }
}

/// Maps of any values are computed anywhere; a place in a buffer needs dimensions, which a map
/// makes of dimensions only.
#[test]
fn maps_take_any_values_and_places_take_dimensions() {
    let program = |line: &str, around: &str| {
        format!(
            "func.func @f(%m: index, %b: memref<?xf32>) {{\n  %c = arith.constant 1 : index\n  \
             {around} {{\n    {line}\n  }}\n  return\n}}\n"
        )
    };
    let (scf, affine) = ("scf.for %i = %c to %m step %c", "affine.for %i = 0 to 5");
    let apply = "%y = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%m]";
    let turned = "%y = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%m)[%i]";
    let least = "%y = affine.min affine_map<(d0)[s0] -> (d0, s0)>(%m)[%i]";
    let load = "\n    %z = affine.load %b[%y] : memref<?xf32>";
    let programs: Vec<String> = vec![
        program(apply, scf),
        program(turned, scf),
        program(least, scf),
        program(&format!("{apply}{load}"), affine),
        program(&format!("{apply}{load}"), scf),
        program(&format!("{least}{load}"), affine),
    ];
    let here: Vec<bool> = programs.iter().map(|text| refused_here(text).is_some()).collect();
    assert_eq!(here, [false, false, false, false, true, true]);
    if let Some(there) = refused_there(&programs) {
        assert_eq!(here, there.iter().map(Option::is_some).collect::<Vec<_>>(), "{there:?}");
    }
}

//! Programs with operations of unknown dialects go through every pass: the meaning stays, and
//! `mlir-opt` 22, which knows some of these dialects, accepts what comes out.

mod support;

use std::cell::RefCell;
use std::rc::Rc;

use support::generate::{self, CELLS, Random};
use support::{asked, parse};
use tangram_dialects::mlir::run::{Datum, Elements, Trap, run_uninterpreted};
use tangram_ir::{Module, Op, Order, TypeData, text, walk};
use tangram_passes::{PASSES, Pipeline, RunOptions, Silent, run};

const SIZE: usize = 20;
const BUDGET: u64 = 20_000;
const LENIENT: &[&str] =
    &["--allow-unregistered-dialect", "--split-input-file", "--mlir-print-op-generic"];

/// Every pass alone, and all that simplify together.
fn pipelines() -> Vec<String> {
    let alone = PASSES.iter().map(|pass| format!("builtin.module({})", pass.name));
    let simplify = "builtin.module(canonicalize{region-simplify=aggressive},cse,sccp,\
                    loop-invariant-code-motion,inline,symbol-dce,canonicalize,cse)";
    alone.chain([simplify.to_owned()]).collect()
}

/// The functions of any dialect.
fn functions(module: &Module) -> Vec<Op> {
    let all = walk(module, module.root(), Order::Pre).into_iter();
    all.filter(|&op| module.name_text(op).ends_with(".func")).collect()
}

fn arguments(module: &Module, function: Op, seed: u64) -> Vec<Datum> {
    let mut random = Random::new(seed);
    let entry = module.first_block(module.region(function, 0)).expect("a body");
    let argument = |&value| match module.context().type_data(module.value_type(value)) {
        TypeData::Integer { width: 1, .. } => Datum::Int(-i128::from(random.below(2) as u32)),
        TypeData::Integer { .. } => Datum::Int(i128::from(random.below(1 << 32) as u32 as i32)),
        TypeData::Index => Datum::Int(random.below(20).into()),
        _ => {
            let data = (0..CELLS).map(|_| Datum::Int(random.below(9).into())).collect();
            let buffer = Elements { extents: vec![CELLS as i64], data };
            Datum::Buffer(Rc::new(RefCell::new(buffer)))
        }
    };
    module.args(entry).iter().map(argument).collect()
}

type Outcome = Result<(Vec<Datum>, u64, Vec<Datum>), Trap>;

fn outcome(module: &Module, function: Op, seed: u64) -> Outcome {
    let args = arguments(module, function, seed);
    let (results, state) = run_uninterpreted(module, function, &args, BUDGET)?;
    Ok((results, state, args))
}

/// Says of how many functions the meaning could be compared.
fn check_meaning(before: &Module, after: &Module, what: &str) -> usize {
    let (old, new) = (functions(before), functions(after));
    assert_eq!(old.len(), new.len(), "{what}");
    let mut compared = 0;
    for (old, new) in old.into_iter().zip(new) {
        for seed in 0..3 {
            match (outcome(before, old, seed), outcome(after, new, seed)) {
                (Err(Trap::Budget(_) | Trap::Undefined(_) | Trap::Nesting), _) => {}
                // Operations of `llvm` are known, so they are not free functions, and not run: where
                // they are reached, or moved out of a region that is not.
                (Err(Trap::Unsupported(name)), _) | (_, Err(Trap::Unsupported(name)))
                    if name.starts_with("llvm.") => {}
                (Ok(expected), found) => {
                    assert_eq!(found, Ok(expected), "{what}\n{}", text::print(after));
                    compared += usize::from(seed == 0);
                }
                (Err(trap), _) => panic!("{what}: {trap}"),
            }
        }
    }
    compared
}

/// What `pipeline` makes of `input`; nothing if the pass says that it cannot.
fn pass(input: &str, pipeline: &str) -> Option<Module> {
    let mut module = parse(input);
    let parsed = Pipeline::parse(pipeline).expect("a pipeline");
    let report = run(&mut module, &parsed, &RunOptions::default(), &mut Silent);
    report.is_ok().then_some(module)
}

/// Puts the programs of `seeds` through every pass, and all results to `mlir-opt`.
fn check(seeds: std::ops::Range<u64>) {
    let mut compared = 0;
    let inputs: Vec<String> =
        seeds.clone().map(|seed| generate::foreign_module(seed, SIZE)).collect();
    for pipeline in pipelines() {
        let mut results = Vec::new();
        for (seed, input) in seeds.clone().zip(&inputs) {
            let Some(after) = pass(input, &pipeline) else { continue };
            // The interpreter knows integers of any width, but an index by its own type only.
            if !pipeline.contains("index-to-i64") {
                compared += check_meaning(&parse(input), &after, &format!("{seed} {pipeline}"));
            }
            results.push(text::print(&after));
        }
        let all = results.join("\n// -----\n");
        match asked(LENIENT, &all) {
            None => println!("skipped: needs mlir-opt-22"),
            Some(said) => drop(said.unwrap_or_else(|error| panic!("{pipeline}: {error}\n{all}"))),
        }
    }
    assert!(compared * 2 > inputs.len() * 3, "{compared} functions end within the budget");
}

/// What is read and printed again is what `mlir-opt` reads and prints.
fn check_text(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let input = generate::foreign_module(seed, SIZE);
        let ours = text::print(&parse(&input));
        let Some(theirs) = asked(LENIENT, &input) else {
            println!("skipped: needs mlir-opt-22");
            return;
        };
        let theirs = theirs.unwrap_or_else(|error| panic!("{seed}: {error}\n{input}"));
        assert_eq!(asked(LENIENT, &ours), Some(Ok(theirs)), "{seed}");
    }
}

#[test]
fn properties_of_unknown_dialects_come_back() {
    check_text(1..9);
}

#[test]
fn a_few_programs_through_every_pass() {
    check(1..13);
}

#[test]
#[ignore = "takes minutes; `cargo xtask long` runs it"]
fn a_thousand_programs_through_every_pass() {
    (0..25).for_each(|block| check(1000 + block * 40..1000 + block * 40 + 40));
    check_text(1000..1200);
}

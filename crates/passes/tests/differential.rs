//! Canonicalisation and common subexpressions on generated programs over arith, func, cf, scf,
//! affine and memref: the meaning stays, `mlir-opt` 22 accepts what comes out, and hardly ever
//! leaves fewer operations.

mod support;

use std::cell::RefCell;
use std::rc::Rc;

use support::generate::{self, CELLS, Random};
use support::{functions, mlir_opt, parse, pass};
use tangram_dialects::std::run::{Datum, Elements, Trap, run};
use tangram_ir::{Module, Op, Order, text, walk};

const PIPELINE: &str = "builtin.module(func.func(canonicalize,cse,canonicalize))";
const SIZE: usize = 24;
const BUDGET: u64 = 20_000;

fn programs(seeds: std::ops::Range<u64>) -> String {
    let first = seeds.start;
    seeds.map(|seed| generate::function(seed, SIZE, seed > first)).collect()
}

fn arguments(seed: u64) -> Vec<Datum> {
    let mut random = Random::new(seed);
    let mut int = || match random.below(3) {
        0 => random.below(4) as i128 - 1,
        _ => i128::from(random.below(1 << 32) as u32 as i32),
    };
    let (x, y) = (int(), int());
    let data = (0..CELLS).map(|_| Datum::Int(int())).collect();
    let buffer = Elements { extents: vec![CELLS as i64], data };
    vec![
        Datum::Int(x),
        Datum::Int(y),
        Datum::Int(-i128::from(random.below(2) as u32)),
        Datum::Int(random.below(20).into()),
        Datum::Buffer(Rc::new(RefCell::new(buffer))),
    ]
}

/// What the function gives, and what it leaves in the buffer.
fn outcome(module: &Module, function: Op, seed: u64) -> Result<(Vec<Datum>, Datum), Trap> {
    let args = arguments(seed);
    let results = run(module, function, &args, BUDGET)?;
    Ok((results, args[4].clone()))
}

/// Says how many functions were compared.
fn check_meaning(before: &Module, after: &Module, first: u64) -> usize {
    let mut compared = 0;
    for (i, (old, new)) in functions(before).into_iter().zip(functions(after)).enumerate() {
        for round in 0..4 {
            let seed = (first + i as u64) * 16 + round;
            match outcome(before, old, seed) {
                Ok(expected) => {
                    let found = outcome(after, new, seed);
                    assert_eq!(
                        found.as_ref(),
                        Ok(&expected),
                        "f{}, round {round}",
                        first + i as u64
                    );
                    compared += usize::from(round == 0);
                }
                Err(Trap::Budget(_)) => {}
                Err(trap) => panic!("f{}: {trap}", first + i as u64),
            }
        }
    }
    compared
}

/// How many operations each function of `module` holds.
fn sizes(module: &Module) -> Vec<usize> {
    functions(module).into_iter().map(|op| walk(module, op, Order::Pre).len()).collect()
}

/// The seeds of the functions that come out with more operations than `mlir-opt` leaves, with
/// both numbers.
fn longer(seeds: std::ops::Range<u64>) -> Option<Vec<(u64, usize, usize)>> {
    let (first, count) = (seeds.start, (seeds.end - seeds.start) as usize);
    let input = programs(seeds);
    let before = parse(&input);
    let mut module = parse(&input);
    pass(&mut module, PIPELINE);
    let compared = check_meaning(&before, &module, first);
    assert!(compared * 10 >= count * 9, "{compared} of {count} functions end within the budget");
    let ours = text::print(&module);
    assert_eq!(text::print(&parse(&ours)), ours, "the text is not stable");
    let theirs = [&*format!("--pass-pipeline={PIPELINE}"), "--mlir-print-op-generic"];
    let theirs = mlir_opt(&theirs, &input)?;
    // Nothing but the verifier and the printer runs, so that sizes stay what they are.
    let read = mlir_opt(&["--verify-each", "--mlir-print-op-generic"], &ours)?;
    let (ours, theirs) = (sizes(&parse(&read)), sizes(&parse(&theirs)));
    assert_eq!((ours.len(), theirs.len()), (count, count));
    let all = (first..).zip(ours.into_iter().zip(theirs));
    Some(all.filter(|(_, (our, their))| our > their).map(|(s, (a, b))| (s, a, b)).collect())
}

fn check(seeds: std::ops::Range<u64>) {
    let count = (seeds.end - seeds.start) as usize;
    let Some(longer) = longer(seeds) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    assert!(longer.len() * 100 <= count, "(seed, ours, theirs): {longer:?}");
}

#[test]
fn hundreds_of_programs() {
    check(1..301);
}

#[test]
fn conversions_keep_the_meaning() {
    let input = programs(501..601);
    let before = parse(&input);
    let mut module = parse(&input);
    pass(&mut module, "builtin.module(lower-affine,convert-scf-to-cf)");
    let left = |op: &Op| {
        let name = module.name_text(*op);
        name.starts_with("affine.") || name.starts_with("scf.")
    };
    assert_eq!(walk(&module, module.root(), Order::Pre).into_iter().find(left), None);
    assert!(check_meaning(&before, &module, 501) >= 90);
    pass(&mut module, PIPELINE);
    check_meaning(&before, &module, 501);
    if mlir_opt(&["--verify-each"], &text::print(&module)).is_none() {
        println!("skipped: needs mlir-opt-22");
    }
}

#[test]
#[ignore = "takes minutes; `cargo xtask long` runs it"]
fn thousands_of_programs() {
    for block in 1..21 {
        check(block * 1000..block * 1000 + 500);
    }
}

//! `sccp` and `loop-invariant-code-motion` beside `mlir-opt` 22 on random programs: the meaning
//! stays, what comes out is valid, and no more is left than there.

mod support;

use std::cell::RefCell;
use std::rc::Rc;

use support::generate::{self, CELLS, Random};
use support::{asked_seeds, functions, mlir_opt, parse, pass};
use tangram_dialects::mlir::run::{Datum, Elements, Trap, run};
use tangram_ir::{Module, Op, Order, text, walk};

const SIZE: usize = 24;
const BUDGET: u64 = 20_000;
const LOOPS: [&str; 4] = ["scf.for", "scf.while", "affine.for", "affine.parallel"];

fn outcome(module: &Module, function: Op, seed: u64) -> Result<(Vec<Datum>, Datum), Trap> {
    let mut random = Random::new(seed);
    let mut int = || Datum::Int(i128::from(random.below(1 << 32) as u32 as i32));
    let data = (0..CELLS).map(|_| int()).collect();
    let buffer = Elements { extents: vec![CELLS as i64], data };
    let buffer = Datum::Buffer(Rc::new(RefCell::new(buffer)));
    let (x, y) = (int(), int());
    let (flag, n) = (-i128::from(seed as u32 % 2), i128::from(seed % 20));
    let args = [x, y, Datum::Int(flag), Datum::Int(n), buffer.clone()];
    Ok((run(module, function, &args, BUDGET)?, buffer))
}

/// How many operations there are, and how many of them in loops.
fn sizes(module: &Module, function: Op) -> (usize, usize) {
    let all = walk(module, function, Order::Pre);
    let is_loop = |op: Op| LOOPS.contains(&module.name_text(op));
    let in_loop = |&op: &Op| {
        let around = std::iter::successors(module.parent(op), |&op| module.parent(op));
        around.take_while(|&op| op != function).any(is_loop)
    };
    (all.len(), all.iter().copied().filter(|op| in_loop(op)).count())
}

/// Puts programs through `name` on both sides; `size` is what should not be greater here.
fn check(name: &str, seeds: std::ops::Range<u64>, size: impl Fn(&Module, Op) -> usize) {
    let first = seeds.start;
    let input: String =
        seeds.clone().map(|seed| generate::function(seed, SIZE, seed > first)).collect();
    let before = parse(&input);
    let mut after = parse(&input);
    pass(&mut after, &format!("builtin.module(func.func({name}))"));
    let pairs = functions(&before).into_iter().zip(functions(&after));
    for (seed, (old, new)) in seeds.clone().zip(pairs) {
        match outcome(&before, old, seed) {
            Err(Trap::Budget(_)) => {}
            expected => assert_eq!(outcome(&after, new, seed), expected, "{name}, f{seed}"),
        }
    }
    let pipeline = format!("--pass-pipeline=builtin.module(func.func({name}))");
    let Some(theirs) = mlir_opt(&[&*pipeline, "--mlir-print-op-generic"], &input) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    mlir_opt(&["--verify-each"], &text::print(&after));
    let theirs = parse(&theirs);
    let longer: Vec<u64> = seeds
        .zip(functions(&after).into_iter().zip(functions(&theirs)))
        .filter(|(_, (mine, other))| size(&after, *mine) > size(&theirs, *other))
        .map(|(seed, _)| seed)
        .collect();
    println!("{name}: more is left in {} of {}", longer.len(), functions(&after).len());
    assert!(longer.len() * 50 <= functions(&after).len(), "{longer:?}");
}

#[test]
fn constants_are_found_where_mlir_finds_them() {
    check("sccp", asked_seeds().unwrap_or(1..301), |module, op| sizes(module, op).0);
}

#[test]
#[ignore = "takes minutes; `cargo xtask long` runs it"]
fn thousands_of_programs() {
    for block in 1..6 {
        let seeds = block * 1000..block * 1000 + 500;
        check("sccp", seeds.clone(), |module, op| sizes(module, op).0);
        check("loop-invariant-code-motion", seeds, |module, op| sizes(module, op).1);
    }
}

#[test]
fn loops_keep_no_more_than_in_mlir() {
    let seeds = asked_seeds().unwrap_or(1..301);
    check("loop-invariant-code-motion", seeds, |module, op| sizes(module, op).1);
}

/// Programs of regions inside each other go through every pass; says how long each took.
fn check_deep(depth: usize) {
    let kinds = [
        ("\"a.b\"() ({\n", "}) : () -> ()\n"),
        ("scf.if %c {\n", "}\n"),
        ("scf.for %i = %n to %m step %n {\n", "}\n"),
        ("affine.for %i = 0 to 10 {\n", "}\n"),
    ];
    for (open, close) in kinds {
        let opened: String = (0..depth).map(|i| open.replace("%i", &format!("%i{i}"))).collect();
        let closed = close.repeat(depth);
        let source = format!(
            "func.func @f(%c: i1, %n: index, %m: index) {{\n{opened}\"a.c\"(%n) : (index) -> ()\n\
             {closed}return\n}}\n"
        );
        for entry in tangram_passes::PASSES {
            // It knows nothing but `func`, `arith` and `cf`.
            if entry.name == "convert-index-to-i64" {
                continue;
            }
            let start = std::time::Instant::now();
            let mut module = parse(&source);
            pass(&mut module, &format!("builtin.module({})", entry.name));
            println!("{} {:?} {:?}", open.trim(), entry.name, start.elapsed());
        }
    }
}

#[test]
fn deep_regions_go_through_every_pass() {
    check_deep(3000);
}

/// What is quadratic in the depth takes minutes for each pass here, and seconds where it is not.
#[test]
#[ignore = "takes minutes; `cargo xtask long` runs it"]
fn regions_a_hundred_thousand_deep() {
    check_deep(100_000);
}

//! Canonicalisation and common subexpressions on generated programs over arith, func, cf, scf,
//! affine and memref: the meaning stays, `mlir-opt` 22 accepts what comes out, and hardly ever
//! leaves fewer operations.

mod classes;
#[path = "../support/mod.rs"]
mod support;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use classes::Kinds;
use support::generate::{self, CELLS, Random};
use support::{functions, mlir_opt, parse, pass};
use tangram_dialects::mlir::run::{Datum, Elements, Trap, run};
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

/// A function whose operations are not those that `mlir-opt` leaves.
#[derive(Debug)]
struct Difference {
    #[allow(dead_code, reason = "shown where a test fails")]
    seed: u64,
    class: &'static str,
    /// How many operations we leave more.
    more: i64,
    /// By name, how many of each.
    #[allow(dead_code, reason = "shown where a test fails")]
    kinds: Kinds,
}

/// What both sides leave of some functions.
#[derive(Default)]
struct Comparison {
    functions: usize,
    differences: Vec<Difference>,
}

impl Comparison {
    fn longer(&self) -> usize {
        self.differences.iter().filter(|difference| difference.more > 0).count()
    }

    /// At most one function in a hundred is longer, and each difference is of a known class.
    fn check(&self) {
        let mut classes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for difference in &self.differences {
            let entry = classes.entry(difference.class).or_default();
            entry.0 += 1;
            entry.1 += usize::from(difference.more > 0);
        }
        println!("{} functions; class: differences, longer ones: {classes:?}", self.functions);
        assert!(self.longer() * 100 <= self.functions, "{:#?}", self.differences);
        assert!(!classes.contains_key(classes::UNKNOWN), "{:#?}", self.differences);
    }
}

/// How many operations of each name a function holds.
fn kinds(module: &Module, function: Op) -> Kinds {
    let mut kinds = Kinds::new();
    for op in walk(module, function, Order::Pre) {
        *kinds.entry(module.name_text(op).to_owned()).or_default() += 1;
    }
    kinds
}

/// Puts some functions through both; nothing if `mlir-opt` is not there.
fn compare(seeds: std::ops::Range<u64>) -> Option<Comparison> {
    let (first, count) = (seeds.start, (seeds.end - seeds.start) as usize);
    let input = programs(seeds);
    let before = parse(&input);
    let mut module = parse(&input);
    pass(&mut module, PIPELINE);
    let compared = check_meaning(&before, &module, first);
    assert!(compared * 10 >= count * 9, "{compared} of {count} functions end within the budget");
    let ours = text::print(&module);
    // A sum within a sum is printed as mlir-opt prints it, `d0 + s0 * -8 + s1`, and is a difference
    // once it was read.
    let once = text::print(&parse(&ours));
    let twice = text::print(&parse(&once));
    let unstable = once.lines().zip(twice.lines()).find(|(first, second)| first != second);
    assert_eq!(unstable, None, "the text is not stable");
    assert_eq!(once.lines().count(), ours.lines().count(), "reading loses operations");
    let theirs = [&*format!("--pass-pipeline={PIPELINE}"), "--mlir-print-op-generic"];
    let theirs = mlir_opt(&theirs, &input)?;
    // Nothing but the verifier and the printer runs, so that sizes stay what they are.
    let read = mlir_opt(&["--verify-each", "--mlir-print-op-generic"], &ours)?;
    let (ours, theirs) = (parse(&read), parse(&theirs));
    let (mine, others) = (functions(&ours), functions(&theirs));
    assert_eq!((mine.len(), others.len()), (count, count));
    let mut found = Comparison { functions: count, differences: Vec::new() };
    for (seed, (mine, other)) in (first..).zip(mine.into_iter().zip(others)) {
        let mut difference = kinds(&ours, mine);
        for (name, n) in kinds(&theirs, other) {
            *difference.entry(name).or_default() -= n;
        }
        difference.retain(|_, n| *n != 0);
        if !difference.is_empty() {
            let (class, more) = (classes::class(&difference), difference.values().sum());
            found.differences.push(Difference { seed, class, more, kinds: difference });
        }
    }
    Some(found)
}

fn check(blocks: impl Iterator<Item = std::ops::Range<u64>>) {
    let mut all = Comparison::default();
    for seeds in blocks {
        let Some(found) = compare(seeds) else {
            println!("skipped: needs mlir-opt-22");
            return;
        };
        all.functions += found.functions;
        all.differences.extend(found.differences);
    }
    all.check();
}

#[test]
fn hundreds_of_programs() {
    check(std::iter::once(1..301));
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

/// Generated programs as `mlir-opt` prints them are read, and printed the same.
#[test]
fn pretty_text_comes_back() {
    let input = programs(2000..2060);
    let Some(theirs) = mlir_opt(&[], &input) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    let mut ours = String::new();
    let options = text::Options { generic: false, ..text::Options::default() };
    text::print_to(&mut ours, &parse(&theirs), options).expect("a string takes all");
    let differs = |(a, b): &(&str, &str)| a != b;
    let first = ours.trim_end().lines().zip(theirs.trim_end().lines()).find(differs);
    assert_eq!(first, None);
    assert_eq!(ours.trim_end().len(), theirs.trim_end().len());
}

#[test]
#[ignore = "takes minutes; `cargo xtask long` runs it"]
fn thousands_of_programs() {
    check((1..21).map(|block| block * 1000..block * 1000 + 500));
}

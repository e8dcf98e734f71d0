//! Canonicalisation of random programs of upstream's kinds of cases, a generator for each group of
//! dialects. The meaning stays, `mlir-opt` 22 accepts what comes out, and hardly ever leaves fewer
//! operations; what it makes of the programs means the same here, too.

mod affine;
mod buffers;
mod linalg;
mod loops;
#[path = "../support/mod.rs"]
mod support;
mod tensors;
mod text;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use support::{asked, asked_seeds, functions, mlir_opt, parse, pass};
use tangram_dialects::mlir::run::{Datum, Elements, Trap, run};
use tangram_ir::{Module, Op, Order, walk};

const BUDGET: u64 = 100_000;

/// A kind of programs.
struct Kind {
    /// What stands before the functions.
    prelude: &'static str,
    /// The function of a seed.
    function: fn(u64) -> String,
    /// What functions are given.
    arguments: fn() -> Vec<Datum>,
    /// Of a hundred programs, how many may be longer here.
    longer: usize,
}

/// The numbers from `first` on, in the shape `extents`.
fn elements(extents: &[i64], first: i128) -> Elements {
    let data = (0..extents.iter().product::<i64>()).map(|i| Datum::Int(first + i128::from(i)));
    Elements { extents: extents.to_vec(), data: data.collect() }
}

fn tensor(extents: &[i64], first: i128) -> Datum {
    Datum::Tensor(Rc::new(elements(extents, first)))
}

fn buffer(extents: &[i64], first: i128) -> Datum {
    Datum::Buffer(Rc::new(RefCell::new(elements(extents, first))))
}

/// What a function returns, and its arguments afterwards.
fn outcome(kind: &Kind, module: &Module, function: Op) -> Result<Vec<Datum>, Trap> {
    let arguments = (kind.arguments)();
    let mut all = run(module, function, &arguments, BUDGET)?;
    all.extend(arguments);
    Ok(all)
}

/// By name, how many operations more there are on the left.
fn difference(ours: (&Module, Op), theirs: (&Module, Op)) -> BTreeMap<String, i64> {
    let mut kinds = BTreeMap::new();
    for ((module, function), sign) in [(ours, 1), (theirs, -1)] {
        for op in walk(module, function, Order::Pre) {
            *kinds.entry(module.name_text(op).to_owned()).or_default() += sign;
        }
    }
    kinds.retain(|_, n| *n != 0);
    kinds
}

/// What came of the programs of some seeds.
#[derive(Default)]
struct Tally {
    all: usize,
    compared: usize,
    longer: Vec<u64>,
    /// The seeds of which `mlir-opt` makes programs that it does not accept, or that mean
    /// something else here.
    broken: Vec<u64>,
    /// By what is there more and less, the seeds.
    classes: BTreeMap<String, Vec<u64>>,
}

/// Compares the programs of `seeds`; `None` where `mlir-opt` fails at one of them, or is not there.
fn compare(kind: &Kind, seeds: std::ops::Range<u64>, tally: &mut Tally) -> Option<()> {
    let texts = seeds.clone().map(kind.function);
    let input = std::iter::once(kind.prelude.to_owned()).chain(texts).collect::<String>();
    let passes = ["--canonicalize", "--cse", "--canonicalize", "--mlir-print-op-generic"];
    let alone = seeds.end - seeds.start == 1 && asked_seeds().is_some();
    let theirs = match asked(&passes, &input)? {
        Ok(theirs) => parse(&theirs),
        Err(error) if alone => panic!("{input}\n{error}"),
        Err(_) => return None,
    };
    let before = parse(&input);
    let mut after = parse(&input);
    pass(&mut after, "builtin.module(func.func(canonicalize,cse,canonicalize))");
    let printed = tangram_ir::text::print(&after);
    let shown = mlir_opt(&["--verify-each"], &printed);
    if alone {
        let theirs = mlir_opt(&passes[..3], &input);
        println!("{input}\nhere:\n{}\nmlir-opt:\n{}", shown?, theirs?);
    }
    let all = functions(&before).into_iter().zip(functions(&after)).zip(functions(&theirs));
    for (seed, ((old, new), other)) in seeds.zip(all) {
        let expected = outcome(kind, &before, old);
        match &expected {
            Err(Trap::Undefined(_) | Trap::Budget(_)) => {}
            Err(trap) => panic!("{seed}: {trap}\n{}", (kind.function)(seed)),
            Ok(_) => {
                let found = outcome(kind, &after, new);
                assert_eq!(found, expected, "{seed}\n{}", (kind.function)(seed));
                tally.compared += 1;
                if outcome(kind, &theirs, other) != expected {
                    tally.broken.push(seed);
                }
            }
        }
        let kinds = difference((&after, new), (&theirs, other));
        if kinds.values().sum::<i64>() > 0 {
            tally.longer.push(seed);
            tally.classes.entry(format!("{kinds:?}")).or_default().push(seed);
        }
        tally.all += 1;
    }
    Some(())
}

fn check(kind: &Kind, seeds: std::ops::Range<u64>) {
    if mlir_opt(&[], "").is_none() {
        println!("skipped: needs mlir-opt-22");
        return;
    }
    let (mut tally, mut open) = (Tally::default(), vec![seeds]);
    while let Some(seeds) = open.pop() {
        if compare(kind, seeds.clone(), &mut tally).is_some() {
            continue;
        }
        let middle = seeds.start + (seeds.end - seeds.start) / 2;
        match middle == seeds.start {
            true => tally.broken.push(seeds.start),
            false => open.extend([seeds.start..middle, middle..seeds.end]),
        }
    }
    let Tally { all, compared, longer, broken, classes } = tally;
    println!("{} of {all} functions are longer here, {compared} compared", longer.len());
    for (class, seeds) in classes {
        println!("  {} times {class}, first {}", seeds.len(), seeds[0]);
    }
    println!("  what mlir-opt makes of {broken:?} is invalid or means something else");
    assert!(broken.len() * 50 <= all, "{broken:?}");
    assert!(compared * 10 >= all * 9, "{compared} of {all} functions have a meaning");
    assert!(longer.len() * 100 <= all * kind.longer, "{longer:?}");
}

/// The normal test and the long form of a kind.
macro_rules! kinds {
    ($($name:ident $long:ident $kind:expr;)*) => {$(
        #[test]
        fn $name() {
            check(&$kind, asked_seeds().unwrap_or(1..301));
        }

        #[test]
        #[ignore = "takes minutes; `cargo xtask long` runs it"]
        fn $long() {
            (1..11).for_each(|block| check(&$kind, block * 1000..block * 1000 + 500));
        }
    )*};
}

kinds! {
    tensors thousands_of_tensors tensors::KIND;
    structured thousands_of_structured linalg::KIND;
    buffers thousands_of_buffers buffers::KIND;
    loops thousands_of_loops loops::KIND;
    affine thousands_of_affine affine::KIND;
}

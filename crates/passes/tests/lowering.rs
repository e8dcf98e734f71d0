//! `convert-scf-to-cf` on what has several regions or counters: all of it goes, and the meaning
//! stays.

mod support;

use support::{functions, mlir_opt, parse, pass};
use tangram_dialects::mlir::run::{Datum, run};
use tangram_ir::{Order, text, walk};

const PROGRAM: &str = "
func.func @choose(%n: index, %i: i32) -> i32 {
  %r = scf.index_switch %n -> i32
  case 1 {
    %a = arith.addi %i, %i : i32
    scf.yield %a : i32
  }
  case -3 {
    %b = scf.execute_region -> i32 {
      %c7 = arith.constant 7 : i32
      %less = arith.cmpi slt, %i, %c7 : i32
      cf.cond_br %less, ^bb1(%c7 : i32), ^bb2
    ^bb1(%x: i32):
      scf.yield %x : i32
    ^bb2:
      cf.br ^bb1(%i : i32)
    }
    scf.yield %b : i32
  }
  default {
    scf.yield %i : i32
  }
  return %r : i32
}
func.func @sum(%n: index, %m: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s:2 = scf.parallel (%i, %j) = (%c0, %c1) to (%n, %m) step (%c1, %c2) init (%c0, %c1) -> (index, index) {
    %p = arith.muli %i, %j : index
    scf.reduce(%p, %j : index, index) {
    ^bb0(%x: index, %y: index):
      %z = arith.addi %x, %y : index
      scf.reduce.return %z : index
    }, {
    ^bb0(%x: index, %y: index):
      scf.reduce.return %y : index
    }
  }
  return %s#0, %s#1 : index, index
}
";

#[test]
fn everything_becomes_branches() {
    let before = parse(PROGRAM);
    let mut after = parse(PROGRAM);
    pass(&mut after, "builtin.module(func.func(convert-scf-to-cf))");
    let left = |op: &tangram_ir::Op| after.name_text(*op).starts_with("scf.");
    assert_eq!(walk(&after, after.root(), Order::Pre).into_iter().find(left), None);
    if mlir_opt(&["--verify-each"], &text::print(&after)).is_none() {
        println!("skipped: needs mlir-opt-22");
    }
    let int = |value: i64| Datum::Int(value.into());
    for n in [-3, 0, 1, 5] {
        for i in [-1, 7, 20] {
            let args = [int(n), int(i)];
            let expected = run(&before, functions(&before)[0], &args, 1000);
            assert_eq!(run(&after, functions(&after)[0], &args, 1000), expected, "{n} {i}");
        }
    }
    for (n, m) in [(0i64, 5i64), (4, 6), (3, 1)] {
        let pairs = (0..n).flat_map(|i| (1..m).step_by(2).map(move |j| (i, j)));
        let (total, last) = pairs.fold((0, 1), |(sum, _), (i, j)| (sum + i * j, j));
        let found = run(&after, functions(&after)[1], &[int(n), int(m)], 10_000);
        assert_eq!(found, Ok(vec![int(total), int(last)]), "{n} {m}");
    }
}

/// Patterns of a conversion are left out by name; what only they convert stays, and the pass says
/// so. Words that name no pattern are refused.
#[test]
fn patterns_of_conversions_are_chosen_by_name() {
    let source = "
func.func @f(%c: i1, %n: index) {
  scf.if %c {
    \"u.run\"() : () -> ()
  }
  scf.for %i = %n to %n step %n {
    \"u.run\"() : () -> ()
  }
  return
}";
    let said = |options: &str| {
        let mut module = parse(source);
        let pipeline = format!("builtin.module(convert-scf-to-cf{{{options}}})");
        let pipeline = tangram_passes::Pipeline::parse(&pipeline).expect("a pipeline");
        let options = tangram_passes::RunOptions::default();
        let outcome =
            tangram_passes::run(&mut module, &pipeline, &options, &mut tangram_passes::Silent);
        (text::print(&module), outcome.err().map(|error| error.to_string()))
    };
    let (left, error) = said("");
    assert!(error.is_none() && !left.contains("scf."), "{left}");
    let (left, error) = said("disable-patterns=for-to-branches");
    assert!(error.is_some_and(|error| error.contains("scf.for")), "{left}");
    let (left, error) = said("enable-patterns=for-to-branches,if-to-branches");
    assert!(error.is_none() && !left.contains("scf."), "{left}");
    let (_, error) = said("enable-patterns=no-such-thing");
    assert!(error.is_some_and(|error| error.contains("no-such-thing")));
}

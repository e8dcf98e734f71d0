//! Every pass, on loops inside of functions: what stands around them stays as it is.

mod support;

use support::generate;
use support::{functions, parse};
use tangram_ir::{Module, Op, Order, text, walk};
use tangram_passes::{PASSES, Pipeline, RunError, RunOptions, Silent, run};

/// The program without what the loops of its functions hold.
fn around(module: &Module) -> String {
    let mut copy = module.clone();
    for op in loops(module) {
        let mut inside = walk(&copy, op, Order::Pre);
        inside.remove(0);
        // Nothing uses anything any more before it goes.
        for &op in &inside {
            copy.set_operands(op, &[]);
        }
        let blocks: Vec<_> = copy.blocks(copy.region(op, 0)).collect();
        for block in blocks {
            let ops: Vec<Op> = copy.ops(block).collect();
            ops.into_iter().for_each(|op| copy.erase(op));
        }
    }
    text::print(&copy)
}

/// The loops that stand directly in functions.
fn loops(module: &Module) -> Vec<Op> {
    let blocks = functions(module).into_iter().flat_map(|op| module.blocks(module.region(op, 0)));
    let ops = blocks.flat_map(|block| module.ops(block));
    ops.filter(|&op| module.name_text(op) == "scf.for").collect()
}

fn check(source: &str, pass: &str) -> bool {
    let mut module = parse(source);
    let before = (around(&module), text::print(&module));
    let pipeline = format!("builtin.module(func.func(scf.for({pass})))");
    let pipeline = Pipeline::parse(&pipeline).expect("a pipeline");
    match run(&mut module, &pipeline, &RunOptions::default(), &mut Silent) {
        // It is one half of a program that it converts, which does not fit the other.
        Err(RunError::Failed { .. }) => return false,
        Err(error) => panic!("{pass}: {error:?}\n{source}"),
        Ok(_) => {}
    }
    assert_eq!(around(&module), before.0, "{pass} changes what is around of\n{source}");
    text::print(&module) != before.1
}

/// A loop that uses what is around it, which nothing else does.
const AROUND: &str = "
func.func @f(%m: memref<8xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0 : i32
  %a = arith.addi %n, %n : index
  %k = arith.muli %a, %a : index
  scf.for %i = %c0 to %n step %c1 {
    %d = arith.addi %k, %k : index
    %e = arith.addi %c1, %c1 : index
    %l = memref.load %m[%e] : memref<8xi32>
    memref.store %z, %m[%i] : memref<8xi32>
    memref.store %l, %m[%e] : memref<8xi32>
  }
  return
}";

#[test]
fn passes_on_loops_leave_what_is_around_them() {
    for entry in PASSES {
        let changed = check(AROUND, entry.name);
        let expected = ["canonicalize", "cse", "dce", "sccp"].contains(&entry.name);
        assert!(changed || !expected, "{} does nothing", entry.name);
    }
    let mut changes = 0;
    for seed in 1..120 {
        let source = generate::function(seed, 24, false);
        changes += PASSES.iter().filter(|entry| check(&source, entry.name)).count();
    }
    assert!(changes > 50, "only {changes} changes");
}

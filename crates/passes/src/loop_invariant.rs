//! `loop-invariant-code-motion`: moves out of loops what is the same in each iteration.

use tangram_dialects::mlir::may_trap;
use tangram_ir::{Module, Op, Order, Point, Traits, Value, ValueDef, walk};
use tangram_rewrite::{Rewriter, Silent};

use crate::effects::{Acting, Effect, effect};
use crate::pass::{Pass, PassCx, PassError};
use crate::registry::Entry;

pub(crate) const ENTRY: Entry = Entry {
    name: "loop-invariant-code-motion",
    summary: "moves out of loops what is the same in each iteration",
    options: &[],
    make: |_| Ok(Box::new(Motion)),
};

/// Operations whose regions run any number of times.
const LOOPS: &[&str] =
    &["scf.for", "scf.while", "scf.parallel", "scf.forall", "affine.for", "affine.parallel"];

struct Motion;

impl Pass for Motion {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let acting = Acting::new(cx.module, cx.root);
        let mut moved = 0;
        // Inner loops first: what leaves one may leave the next.
        for op in walk(cx.module, cx.root, Order::Post) {
            if op != cx.root && LOOPS.contains(&cx.module.name_text(op)) {
                moved += hoist(cx.module, op, &acting);
            }
        }
        cx.count("moved", moved);
        Ok(())
    }
}

/// Moves what does not depend on the iteration before the loop `around`.
fn hoist(module: &mut Module, around: Op, acting: &Acting) -> u64 {
    let regions = module.regions(around).iter().flat_map(|&region| module.blocks(region));
    let inside: Vec<Op> = regions.flat_map(|block| module.ops(block)).collect();
    let mut silent = Silent;
    let mut rewriter = Rewriter::new(module, &mut silent);
    let mut moved = 0;
    // Definitions come before users, so that one round finds whole chains.
    for op in inside {
        if !acting.acts(op) && is_invariant(rewriter.module(), op, around) {
            rewriter.move_to(op, Point::Before(around));
            moved += 1;
        }
    }
    moved
}

/// Returns whether `op`, all that it holds, has no effect, cannot trap and uses nothing that the
/// loop defines.
fn is_invariant(module: &Module, op: Op, around: Op) -> bool {
    if module.has_traits(op, Traits::TERMINATOR) {
        return false;
    }
    // A loop inside may never end, so that it must not run where it did not.
    let all = walk(module, op, Order::Pre);
    all.into_iter().all(|inner| {
        effect(module, inner) == Effect::None
            && !may_trap(module, inner)
            && module.name_text(inner) != "scf.while"
            && module
                .operands(inner)
                .all(|value| is_outside(module, value, around) || is_inside(module, value, op))
    })
}

fn home(module: &Module, value: Value) -> Option<Op> {
    match module.value_def(value) {
        ValueDef::Result(def, _) => Some(def),
        ValueDef::Arg(block, _) => module.block_parent(block),
    }
}

fn is_inside(module: &Module, value: Value, op: Op) -> bool {
    let mut at = home(module, value);
    // The results of `op` itself are not known in it.
    while let Some(holder) = at {
        if holder == op {
            return true;
        }
        at = module.parent(holder);
    }
    false
}

fn is_outside(module: &Module, value: Value, around: Op) -> bool {
    let mut at = match module.value_def(value) {
        ValueDef::Result(def, _) => module.parent(def),
        ValueDef::Arg(block, _) => module.block_parent(block),
    };
    while let Some(holder) = at {
        if holder == around {
            return false;
        }
        at = module.parent(holder);
    }
    true
}

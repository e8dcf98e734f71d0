//! Ranks that only one branch of an `if` can give.
//!
//! ```text
//! v = if t == 1 then squeeze(x) else x        of rank 2 or 3
//! w = if rank(v) == 2 then v else expand(v)   of rank 2 or 4
//! lstm(expand(w), ...)                        wants rank 3, so `w` is of rank 2, and so is `v`
//! ```
//!
//! Exporters write such branches for layers that take batches and single samples. Each rank that
//! the branches can give is tried on a copy of the program: where some operation of the block that
//! the value is in cannot be applied to operands of the rank that follows, the block has no result
//! with it, and the other rank is the one. The value has the type that its branch yields then.

use tangram_ir::{Block, Module, Op, Order, Type, Value, walk};
use tangram_rewrite::{FrozenPatternSet, GreedyConfig, greedy};

/// How many results of branches are looked at in one model.
const MOST: usize = 16;
/// How many operations a model may have for this: each attempt works on a copy.
const OPERATIONS: usize = 4_000;

/// Gives results of branches the only rank that they can have.
///
/// `natives` are the patterns that fold shapes and refine types; they are made only if there are
/// such branches.
pub(crate) fn decide(
    module: &mut Module,
    natives: impl FnOnce() -> FrozenPatternSet,
    config: &GreedyConfig,
) {
    let ops = walk(module, module.root(), Order::Pre);
    if ops.len() > OPERATIONS {
        return;
    }
    let open: Vec<(Value, [Type; 2])> =
        ops.into_iter().flat_map(|op| candidates(module, op)).take(MOST).collect();
    if open.is_empty() {
        return;
    }
    let natives = natives();
    // What is impossible has to show.
    let config = &GreedyConfig { unguarded: true, ..config.clone() };
    for (value, types) in open {
        let blocks = around(module, value);
        if !is_consistent(module, &blocks) {
            continue;
        }
        let possible = types.map(|ty| {
            let mut trial = module.clone();
            trial.set_value_type(value, ty);
            let root = trial.root();
            let report = greedy::apply(&mut trial, root, &natives, config);
            report.stopped_by.is_some() || is_consistent(&trial, &blocks)
        });
        match possible {
            [true, false] => module.set_value_type(value, types[0]),
            [false, true] => module.set_value_type(value, types[1]),
            _ => {}
        }
    }
}

/// The results of an `if` whose branches give tensors of different known ranks, with the types of
/// both.
fn candidates(module: &Module, op: Op) -> Vec<(Value, [Type; 2])> {
    let ([then, otherwise], "nn.if") = (module.regions(op), module.name_text(op)) else {
        return Vec::new();
    };
    let yielded = |region: &tangram_ir::Region| -> Vec<Type> {
        let last = module.first_block(*region).and_then(|block| module.last_op(block));
        let values = last.into_iter().flat_map(|last| module.operands(last));
        values.map(|value| module.value_type(value)).collect()
    };
    let rank = |ty| Some(module.context().as_tensor(ty)?.0.len());
    let differ = |[a, b]: [Type; 2]| rank(a).zip(rank(b)).is_some_and(|(a, b)| a != b);
    let branches = yielded(then).into_iter().zip(yielded(otherwise)).map(|(a, b)| [a, b]);
    let both = module.results(op).zip(branches);
    // What is of a known rank has been decided on.
    let is_open = |value: Value| module.context().as_tensor(module.value_type(value)).is_none();
    both.filter(|&(result, types)| is_open(result) && differ(types)).collect()
}

/// The block that `value` is defined in, and those around it. Where the value is wanted, all of
/// them run.
fn around(module: &Module, value: Value) -> Vec<Block> {
    let up = |&block: &Block| module.block(module.block_parent(block)?);
    std::iter::successors(module.def_block(value), up).collect()
}

/// Returns whether every operation of `blocks` can be applied to its operands. A block that is gone
/// was a branch that is taken: the one around it has its operations.
fn is_consistent(module: &Module, blocks: &[Block]) -> bool {
    let live = |block: &&Block| {
        module.block_parent(**block).is_some_and(|op| op == module.root() || module.is_live(op))
    };
    let mut ops = blocks.iter().filter(live).flat_map(|&block| module.ops(block));
    ops.all(|op| {
        let name = module.name_text(op);
        let count = module.result_count(op);
        // The end of a block has no results.
        if !name.starts_with("nn.") || !module.regions(op).is_empty() || count == 0 {
            return true;
        }
        let operands: Vec<Value> = module.operands(op).collect();
        module.infer(module.name(op), &operands, module.attrs(op), Some(count)).is_ok()
    })
}

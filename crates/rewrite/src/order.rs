//! Orders in which nested operations are gone through.

use rustc_hash::FxHashSet;
use tangram_ir::{Block, Module, Op, Region};

/// What goes when an operation is erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Erased {
    /// An operation, after all that its regions hold.
    Op(Op),
    /// A block, after its operations.
    Block(Block),
}

/// `root` and what its regions hold, in the order in which it may be erased: regions from the
/// last, blocks after those that they branch to, operations of a block from the last, and each
/// after what its regions hold. Blocks that the entry does not reach come after the others.
pub(crate) fn erase_order(module: &Module, root: Op) -> Vec<Erased> {
    // The reverse of the order wanted: each operation, then its regions from the first, their
    // blocks in reverse, the operations of a block from the first.
    let mut out = Vec::new();
    let mut stack = vec![Erased::Op(root)];
    while let Some(next) = stack.pop() {
        out.push(next);
        let Erased::Op(op) = next else { continue };
        let mut children = Vec::new();
        for &region in module.regions(op) {
            for blocks in erased_blocks(module, region).into_iter().rev() {
                children.extend(blocks.iter().rev().copied().map(Erased::Block));
                for block in blocks.into_iter().rev() {
                    children.extend(module.ops(block).map(Erased::Op));
                }
            }
        }
        stack.extend(children.into_iter().rev());
    }
    out.reverse();
    out
}

/// The blocks of `region`, each after those that it branches to where that is possible; those
/// that one block reaches are together.
fn erased_blocks(module: &Module, region: Region) -> Vec<Vec<Block>> {
    let mut seen: FxHashSet<Block> = FxHashSet::default();
    let mut groups = Vec::new();
    for start in module.blocks(region) {
        let mut group = Vec::new();
        post_order(module, region, start, &mut seen, &mut group);
        groups.push(group);
    }
    groups
}

/// Appends the blocks that `start` reaches, in post-order.
fn post_order(
    module: &Module,
    region: Region,
    start: Block,
    seen: &mut FxHashSet<Block>,
    order: &mut Vec<Block>,
) {
    if !seen.insert(start) {
        return;
    }
    let mut stack = vec![(start, 0)];
    while let Some((block, next)) = stack.pop() {
        let targets = module.last_op(block).map_or(&[][..], |op| module.successors(op));
        match targets.get(next) {
            None => order.push(block),
            Some(&target) => {
                stack.push((block, next + 1));
                if module.block_region(target) == Some(region) && seen.insert(target) {
                    stack.push((target, 0));
                }
            }
        }
    }
}

/// The blocks of `region` that its entry reaches.
pub(crate) fn reachable(module: &Module, region: Region) -> FxHashSet<Block> {
    targets_first(module, region).into_iter().collect()
}

/// The blocks that the entry of `region` reaches, each after those that it branches to but for
/// branches back.
pub(crate) fn targets_first(module: &Module, region: Region) -> Vec<Block> {
    let mut order = Vec::new();
    if let Some(entry) = module.first_block(region) {
        post_order(module, region, entry, &mut FxHashSet::default(), &mut order);
    }
    order
}

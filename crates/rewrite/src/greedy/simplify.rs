//! Simplifying regions: blocks that are never reached, arguments without use, equal blocks.
//!
//! Only branches of which the definition says how they pass operands on
//! ([`tangram_ir::OpDef::branch`]) are changed.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use tangram_ir::{Block, Module, Op, Order, Region, Value, ValueDef, walk};

use super::Simplify;
use crate::order::{Erased, erase_order, reachable, targets_first};
use crate::rewriter::Rewriter;

/// Simplifies every region below `root`; returns how many things were changed.
pub(super) fn simplify(rewriter: &mut Rewriter<'_>, root: Op, level: Simplify) -> u64 {
    let mut changes = 0;
    for op in walk(rewriter.module(), root, Order::Post) {
        if !rewriter.module().is_live(op) {
            continue;
        }
        for i in 0..rewriter.module().regions(op).len() {
            let region = rewriter.module().region(op, i);
            let first = rewriter.module().first_block(region);
            if first.is_none_or(|block| rewriter.module().next_block(block).is_none()) {
                continue;
            }
            changes += erase_unreachable(rewriter, region);
            changes += drop_arguments(rewriter, region, level == Simplify::Aggressive);
            if level == Simplify::Aggressive {
                changes += merge_equal(rewriter, region);
            }
        }
    }
    changes
}

/// Erases the blocks of `region` that its entry does not reach.
pub(super) fn erase_unreachable(rewriter: &mut Rewriter<'_>, region: Region) -> u64 {
    let module = rewriter.module();
    let kept = reachable(module, region);
    let doomed: Vec<Block> = module.blocks(region).filter(|block| !kept.contains(block)).collect();
    // All branches go first: the blocks may branch to each other.
    for &block in &doomed {
        if let Some(end) = rewriter.module().last_op(block)
            && !rewriter.module().successors(end).is_empty()
        {
            release(rewriter, end);
            rewriter.erase(end);
        }
    }
    for &block in doomed.iter().rev() {
        // They may use each other's values, also from inside of regions.
        let ops: Vec<Op> = rewriter.module().ops(block).collect();
        for op in ops {
            for inner in erase_order(rewriter.module(), op) {
                if let Erased::Op(inner) = inner {
                    release(rewriter, inner);
                }
            }
        }
    }
    for &block in doomed.iter().rev() {
        rewriter.erase_block(block);
    }
    doomed.len() as u64
}

/// Takes the operands of `op`.
fn release(rewriter: &mut Rewriter<'_>, op: Op) {
    if rewriter.module().operand_count(op) > 0 {
        rewriter.set_operands(op, &[]);
    }
}

/// The branches to each block, with the number of the successor.
fn branches(module: &Module, region: Region) -> FxHashMap<Block, Vec<(Op, usize)>> {
    let mut all: FxHashMap<Block, Vec<(Op, usize)>> = FxHashMap::default();
    for block in module.blocks(region) {
        if let Some(end) = module.last_op(block) {
            for (i, &target) in module.successors(end).iter().enumerate() {
                all.entry(target).or_default().push((end, i));
            }
        }
    }
    all
}

/// Removes arguments without use, and with `same` those that always are one other value.
fn drop_arguments(rewriter: &mut Rewriter<'_>, region: Region, same: bool) -> u64 {
    let module = rewriter.module();
    let Some(entry) = module.first_block(region) else { return 0 };
    let branches = branches(module, region);
    let blocks: Vec<Block> = module.blocks(region).filter(|&block| block != entry).collect();
    let mut changes = 0;
    for block in blocks {
        let Some(sources) = branches.get(&block) else { continue };
        for i in (0..rewriter.module().args(block).len()).rev() {
            let module = rewriter.module();
            let arg = module.args(block)[i];
            let Some(given) = arguments(module, sources, i) else { continue };
            let only = only_value(module, arg, &given);
            match only {
                Some(value) if same && is_known_in(module, value, sources, block) => {
                    rewriter.replace_uses(arg, value);
                }
                _ => {}
            }
            if is_unused_but_by(rewriter.module(), arg, sources, i) {
                erase_argument(rewriter, block, sources, i);
                changes += 1;
            }
        }
    }
    changes
}

/// What each branch gives for argument `i`; `None` if one of them does not tell.
fn arguments(module: &Module, sources: &[(Op, usize)], i: usize) -> Option<Vec<Value>> {
    sources
        .iter()
        .map(|&(op, k)| {
            let range = module.successor_operands(op)?.get(k)?.clone();
            let at = range.start + i;
            (at < range.end).then(|| module.operand(op, at))
        })
        .collect()
}

/// The one value besides `arg` itself that is given for it.
fn only_value(module: &Module, arg: Value, given: &[Value]) -> Option<Value> {
    let mut others = given.iter().copied().filter(|&value| value != arg);
    let first = others.next()?;
    let same_type = module.value_type(first) == module.value_type(arg);
    (same_type && others.all(|value| value == first)).then_some(first)
}

/// Returns whether `value` is known in `block` because it is known in all blocks of its region: it
/// comes from around the region, or from its entry.
fn is_known_in(module: &Module, value: Value, sources: &[(Op, usize)], block: Block) -> bool {
    let Some(home) = module.def_block(value) else { return false };
    let region = module.block_region(block);
    if module.block_region(home) != region {
        return true;
    }
    let entry = region.and_then(|region| module.first_block(region));
    Some(home) == entry && !sources.is_empty()
}

/// Returns whether `arg` is used at most to hand it on to itself.
fn is_unused_but_by(module: &Module, arg: Value, sources: &[(Op, usize)], i: usize) -> bool {
    module.uses(arg).all(|used| {
        sources.iter().any(|&(op, k)| {
            op == used.op
                && module
                    .successor_operands(op)
                    .and_then(|ranges| ranges.get(k).cloned())
                    .is_some_and(|range| range.start + i == used.index as usize)
        })
    })
}

/// Removes argument `i` of `block` and what the branches give for it.
fn erase_argument(rewriter: &mut Rewriter<'_>, block: Block, sources: &[(Op, usize)], i: usize) {
    for &(op, k) in sources {
        let module = rewriter.module();
        let Some(ranges) = module.successor_operands(op) else { continue };
        let operands: Vec<Value> = module.operands(op).collect();
        let mut lists: Vec<Vec<Value>> =
            ranges.iter().map(|range| operands[range.clone()].to_vec()).collect();
        lists[k].remove(i);
        if let Some((operands, attrs)) = module.with_successor_operands(op, &lists) {
            rewriter.modify_in_place(op, |edit| {
                edit.set_operands(&operands);
                edit.set_attrs(attrs);
            });
        }
    }
    rewriter.erase_argument(block, i);
}

/// Merges blocks that do the same with the same values.
fn merge_equal(rewriter: &mut Rewriter<'_>, region: Region) -> u64 {
    let mut changes = 0;
    // Blocks that are one make those one that branch to them. Targets are gone through first, so
    // that only branches back need another round.
    loop {
        let merged = merge_once(rewriter, region);
        if merged == 0 {
            return changes;
        }
        changes += merged;
    }
}

/// Goes through the blocks once; of two that are equal, the earlier one stays.
fn merge_once(rewriter: &mut Rewriter<'_>, region: Region) -> u64 {
    let places: FxHashMap<Block, usize> =
        rewriter.module().blocks(region).enumerate().map(|(i, block)| (block, i)).collect();
    let mut seen: FxHashMap<Vec<Part>, Block> = FxHashMap::default();
    let mut merged = 0;
    for block in targets_first(rewriter.module(), region) {
        if places[&block] == 0 {
            continue;
        }
        let Some(parts) = parts(rewriter.module(), block) else { continue };
        match seen.entry(parts) {
            Entry::Vacant(entry) => {
                entry.insert(block);
            }
            Entry::Occupied(mut entry) => {
                let mut dropped = block;
                if places[&block] < places[entry.get()] {
                    dropped = entry.insert(block);
                }
                rewriter.replace_block_uses(dropped, *entry.get());
                rewriter.erase_block(dropped);
                merged += 1;
            }
        }
    }
    merged
}

/// What an operation of a block is, with values of the block by number.
type Part = (tangram_ir::Name, tangram_ir::Attr, Vec<Ref>, Vec<tangram_ir::Type>, Vec<Block>);

#[derive(PartialEq, Eq, Hash)]
enum Ref {
    Inside(usize),
    Outside(Value),
}

/// `None` for a block with arguments, with regions, or whose values are used elsewhere.
fn parts(module: &Module, block: Block) -> Option<Vec<Part>> {
    if !module.args(block).is_empty() {
        return None;
    }
    let mut numbers: FxHashMap<Value, usize> = FxHashMap::default();
    let mut parts = Vec::new();
    for op in module.ops(block) {
        if !module.regions(op).is_empty() {
            return None;
        }
        let reference = |value: Value| match module.value_def(value) {
            ValueDef::Result(def, _) if module.block(def) == Some(block) => {
                numbers.get(&value).map(|&n| Ref::Inside(n))
            }
            _ => Some(Ref::Outside(value)),
        };
        let operands = module.operands(op).map(reference).collect::<Option<Vec<_>>>()?;
        let types = module.results(op).map(|value| module.value_type(value)).collect();
        let successors = module.successors(op).to_vec();
        for value in module.results(op) {
            if module.uses(value).any(|used| module.block(used.op) != Some(block)) {
                return None;
            }
            numbers.insert(value, numbers.len());
        }
        parts.push((module.name(op), module.attrs(op), operands, types, successors));
    }
    Some(parts)
}

//! Canonicalisation of `scf.execute_region`.

use tangram_ir::{Block, Op, OpState, Point, Value};

use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("execute-one-block", &["scf.execute_region"], one_block),
    ("execute-blocks", &["scf.execute_region"], blocks),
    ("execute-for-nothing", &["scf.execute_region"], yields_from_outside),
];

/// Returns whether the region may go where the operation stands.
fn may_go(cx: &Cx<'_, '_>) -> bool {
    cx.module().attr(cx.op, "no_inline").is_none()
}

fn one_block(cx: &mut Cx<'_, '_>) -> Option<()> {
    may_go(cx).then(|| cx.take_region(0, &[]))?
}

/// The terminators of the region that end it.
fn ends(cx: &Cx<'_, '_>) -> Option<Vec<Op>> {
    let module = cx.module();
    let region = *module.regions(cx.op).first()?;
    let last = module.blocks(region).filter_map(|block| module.last_op(block));
    let ends: Vec<Op> = last.filter(|&op| module.name_text(op) == "scf.yield").collect();
    let fits = |&end: &Op| module.operand_count(end) == module.result_count(cx.op);
    ends.iter().all(fits).then_some(ends)
}

/// Several blocks stand among those around the operation, where these may branch.
fn blocks(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let around = module.parent(cx.op)?;
    let branches = matches!(module.name_text(around), "func.func" | "scf.execute_region");
    let inner: Vec<Block> = module.blocks(*module.regions(cx.op).first()?).collect();
    let (&[entry, _, ..], Some(next)) = (&inner[..], module.next(cx.op)) else { return None };
    if !branches || !may_go(cx) || !module.args(entry).is_empty() {
        return None;
    }
    let (home, ends) = (module.block(cx.op)?, ends(cx)?);
    let region = module.block_region(home)?;
    let results: Vec<Value> = module.results(cx.op).collect();
    let after = cx.rewriter.split_block(next)?;
    let mut args = Vec::with_capacity(results.len());
    for result in results {
        let (ty, loc) = (cx.type_of(result), cx.loc());
        args.push(cx.rewriter.add_argument_at(after, ty, loc));
    }
    for block in inner {
        cx.rewriter.move_block(block, region, Some(after));
    }
    for end in ends {
        let given: Vec<Value> = cx.module().operands(end).collect();
        branch(cx, Point::Before(end), after, &given);
        cx.rewriter.erase(end);
    }
    branch(cx, Point::After(cx.op), entry, &[]);
    cx.rewriter.replace(cx.op, &args).ok()
}

fn branch(cx: &mut Cx<'_, '_>, point: Point, to: Block, values: &[Value]) {
    let mut state = OpState::new(cx.context.name("cf.br"), cx.loc());
    state.operands.extend_from_slice(values);
    state.successors.push(to);
    cx.rewriter.create(point, state);
}

/// A value from outside that every end yields is no result.
fn yields_from_outside(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ends = ends(cx)?;
    let results: Vec<Value> = cx.module().results(cx.op).collect();
    let lists: Vec<Vec<Value>> = ends.iter().map(|&e| cx.module().operands(e).collect()).collect();
    let first = lists.first()?;
    let same = |i: usize| lists.iter().all(|list| list[i] == first[i]) && cx.is_outside(first[i]);
    let keep: Vec<bool> = (0..results.len()).map(|i| !same(i)).collect();
    if keep.iter().all(|&keep| keep) {
        return None;
    }
    for (i, &result) in results.iter().enumerate().filter(|(i, _)| !keep[*i]) {
        cx.rewriter.replace_uses(result, first[i]);
    }
    for (&end, list) in ends.iter().zip(&lists) {
        let kept = list.iter().zip(&keep).filter(|(_, keep)| **keep);
        let kept: Vec<Value> = kept.map(|(&value, _)| value).collect();
        cx.rewriter.set_operands(end, &kept);
    }
    cx.rewriter.erase_results(cx.op, |i| keep[i]);
    Some(())
}

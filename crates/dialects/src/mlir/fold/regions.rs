//! What patterns of operations with regions do.

use rustc_hash::FxHashMap;
use tangram_ir::{Block, Op, Use, Value};

use super::Cx;

impl Cx<'_, '_> {
    /// The block of region `i`, if it has one.
    pub(crate) fn only_block(&self, i: usize) -> Option<Block> {
        let module = self.module();
        let block = module.first_block(*module.regions(self.op).get(i)?)?;
        module.next_block(block).is_none().then_some(block)
    }

    /// What the terminator of `block` hands on.
    pub(crate) fn yields(&self, block: Block) -> Option<Vec<Value>> {
        let end = self.module().last_op(block)?;
        Some(self.module().operands(end).collect())
    }

    /// Returns whether `value` is defined outside of the operation.
    pub(crate) fn is_outside(&self, value: Value) -> bool {
        let module = self.module();
        let mut at = module.def_block(value).and_then(|block| module.block_parent(block));
        if module.def_op(value) == Some(self.op) {
            return false;
        }
        while let Some(op) = at {
            if op == self.op {
                return false;
            }
            at = module.parent(op);
        }
        true
    }

    /// Those of `uses` that stand in region `i` of the operation, at any depth. O(uses, and
    /// operations around them).
    pub(crate) fn uses_in_region(&self, uses: &[Use], i: usize) -> Vec<Use> {
        let module = self.module();
        let region = module.region(self.op, i);
        let mut known: FxHashMap<Op, bool> = FxHashMap::default();
        let mut is_inside = |inner: Op| {
            let (mut at, mut passed) = (inner, Vec::new());
            let inside = loop {
                if let Some(&inside) = known.get(&at) {
                    break inside;
                }
                passed.push(at);
                let Some(block) = module.block(at) else { break false };
                if module.block_region(block) == Some(region) {
                    break true;
                }
                match module.block_parent(block) {
                    Some(parent) => at = parent,
                    None => break false,
                }
            };
            known.extend(passed.into_iter().map(|op| (op, inside)));
            inside
        };
        uses.iter().copied().filter(|used| is_inside(used.op)).collect()
    }

    /// Replaces the operation by the contents of region `i`, which has one block, run once with
    /// these arguments.
    pub(crate) fn take_region(&mut self, i: usize, args: &[Value]) -> Option<()> {
        let block = self.only_block(i)?;
        let end = self.module().last_op(block)?;
        let fits = self.module().args(block).len() == args.len()
            && self.module().operand_count(end) == self.module().result_count(self.op);
        if !fits {
            return None;
        }
        self.rewriter.inline_block(block, tangram_ir::Point::Before(self.op), args).ok()?;
        let values: Vec<Value> = self.module().operands(end).collect();
        self.rewriter.erase(end);
        self.rewriter.replace(self.op, &values).ok()
    }

    /// Empties region `i` if it does nothing and nobody waits for results.
    pub(crate) fn drop_empty_region(&mut self, i: usize) -> Option<()> {
        let block = self.only_block(i)?;
        let module = self.module();
        if module.result_count(self.op) != 0 || module.first_op(block) != module.last_op(block) {
            return None;
        }
        self.rewriter.erase_block(block);
        self.rewriter.notify_modified(self.op);
        Some(())
    }

    /// Drops the results that `keep` refuses, which have no uses, and what the terminators of
    /// `regions` yield for them. Returns the operation that takes the place of this one.
    pub(crate) fn drop_results(&mut self, regions: &[usize], keep: &[bool]) -> Option<Op> {
        for &i in regions {
            let block = self.only_block(i)?;
            let end = self.module().last_op(block)?;
            let all = self.module().operands(end).zip(keep);
            let kept: Vec<Value> = all.filter(|(_, keep)| **keep).map(|(value, _)| value).collect();
            self.rewriter.set_operands(end, &kept);
        }
        Some(self.rewriter.erase_results(self.op, |i| keep[i]))
    }
}

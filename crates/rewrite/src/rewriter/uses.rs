//! Who uses a value, and what they use instead.

use smallvec::SmallVec;
use tangram_ir::{Block, Op, Use, Value};

use super::Rewriter;
use crate::journal::Edit;

/// Uses.
impl Rewriter<'_> {
    /// Makes every user of `old` use `new`. O(uses).
    pub fn replace_uses(&mut self, old: Value, new: Value) {
        if old == new {
            return;
        }
        let mut users: SmallVec<[Op; 8]> = SmallVec::new();
        for used in self.module.uses(old) {
            users.push(used.op);
            if let Some(journal) = &mut self.journal {
                journal.edits.push(Edit::Operand(used.op, used.index, old));
            }
        }
        users.dedup();
        self.changes += users.len() as u64;
        self.listener.released(self.module, old);
        self.module.replace_uses(old, new);
        for op in users {
            self.listener.modified(self.module, op);
        }
    }

    /// Makes the users of `old` that `wanted` accepts use `new`; says whether that were all.
    pub fn replace_uses_if(
        &mut self,
        old: Value,
        new: Value,
        mut wanted: impl FnMut(Use) -> bool,
    ) -> bool {
        let uses: Vec<Use> = self.module.uses(old).collect();
        let mut all = true;
        for used in uses {
            if wanted(used) {
                self.set_operand(used.op, used.index as usize, new);
            } else {
                all = false;
            }
        }
        all
    }

    /// Makes every user of `old` but `except` use `new`.
    pub fn replace_uses_except(&mut self, old: Value, new: Value, except: &[Op]) {
        self.replace_uses_if(old, new, |used| !except.contains(&used.op));
    }

    /// Makes the users of the results of `op` that `wanted` accepts use `values` instead; says
    /// whether that were all. Panics if `values` are fewer than the results.
    pub fn replace_op_uses_if(
        &mut self,
        op: Op,
        values: &[Value],
        mut wanted: impl FnMut(Use) -> bool,
    ) -> bool {
        let results: Vec<Value> = self.module.results(op).collect();
        assert_eq!(results.len(), values.len(), "a value for each result");
        self.listener.replaced(self.module, op, values);
        results
            .into_iter()
            .zip(values)
            .fold(true, |all, (old, &new)| self.replace_uses_if(old, new, &mut wanted) && all)
    }

    /// Makes every user of the results of `op` use `values` instead; `op` stays. Panics if
    /// `values` are fewer than the results.
    pub fn replace_op_uses(&mut self, op: Op, values: &[Value]) {
        let results: Vec<Value> = self.module.results(op).collect();
        assert_eq!(results.len(), values.len(), "a value for each result");
        self.listener.replaced(self.module, op, values);
        for (old, &new) in results.into_iter().zip(values) {
            self.replace_uses(old, new);
        }
    }

    /// As [`Rewriter::replace_op_uses`], for users in `block` and the regions below it.
    pub fn replace_op_uses_in_block(&mut self, op: Op, values: &[Value], block: Block) -> bool {
        let inside: rustc_hash::FxHashSet<Op> = self
            .module
            .results(op)
            .flat_map(|value| self.module.uses(value))
            .map(|used| used.op)
            .filter(|&user| self.module.ancestor_in(block, user).is_some())
            .collect();
        self.replace_op_uses_if(op, values, |used| inside.contains(&used.op))
    }

    /// Makes every operation that branches to `old` branch to `new`. O(branches).
    pub fn replace_block_uses(&mut self, old: Block, new: Block) {
        if old == new {
            return;
        }
        let mut ends: Vec<Op> = self.module.branches_to(old).collect();
        ends.dedup();
        // The list has the latest first.
        for op in ends.into_iter().rev() {
            let targets = self.module.successors(op);
            let targets: Vec<Block> =
                targets.iter().map(|&block| if block == old { new } else { block }).collect();
            self.set_successors(op, &targets);
        }
    }
}

//! Who branches to a block.
//!
//! The successors of an operation are slots in an arena, each in the list of its block, as
//! operands are in the lists of their values.

use cranelift_entity::entity_impl;
use cranelift_entity::packed_option::PackedOption;

use super::edit::index;
use super::{Block, Extra, Module, Op};

/// A place for a block among the successors of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Branch(u32);
entity_impl!(Branch, "branch");

#[derive(Clone)]
pub(super) struct BranchData {
    owner: Op,
    prev: PackedOption<Branch>,
    next: PackedOption<Branch>,
}

impl Module {
    /// Sets the blocks that `op` may branch to.
    pub fn set_successors(&mut self, op: Op, successors: &[Block]) {
        if successors == self.successors(op) {
            return;
        }
        self.clear_branches(op);
        let at = self.extra_index(op);
        self.extras[at].successors = successors.into();
        self.link_branches(op);
    }

    /// The place of what few operations have, for `op`, which gets one if it has none.
    pub(super) fn extra_index(&mut self, op: Op) -> usize {
        if self.ops[op].extra == 0 {
            self.extras.push(Extra::default());
            self.ops[op].extra = index(self.extras.len());
        }
        self.ops[op].extra as usize - 1
    }

    /// Enters the successors of `op` in the lists of their blocks.
    pub(super) fn link_branches(&mut self, op: Op) {
        let Some(at) = (self.ops[op].extra as usize).checked_sub(1) else { return };
        self.extras[at].first_branch = index(self.branches.len());
        for &block in &self.extras[at].successors {
            let head = self.blocks[block].first_branch;
            let branch =
                self.branches.push(BranchData { owner: op, prev: None.into(), next: head });
            if let Some(head) = head.expand() {
                self.branches[head].prev = branch.into();
            }
            self.blocks[block].first_branch = branch.into();
        }
    }

    /// Takes the successors of `op` from it, and from the lists of their blocks.
    pub(super) fn clear_branches(&mut self, op: Op) {
        let Some(at) = (self.ops[op].extra as usize).checked_sub(1) else { return };
        let Extra { successors, first_branch, .. } = &mut self.extras[at];
        let blocks = std::mem::take(successors);
        for (branch, block) in (*first_branch..).map(Branch).zip(blocks) {
            let BranchData { prev, next, .. } = self.branches[branch];
            match prev.expand() {
                Some(prev) => self.branches[prev].next = next,
                None => self.blocks[block].first_branch = next,
            }
            if let Some(next) = next.expand() {
                self.branches[next].prev = prev;
            }
        }
    }

    /// The operations in blocks of regions that may branch to `block`, latest first. One that
    /// names it twice comes twice.
    pub fn branches_to(&self, block: Block) -> impl Iterator<Item = Op> + '_ {
        let first = self.blocks[block].first_branch.expand();
        std::iter::successors(first, |&branch| self.branches[branch].next.expand())
            .map(|branch| self.branches[branch].owner)
            .filter(|&op| self.block(op).is_some_and(|home| self.block_region(home).is_some()))
    }

    /// The one block from which control comes to `block`; `None` also for the entry of a region.
    pub fn single_predecessor(&self, block: Block) -> Option<Block> {
        if self.first_block(self.block_region(block)?) == Some(block) {
            return None;
        }
        let mut homes = self.branches_to(block).map(|op| self.block(op));
        let first = homes.next()?;
        homes.all(|home| home == first).then_some(first)?
    }
}

//! Terminators and successors.

use super::Check;
use crate::module::{Block, Op};
use crate::op_def::Traits;

impl Check<'_> {
    pub(super) fn structure(&mut self, op: Op) {
        let module = self.module;
        let last = module.next(op).is_none();
        if module.has_traits(op, Traits::TERMINATOR) {
            if !last {
                self.error(op, "terminator", "expected a terminator at the end of its block only");
            }
        } else if module.def(op).is_some() && !module.successors(op).is_empty() {
            self.error(
                op,
                "successor",
                "expected no successors of an operation that does not end a block",
            );
        } else if !last && !module.successors(op).is_empty() {
            self.error(
                op,
                "successor",
                "expected an operation with successors at the end of its block",
            );
        }
        self.successors(op);
        for &region in module.regions(op) {
            if let Some(entry) = module.first_block(region) {
                self.terminators(op, entry);
            }
        }
    }

    fn successors(&mut self, op: Op) {
        let module = self.module;
        let home = module.block(op).and_then(|block| module.block_region(block));
        for &block in module.successors(op) {
            let region = module.block_region(block);
            if region.is_none() || region != home {
                self.error(
                    op,
                    "successor",
                    "expected successors in the region of the operation, found one elsewhere",
                );
            } else if region.and_then(|region| module.first_block(region)) == Some(block) {
                self.error(
                    op,
                    "entry-block",
                    "expected no branch to the entry block of a region, found one",
                );
            }
        }
    }

    /// Checks that each block of a region of `op` ends as it has to.
    fn terminators(&mut self, op: Op, entry: Block) {
        let module = self.module;
        let several = module.next_block(entry).is_some();
        // An operation that is not registered may have blocks without a terminator, but not
        // several: control would not know where to go on.
        let demanded = match module.def(op) {
            Some(def) => !def.traits.contains(Traits::NO_TERMINATOR),
            None => several,
        };
        if !demanded {
            return;
        }
        let mut at = Some(entry);
        while let Some(block) = at {
            at = module.next_block(block);
            let Some(last) = module.last_op(block) else {
                self.error(
                    op,
                    "terminator",
                    "expected a terminator at the end of each block, found an empty block",
                );
                continue;
            };
            if module.def(last).is_some() && !module.has_traits(last, Traits::TERMINATOR) {
                let message = format!(
                    "expected a terminator at the end of each block, found {}",
                    self.name(last)
                );
                self.error(op, "terminator", message);
            }
        }
    }
}

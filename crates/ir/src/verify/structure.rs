//! Terminators and successors.

use super::Check;
use crate::branch::Branch;
use crate::module::{Block, Op, Value};
use crate::op_def::Traits;

impl Check<'_> {
    pub(super) fn structure(&mut self, op: Op) {
        let module = self.module;
        let last = module.next(op).is_none();
        if module.has_traits(op, Traits::TERMINATOR) {
            if !last {
                self.error(op, "terminator", "expected a terminator at the end of its block only");
            }
            if let Some(message) = self.wrong_successor_count(op) {
                return self.error(op, "successor", message);
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
        if !module.successors(op).is_empty() {
            self.passed_on(op);
        }
        for &region in module.regions(op) {
            if let Some(entry) = module.first_block(region) {
                self.terminators(op, entry);
            }
        }
    }

    /// What is wrong with the number of successors of a terminator.
    fn wrong_successor_count(&self, op: Op) -> Option<String> {
        let def = self.module.def(op)?;
        let (least, most) = def.branch.successors(def.operands.len());
        let found = self.module.successors(op).len();
        let wanted = match (least, most) {
            _ if (least..=most).contains(&found) => return None,
            (0, 0) => "no successors".to_owned(),
            (1, 1) => "1 successor".to_owned(),
            (_, usize::MAX) => format!("at least {least} successor"),
            _ => format!("{least} successors"),
        };
        Some(format!("expected {wanted}, found {found}"))
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

    /// Checks that `op` passes each successor what its block takes.
    fn passed_on(&mut self, op: Op) {
        let module = self.module;
        let open = [Branch::None, Branch::Unknown];
        if module.def(op).is_none_or(|def| open.contains(&def.branch)) {
            return;
        }
        let Some(ranges) = module.successor_operands(op) else {
            return self.error(op, "segments", "expected sizes that divide the operands");
        };
        let operands: Vec<Value> = module.operands(op).collect();
        for (i, (range, &block)) in ranges.into_iter().zip(module.successors(op)).enumerate() {
            let (given, taken) = (operands.get(range).unwrap_or_default(), module.args(block));
            if given.len() != taken.len() {
                let (taken, given) = (taken.len(), given.len());
                let message = format!("expected {taken} operands for successor {i}, found {given}");
                return self.error(op, "successor-arguments", message);
            }
            for (&given, &taken) in given.iter().zip(taken) {
                let (given, taken) = (module.value_type(given), module.value_type(taken));
                if !super::types::compatible(module.context(), given, taken) {
                    let (given, taken) = (self.type_text(given), self.type_text(taken));
                    let message = format!("expected {taken} for successor {i}, found {given}");
                    return self.error(op, "successor-arguments", message);
                }
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

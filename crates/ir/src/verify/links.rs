//! What operations say of each other: values, symbols, uses.

use rustc_hash::FxHashMap;

use super::Check;
use crate::context::Str;
use crate::dominance::{Dominance, is_graph};
use crate::module::{Module, Op, Region, Value};
use crate::nesting::Nesting;
use crate::op_def::Traits;

impl Check<'_> {
    /// Checks that the operands of `op` are available there, without crossing the border of an
    /// isolated operation. Values from outside `root` are taken as available.
    pub(super) fn availability(&mut self, op: Op, root: Op, order: (&Dominance, &Nesting)) {
        let module = self.module;
        for (i, value) in module.operands(op).enumerate() {
            // Most operands are results of an earlier operation in the same block.
            if let Some(def) = module.def_op(value)
                && module.block(def).is_some()
                && module.block(def) == module.block(op)
                && module.is_before(def, op)
            {
                continue;
            }
            if let Some(message) = self.fault(op, value, root, order) {
                self.error(op, "dominance", format!("expected operand {i} {message}"));
            }
        }
    }

    fn fault(
        &self,
        op: Op,
        value: Value,
        root: Op,
        (dominance, nesting): (&Dominance, &Nesting),
    ) -> Option<&'static str> {
        const ELSEWHERE: &str = "to be defined around the operation, found one in another region";
        const OUTSIDE: &str = "to be defined inside the isolated operation, found one outside";
        let module = self.module;
        let home = module.def_block(value).and_then(|block| module.block_region(block));
        let Some(home) = home else {
            return Some("to be defined in the module, found one that is not");
        };
        let holder = module.region_parent(home);
        if !nesting.is_inside(op, home) {
            return match () {
                () if op == root => None,
                () if nesting.has_wall_besides(holder, op) => Some(OUTSIDE),
                () => (!self.is_around(home, root)).then_some(ELSEWHERE),
            };
        }
        if nesting.has_wall_between(holder, op) {
            return Some(OUTSIDE);
        }
        let available = if is_only_block(module, home) && !is_graph(module, home) {
            // All that comes before is known.
            module.def_op(value).is_none_or(|def| {
                nesting.number(def) < nesting.number(op) && !nesting.is_within(op, def)
            })
        } else {
            dominance.is_available(module, value, op)
        };
        (!available)
            .then_some("to be defined on every path to the operation, found one defined later")
    }

    /// Returns whether `region` holds `root`.
    fn is_around(&self, region: Region, root: Op) -> bool {
        let mut at = Some(root);
        while let Some(op) = at {
            let home = self.module.block(op).and_then(|block| self.module.block_region(block));
            if home == Some(region) {
                return true;
            }
            at = self.module.parent(op);
        }
        false
    }

    /// Checks that each symbol in the table `op` has one definition.
    pub(super) fn symbols(&mut self, op: Op) {
        let module = self.module;
        if !module.has_traits(op, Traits::SYMBOL_TABLE) {
            return;
        }
        let Some(key) = module.context().find_name("sym_name") else { return };
        let mut first: FxHashMap<Str, Op> = FxHashMap::default();
        for &region in module.regions(op) {
            for block in module.blocks(region) {
                for symbol in module.ops(block) {
                    if !module.has_traits(symbol, Traits::SYMBOL) {
                        continue;
                    }
                    let name = module.attr_by(symbol, key.as_str());
                    let Some(name) = name.and_then(|attr| module.context().as_text(attr)) else {
                        continue;
                    };
                    if first.insert(module.context().str(name), symbol).is_some() {
                        let message = format!("expected each symbol once, found `@{name}` again");
                        self.error(symbol, "symbol", message);
                    }
                }
            }
        }
    }

    /// Checks that lists of uses and operands agree.
    pub(super) fn uses(&mut self, ops: &[Op]) {
        let module = self.module;
        let mut counts: FxHashMap<Value, usize> = FxHashMap::default();
        for &op in ops {
            for value in module.operands(op) {
                *counts.entry(value).or_default() += 1;
            }
        }
        for &op in ops {
            for value in module.results(op) {
                let wrong = module.uses(value).any(|u| {
                    let index = u.index as usize;
                    !module.is_live(u.op)
                        || index >= module.operand_count(u.op)
                        || module.operand(u.op, index) != value
                });
                let listed = module.uses(value).count();
                if wrong || listed < counts.get(&value).copied().unwrap_or(0) {
                    self.error(op, "use-list", "expected the list of uses to name each user once");
                }
            }
        }
    }
}

fn is_only_block(module: &Module, region: Region) -> bool {
    module.first_block(region).is_some_and(|block| module.next_block(block).is_none())
}

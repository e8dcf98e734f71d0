//! Whether a rewrite gets anywhere: its target is not what was matched, nor what an earlier rewrite
//! has given up, nor larger than anything in reach.

use rustc_hash::FxHashSet;
use tangram_dialects::constant;
use tangram_ir::{Diagnostic, Module, Op, Value};
use tangram_rewrite::form;

use super::build::Builder;
use crate::matching::Match;

/// How many pairs of values are compared to find that a target is its source.
const PAIRS: usize = 256;

impl Builder<'_, '_> {
    /// Refuses a target that undoes an earlier rewrite, or has tensors that are out of proportion.
    pub(super) fn progress(&self, found: &Match, new: &[Value]) -> Result<(), Diagnostic> {
        // Constants are no operations that run.
        let module = self.module();
        let runs = |op: &&Op| !constant::is_constant(module, **op);
        let made = self.made().iter().filter(runs);
        let less = made.clone().count() < found.ops().iter().filter(runs).count();
        if !less && self.rewriter.is_given_up(form(module, new), self.loc) {
            return Err(self.refuse("undone", "an earlier rewrite gave up what the target makes"));
        }
        let mut results = made.flat_map(|op| module.results(*op));
        if results.any(|value| !self.rewriter.admits_size(value)) {
            let message = "the target has a tensor out of proportion to those of the program";
            return Err(self.refuse("growth", message));
        }
        Ok(())
    }
}

impl Builder<'_, '_> {
    /// Refuses a target whose type, though right, makes an operation behind it impossible.
    pub(super) fn accepted(&mut self, found: &Match, new: &[Value]) -> Result<(), Diagnostic> {
        let mut pairs = found.outputs().iter().zip(new);
        let objection = pairs.find_map(|(&old, &new)| self.rewriter.objection(old, new));
        objection.map_or(Ok(()), |found| Err(self.refuse(found.code, &found.message)))
    }
}

/// Returns whether the values `new` are made exactly as `old` are.
pub(super) fn is_same(module: &Module, old: &[Value], new: &[Value]) -> bool {
    // Outputs that are made alike become one: fewer operations.
    let distinct = |values: &[Value]| values.iter().collect::<FxHashSet<_>>().len();
    if distinct(new) < distinct(old) {
        return false;
    }
    let mut waiting: Vec<(Value, Value)> = old.iter().copied().zip(new.iter().copied()).collect();
    let mut seen: FxHashSet<(Value, Value)> = FxHashSet::default();
    while let Some((a, b)) = waiting.pop() {
        if a == b || !seen.insert((a, b)) {
            continue;
        }
        if seen.len() > PAIRS || !is_made_alike(module, a, b) {
            return false;
        }
        let (Some(x), Some(y)) = (module.def_op(a), module.def_op(b)) else { return false };
        waiting.extend(module.operands(x).zip(module.operands(y)));
    }
    true
}

/// Returns whether two values are the same result of operations that differ in operands at most.
fn is_made_alike(module: &Module, a: Value, b: Value) -> bool {
    let (Some(x), Some(y)) = (module.def_op(a), module.def_op(b)) else { return false };
    let place = |op, value| module.results(op).position(|other| other == value);
    let plain = module.regions(x).is_empty() && module.regions(y).is_empty();
    let alike = module.name(x) == module.name(y)
        && module.operand_count(x) == module.operand_count(y)
        && place(x, a) == place(y, b);
    plain && alike && (module.attrs(x) == module.attrs(y) || are_equal_constants(module, a, b))
}

fn are_equal_constants(module: &Module, a: Value, b: Value) -> bool {
    module.value_type(a) == module.value_type(b)
        && constant::constant_attr(module, a).is_some()
        && match (constant::constant_tensor(module, a), constant::constant_tensor(module, b)) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        }
}

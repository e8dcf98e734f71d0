//! Who uses a value, and what they use instead.

use std::collections::VecDeque;

use smallvec::SmallVec;
use tangram_ir::{Attr, Block, Diagnostic, Module, Op, Traits, Type, Use, Value, compatible_types};

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

/// A value, and what is recorded of it: its type and its elements.
type Known = (Value, Type, Option<Attr>);

/// How many operations behind a value are looked at.
const CONSEQUENCES: usize = 64;

/// Whether what is behind a value can live with what it is to become.
///
/// Where a rewrite says more about a value than was known, an operation behind it may turn out to
/// be impossible: its extents do not fit, as in a branch that is never taken. The program was valid
/// as long as nobody knew, and has to remain so: whoever asks refuses the rewrite.
impl Rewriter<'_> {
    /// What speaks against `new` in place of `old`: the first operation behind it that type
    /// inference refuses then.
    ///
    /// Types that become better known are followed for some steps. Nothing is looked at if `new`
    /// says no more than `old`, or where [`Rewriter::unguarded`]; operations with regions are not
    /// looked into. O(uses).
    pub fn objection(&mut self, old: Value, new: Value) -> Option<Diagnostic> {
        let module = &*self.module;
        let constant =
            module.def_op(new).is_some_and(|op| module.has_traits(op, Traits::CONSTANT_LIKE));
        let same = module.value_type(old) == module.value_type(new)
            && module.contents(old) == module.contents(new);
        if self.unguarded || old == new || same && !constant {
            return None;
        }
        let uses: SmallVec<[Use; 8]> = module.uses(old).collect();
        for used in &uses {
            self.module.set_operand(used.op, used.index as usize, new);
        }
        let found = consequence(self.module, uses.iter().map(|used| used.op), CONSEQUENCES);
        for used in uses.iter().rev() {
            self.module.set_operand(used.op, used.index as usize, old);
        }
        found
    }

    /// What speaks against recording `ty` and `contents` of `value`: the first user that type
    /// inference refuses then.
    pub fn objection_to(
        &mut self,
        value: Value,
        ty: Type,
        contents: Option<Attr>,
    ) -> Option<Diagnostic> {
        if self.unguarded {
            return None;
        }
        let before = (self.module.value_type(value), self.module.contents(value));
        self.module.set_value_type(value, ty);
        self.module.set_contents(value, contents);
        let users: SmallVec<[Op; 8]> = self.module.uses(value).map(|used| used.op).collect();
        let found = consequence(self.module, users, 0);
        self.module.set_value_type(value, before.0);
        self.module.set_contents(value, before.1);
        found
    }
}

/// What inference says against one of `ops`, whose operands have become better known, or against
/// the first `most` operations behind them. Types are as before afterwards.
fn consequence(
    module: &mut Module,
    ops: impl IntoIterator<Item = Op>,
    most: usize,
) -> Option<Diagnostic> {
    let mut waiting: VecDeque<Op> = ops.into_iter().collect();
    let mut left = waiting.len() + most;
    let mut changed: Vec<Known> = Vec::new();
    let mut found = None;
    while let Some(op) = waiting.pop_front().filter(|_| left > 0) {
        left -= 1;
        match better_types(module, op) {
            Err(objection) => {
                found = Some(objection);
                break;
            }
            Ok(better) if most > 0 => {
                for (value, ty, contents) in better {
                    changed.push((value, module.value_type(value), module.contents(value)));
                    module.set_value_type(value, ty);
                    module.set_contents(value, contents);
                    waiting.extend(module.uses(value).map(|used| used.op));
                }
            }
            Ok(_) => {}
        }
    }
    for (value, ty, contents) in changed.into_iter().rev() {
        module.set_value_type(value, ty);
        module.set_contents(value, contents);
    }
    found
}

/// The results of `op` of which inference knows more than is recorded.
fn better_types(module: &Module, op: Op) -> Result<SmallVec<[Known; 2]>, Diagnostic> {
    if !module.regions(op).is_empty() || module.def(op).is_none_or(|def| def.infer.is_none()) {
        return Ok(SmallVec::new());
    }
    let object = |message: &str| {
        let message = format!("`{}` behind it cannot be: {message}", module.name_text(op));
        Diagnostic::error("impossible-user", module.loc(op), message)
    };
    let operands: SmallVec<[Value; 4]> = module.operands(op).collect();
    let count = module.result_count(op);
    let inferred = module.infer(module.name(op), &operands, module.attrs(op), Some(count));
    let inferred = inferred.map_err(|error| object(&error.message))?;
    let mut better = SmallVec::new();
    for (i, value) in module.results(op).enumerate() {
        let Some(&ty) = inferred.types.get(i) else { continue };
        let known = module.value_type(value);
        if !compatible_types(module.context(), ty, known) {
            return Err(object("its results would have other types than are recorded"));
        }
        let contents = inferred.contents.get(i).copied().flatten();
        let more = fixed_extents(module, ty) > fixed_extents(module, known);
        let told = contents.filter(|_| module.contents(value).is_none());
        if more || told.is_some() {
            let contents = told.or(module.contents(value));
            better.push((value, if more { ty } else { known }, contents));
        }
    }
    Ok(better)
}

/// How many extents of a tensor are numbers, counted from 1; 0 where its rank is open.
fn fixed_extents(module: &Module, ty: Type) -> usize {
    let dims = module.context().as_tensor(ty).map(|(dims, _)| dims);
    dims.map_or(0, |dims| 1 + dims.iter().filter(|dim| dim.as_static().is_some()).count())
}

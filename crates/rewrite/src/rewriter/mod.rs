//! The one way to change IR.
//!
//! Every change goes through a [`Rewriter`], which makes it, tells its [`Listener`], and, where a
//! [`Journal`] is kept, notes how to take it back. Here are operations; the other files have
//! blocks and regions, uses, changes in place, copies, and what speaks against a change.

mod blocks;
mod copy;
mod in_place;
mod objection;
mod uses;

use smallvec::SmallVec;
use tangram_ir::{
    Attr, Diagnostic, Fold, Folded, InferError, Loc, Module, Name, Op, OpState, Point, Type, Value,
};

pub use copy::Mapping;
pub use in_place::{Modification, OpEdit};

use crate::copies::{Copies, Exchange};
use crate::forms::Forms;
use crate::journal::{Edit, Journal, place};
use crate::listener::Listener;
use crate::order::{Erased, erase_order};
use crate::pattern::{NoMatch, RewritePattern};

/// Changes a module and tells a listener.
pub struct Rewriter<'a> {
    module: &'a mut Module,
    listener: &'a mut dyn Listener,
    journal: Option<&'a mut Journal>,
    forms: Option<&'a mut Forms>,
    copies: Option<&'a mut Copies>,
    reasons: bool,
    unguarded: bool,
    changes: u64,
    /// Operations from this number on were made by this rewriter, and so many of them erased again.
    born: u32,
    transient: u64,
    /// Modifications that were started and are neither finalized nor cancelled.
    open: SmallVec<[in_place::Before; 1]>,
    /// How many modifications were started.
    started: u32,
    /// How many of them a pattern left open.
    unfinished: usize,
}

impl<'a> Rewriter<'a> {
    /// A rewriter of `module`.
    pub fn new(module: &'a mut Module, listener: &'a mut dyn Listener) -> Self {
        let reasons = listener.wants_reasons();
        let born = module.op_capacity() as u32;
        Self {
            module,
            listener,
            journal: None,
            forms: None,
            copies: None,
            reasons,
            unguarded: false,
            changes: 0,
            born,
            transient: 0,
            open: SmallVec::new(),
            started: 0,
            unfinished: 0,
        }
    }

    /// Notes in `journal` how to take back each change.
    #[must_use]
    pub fn with_journal(mut self, journal: &'a mut Journal) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Refuses what goes round in a circle, by what `forms` knows of the rewrites before.
    #[must_use]
    pub fn with_forms(mut self, forms: &'a mut Forms) -> Self {
        self.forms = Some(forms);
        self
    }

    /// Counts constants in `copies`, if there are any, and refuses what copies too many.
    #[must_use]
    pub fn with_copies(mut self, copies: Option<&'a mut Copies>) -> Self {
        self.copies = copies;
        self
    }

    /// Returns whether a rewrite whose constants have been made may be committed, which it then is.
    pub fn admits_made(&mut self, exchange: &Exchange<'_>) -> bool {
        let Some(copies) = &mut self.copies else { return true };
        let grown = copies.admits(self.module, exchange, true);
        copies.allow(grown.unwrap_or(0));
        grown.is_some()
    }

    /// Returns by how many bytes constants grow in a rewrite without being copies, whose constants
    /// are still to be made; `None` if it may not be made.
    pub fn admits_making(&mut self, exchange: &Exchange<'_>) -> Option<u64> {
        let Some(copies) = &mut self.copies else { return Some(0) };
        copies.admits(self.module, exchange, false)
    }

    /// Lets constants take so many bytes more, as [`Rewriter::admits_making`] has said.
    pub fn allow_constants(&mut self, bytes: u64) {
        if let Some(copies) = &mut self.copies {
            copies.allow(bytes);
        }
    }

    /// Returns whether an earlier rewrite at `loc` has given up `form`.
    pub fn is_given_up(&self, form: u64, loc: Loc) -> bool {
        self.forms.as_ref().is_some_and(|forms| forms.is_given_up(form, loc))
    }

    /// Notes that a rewrite at `loc` gives up `form`.
    pub fn give_up(&mut self, form: u64, loc: Loc) {
        if let Some(forms) = &mut self.forms {
            forms.give_up(form, loc);
        }
    }

    /// Returns whether a tensor as large as `value` may be made.
    pub fn admits_size(&self, value: Value) -> bool {
        self.forms.as_ref().is_none_or(|forms| forms.admits(self.module, value))
    }

    /// Asks patterns for the reasons of failed matches, also if the listener does not.
    #[must_use]
    pub fn with_reasons(mut self, reasons: bool) -> Self {
        self.reasons |= reasons;
        self
    }

    /// Lets rewrites go on that make an operation behind them impossible, to find out whether they
    /// do.
    #[must_use]
    pub fn unguarded(mut self, unguarded: bool) -> Self {
        self.unguarded = unguarded;
        self
    }

    /// Returns whether the reason of a failed match is of use to anyone.
    pub fn wants_reasons(&self) -> bool {
        self.reasons
    }

    /// No match; `reason` is made only if it is of use.
    pub fn no_match(&self, reason: impl FnOnce() -> String) -> NoMatch {
        if self.reasons { NoMatch::because(reason()) } else { NoMatch::SILENT }
    }

    /// Tries `pattern` on `op`, and tells the listener before and after. What it leaves of
    /// modifications is finalized, see [`Rewriter::unfinished`].
    ///
    /// # Errors
    /// Those of the pattern.
    pub fn attempt(&mut self, pattern: &dyn RewritePattern, op: Op) -> Result<(), NoMatch> {
        self.listener.pattern_begin(self.module, pattern, op);
        let open = self.open.len();
        let outcome = pattern.match_and_rewrite(self, op);
        self.unfinished += self.finalize_open(open);
        self.listener.pattern_end(self.module, pattern, &outcome);
        outcome
    }

    /// Tells the listener which operations the pattern that is being tried has matched.
    pub fn matched(&mut self, ops: &[Op]) {
        self.listener.matched(self.module, ops);
    }

    /// How many modifications patterns have started, and neither finalized nor cancelled.
    pub fn unfinished(&self) -> usize {
        self.unfinished
    }

    /// How many changes were made so far. Operations that were made and erased again are none.
    pub fn changes(&self) -> u64 {
        self.changes.saturating_sub(2 * self.transient)
    }

    /// The module, to be read.
    pub fn module(&self) -> &Module {
        self.module
    }

    /// The module, for what is no change of the program: resources and names of values.
    pub fn module_mut_unheard(&mut self) -> &mut Module {
        self.module
    }

    /// Notes the reverse of a change, if anyone keeps a journal.
    fn note(&mut self, edit: impl FnOnce(&Module) -> Edit) {
        self.changes += 1;
        if let Some(journal) = &mut self.journal {
            journal.edits.push(edit(self.module));
        }
    }
}

/// Operations.
impl Rewriter<'_> {
    /// Makes an operation at `point`.
    pub fn create(&mut self, point: Point, state: OpState) -> Op {
        let op = self.module.create_at(point, state);
        self.created(op);
        op
    }

    fn created(&mut self, op: Op) {
        self.note(|_| Edit::Created(op));
        if let Some(copies) = &mut self.copies {
            copies.created(self.module, op);
        }
        self.listener.inserted(self.module, op);
    }

    /// Makes an operation at `point` whose types are inferred.
    ///
    /// # Errors
    /// As [`Module::build`]; nothing is made then.
    pub fn build(
        &mut self,
        point: Point,
        name: Name,
        operands: &[Value],
        attrs: Attr,
        result_count: Option<usize>,
        loc: Loc,
    ) -> Result<Op, InferError> {
        let op = self.module.build(point, name, operands, attrs, result_count, loc)?;
        self.created(op);
        Ok(op)
    }

    /// The results that an operation made of `state` would have: what it folds to, where all
    /// results fold, else those of the operation, made at `point`.
    pub fn create_or_fold(&mut self, point: Point, state: OpState) -> SmallVec<[Value; 1]> {
        let op = self.create(point, state);
        if let Some(values) = self.fold_values(op, Point::Before(op)) {
            self.erase(op);
            return values;
        }
        self.module.results(op).collect()
    }

    /// The values that the folder of `op` names for its results; constants are made at `point`.
    /// `None` if there is nothing to fold, or the dialect has no constant for it.
    pub(crate) fn fold_values(&mut self, op: Op, point: Point) -> Option<SmallVec<[Value; 1]>> {
        let Some(Fold::Results(results)) = self.module.fold(op) else { return None };
        let (name, loc) = (self.module.name(op), self.module.loc(op));
        let types: SmallVec<[Type; 1]> =
            self.module.results(op).map(|v| self.module.value_type(v)).collect();
        // All constants are known to exist before the first is made.
        let states: Option<SmallVec<[Result<Value, OpState>; 1]>> = results
            .iter()
            .zip(&types)
            .map(|(folded, &ty)| match *folded {
                Folded::Value(v) => (self.module.value_type(v) == ty).then_some(Ok(v)),
                Folded::Attr(attr) => {
                    self.module.context().constant_state(name, attr, ty, loc).map(Err)
                }
            })
            .collect();
        let values = states?.into_iter().map(|found| match found {
            Ok(value) => value,
            Err(state) => {
                let op = self.create(point, state);
                self.module.result(op, 0)
            }
        });
        Some(values.collect())
    }

    /// Moves `op` to `point`.
    pub fn move_to(&mut self, op: Op, point: Point) {
        if point == Point::Before(op) || point == Point::After(op) {
            return;
        }
        if let Some(parent) = self.module.parent(op) {
            self.listener.vacated(self.module, parent);
        }
        self.note(|module| Edit::Moved(op, place(module, op)));
        self.module.move_to(op, point);
        self.listener.moved(self.module, op);
    }

    /// Replaces the results of `op` by `values` and erases it. A value without a name inherits
    /// that of the result.
    ///
    /// # Errors
    /// If `values` are fewer or more than the results; nothing is changed then.
    pub fn replace(&mut self, op: Op, values: &[Value]) -> Result<(), Diagnostic> {
        let wanted = self.module.result_count(op);
        if values.len() != wanted {
            let message = format!("{} values replace {wanted} results", values.len());
            return Err(Diagnostic::error("replacement-count", self.module.loc(op), message));
        }
        self.listener.replaced(self.module, op, values);
        let results: SmallVec<[Value; 2]> = self.module.results(op).collect();
        for (old, &new) in results.into_iter().zip(values) {
            self.replace_uses(old, new);
            self.inherit_name(old, new);
        }
        self.erase(op);
        Ok(())
    }

    fn inherit_name(&mut self, old: Value, new: Value) {
        if self.module.value_name(new).is_none()
            && let Some(name) = self.module.value_name(old)
        {
            self.note(|module| Edit::Named(new, module.value_name(new)));
            self.module.set_value_name(new, Some(name));
        }
    }

    /// Makes an operation of `state` before `op` and replaces `op` by its results.
    ///
    /// # Errors
    /// As [`Rewriter::replace`]; nothing is changed then.
    pub fn replace_with(&mut self, op: Op, state: OpState) -> Result<Op, Diagnostic> {
        let wanted = self.module.result_count(op);
        if state.results.len() != wanted {
            let message = format!("{} results replace {wanted}", state.results.len());
            return Err(Diagnostic::error("replacement-count", self.module.loc(op), message));
        }
        let new = self.create(Point::Before(op), state);
        let values: SmallVec<[Value; 2]> = self.module.results(new).collect();
        self.replace(op, &values)?;
        Ok(new)
    }

    /// Erases `op`, whose results must have no uses, and all that its regions hold.
    ///
    /// What is inside is told to the listener first: the regions, the blocks after those that
    /// they branch to, the operations of a block from the last.
    pub fn erase(&mut self, op: Op) {
        let hollow = self.module.regions(op).iter().all(|&r| self.module.first_block(r).is_none());
        if hollow {
            self.erasing(op);
        } else {
            for inner in erase_order(self.module, op) {
                match inner {
                    Erased::Op(op) => self.erasing(op),
                    Erased::Block(block) => self.listener.block_erased(self.module, block),
                }
            }
        }
        let Some(journal) = &mut self.journal else {
            return self.module.erase(op);
        };
        journal.upheavals += u64::from(!hollow);
        // With a journal operands are let go of, and nothing else is lost.
        if hollow {
            self.let_go(op);
        } else {
            for inner in tangram_ir::walk(self.module, op, tangram_ir::Order::Pre) {
                self.let_go(inner);
            }
        }
        if let Some(journal) = &mut self.journal {
            journal.edits.push(Edit::Erased(op, place(self.module, op)));
        }
        self.module.detach(op);
    }

    /// Tells and counts that `op` is about to be erased.
    fn erasing(&mut self, op: Op) {
        self.changes += 1;
        self.transient += u64::from(op.as_u32() >= self.born);
        if let Some(copies) = &mut self.copies {
            copies.erased(self.module, op);
        }
        self.listener.erased(self.module, op);
    }

    /// Takes the operands of an operation that is erased while a journal is kept.
    fn let_go(&mut self, op: Op) {
        if self.module.operand_count(op) > 0 {
            if let Some(journal) = &mut self.journal {
                journal.edits.push(Edit::Operands(op, self.module.operands(op).collect()));
            }
            self.module.set_operands(op, &[]);
        }
    }

    /// Erases the results of `op` that `keep` refuses; they must have no uses. Makes a new
    /// operation in its place, which takes over the regions, and returns it.
    pub fn erase_results(&mut self, op: Op, keep: impl Fn(usize) -> bool) -> Op {
        let module = &*self.module;
        let kept: Vec<Value> =
            module.results(op).enumerate().filter(|(i, _)| keep(*i)).map(|(_, v)| v).collect();
        let mut state = OpState::new(module.name(op), module.loc(op));
        state.operands.extend(module.operands(op));
        state.attrs = module.attrs(op);
        state.successors.extend_from_slice(module.successors(op));
        state.results.extend(kept.iter().map(|&v| module.value_type(v)));
        state.regions = module.regions(op).len() as u32;
        let new = self.create(Point::Before(op), state);
        for i in 0..self.module.regions(op).len() {
            let (from, to) = (self.module.region(op, i), self.module.region(new, i));
            self.inline_region(from, to, None);
        }
        for (i, old) in kept.into_iter().enumerate() {
            let value = self.module.result(new, i);
            self.replace_uses(old, value);
            self.inherit_name(old, value);
        }
        self.erase(op);
        new
    }
}

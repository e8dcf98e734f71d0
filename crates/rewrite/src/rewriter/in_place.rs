//! Changes of an operation that stays where it is.

use smallvec::SmallVec;
use tangram_ir::{Attr, Block, Loc, Module, Op, Str, Type, Value};

use super::Rewriter;
use crate::journal::Edit;

/// A modification of one operation that was started; see [`Rewriter::start_modification`].
#[derive(PartialEq, Eq, Debug)]
#[must_use = "a modification is finalized or cancelled"]
pub struct Modification {
    op: Op,
    number: u32,
}

/// An operation as it was when its modification was started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Before {
    op: Op,
    number: u32,
    operands: SmallVec<[Value; 4]>,
    attrs: Attr,
    loc: Loc,
    successors: SmallVec<[Block; 2]>,
}

impl Before {
    fn of(module: &Module, op: Op, number: u32) -> Before {
        Before {
            op,
            number,
            operands: module.operands(op).collect(),
            attrs: module.attrs(op),
            loc: module.loc(op),
            successors: module.successors(op).into(),
        }
    }
}

/// Changes one operation; see [`Rewriter::modify_in_place`].
pub struct OpEdit<'a> {
    module: &'a mut Module,
    op: Op,
}

impl OpEdit<'_> {
    /// The module, to be read.
    pub fn module(&self) -> &Module {
        self.module
    }

    /// Sets operand `i`. Panics if there is none.
    pub fn set_operand(&mut self, i: usize, value: Value) {
        self.module.set_operand(self.op, i, value);
    }

    /// Sets all operands.
    pub fn set_operands(&mut self, values: &[Value]) {
        self.module.set_operands(self.op, values);
    }

    /// Sets attribute `name`; `None` removes it.
    pub fn set_attr(&mut self, name: Str, value: Option<Attr>) {
        self.module.set_attr(self.op, name, value);
    }

    /// Sets the whole attribute dictionary.
    pub fn set_attrs(&mut self, attrs: Attr) {
        self.module.set_attrs(self.op, attrs);
    }

    /// Sets the location.
    pub fn set_loc(&mut self, loc: Loc) {
        self.module.set_loc(self.op, loc);
    }

    /// Sets the blocks that it may branch to.
    pub fn set_successors(&mut self, blocks: &[Block]) {
        self.module.set_successors(self.op, blocks);
    }
}

/// Changes in place.
impl Rewriter<'_> {
    /// Starts to modify `op`: what [`Rewriter::edit`] changes is told at once when it is
    /// finalized, or taken back when it is cancelled. One that a pattern leaves open is finalized
    /// behind it, and counts as a breach of its contract.
    pub fn start_modification(&mut self, op: Op) -> Modification {
        self.started += 1;
        let number = self.started;
        self.open.push(Before::of(self.module, op, number));
        Modification { op, number }
    }

    /// Changes the operation of `modification`, without telling anyone yet.
    pub fn edit(&mut self, modification: &Modification) -> OpEdit<'_> {
        OpEdit { module: self.module, op: modification.op }
    }

    /// Takes back what was changed since [`Rewriter::start_modification`].
    pub fn cancel_modification(&mut self, modification: Modification) {
        let Some(before) = self.close(modification) else { return };
        let Before { op, operands, attrs, loc, successors, .. } = before;
        if !self.module.operands(op).eq(operands.iter().copied()) {
            self.module.set_operands(op, &operands);
        }
        self.module.set_attrs(op, attrs);
        self.module.set_loc(op, loc);
        if self.module.successors(op) != &successors[..] {
            self.module.set_successors(op, &successors);
        }
    }

    /// Tells the listener what was changed since [`Rewriter::start_modification`]. Nothing is
    /// told if nothing was.
    pub fn finalize_modification(&mut self, modification: Modification) {
        if let Some(before) = self.close(modification) {
            self.finalize(before);
        }
    }

    /// What was noted when `modification` was started, if its operation is still there.
    fn close(&mut self, modification: Modification) -> Option<Before> {
        let open = |before: &Before| before.number == modification.number;
        let place = self.open.iter().rposition(open)?;
        Some(self.open.remove(place)).filter(|before| self.module.is_live(before.op))
    }

    /// Finalizes the modifications that were started after the first `kept` ones; returns how
    /// many there were.
    pub(super) fn finalize_open(&mut self, kept: usize) -> usize {
        let left: Vec<Before> = self.open.drain(kept.min(self.open.len())..).collect();
        let count = left.len();
        for before in left.into_iter().rev() {
            if self.module.is_live(before.op) {
                self.finalize(before);
            }
        }
        count
    }

    fn finalize(&mut self, before: Before) {
        let op = before.op;
        let now = Before::of(self.module, op, before.number);
        if now == before {
            return;
        }
        let Before { operands, attrs, loc, successors, .. } = before;
        for &value in operands.iter().filter(|&value| !now.operands.contains(value)) {
            self.listener.released(self.module, value);
        }
        if now.operands != operands {
            self.note(|_| Edit::Operands(op, operands));
        }
        if now.attrs != attrs {
            self.note(|_| Edit::Attrs(op, attrs));
        }
        if now.loc != loc {
            self.note(|_| Edit::Loc(op, loc));
        }
        if now.successors != successors {
            self.note(|_| Edit::Successors(op, successors));
        }
        self.listener.modified(self.module, op);
    }

    /// Modifies `op` by `change`; the listener is told once, afterwards.
    pub fn modify_in_place<R>(&mut self, op: Op, change: impl FnOnce(&mut OpEdit<'_>) -> R) -> R {
        let modification = self.start_modification(op);
        let result = change(&mut self.edit(&modification));
        self.finalize_modification(modification);
        result
    }

    /// Sets operand `i` of `op`.
    pub fn set_operand(&mut self, op: Op, i: usize, value: Value) {
        let old = self.module.operand(op, i);
        self.listener.released(self.module, old);
        self.note(|_| Edit::Operand(op, i as u32, old));
        self.module.set_operand(op, i, value);
        self.listener.modified(self.module, op);
    }

    /// Sets all operands of `op`.
    pub fn set_operands(&mut self, op: Op, values: &[Value]) {
        for value in self.module.operands(op) {
            self.listener.released(self.module, value);
        }
        self.note(|module| Edit::Operands(op, module.operands(op).collect()));
        self.module.set_operands(op, values);
        self.listener.modified(self.module, op);
    }

    /// Sets attribute `name` of `op`; `None` removes it.
    pub fn set_attr(&mut self, op: Op, name: Str, value: Option<Attr>) {
        self.note(|module| Edit::Attrs(op, module.attrs(op)));
        self.module.set_attr(op, name, value);
        self.listener.modified(self.module, op);
    }

    /// Sets the whole attribute dictionary of `op`.
    pub fn set_attrs(&mut self, op: Op, attrs: Attr) {
        self.note(|module| Edit::Attrs(op, module.attrs(op)));
        self.module.set_attrs(op, attrs);
        self.listener.modified(self.module, op);
    }

    /// Sets where `op` comes from.
    pub fn set_loc(&mut self, op: Op, loc: Loc) {
        self.note(|module| Edit::Loc(op, module.loc(op)));
        self.module.set_loc(op, loc);
        self.listener.modified(self.module, op);
    }

    /// Sets the blocks that `op` may branch to.
    pub fn set_successors(&mut self, op: Op, blocks: &[Block]) {
        self.note(|module| Edit::Successors(op, module.successors(op).into()));
        self.module.set_successors(op, blocks);
        self.listener.modified(self.module, op);
    }

    /// Records more about `value`: its type, and what is known of its elements.
    pub fn refine(&mut self, value: Value, ty: Type, contents: Option<Attr>) {
        self.note(|module| Edit::Type(value, module.value_type(value), module.contents(value)));
        self.module.set_value_type(value, ty);
        self.module.set_contents(value, contents);
        self.listener.refined(self.module, value);
    }

    /// Says that `op` was changed through [`Rewriter::module_mut_unheard`].
    pub fn notify_modified(&mut self, op: Op) {
        self.changes += 1;
        self.listener.modified(self.module, op);
    }
}

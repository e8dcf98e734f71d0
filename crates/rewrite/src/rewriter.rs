//! The one way to change IR.

use tangram_ir::{
    Attr, Diagnostic, InferError, Loc, Module, Name, Op, OpState, Point, Str, Type, Value,
};

use crate::listener::Listener;

/// Changes a module and tells a listener.
pub struct Rewriter<'a> {
    module: &'a mut Module,
    listener: &'a mut dyn Listener,
    reasons: bool,
}

impl<'a> Rewriter<'a> {
    /// A rewriter of `module`.
    pub fn new(module: &'a mut Module, listener: &'a mut dyn Listener) -> Self {
        Self { module, listener, reasons: false }
    }

    /// Asks patterns for the reasons of failed matches.
    #[must_use]
    pub fn with_reasons(mut self, reasons: bool) -> Self {
        self.reasons = reasons;
        self
    }

    /// Says whether the reason of a failed match is of use to anyone.
    pub fn wants_reasons(&self) -> bool {
        self.reasons
    }

    /// The module, to be read.
    pub fn module(&self) -> &Module {
        self.module
    }

    /// The module, for what is no change of the program: resources and names of values.
    pub fn module_mut_unheard(&mut self) -> &mut Module {
        self.module
    }

    /// Makes an operation at `point`.
    pub fn create(&mut self, point: Point, state: OpState) -> Op {
        let op = self.module.create_at(point, state);
        self.listener.inserted(self.module, op);
        op
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
        self.listener.inserted(self.module, op);
        Ok(op)
    }

    /// Moves `op` to `point`.
    pub fn move_to(&mut self, op: Op, point: Point) {
        self.module.move_to(op, point);
        self.listener.inserted(self.module, op);
    }

    /// Makes every user of `old` use `new`.
    pub fn replace_uses(&mut self, old: Value, new: Value) {
        if old == new {
            return;
        }
        let mut users: Vec<Op> = self.module.uses(old).map(|u| u.op).collect();
        users.dedup();
        self.listener.released(self.module, old);
        self.module.replace_uses(old, new);
        for op in users {
            self.listener.modified(self.module, op);
        }
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
        let results: Vec<Value> = self.module.results(op).collect();
        for (old, &new) in results.into_iter().zip(values) {
            self.replace_uses(old, new);
            if self.module.value_name(new).is_none() {
                self.module.set_value_name(new, self.module.value_name(old));
            }
        }
        self.erase(op);
        Ok(())
    }

    /// Erases `op`, whose results must have no uses.
    pub fn erase(&mut self, op: Op) {
        self.listener.erased(self.module, op);
        self.module.erase(op);
    }

    /// Sets operand `i` of `op`.
    pub fn set_operand(&mut self, op: Op, i: usize, value: Value) {
        self.listener.released(self.module, self.module.operand(op, i));
        self.module.set_operand(op, i, value);
        self.listener.modified(self.module, op);
    }

    /// Sets all operands of `op`.
    pub fn set_operands(&mut self, op: Op, values: &[Value]) {
        for value in self.module.operands(op) {
            self.listener.released(self.module, value);
        }
        self.module.set_operands(op, values);
        self.listener.modified(self.module, op);
    }

    /// Sets attribute `name` of `op`; `None` removes it.
    pub fn set_attr(&mut self, op: Op, name: Str, value: Option<Attr>) {
        self.module.set_attr(op, name, value);
        self.listener.modified(self.module, op);
    }

    /// Records more about `value`: its type, and what is known of its elements.
    pub fn refine(&mut self, value: Value, ty: Type, contents: Option<Attr>) {
        self.module.set_value_type(value, ty);
        self.module.set_contents(value, contents);
        self.listener.refined(self.module, value);
    }

    /// Says that `op` was changed through [`Rewriter::module_mut_unheard`].
    pub fn notify_modified(&mut self, op: Op) {
        self.listener.modified(self.module, op);
    }
}

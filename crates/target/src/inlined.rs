//! Which operations stand inside of the expressions that use them.

use tangram_ir::{Module, Op, TypeData, Value};

use crate::{Spelling, Target};

/// A function, as far as it says where operations are printed.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub module: &'a Module,
    pub target: &'a Target,
}

impl Places<'_> {
    pub fn spelling(self, op: Op) -> Option<Spelling> {
        let name = self.module.name_text(op);
        let found = self.target.operations.iter().find(|(own, _)| *own == name);
        found.map(|(_, spelling)| *spelling)
    }

    /// The one operation that uses the result of another one, in the same block.
    fn user(self, op: Op) -> Option<Op> {
        let module = self.module;
        if module.result_count(op) != 1 {
            return None;
        }
        let mut uses = module.uses(module.result(op, 0));
        let (first, second) = (uses.next()?, uses.next());
        (second.is_none() && module.block(first.op) == module.block(op)).then_some(first.op)
    }

    /// The operation whose text the result of another one is a part of.
    pub fn inlined_in(self, op: Op) -> Option<Op> {
        let user = self.user(op)?;
        let takes = self.spelling(user)?;
        match self.spelling(op)? {
            Spelling::Infix(..) | Spelling::Prefix(_) | Spelling::Value(..) => {}
            Spelling::Form(..) | Spelling::Advance if !self.has_read(op) => {}
            Spelling::Read(..) if self.module.next(op) == Some(user) => {
                let form = matches!(takes, Spelling::Form(..) | Spelling::Advance);
                return (form || self.is_view(op)).then_some(user);
            }
            _ => return None,
        }
        (!matches!(takes, Spelling::Touch(_))).then_some(user)
    }

    /// Whether the result of an operation is a view.
    fn is_view(self, op: Op) -> bool {
        let ty = self.module.value_type(self.module.result(op, 0));
        matches!(self.module.context().type_data(ty), TypeData::MemRef { .. })
    }

    /// Whether what is read from memory is a part of the text of a form.
    fn has_read(self, op: Op) -> bool {
        let read = |value: Value| {
            let def = self.module.def_op(value);
            def.is_some_and(|def| {
                matches!(self.spelling(def), Some(Spelling::Read(..)))
                    && self.inlined_in_form(def, op)
            })
        };
        self.module.operands(op).any(read)
    }

    fn inlined_in_form(self, read: Op, form: Op) -> bool {
        self.module.next(read) == Some(form) && self.user(read) == Some(form)
    }

    /// The operation of the same block in whose statement another one is printed.
    fn printed_in(self, op: Op) -> Op {
        let mut at = op;
        while let Some(user) = self.inlined_in(at) {
            at = user;
        }
        at
    }

    /// Whether nothing reads a value of the block of `op` after the statement of `op`.
    pub fn is_last_read(self, value: Value, op: Op) -> bool {
        let module = self.module;
        let Some(block) = module.block(op) else { return false };
        if module.def_block(value) != Some(block) {
            return true;
        }
        module.uses(value).all(|used| {
            // A loop that reads it inside reads it in each iteration.
            let at = module.ancestor_in(block, used.op).map(|at| self.printed_in(at));
            at.is_some_and(|at| at == op || module.is_before(at, op))
        })
    }
}

//! What a pattern may do, in short words.

use tangram_ir::{
    Attr, AttrData, Context, Loc, Module, Name, Op, OpState, Point, Str, Type, Value,
};
use tangram_rewrite::Rewriter;

use super::{Known, number};

/// A pattern at an operation.
pub(crate) struct Cx<'a, 'r> {
    pub(crate) rewriter: &'a mut Rewriter<'r>,
    pub(crate) op: Op,
    pub(crate) known: &'a Known,
    pub(crate) context: &'a Context,
}

/// Reading.
impl Cx<'_, '_> {
    pub(crate) fn module(&self) -> &Module {
        self.rewriter.module()
    }

    pub(crate) fn operand(&self, i: usize) -> Value {
        self.module().operand(self.op, i)
    }

    pub(crate) fn type_of(&self, value: Value) -> Type {
        self.module().value_type(value)
    }

    /// The type of the first result.
    pub(crate) fn ty(&self) -> Type {
        self.type_of(self.module().result(self.op, 0))
    }

    /// The operation named `name` that defines operand `i`, which is not this one.
    pub(crate) fn def(&self, i: usize, name: Name) -> Option<Op> {
        self.def_of(self.operand(i), name)
    }

    /// The operation named `name` that defines `value`, which is not this one.
    pub(crate) fn def_of(&self, value: Value, name: Name) -> Option<Op> {
        let def = self.module().def_op(value)?;
        (def != self.op && self.module().name(def) == name).then_some(def)
    }

    pub(crate) fn is_constant(&self, value: Value) -> bool {
        self.module().constant_value(value).is_some()
    }

    /// The integer that `value` is, in every element.
    pub(crate) fn int(&self, value: Value) -> Option<i128> {
        number::as_int(self.context, self.module().constant_value(value)?)
    }

    pub(crate) fn loc(&self) -> Loc {
        self.module().loc(self.op)
    }
}

/// Changing.
impl Cx<'_, '_> {
    /// The constant `attr` of type `ty`, in front of the operation.
    pub(crate) fn constant(&mut self, attr: Attr, ty: Type) -> Option<Value> {
        let name = self.module().name(self.op);
        let state = self.context.constant_state(name, attr, ty, self.loc())?;
        let made = self.rewriter.create(Point::Before(self.op), state);
        Some(self.module().result(made, 0))
    }

    /// The constant of type `ty` whose every element is `value`.
    pub(crate) fn int_constant(&mut self, value: i128, ty: Type) -> Option<Value> {
        let attr = number::int_attr(self.context, ty, value)?;
        self.constant(attr, ty)
    }

    /// Replaces the operation by `values`.
    pub(crate) fn replace(&mut self, values: &[Value]) -> Option<()> {
        // In code that is never reached an operation may use its own result.
        let module = self.module();
        let fits = |(old, &new): (Value, &Value)| {
            old != new && module.value_type(old) == module.value_type(new)
        };
        if values.len() != module.result_count(self.op)
            || !module.results(self.op).zip(values).all(fits)
        {
            return None;
        }
        self.rewriter.replace(self.op, values).ok()
    }

    /// An operation before this one.
    pub(crate) fn make(
        &mut self,
        name: Name,
        operands: &[Value],
        attrs: Attr,
        results: &[Type],
    ) -> Op {
        let state = OpState {
            operands: operands.into(),
            results: results.into(),
            attrs,
            ..OpState::new(name, self.loc())
        };
        self.rewriter.create(Point::Before(self.op), state)
    }

    /// An operation without attributes and with one result before this one.
    pub(crate) fn value(&mut self, name: Name, operands: &[Value], ty: Type) -> Value {
        let op = self.make(name, operands, Attr::EMPTY_DICT, &[ty]);
        self.module().result(op, 0)
    }

    /// Replaces the operation, which has one result, by a new one without attributes.
    pub(crate) fn become_op(&mut self, name: Name, operands: &[Value]) -> Option<()> {
        let ty = self.ty();
        let value = self.value(name, operands, ty);
        self.replace(&[value])
    }

    /// Gives the operation other operands and drops attribute flags, which may no longer hold.
    /// Its place in the source is then also that of `with`.
    pub(crate) fn combine(&mut self, operands: &[Value], with: Op) -> Option<()> {
        let loc = self.context.fuse([self.loc(), self.module().loc(with)]);
        let op = self.op;
        self.rewriter.set_operands(op, operands);
        let module = self.rewriter.module_mut_unheard();
        module.set_loc(op, loc);
        module.set_attrs(op, Attr::EMPTY_DICT);
        Some(())
    }

    pub(crate) fn set_attr(&mut self, name: Str, value: Option<Attr>) {
        self.rewriter.set_attr(self.op, name, value);
    }

    /// `value : i64` as an attribute.
    pub(crate) fn i64_attr(&self, value: i64) -> Attr {
        self.context.attr(AttrData::Integer { value: value.into(), ty: self.context.int_type(64) })
    }
}

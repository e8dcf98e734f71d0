//! Bodies as blocks of operations.

use tangram_affine::symbolic::Expr;
use tangram_ir::{Attr, Block, Context, Loc, Module, Op, OpState, Point, Type, Value};
use tangram_tensor::DType;

use super::{
    UNSIGNED, binary_name, binary_operation, cast_operation, number_of_type, predicate,
    scalar_type, unary_name, unary_operation,
};
use crate::dtype;
use crate::structured::{Body, Scalar, ScalarId};

/// Writes a body into a block.
pub(in crate::tg) struct Writer<'a> {
    pub module: &'a mut Module,
    pub block: Block,
    pub loc: Loc,
    /// What stands for each input.
    pub inputs: &'a [Value],
    pub input_types: &'a [DType],
    pub tables: &'a [Value],
    pub table_types: &'a [DType],
    pub symbols: &'a [Expr],
}

impl Writer<'_> {
    /// Writes a body and the terminator that gives its value; `None` for one that is not well-formed.
    pub fn write(&mut self, body: &Body) -> Option<()> {
        let types = body.types(self.input_types, self.table_types)?;
        let mut made: Vec<Value> = Vec::with_capacity(types.len());
        for (scalar, &element) in body.scalars().iter().zip(&types) {
            let of = |id: &ScalarId| made[id.0 as usize];
            let ty = |id: &ScalarId| types[id.0 as usize];
            let value = match scalar {
                Scalar::Input(i) => *self.inputs.get(*i)?,
                Scalar::Inside(i) => self.numbered("tg.inside", "read", *i, DType::Bool),
                Scalar::Index(i) => self.numbered("tg.index", "loop", *i, DType::I64),
                Scalar::Symbol(i) => {
                    let text = self.symbols.get(*i)?.to_string();
                    let text = self.context().str_attr(&text);
                    self.op("tg.size", &[], DType::I64, &[("value", text)])
                }
                Scalar::Constant(number) => {
                    let ty = scalar_type(self.context(), element);
                    let attr = number_of_type(self.context(), *number, ty);
                    self.op("arith.constant", &[], element, &[("value", attr)])
                }
                Scalar::Unary(f, x) => match unary_operation(*f, element) {
                    Some(name) => self.op(name, &[of(x)], element, &[]),
                    None => self.apply(unary_name(*f), element, &[of(x)]),
                },
                Scalar::Binary(f, x, y) => match binary_operation(*f, element) {
                    Some(name) => self.op(name, &[of(x), of(y)], element, &[]),
                    None => self.apply(binary_name(*f), element, &[of(x), of(y)]),
                },
                Scalar::Compare(by, x, y) => {
                    let name = if ty(x).is_float() { "arith.cmpf" } else { "arith.cmpi" };
                    let number = self.context().i64_attr(predicate(*by, ty(x)));
                    self.op(name, &[of(x), of(y)], DType::Bool, &[("predicate", number)])
                }
                Scalar::Select(c, x, y) => {
                    self.op("arith.select", &[of(c), of(x), of(y)], element, &[])
                }
                Scalar::Cast(to, x) => self.cast(ty(x), *to, of(x)),
                Scalar::Lookup(table, at) => {
                    let at: Vec<Value> = at.iter().map(of).collect();
                    self.look_up(*self.tables.get(*table)?, &at, element)
                }
            };
            made.push(value);
        }
        let value = *made.get(body.value()?.0 as usize)?;
        self.make("tg.yield", &[value], &[], Attr::EMPTY_DICT);
        Some(())
    }

    fn context(&self) -> &Context {
        self.module.context()
    }

    fn make(&mut self, name: &str, operands: &[Value], results: &[Type], attrs: Attr) -> Op {
        let mut state = OpState::new(self.context().name(name), self.loc);
        state.operands.extend_from_slice(operands);
        state.results.extend_from_slice(results);
        state.attrs = attrs;
        self.module.create_at(Point::End(self.block), state)
    }

    fn op(
        &mut self,
        name: &str,
        operands: &[Value],
        element: DType,
        attrs: &[(&str, Attr)],
    ) -> Value {
        let context = self.context();
        // What takes an integer's sign from its operands needs no mark.
        let open = matches!(
            name,
            "arith.constant" | "arith.extui" | "arith.extsi" | "arith.trunci" | "arith.bitcast"
        );
        let mark =
            (open && element.is_int() && !element.is_signed()).then_some((UNSIGNED, Attr::UNIT));
        let entries = attrs.iter().copied().chain(mark);
        let attrs = context.dict(entries.map(|(name, attr)| (context.str(name), attr)));
        let ty = scalar_type(context, element);
        let op = self.make(name, operands, &[ty], attrs);
        self.module.result(op, 0)
    }

    fn numbered(&mut self, name: &str, attr: &str, number: usize, element: DType) -> Value {
        let number = self.context().i64_attr(number as i64);
        self.op(name, &[], element, &[(attr, number)])
    }

    fn apply(&mut self, function: &str, element: DType, operands: &[Value]) -> Value {
        let context = self.context();
        let function = context.str_attr(function);
        let ty = context.type_attr(dtype::type_of(context, element));
        self.op("tg.apply", operands, element, &[("function", function), ("element", ty)])
    }

    fn cast(&mut self, from: DType, to: DType, x: Value) -> Value {
        if let Some(name) = cast_operation(from, to) {
            return self.op(name, &[x], to, &[]);
        }
        let context = self.context();
        let [from, target] =
            [from, to].map(|element| context.type_attr(dtype::type_of(context, element)));
        self.op("tg.cast", &[x], to, &[("from", from), ("to", target)])
    }

    fn look_up(&mut self, table: Value, at: &[Value], element: DType) -> Value {
        let index = self.context().ty(tangram_ir::TypeData::Index);
        let mut operands = vec![table];
        for &at in at {
            let cast = self.make("arith.index_cast", &[at], &[index], Attr::EMPTY_DICT);
            operands.push(self.module.result(cast, 0));
        }
        // Elements of the table keep their sign.
        let ty = dtype::type_of(self.context(), element);
        let op = self.make("tensor.extract", &operands, &[ty], Attr::EMPTY_DICT);
        let value = self.module.result(op, 0);
        if scalar_type(self.context(), element) == ty {
            value
        } else {
            let ty = scalar_type(self.context(), element);
            let name = "builtin.unrealized_conversion_cast";
            let op = self.make(name, &[value], &[ty], Attr::EMPTY_DICT);
            self.module.result(op, 0)
        }
    }
}

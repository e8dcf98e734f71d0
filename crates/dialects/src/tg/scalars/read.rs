//! Blocks of operations as bodies.

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_ir::{Attr, AttrData, Block, Module, Op, Value};
use tangram_tensor::DType;

use super::{
    BINARIES, UNARIES, UNSIGNED, attr_number, binary_named, binary_operation, cast_operation,
    comparison, is_signed, unary_named,
};
use crate::dtype;
use crate::structured::{Body, Scalar, ScalarId};
use crate::tg::NestError;

/// Reads a body.
pub(in crate::tg) struct Reader<'a> {
    pub module: &'a Module,
    pub block: Block,
    pub inputs: Vec<(Value, usize)>,
    pub input_types: &'a [DType],
    pub tables: Vec<Value>,
    pub table_types: &'a [DType],
    pub symbols: &'a mut Vec<Expr>,
}

/// What a value of a body is.
type Known = FxHashMap<Value, (ScalarId, DType)>;

impl Reader<'_> {
    /// The body, and the type of its value.
    pub fn read(&mut self) -> Result<(Body, DType), NestError> {
        let module = self.module;
        let (mut body, mut known) = (Body::default(), Known::default());
        for &(value, input) in self.inputs.iter().filter(|(value, _)| module.has_uses(*value)) {
            known.insert(value, (body.input(input), self.input_types[input]));
        }
        for op in module.ops(self.block) {
            if module.name_text(op) == "tg.yield" {
                let value = module.operands(op).next().ok_or(NestError::Yield)?;
                let (id, element) = self.value(value, &known)?;
                body.result(id);
                return Ok((body, element));
            }
            let found = self.scalar(op, &mut body, &known)?;
            known.insert(module.result(op, 0), found);
        }
        Err(NestError::Yield)
    }

    fn value(&self, value: Value, known: &Known) -> Result<(ScalarId, DType), NestError> {
        known.get(&value).copied().ok_or(NestError::Captured)
    }

    fn attr(&self, op: Op, name: &'static str) -> Result<Attr, NestError> {
        self.module.attr(op, name).ok_or(NestError::Attribute(name))
    }

    fn int(&self, op: Op, name: &'static str) -> Result<usize, NestError> {
        let int = self.module.context().as_i64(self.attr(op, name)?);
        int.and_then(|int| usize::try_from(int).ok()).ok_or(NestError::Attribute(name))
    }

    fn element(&self, op: Op, name: &'static str) -> Result<DType, NestError> {
        let context = self.module.context();
        match context.attr_data(self.attr(op, name)?) {
            AttrData::Type(ty) => dtype::dtype_of(context, *ty).ok_or(NestError::Attribute(name)),
            _ => Err(NestError::Attribute(name)),
        }
    }

    /// The type of the only result, with the sign that a mark gives it.
    fn result_type(&self, op: Op) -> Result<DType, NestError> {
        let ty = self.module.value_type(self.module.result(op, 0));
        let plain = dtype::dtype_of(self.module.context(), ty);
        let plain = plain.ok_or_else(|| self.unknown(op))?;
        Ok(match self.module.attr(op, UNSIGNED) {
            Some(_) => turned(plain, false),
            None => plain,
        })
    }

    fn unknown(&self, op: Op) -> NestError {
        NestError::Operation(self.module.name_text(op).to_owned())
    }

    fn scalar(
        &mut self,
        op: Op,
        body: &mut Body,
        known: &Known,
    ) -> Result<(ScalarId, DType), NestError> {
        let module = self.module;
        let name = module.name_text(op);
        if module.result_count(op) != 1 {
            return Err(self.unknown(op));
        }
        let mut operands = Vec::new();
        if name != "tensor.extract" {
            for value in module.operands(op) {
                operands.push(self.value(value, known)?);
            }
        }
        let simple = |body: &mut Body, scalar, element| Ok((body.push(scalar), element));
        match (name, &operands[..]) {
            ("tg.inside", []) => simple(body, Scalar::Inside(self.int(op, "read")?), DType::Bool),
            ("tg.index", []) => simple(body, Scalar::Index(self.int(op, "loop")?), DType::I64),
            ("tg.size", []) => {
                let text = module.context().as_text(self.attr(op, "value")?);
                let expr = text.and_then(|text| text.parse::<Expr>().ok());
                let expr = expr.ok_or(NestError::Attribute("value"))?;
                let at = self.symbols.iter().position(|own| *own == expr);
                let at = at.unwrap_or_else(|| {
                    self.symbols.push(expr);
                    self.symbols.len() - 1
                });
                simple(body, Scalar::Symbol(at), DType::I64)
            }
            ("arith.constant", []) => {
                let element = self.result_type(op)?;
                let number = attr_number(module.context(), self.attr(op, "value")?, element);
                let number = number.ok_or(NestError::Attribute("value"))?;
                simple(body, Scalar::Constant(number), element)
            }
            // An index is a number of 64 bits here.
            ("arith.index_cast", &[x]) => Ok(x),
            ("builtin.unrealized_conversion_cast", &[x]) => Ok(x),
            ("arith.select", &[c, x, y]) => {
                let y = signed_as(body, y, x.1);
                simple(body, Scalar::Select(c.0, x.0, y.0), x.1)
            }
            ("arith.cmpf" | "arith.cmpi", &[x, y]) => {
                let number = self.int(op, "predicate")? as i64;
                let (by, signed) = comparison(number, name == "arith.cmpf")
                    .ok_or(NestError::Attribute("predicate"))?;
                let element = signed.map_or(x.1, |signed| turned(x.1, signed));
                let (x, y) = (signed_as(body, x, element), signed_as(body, y, element));
                simple(body, Scalar::Compare(by, x.0, y.0), DType::Bool)
            }
            ("tg.cast", &[x]) => {
                let x = signed_as(body, x, self.element(op, "from")?);
                let to = self.element(op, "to")?;
                simple(body, Scalar::Cast(to, x.0), to)
            }
            ("tg.apply", list) => self.applied(op, list, body),
            ("tensor.extract", _) => self.looked_up(op, body, known),
            (_, &[x]) => self.converted(op, x, body),
            (_, &[x, y]) => self.combined(op, (x, y), body),
            _ => Err(self.unknown(op)),
        }
    }

    fn applied(
        &self,
        op: Op,
        operands: &[(ScalarId, DType)],
        body: &mut Body,
    ) -> Result<(ScalarId, DType), NestError> {
        let element = self.element(op, "element")?;
        let name = self.module.context().as_text(self.attr(op, "function")?).unwrap_or_default();
        let scalar = match *operands {
            [x] => {
                let x = signed_as(body, x, element);
                let function = unary_named(name).ok_or(NestError::Attribute("function"))?;
                Scalar::Unary(function, x.0)
            }
            [x, y] => {
                let (x, y) = (signed_as(body, x, element), signed_as(body, y, element));
                let function = binary_named(name).ok_or(NestError::Attribute("function"))?;
                Scalar::Binary(function, x.0, y.0)
            }
            _ => return Err(self.unknown(op)),
        };
        Ok((body.push(scalar), element))
    }

    /// A function of one number, or a conversion.
    fn converted(
        &self,
        op: Op,
        x: (ScalarId, DType),
        body: &mut Body,
    ) -> Result<(ScalarId, DType), NestError> {
        let name = self.module.name_text(op);
        if let Some(row) = UNARIES.iter().find(|row| row.2 == Some(name)) {
            return Ok((body.push(Scalar::Unary(row.0, x.0)), x.1));
        }
        let to = self.result_type(op)?;
        let from = match name {
            "arith.extsi" | "arith.sitofp" => turned(x.1, true),
            "arith.extui" | "arith.uitofp" => turned(x.1, false),
            _ => x.1,
        };
        if cast_operation(from, to) != Some(name) {
            return Err(self.unknown(op));
        }
        let x = signed_as(body, x, from);
        Ok((body.push(Scalar::Cast(to, x.0)), to))
    }

    fn combined(
        &self,
        op: Op,
        (x, y): ((ScalarId, DType), (ScalarId, DType)),
        body: &mut Body,
    ) -> Result<(ScalarId, DType), NestError> {
        let name = self.module.name_text(op);
        // Of the operands' own sign first, then of the other.
        for element in [x.1, turned(x.1, !is_signed(x.1))] {
            let mut rows = BINARIES.iter().map(|row| row.0);
            let function = rows.find(|&f| binary_operation(f, element) == Some(name));
            let Some(function) = function else { continue };
            let (x, y) = (signed_as(body, x, element), signed_as(body, y, element));
            return Ok((body.push(Scalar::Binary(function, x.0, y.0)), element));
        }
        Err(self.unknown(op))
    }

    fn looked_up(
        &self,
        op: Op,
        body: &mut Body,
        known: &Known,
    ) -> Result<(ScalarId, DType), NestError> {
        let mut operands = self.module.operands(op);
        let table = operands.next().ok_or_else(|| self.unknown(op))?;
        let table = self.tables.iter().position(|own| *own == table);
        let table = table.ok_or(NestError::Captured)?;
        let mut at = Vec::new();
        for value in operands {
            at.push(self.value(value, known)?.0);
        }
        Ok((body.push(Scalar::Lookup(table, at)), self.table_types[table]))
    }
}

/// The integer type of as many bits with a sign, or without.
fn turned(element: DType, signed: bool) -> DType {
    match (element, signed) {
        (DType::U8, true) => DType::I8,
        (DType::U16, true) => DType::I16,
        (DType::U32, true) => DType::I32,
        (DType::U64, true) => DType::I64,
        (DType::I8, false) => DType::U8,
        (DType::I16, false) => DType::U16,
        (DType::I32, false) => DType::U32,
        (DType::I64, false) => DType::U64,
        (other, _) => other,
    }
}

/// The number as one of type `element`, where both have the same bits.
fn signed_as(body: &mut Body, x: (ScalarId, DType), element: DType) -> (ScalarId, DType) {
    let same = x.1 == element || x.1.size_bits() != element.size_bits() || !x.1.is_int();
    if same || !element.is_int() { x } else { (body.push(Scalar::Cast(element, x.0)), element) }
}

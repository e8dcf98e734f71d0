//! Numbers: `arith` and `math` on scalars, and on vectors lane by lane.
//!
//! Widths and undefined results are MLIR's; scalars of structured definitions
//! (`structured/interpret/body`) are element types of tensors and mean what the kernels mean.

use std::rc::Rc;

use tangram_ir::{FloatKind, Op, Type, TypeData};

use super::{Datum, Elements, Machine, Result};
use crate::mlir::fold::number::{
    Number, element_type, float_kind, int_width, splat, unsigned, wrap,
};

impl Machine<'_> {
    pub(super) fn scalar(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let (module, context) = (self.module, self.module.context());
        let ty = module.value_type(module.result(op, 0));
        if module.name_text(op) == "arith.constant" {
            return self.constant(op, ty);
        }
        match context.type_data(ty) {
            TypeData::Tensor(_) => Err(self.unsupported(op)),
            TypeData::Vector { .. } => {
                let lanes = self.lanes(op, operands)?.into_iter();
                let each = lanes.map(|lane| match &self.number(op, &lane)?[..] {
                    [datum] => Ok(datum.clone()),
                    _ => Err(self.unsupported(op)),
                });
                Ok(vec![vector(each.collect::<Result<_>>()?)])
            }
            _ => self.number(op, operands),
        }
    }

    fn constant(&mut self, op: Op, ty: Type) -> Result<Vec<Datum>> {
        let (module, context) = (self.module, self.module.context());
        if matches!(context.type_data(ty), TypeData::Tensor(_)) {
            return self.constant_tensor(op);
        }
        let value = module.attr(op, "value").and_then(|attr| splat(context, attr));
        let value = match value {
            Some(Number::Int(value)) => Datum::Int(value),
            Some(Number::Float(value)) => Datum::Float(value),
            None => return Err(self.unsupported(op)),
        };
        match context.type_data(ty) {
            TypeData::Vector { .. } => Ok(vec![vector(vec![value; self.width(op, ty)?])]),
            _ => Ok(vec![value]),
        }
    }

    /// An operation on numbers, or on one lane of vectors.
    fn number(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let (module, context) = (self.module, self.module.context());
        let ty = element_type(context, module.value_type(module.result(op, 0)));
        let name = module.name_text(op);
        let width = int_width(context, ty).unwrap_or(64);
        let one = match *operands {
            [Datum::Int(a), Datum::Int(b)] if name == "arith.cmpi" => {
                let from = module.value_type(module.operand(op, 0));
                let width = int_width(context, from).unwrap_or(64);
                Some(Datum::Int(-i128::from(self.compare(op, a, b, width)?)))
            }
            [Datum::Int(flag), ref a, ref b] if name == "arith.select" => {
                Some(if flag != 0 { a.clone() } else { b.clone() })
            }
            [Datum::Int(a), Datum::Int(b)] if module.result_count(op) == 2 => {
                return self.extended(op, a, b, width);
            }
            [Datum::Int(a), Datum::Int(b)] => {
                let value = integer(name, a, b, width);
                let value = value.ok_or_else(|| self.undefined(op))?;
                Some(Datum::Int(wrap(value, width)))
            }
            [Datum::Int(a)] => {
                let from = module.value_type(module.operand(op, 0));
                let from = int_width(context, from).unwrap_or(64);
                let value = match name {
                    "arith.extsi" | "arith.trunci" | "arith.index_cast" => a,
                    "arith.extui" | "arith.index_castui" => unsigned(a, from),
                    "math.absi" => a.abs(),
                    "math.ctpop" => i128::from((unsigned(a, from) as u128).count_ones()),
                    _ => return self.float(op, operands, float_kind(context, ty)),
                };
                Some(Datum::Int(wrap(value, width)))
            }
            _ => return self.float(op, operands, float_kind(context, ty)),
        };
        one.map(|datum| vec![datum]).ok_or_else(|| self.unsupported(op))
    }

    fn compare(&self, op: Op, a: i128, b: i128, width: u32) -> Result<bool> {
        let predicate = self.module.attr(op, "predicate");
        let (x, y) = (unsigned(a, width), unsigned(b, width));
        Ok(match predicate.and_then(|attr| self.module.context().as_i64(attr)) {
            Some(0) => a == b,
            Some(1) => a != b,
            Some(2) => a < b,
            Some(3) => a <= b,
            Some(4) => a > b,
            Some(5) => a >= b,
            Some(6) => x < y,
            Some(7) => x <= y,
            Some(8) => x > y,
            Some(9) => x >= y,
            _ => return Err(self.unsupported(op)),
        })
    }

    /// Operations with two results.
    fn extended(&self, op: Op, a: i128, b: i128, width: u32) -> Result<Vec<Datum>> {
        let (x, y) = (unsigned(a, width), unsigned(b, width));
        let halves = |product: i128| vec![wrap(product, width), wrap(product >> width, width)];
        let results = match self.module.name_text(op) {
            "arith.addui_extended" => {
                vec![wrap(x + y, width), -i128::from(x + y >= 1 << width)]
            }
            // The products of 64 bits do not all fit.
            "arith.mulsi_extended" if width < 64 => halves(a * b),
            "arith.mului_extended" if width < 64 => halves(x * y),
            _ => return Err(self.unsupported(op)),
        };
        Ok(results.into_iter().map(Datum::Int).collect())
    }

    fn float(&self, op: Op, operands: &[Datum], kind: Option<FloatKind>) -> Result<Vec<Datum>> {
        let value = match (self.module.name_text(op), operands) {
            ("arith.addf", [Datum::Float(a), Datum::Float(b)]) => a + b,
            ("arith.subf", [Datum::Float(a), Datum::Float(b)]) => a - b,
            ("arith.mulf", [Datum::Float(a), Datum::Float(b)]) => a * b,
            ("arith.divf", [Datum::Float(a), Datum::Float(b)]) => a / b,
            ("arith.negf", [Datum::Float(a)]) => -a,
            ("math.absf", [Datum::Float(a)]) => a.abs(),
            ("arith.sitofp", [Datum::Int(a)]) => *a as f64,
            _ => return Err(self.unsupported(op)),
        };
        let kind = kind.ok_or_else(|| self.unsupported(op))?;
        Ok(vec![Datum::Float(kind.decode(kind.encode(value)))])
    }
}

/// A vector of these lanes.
pub(super) fn vector(lanes: Vec<Datum>) -> Datum {
    Datum::Tensor(Rc::new(Elements { extents: vec![lanes.len() as i64], data: lanes }))
}

/// A binary operation on integers of `width` bits; `None` where it is undefined.
fn integer(name: &str, a: i128, b: i128, width: u32) -> Option<i128> {
    let (x, y) = (unsigned(a, width), unsigned(b, width));
    let shift = u32::try_from(y).ok().filter(|&shift| shift < width);
    // The least number divided by -1 has no place in the width.
    let quotient = |q: i128| (wrap(q, width) == q).then_some(q);
    Some(match name {
        "arith.addi" => a + b,
        "arith.subi" => a - b,
        "arith.muli" => a.wrapping_mul(b),
        "arith.divsi" => quotient(a.checked_div(b)?)?,
        "arith.divui" => x.checked_div(y)?,
        "arith.remsi" => a.checked_rem(b)?,
        "arith.remui" => x.checked_rem(y)?,
        "arith.floordivsi" => {
            let q = a.checked_div(b)?;
            quotient(if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q })?
        }
        "arith.ceildivsi" => {
            let q = a.checked_div(b)?;
            quotient(if a % b != 0 && (a < 0) == (b < 0) { q + 1 } else { q })?
        }
        "arith.ceildivui" => (x + y).checked_sub(1)?.checked_div(y)?,
        "arith.andi" => a & b,
        "arith.ori" => a | b,
        "arith.xori" => a ^ b,
        "arith.shli" => a << shift?,
        "arith.shrsi" => a >> shift?,
        "arith.shrui" => x >> shift?,
        "arith.maxsi" => a.max(b),
        "arith.minsi" => a.min(b),
        "arith.maxui" => x.max(y),
        "arith.minui" => x.min(y),
        _ => return None,
    })
}

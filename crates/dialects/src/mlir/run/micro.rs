//! Operations of micro-kernels: views that walk, and products of pairs of integers.

use std::rc::Rc;

use tangram_ir::{Op, TypeData};

use super::scalar::vector;
use super::{Datum, Machine, Result};
use crate::mlir::fold::number::{unsigned, wrap};

impl Machine<'_> {
    pub(super) fn micro(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let module = self.module;
        match (module.name_text(op), operands) {
            ("tg.advance", [view, Datum::Int(by)]) => {
                let by = i64::try_from(*by).map_err(|_| self.undefined(op))?;
                let moved = self.view(op, view)?.advanced(by).ok_or_else(|| self.undefined(op))?;
                Ok(vec![Datum::View(Rc::new(moved))])
            }
            ("tg.keep", [value]) => Ok(vec![value.clone()]),
            ("tg.dot", [Datum::Int(sum), Datum::Int(left), Datum::Int(right)]) => {
                Ok(vec![Datum::Int(dot(*sum, *left, *right))])
            }
            ("tg.dot", _) => {
                let dots = self.lanes(op, operands)?.into_iter().map(|lane| match lane[..] {
                    [Datum::Int(sum), Datum::Int(left), Datum::Int(right)] => {
                        Ok(Datum::Int(dot(sum, left, right)))
                    }
                    _ => Err(self.unsupported(op)),
                });
                Ok(vec![vector(dots.collect::<Result<_>>()?)])
            }
            ("tg.widen_load", [base, index]) => {
                let ty = module.value_type(module.result(op, 0));
                let is_vector = matches!(module.context().type_data(ty), TypeData::Vector { .. });
                let width = if is_vector { self.width(op, ty)? } else { 1 };
                let lanes = self.line(op, base, std::slice::from_ref(index), width)?;
                let wide = lanes.into_iter().map(|lane| match lane {
                    Datum::Int(pair) => Ok(Datum::Int(widened(pair))),
                    _ => Err(self.unsupported(op)),
                });
                let wide = wide.collect::<Result<Vec<Datum>>>()?;
                Ok(if is_vector { vec![vector(wide)] } else { wide })
            }
            _ => Err(self.unsupported(op)),
        }
    }
}

/// `sum` and the products of both halves, in 32 bits.
fn dot(sum: i128, left: i128, right: i128) -> i128 {
    let product = |shift: u32| wrap(left >> shift, 16) * wrap(right >> shift, 16);
    wrap(sum + product(0) + product(16), 32)
}

/// Two bytes with a sign as two integers of 16 bits.
fn widened(pair: i128) -> i128 {
    let half = |shift: u32| unsigned(wrap(pair >> shift, 8), 16);
    wrap(half(0) | half(8) << 16, 32)
}

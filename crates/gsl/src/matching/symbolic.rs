//! Extents of tensors as attribute values.
//!
//! A constraint on a symbolic extent holds only if it holds for all values of the symbols, each of
//! which is at least 0 and within the range that is assumed of it. An unknown extent compares with nothing, not even itself.

use std::any::Any;
use std::sync::Arc;

use tangram_affine::symbolic::{Expr, Facts, Truth};
use tangram_dialects::dims;
use tangram_ir::{Context, Dim};

use crate::ast::BinaryOp;
use crate::eval::{AttrValue, SymbolicDim};

/// An extent given by an expression over symbols, and what is assumed of these.
#[derive(Debug)]
struct Extent(Expr, Arc<Facts>);

/// An extent of which nothing is known.
#[derive(Debug)]
struct Unknown;

/// Returns an extent as an attribute value.
pub(crate) fn from_dim(context: &Context, dim: Dim) -> AttrValue {
    dims::expr(context, dim).map_or_else(unknown, |expr| from_expr(context, &expr))
}

/// Returns an expression as an attribute value: an integer where it is one.
pub(crate) fn from_expr(context: &Context, expr: &Expr) -> AttrValue {
    valued(expr, &dims::facts(context))
}

fn valued(expr: &Expr, facts: &Arc<Facts>) -> AttrValue {
    match expr.as_int() {
        Some(value) => AttrValue::Int(value),
        None => AttrValue::Dim(Arc::new(Extent(expr.clone(), Arc::clone(facts)))),
    }
}

/// Returns the value of which nothing is known.
pub(crate) fn unknown() -> AttrValue {
    AttrValue::Dim(Arc::new(Unknown))
}

/// Returns the expression of an integer or extent, if it is known.
pub(crate) fn to_expr(value: &AttrValue) -> Option<Expr> {
    match value {
        AttrValue::Int(value) => Some(Expr::int(*value)),
        AttrValue::Dim(dim) => {
            let any: &dyn Any = dim.as_ref();
            any.downcast_ref::<Extent>().map(|extent| extent.0.clone())
        }
        _ => None,
    }
}

impl SymbolicDim for Extent {
    fn arithmetic(&self, op: BinaryOp, other: &AttrValue, swapped: bool) -> Option<AttrValue> {
        let other = to_expr(other)?;
        let (a, b) = if swapped { (&other, &self.0) } else { (&self.0, &other) };
        let result = match op {
            BinaryOp::Add => a.try_add(b),
            BinaryOp::Sub => a.try_sub(b),
            BinaryOp::Mul => a.try_mul(b),
            BinaryOp::FloorDiv => a.floor_div(b),
            BinaryOp::CeilDiv => a.ceil_div(b),
            BinaryOp::Mod => a.modulo(b),
            BinaryOp::Max => self.1.max(a, b),
            BinaryOp::Min => self.1.min(a, b),
            _ => None,
        };
        result.map(|expr| valued(&expr, &self.1))
    }

    fn compare(&self, op: BinaryOp, other: &AttrValue, swapped: bool) -> Option<bool> {
        let other = to_expr(other)?;
        let (a, b) = if swapped { (&other, &self.0) } else { (&self.0, &other) };
        let facts = &self.1;
        let truth = match op {
            BinaryOp::Eq | BinaryOp::Ne => facts.equal(a, b),
            BinaryOp::Lt => facts.less(a, b),
            BinaryOp::Le => facts.less_equal(a, b),
            BinaryOp::Gt => facts.less(b, a),
            BinaryOp::Ge => facts.less_equal(b, a),
            _ => Truth::Unknown,
        };
        let holds = match truth {
            Truth::True => true,
            Truth::False => false,
            Truth::Unknown => return None,
        };
        Some(holds != (op == BinaryOp::Ne))
    }
}

impl SymbolicDim for Unknown {
    fn arithmetic(&self, _: BinaryOp, _: &AttrValue, _: bool) -> Option<AttrValue> {
        None
    }

    fn compare(&self, _: BinaryOp, _: &AttrValue, _: bool) -> Option<bool> {
        None
    }
}

//! Constants against the numbers in rules.
//!
//! A number in a rule is real; a constant is what is left of it after rounding to its element
//! type. They are equal when the number rounds to the constant: `0.1` matches the `f32` and the
//! `f16` that are nearest to a tenth, and no other. There is no tolerance.

use tangram_dialects::constant;
use tangram_ir::{AttrData, Module, Value};
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor};

use super::attribute;
use crate::ast::{ExprId, ExprKind, Rule};
use crate::eval::{AttrValue, Env, equal, evaluate, with_symbol};

/// Returns one element and the number of elements of a constant that has one value throughout.
pub(crate) fn splat(module: &Module, value: Value) -> Option<Tensor> {
    let attr = constant::constant_attr(module, value)?;
    if let AttrData::Dense { ty, bytes, splat: true } = module.context().attr_data(attr) {
        let (dtype, shape) = constant::static_tensor(module.context(), *ty)?;
        let empty = shape.contains(&0);
        return Tensor::from_bytes(dtype, [], bytes.to_vec()).ok().filter(|_| !empty);
    }
    let tensor = constant::constant_tensor(module, value)?;
    if tensor.is_empty() || tensor.dtype() == DType::String || !tensor.is_splat() {
        return None;
    }
    first_element(&tensor)
}

fn first_element(tensor: &Tensor) -> Option<Tensor> {
    let dtype = tensor.dtype();
    let bytes = tensor.bytes().slice(..dtype.byte_len(1)?);
    Tensor::from_bytes(dtype, [], bytes).ok()
}

/// Returns whether number `value` of a rule rounds to `element` in type `dtype`.
pub(crate) fn rounds_to(value: &AttrValue, element: &AttrValue, dtype: DType) -> bool {
    match (value, element) {
        (AttrValue::Single(number), _) => rounds_to(&AttrValue::Float(*number), element, dtype),
        (AttrValue::Float(a), AttrValue::Float(b)) if a.is_nan() || b.is_nan() => {
            a.is_nan() && b.is_nan()
        }
        (AttrValue::Float(_) | AttrValue::Int(_), AttrValue::Float(found)) => {
            let number = match value {
                AttrValue::Int(number) => *number as f64,
                AttrValue::Float(number) => *number,
                _ => return false,
            };
            round(number, dtype) == Some(*found)
        }
        (AttrValue::Float(a), AttrValue::Int(b)) => {
            equal(&AttrValue::Float(*a), &AttrValue::Int(*b)) == Ok(true)
        }
        (AttrValue::Int(number), AttrValue::Bool(flag)) => *number == i64::from(*flag),
        _ => equal(value, element) == Ok(true),
    }
}

/// Rounds a number to an element type.
fn round(number: f64, dtype: DType) -> Option<f64> {
    match dtype {
        DType::F64 => Some(number),
        DType::F32 => Some(f64::from(number as f32)),
        _ => cast(&Tensor::scalar(number), dtype).ok()?.f64s().ok()?.pop(),
    }
}

/// Matches the elements of a constant against an expression: `_` stands for any part of it.
///
/// Recursion is bounded by the depth of a rule.
pub(crate) fn matches(
    rule: &Rule,
    expr: ExprId,
    value: &AttrValue,
    dtype: DType,
    env: &mut dyn Env,
) -> bool {
    match (&rule.expr(expr).kind, value) {
        (ExprKind::Any, _) => true,
        (ExprKind::Tuple(exprs), AttrValue::Tuple(fields)) => {
            exprs.len() == fields.len()
                && exprs.iter().zip(fields).all(|(e, field)| matches(rule, *e, field, dtype, env))
        }
        (ExprKind::Var { symbol, body, .. }, AttrValue::Tuple(fields)) => {
            fields.iter().enumerate().all(|(i, field)| {
                let index = AttrValue::Int(i as i64);
                with_symbol(env, *symbol, index, |env| matches(rule, *body, field, dtype, env))
            })
        }
        _ => evaluate(rule, expr, env).is_ok_and(|found| same(&found, value, dtype)),
    }
}

/// Compares tuples field by field; the depth is that of the rank of a tensor.
fn same(found: &AttrValue, value: &AttrValue, dtype: DType) -> bool {
    match (found, value) {
        (AttrValue::Tuple(a), AttrValue::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, dtype))
        }
        _ => rounds_to(found, value, dtype),
    }
}

/// Returns the elements of a constant as a value with their type.
pub(crate) fn elements(module: &Module, value: Value) -> Option<(AttrValue, DType)> {
    let elements = attribute::of_value(module, value, "value")?;
    let ty = module.context().element_type(module.value_type(value))?;
    Some((elements, tangram_dialects::dtype::dtype_of(module.context(), ty)?))
}

//! Binary operations on values. Integers are exact: what overflows has no value.

use super::{AttrValue, EvalError};
use crate::ast::BinaryOp;

type Result<T> = std::result::Result<T, EvalError>;

/// Applies a binary operation.
pub(super) fn binary(op: BinaryOp, lhs: &AttrValue, rhs: &AttrValue) -> Result<AttrValue> {
    use BinaryOp::{Add, And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    match op {
        Eq => equal(lhs, rhs).map(AttrValue::Bool),
        Ne => equal(lhs, rhs).map(|equal| AttrValue::Bool(!equal)),
        Lt | Le | Gt | Ge => order(op, lhs, rhs).map(AttrValue::Bool),
        And => Ok(AttrValue::Bool(boolean(lhs)? && boolean(rhs)?)),
        Or => Ok(AttrValue::Bool(boolean(lhs)? || boolean(rhs)?)),
        _ => match (lhs.plain(), rhs.plain()) {
            (AttrValue::Int(a), AttrValue::Int(b)) => integers(op, *a, *b),
            (AttrValue::Tuple(a), AttrValue::Tuple(b)) if op == Add => {
                Ok(AttrValue::Tuple(a.iter().chain(b).cloned().collect()))
            }
            (AttrValue::Dim(dim), rhs @ (AttrValue::Int(_) | AttrValue::Dim(_))) => {
                dim.arithmetic(op, rhs, false).ok_or(EvalError::Undecided)
            }
            (lhs @ AttrValue::Int(_), AttrValue::Dim(dim)) => {
                dim.arithmetic(op, lhs, true).ok_or(EvalError::Undecided)
            }
            (lhs, rhs) => floats(op, number(lhs)?, number(rhs)?).map(|value| match value {
                AttrValue::Float(x) if is_single(lhs) || is_single(rhs) => AttrValue::Single(x),
                value => value,
            }),
        },
    }
}

/// Decides equality; values of different kinds differ, but for integers and floats.
pub(crate) fn equal(lhs: &AttrValue, rhs: &AttrValue) -> Result<bool> {
    match (lhs, rhs) {
        (AttrValue::Spelled(a), AttrValue::Spelled(b)) => {
            Ok(equal(&a.0, &b.0)? || equal(&a.0, &b.1)? || equal(&a.1, &b.0)?)
        }
        (AttrValue::Spelled(both), other) | (other, AttrValue::Spelled(both)) => {
            Ok(equal(&both.0, other)? || equal(&both.1, other)?)
        }
        (AttrValue::Int(a), AttrValue::Int(b)) => Ok(a == b),
        (AttrValue::Bool(a), AttrValue::Bool(b)) => Ok(a == b),
        (AttrValue::Str(a), AttrValue::Str(b)) => Ok(a == b),
        (AttrValue::Float(a), AttrValue::Float(b)) => Ok(a == b),
        (AttrValue::Single(a), b) | (b, AttrValue::Single(a)) => {
            Ok(number(b).is_ok_and(|b| *a as f32 == b as f32))
        }
        (AttrValue::Int(a), AttrValue::Float(b)) | (AttrValue::Float(b), AttrValue::Int(a)) => {
            Ok(*a as f64 == *b && b.abs() < 2f64.powi(63) && *b as i64 == *a)
        }
        (AttrValue::Dim(dim), AttrValue::Int(_) | AttrValue::Dim(_)) => {
            dim.compare(BinaryOp::Eq, rhs, false).ok_or(EvalError::Undecided)
        }
        (AttrValue::Int(_), AttrValue::Dim(dim)) => {
            dim.compare(BinaryOp::Eq, lhs, true).ok_or(EvalError::Undecided)
        }
        (AttrValue::Tuple(a), AttrValue::Tuple(b)) => equal_fields(a, b),
        _ => Ok(false),
    }
}

/// One pair that differs for sure decides, whatever the others are.
fn equal_fields(a: &[AttrValue], b: &[AttrValue]) -> Result<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    let mut undecided = None;
    for (a, b) in a.iter().zip(b) {
        match equal(a, b) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) => undecided = Some(error),
        }
    }
    undecided.map_or(Ok(true), Err)
}

fn order(op: BinaryOp, lhs: &AttrValue, rhs: &AttrValue) -> Result<bool> {
    let (lhs, rhs) = (lhs.plain(), rhs.plain());
    let ordering = match (lhs, rhs) {
        (AttrValue::Dim(dim), AttrValue::Int(_) | AttrValue::Dim(_)) => {
            return dim.compare(op, rhs, false).ok_or(EvalError::Undecided);
        }
        (AttrValue::Int(_), AttrValue::Dim(dim)) => {
            return dim.compare(op, lhs, true).ok_or(EvalError::Undecided);
        }
        (AttrValue::Int(a), AttrValue::Int(b)) => Some(a.cmp(b)),
        _ if is_single(lhs) || is_single(rhs) => {
            (number(lhs)? as f32).partial_cmp(&(number(rhs)? as f32))
        }
        _ => number(lhs)?.partial_cmp(&number(rhs)?),
    };
    Ok(ordering.is_some_and(|ordering| match op {
        BinaryOp::Lt => ordering.is_lt(),
        BinaryOp::Le => ordering.is_le(),
        BinaryOp::Gt => ordering.is_gt(),
        _ => ordering.is_ge(),
    }))
}

fn integers(op: BinaryOp, a: i64, b: i64) -> Result<AttrValue> {
    let value = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Max => Some(a.max(b)),
        BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Div => return floats(op, a as f64, b as f64),
        BinaryOp::FloorDiv => floor_div(a, b),
        // ⌈a/b⌉ = ⌊a/b⌋, plus one if a remainder is left.
        BinaryOp::CeilDiv => {
            floor_div(a, b).and_then(|q| q.checked_add(i64::from(a.checked_rem(b)? != 0)))
        }
        _ => floor_div(a, b).map(|_| (i128::from(a) - floor(a, b) * i128::from(b)) as i64),
    };
    value.map(AttrValue::Int).ok_or(EvalError::Arithmetic(op.text()))
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    if b == 0 { None } else { i64::try_from(floor(a, b)).ok() }
}

/// Needs `b` other than 0.
fn floor(a: i64, b: i64) -> i128 {
    let (a, b) = (i128::from(a), i128::from(b));
    let quotient = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

fn floats(op: BinaryOp, a: f64, b: f64) -> Result<AttrValue> {
    Ok(AttrValue::Float(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div if b == 0.0 => return Err(EvalError::Arithmetic("/")),
        BinaryOp::Div => a / b,
        BinaryOp::Max => a.max(b),
        BinaryOp::Min => a.min(b),
        _ => return Err(EvalError::Kind { expected: "integers", found: "a float".into() }),
    }))
}

fn is_single(value: &AttrValue) -> bool {
    matches!(value, AttrValue::Single(_))
}

pub(super) fn boolean(value: &AttrValue) -> Result<bool> {
    match value.plain() {
        AttrValue::Bool(value) => Ok(*value),
        other => Err(wrong("a truth value", other)),
    }
}

pub(super) fn number(value: &AttrValue) -> Result<f64> {
    match value.plain() {
        AttrValue::Int(value) => Ok(*value as f64),
        AttrValue::Float(value) | AttrValue::Single(value) => Ok(*value),
        other => Err(wrong("a number", other)),
    }
}

pub(super) fn integer(value: &AttrValue) -> Result<i64> {
    match value.plain() {
        AttrValue::Int(value) => Ok(*value),
        AttrValue::Dim(_) => Err(EvalError::Undecided),
        other => Err(wrong("an integer", other)),
    }
}

pub(super) fn wrong(expected: &'static str, found: &AttrValue) -> EvalError {
    EvalError::Kind { expected, found: found.kind().to_owned() }
}

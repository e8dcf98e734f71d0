//! Mathematical functions, reductions and layouts.

use super::arithmetic::{binary, boolean, number};
use super::{AttrValue, EvalError};
use crate::ast::{BinaryOp, Function, Reduction};

type Result<T> = std::result::Result<T, EvalError>;

/// Applies a mathematical function.
pub(super) fn call(function: Function, args: &[AttrValue]) -> Result<AttrValue> {
    let none = EvalError::Arithmetic(function.text());
    let Some(first) = args.first().map(AttrValue::plain) else { return Err(none) };
    if let AttrValue::Int(value) = first {
        match function {
            Function::Abs => return value.checked_abs().map(AttrValue::Int).ok_or(none),
            Function::Floor | Function::Ceil | Function::Round => return Ok(first.clone()),
            _ => {}
        }
    }
    let x = number(first)?;
    let value = match function {
        Function::Sqrt => x.sqrt(),
        Function::Rsqrt => x.sqrt().recip(),
        Function::Exp => x.exp(),
        Function::Log => x.ln(),
        Function::Tanh => x.tanh(),
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        Function::Abs => x.abs(),
        Function::Floor => return whole(x.floor(), none),
        Function::Ceil => return whole(x.ceil(), none),
        Function::Round => return whole(x.round_ties_even(), none),
        Function::Float => x,
        Function::Pow => x.powf(number(args.get(1).ok_or(none.clone())?)?),
    };
    // The square root of -1 is no value; an infinite argument may have an infinite result.
    match first {
        _ if value.is_nan() => Err(none),
        AttrValue::Single(_) => Ok(AttrValue::Single(value)),
        _ => Ok(AttrValue::Float(value)),
    }
}

fn whole(value: f64, none: EvalError) -> Result<AttrValue> {
    let fits = (-(2f64.powi(63))..2f64.powi(63)).contains(&value);
    if fits { Ok(AttrValue::Int(value as i64)) } else { Err(none) }
}

/// Reduces values, of which there must be one at least.
pub(super) fn reduce(op: Reduction, values: &[AttrValue]) -> Result<AttrValue> {
    let (first, rest) = values.split_first().ok_or(EvalError::Empty)?;
    let fold = |op| rest.iter().try_fold(first.clone(), |all, value| binary(op, &all, value));
    match op {
        Reduction::Sum => fold(BinaryOp::Add),
        Reduction::Product => fold(BinaryOp::Mul),
        Reduction::Max => fold(BinaryOp::Max),
        Reduction::Min => fold(BinaryOp::Min),
        Reduction::Mean => {
            let count = AttrValue::Float(values.len() as f64);
            binary(BinaryOp::Div, &fold(BinaryOp::Add)?, &count)
        }
        Reduction::All | Reduction::Any => {
            let truths: Vec<bool> = values.iter().map(boolean).collect::<Result<_>>()?;
            let all = op == Reduction::All;
            let holds = if all { truths.iter().all(|t| *t) } else { truths.iter().any(|t| *t) };
            Ok(AttrValue::Bool(holds))
        }
    }
}

/// Finds where each letter of layout `target` stands in `source`.
pub(super) fn remap(source: &AttrValue, target: &AttrValue) -> Result<AttrValue> {
    let (AttrValue::Str(from), AttrValue::Str(to)) = (source, target) else {
        return Err(super::arithmetic::wrong("two layout strings", source));
    };
    let none = EvalError::Arithmetic("remap");
    let place = |letter| from.chars().position(|c| c == letter).map(|at| AttrValue::Int(at as i64));
    let same_length = from.chars().count() == to.chars().count();
    let places: Option<Vec<_>> = to.chars().map(place).collect();
    places.filter(|_| same_length).map(AttrValue::Tuple).ok_or(none)
}

//! Numbers and tuples of rules as tensors.

use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor, checked_count};

use crate::eval::{AttrValue, MAX_ELEMENTS};

/// Returns whether a value holds a float anywhere.
pub(super) fn has_floats(value: &AttrValue) -> bool {
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        match value {
            AttrValue::Float(_) | AttrValue::Single(_) => return true,
            AttrValue::Tuple(fields) => stack.extend(fields),
            _ => {}
        }
    }
    false
}

/// Returns the element type of a value that nothing else says: `float32`, `int64` or `bool`.
pub(super) fn natural_dtype(value: &AttrValue) -> DType {
    let mut stack = vec![value];
    let mut dtype = DType::I64;
    while let Some(value) = stack.pop() {
        match value {
            AttrValue::Float(_) | AttrValue::Single(_) => return DType::F32,
            AttrValue::Bool(_) => dtype = DType::Bool,
            AttrValue::Tuple(fields) => stack.extend(fields),
            _ => {}
        }
    }
    dtype
}

/// Makes a tensor of nested tuples, or of one number in the given shape.
///
/// # Errors
/// Tuples of unequal lengths, other values than numbers, or integers that are none in `dtype`.
pub(crate) fn from_value(
    value: &AttrValue,
    dtype: DType,
    shape: Option<&[usize]>,
) -> Result<Tensor, String> {
    let (found, scalars) = flatten(value)?;
    let broken = |x: &&&AttrValue| matches!(x, AttrValue::Float(x) | AttrValue::Single(x) if x.fract() != 0.0);
    let exact = dtype.is_int() || dtype == DType::Bool;
    if let Some(other) = scalars.iter().find(broken).filter(|_| exact) {
        return Err(format!("{} is no {}", crate::matching::show(other), dtype.name()));
    }
    let whole = scalars.iter().all(|x| !matches!(x, AttrValue::Float(_) | AttrValue::Single(_)));
    let made = if whole {
        let ints: Vec<i64> = scalars.iter().map(integer).collect::<Option<_>>().ok_or(NUMBERS)?;
        Tensor::from_vec(&found, ints)
    } else {
        let floats: Vec<f64> = scalars.iter().map(float).collect::<Option<_>>().ok_or(NUMBERS)?;
        Tensor::from_vec(&found, floats)
    };
    let made = made.and_then(|made| cast(&made, dtype)).map_err(|error| error.to_string())?;
    match shape {
        Some(shape) if shape != found.as_slice() => filled(&made, shape),
        _ => Ok(made),
    }
}

const NUMBERS: &str = "a constant is made of numbers";

fn filled(one: &Tensor, shape: &[usize]) -> Result<Tensor, String> {
    if one.len() != 1 {
        return one.reshaped(shape).map_err(|error| error.to_string());
    }
    let count = checked_count(one.dtype(), shape).map_err(|error| error.to_string())?;
    if count > MAX_ELEMENTS || one.dtype().is_packed() {
        return Err(format!("a constant of {count} elements is too large"));
    }
    Tensor::from_bytes(one.dtype(), shape, one.bytes().repeat(count)).map_err(|e| e.to_string())
}

/// Returns the extents and elements of nested tuples. Each level is as long as its first part.
fn flatten(value: &AttrValue) -> Result<(Vec<usize>, Vec<&AttrValue>), String> {
    let mut shape = Vec::new();
    let mut level = vec![value];
    while let Some(AttrValue::Tuple(first)) = level.first() {
        let mut next = Vec::new();
        for part in &level {
            match part {
                AttrValue::Tuple(fields) if fields.len() == first.len() => next.extend(fields),
                _ => return Err("the tuples of a constant have unequal lengths".to_owned()),
            }
        }
        shape.push(first.len());
        level = next;
    }
    Ok((shape, level))
}

fn integer(value: &&AttrValue) -> Option<i64> {
    match value {
        AttrValue::Int(n) => Some(*n),
        AttrValue::Bool(flag) => Some(i64::from(*flag)),
        _ => None,
    }
}

fn float(value: &&AttrValue) -> Option<f64> {
    match value {
        AttrValue::Float(x) | AttrValue::Single(x) => Some(*x),
        other => integer(other).map(|n| n as f64),
    }
}

//! Attributes of operations in normal form: one value, however it is written.
//!
//! Models and rules write the same thing in several ways: dimension 2 of three is -1 as well, an
//! absent `axis` of a softmax is -1, a split in two halves is a split at the middle. What a rule
//! reads equals each of its spellings ([`AttrValue::Spelled`]):
//!
//! | attribute | read as | equals as well |
//! | --- | --- | --- |
//! | `axis`, `axes` of known rank | what is written | the same, counted from the other end |
//! | `axis` of a reduction without one | all dimensions | |
//! | `indices_or_sections` of a known extent | the number of equal parts | where they begin |
//! | one that is absent | what its definition says of that: a value, all dimensions in reverse, those of extent 1 | |

use tangram_dialects::constant;
use tangram_ir::{AttrDef, AttrKind, Module, Op, Value};

use super::attribute::from_attr;
use crate::eval::AttrValue;
use crate::schema::meaning_of_absence;

/// Returns attribute `name` of an operation, or what its absence means.
pub(crate) fn of_op(module: &Module, op: Op, name: &str) -> Option<AttrValue> {
    let value = match module.attr(op, name) {
        Some(attr) => from_attr(module, attr)?,
        None => absent(module, op, name)?,
    };
    Some(spelled(module, op, name, value))
}

/// Returns a value with its dimensions counted from the front.
pub(crate) fn from_front(value: AttrValue) -> AttrValue {
    match value {
        AttrValue::Spelled(both) => match *both {
            (AttrValue::Int(a), AttrValue::Int(b)) => AttrValue::Int(a.max(b)),
            (value, _) => from_front(value),
        },
        AttrValue::Tuple(fields) => AttrValue::Tuple(fields.into_iter().map(from_front).collect()),
        value => value,
    }
}

/// Returns whether two operations agree in an attribute, however they write it.
pub(super) fn agree(module: &Module, (a, b): (Op, Op), name: &str) -> bool {
    if module.attr(a, name) == module.attr(b, name) {
        return true;
    }
    match (of_op(module, a, name), of_op(module, b, name)) {
        (Some(a), Some(b)) => crate::eval::equal(&a, &b) == Ok(true),
        _ => false,
    }
}

/// Returns whether two lists of dimensions are the same set, where their order says nothing.
pub(super) fn same_dimensions(
    module: &Module,
    op: Op,
    name: &str,
    (found, wanted): (&AttrValue, &AttrValue),
) -> bool {
    let is_set = attribute(module, op, name).is_some_and(|def| def.kind == AttrKind::Ints);
    let (true, Some(rank)) = (is_set && name == "axis", rank(module, op)) else { return false };
    let places = |value: &AttrValue| {
        let AttrValue::Tuple(fields) = value.plain() else { return None };
        let place = |field: &AttrValue| match *field.plain() {
            AttrValue::Int(n) if n < 0 => Some(n + rank),
            AttrValue::Int(n) => Some(n),
            _ => None,
        };
        let mut places = fields.iter().map(place).collect::<Option<Vec<i64>>>()?;
        places.sort_unstable();
        Some(places)
    };
    places(found).is_some_and(|found| Some(found) == places(wanted))
}

fn attribute(module: &Module, op: Op, name: &str) -> Option<&'static AttrDef> {
    module.def(op)?.attrs.iter().find(|def| def.name == name)
}

fn spelled(module: &Module, op: Op, name: &str, value: AttrValue) -> AttrValue {
    match (name, &value) {
        ("axis" | "axes", AttrValue::Int(_) | AttrValue::Tuple(_)) => match rank(module, op) {
            Some(rank) => dimension(value, rank),
            None => value,
        },
        ("indices_or_sections", _) => parts(module, op, value),
        _ => value,
    }
}

/// Dimensions as they are written, each of which counts from the other end as well.
fn dimension(value: AttrValue, rank: i64) -> AttrValue {
    match value {
        AttrValue::Int(n) if (-rank..rank).contains(&n) => {
            let other = if n < 0 { n + rank } else { n - rank };
            AttrValue::Int(n).or_written(AttrValue::Int(other))
        }
        AttrValue::Tuple(fields) => {
            AttrValue::Tuple(fields.into_iter().map(|field| dimension(field, rank)).collect())
        }
        other => other,
    }
}

/// The rank in which an operation counts dimensions: that of its data; where it makes dimensions,
/// or its data is no tensor, that of its result.
fn rank(module: &Module, op: Op) -> Option<i64> {
    let of = |value: Value| {
        let (dims, _) = module.context().as_tensor(module.value_type(value))?;
        i64::try_from(dims.len()).ok()
    };
    let makes = matches!(module.name_text(op), "nn.expand_dims" | "nn.one_hot");
    let data = module.operands(op).next().filter(|_| !makes).and_then(of);
    data.or_else(|| module.results(op).next().and_then(of))
}

/// Equal parts of a known extent, by their number and by where they begin.
fn parts(module: &Module, op: Op, value: AttrValue) -> AttrValue {
    let extent = || {
        let axis = match from_front(of_op(module, op, "axis")?) {
            AttrValue::Int(n) => usize::try_from(n).ok()?,
            _ => return None,
        };
        let data = module.operands(op).next()?;
        let (_, shape) = constant::static_tensor(module.context(), module.value_type(data))?;
        i64::try_from(*shape.get(axis)?).ok()
    };
    let begins = |count: i64, extent: i64| -> AttrValue {
        (1..count).map(|i| i * (extent / count)).collect::<Vec<i64>>().into()
    };
    let equal = |count: &i64, extent: &i64| (1..=4096).contains(count) && extent % count == 0;
    let Some(extent) = extent() else { return value };
    match &value {
        AttrValue::Int(count) if equal(count, &extent) => {
            let begins = begins(*count, extent);
            value.or_written(begins)
        }
        AttrValue::Tuple(fields) => {
            let count = fields.len() as i64 + 1;
            let same = equal(&count, &extent)
                && crate::eval::equal(&value, &begins(count, extent)) == Ok(true);
            if same { AttrValue::Int(count).or_written(value) } else { value }
        }
        _ => value,
    }
}

/// What the absence of an attribute means, where a value says it.
fn absent(module: &Module, op: Op, name: &str) -> Option<AttrValue> {
    let def = attribute(module, op, name)?;
    if def.required {
        return None;
    }
    // All dimensions, unless the operation has been told that none are meant.
    if name == "axis" && attribute(module, op, "noop_with_empty_axes").is_some() {
        let noop = of_op(module, op, "noop_with_empty_axes");
        let operand = module.operand_count(op) > 1;
        let all = matches!(noop, Some(AttrValue::Bool(false))) && !operand;
        let rank = rank(module, op).filter(|_| all)?;
        return Some((0..rank).collect::<Vec<i64>>().into());
    }
    meaning_of_absence(def).or_else(|| meaning_here(module, op, def))
}

/// What the absence of an attribute means for this operand: all dimensions in reverse, or those of extent 1.
fn meaning_here(module: &Module, op: Op, def: &AttrDef) -> Option<AttrValue> {
    if def.doc.contains("reversal if absent") {
        return Some((0..rank(module, op)?).rev().collect::<Vec<i64>>().into());
    }
    // Dimensions may be said by an operand.
    if def.doc.contains("every such dimension if absent") && module.operand_count(op) == 1 {
        let data = module.operands(op).next()?;
        let (_, shape) = constant::static_tensor(module.context(), module.value_type(data))?;
        let ones = shape.iter().enumerate().filter(|(_, extent)| **extent == 1);
        return Some(ones.map(|(at, _)| at as i64).collect::<Vec<i64>>().into());
    }
    None
}

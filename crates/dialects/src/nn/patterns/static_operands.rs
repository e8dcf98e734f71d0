//! `static-operands`: operands that are known become attributes.
//!
//! ONNX turned attributes into inputs over the years; as attributes again they are seen by rules
//! and do not depend on what computes them.

use tangram_ir::{Attr, AttrData, Context, FloatKind, Module, Op, OpState, Point, TypeData, Value};
use tangram_rewrite::{NoMatch, Rewriter, Roots};

use super::{Matched, Native, because, present};
use crate::constant;
use crate::infer::value_contents;
use crate::nn::{self, Either, Form, NnOp};

pub(super) fn pattern(context: &Context) -> Native {
    let turns = |op: &&NnOp| op.either.iter().any(|either| either.form != Form::Shape);
    let names = nn::ops().filter(turns).map(|op| context.name(op.def.name)).collect();
    Native::new("static-operands", "fold", Roots::Names(names), 600, rewrite)
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let context = module.context();
    let entry = nn::entry(module.name_text(op)).ok_or(NoMatch::SILENT)?;
    let mut attrs = Vec::new();
    let mut gone = Vec::new();
    for &Either { operand: i, attr, form } in entry.either {
        let Some(value) = present(module, op, i) else { continue };
        gone.push(i);
        // ONNX gives the empty list where one of two is not wanted.
        let one_of = entry.sample.one_of.is_some_and(|both| both.contains(&attr));
        if one_of && constant_len(module, value) == Some(0) {
            continue;
        }
        match attribute(module, value, form) {
            Some(attribute) => attrs.push((context.str(attr), attribute)),
            None => return because(rewriter, || format!("operand {i} is not known")),
        }
    }
    if gone.is_empty() {
        return Err(NoMatch::SILENT);
    }
    drop_operands(rewriter, op, &gone);
    for (name, attribute) in attrs {
        rewriter.set_attr(op, name, Some(attribute));
    }
    Ok(())
}

/// Leaves out the operands of these numbers; `nn.none` stands before one that stays.
pub(super) fn drop_operands(rewriter: &mut Rewriter<'_>, op: Op, gone: &[usize]) {
    let module = rewriter.module();
    let stays = |i: usize| !gone.contains(&i) && present(module, op, i).is_some();
    let count = (0..module.operand_count(op)).rev().find(|&i| stays(i)).map_or(0, |i| i + 1);
    let mut values: Vec<Value> = module.operands(op).take(count).collect();
    if gone.iter().any(|&i| i < count) {
        let context = module.context();
        let mut state = OpState::new(context.name("nn.none"), module.loc(op));
        state.results.push(context.ty(TypeData::None));
        let none = rewriter.create(Point::Before(op), state);
        let none = rewriter.module().result(none, 0);
        for &i in gone.iter().filter(|&&i| i < count) {
            values[i] = none;
        }
    }
    rewriter.set_operands(op, &values);
}

fn attribute(module: &Module, value: Value, form: Form) -> Option<Attr> {
    let context = module.context();
    match form {
        Form::Number => number(context, constant::constant_tensor(module, value)?),
        Form::Numbers => {
            let numbers = constant::constant_tensor(module, value)?.f64s().ok()?;
            let item = |&x: &f64| context.float_attr(x, FloatKind::F32);
            Some(context.array_attr(&numbers.iter().map(item).collect::<Vec<_>>()))
        }
        Form::Ints => Some(context.i64s_attr(&ints(module, value)?)),
        // `static-shape` reckons with what is known of the operand.
        Form::Shape => None,
        Form::Int => match ints(module, value)?[..] {
            [n] => Some(context.i64_attr(n)),
            _ => None,
        },
        Form::Starts => {
            let extents = ints(module, value)?;
            let mut start = 0i64;
            let mut starts = Vec::new();
            for n in extents.iter().take(extents.len().saturating_sub(1)) {
                start = start.checked_add(*n)?;
                starts.push(start);
            }
            Some(context.i64s_attr(&starts))
        }
    }
}

/// A scalar as an integer or float attribute, if that is exact.
fn number(context: &Context, tensor: tangram_tensor::Tensor) -> Option<Attr> {
    if tensor.len() != 1 {
        return None;
    }
    if tensor.dtype().is_int() {
        return Some(context.i64_attr(*tensor.i64s().ok()?.first()?));
    }
    let x = *tensor.f64s().ok()?.first()?;
    let ty = context.float_type(FloatKind::F64);
    Some(context.attr(AttrData::Float { bits: x.to_bits(), ty }))
}

/// How many elements a constant has.
fn constant_len(module: &Module, value: Value) -> Option<usize> {
    constant::constant_tensor(module, value).map(|tensor| tensor.len())
}

/// The elements, if all are known numbers.
fn ints(module: &Module, value: Value) -> Option<Vec<i64>> {
    if let Some(tensor) = constant::constant_tensor(module, value) {
        return tensor.i64s().ok();
    }
    value_contents(module, value)?.iter().map(|entry| entry.as_ref()?.as_int()).collect()
}

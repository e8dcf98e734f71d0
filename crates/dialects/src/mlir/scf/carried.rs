//! Canonicalisation of what loops carry: tensors of types that say more, and values in the order in
//! which they are handed on.

use tangram_ir::{OpState, Point, Type, Value};

use super::loops::condition;
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::tensor::{remake, says_more};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("for-carries-past-cast", &["scf.for"], carries_past_cast),
    ("while-in-order", &["scf.while"], in_order),
];

/// A tensor that is carried may be of the type that it had before a cast; inside it is cast.
fn carries_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let body = cx.only_block(0)?;
    let end = cx.module().last_op(body)?;
    let cast = cx.context.name("tensor.cast");
    let mut operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let args = cx.module().args(body).to_vec();
    let before = |(at, &init): (usize, &Value)| {
        let source = cx.module().operand(cx.def_of(init, cast)?, 0);
        let (ty, old) = (cx.type_of(source), cx.type_of(init));
        let used_once = cx.module().has_one_use(*args.get(at + 1)?);
        (used_once && ty != old && says_more(cx, ty, old)).then_some((at, source))
    };
    let (at, source) = operands[3..].iter().enumerate().find_map(before)?;
    let (ty, old) = (cx.type_of(source), cx.type_of(operands[3 + at]));
    let fits = cx.module().operand_count(end) == operands.len() - 3;
    if !fits || args.len() != operands.len() - 2 {
        return None;
    }
    operands[3 + at] = source;
    cx.rewriter.set_argument_type(body, at + 1, ty);
    let seen = made_cast(cx, Point::Start(body), args[at + 1], old);
    let inside = cx.module().def_op(seen);
    cx.rewriter.replace_uses_if(args[at + 1], seen, |used| Some(used.op) != inside);
    let given = cx.module().operand(end, at);
    let given = made_cast(cx, Point::Before(end), given, ty);
    cx.rewriter.set_operand(end, at, given);
    let module = cx.module();
    let mut types: Vec<Type> = module.results(cx.op).map(|value| cx.type_of(value)).collect();
    types[at] = ty;
    let attrs = module.attrs(cx.op);
    remake(cx, &operands, attrs, &types)
}

fn made_cast(cx: &mut Cx<'_, '_>, point: Point, value: Value, ty: Type) -> Value {
    let mut state = OpState::new(cx.context.name("tensor.cast"), cx.loc());
    state.operands.push(value);
    state.results.push(ty);
    let made = cx.rewriter.create(point, state);
    cx.module().result(made, 0)
}

/// A loop whose first region hands on all that it is given, in another order, hands it on in the
/// order in which it is given.
fn in_order(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (before, after, end) = (cx.only_block(0)?, cx.only_block(1)?, condition(cx)?);
    let module = cx.module();
    let args = module.args(before).to_vec();
    let given: Vec<Value> = module.operands(end).skip(1).collect();
    let results: Vec<Value> = module.results(cx.op).collect();
    let old_args = module.args(after).to_vec();
    let order: Option<Vec<usize>> =
        args.iter().map(|arg| given.iter().position(|value| value == arg)).collect();
    let order = order?;
    let sizes = [given.len(), results.len(), old_args.len()];
    if sizes != [args.len(); 3] || order.is_sorted() {
        return None;
    }
    let types: Vec<Type> = args.iter().map(|&arg| cx.type_of(arg)).collect();
    let operands = [&[module.operand(end, 0)], &args[..]].concat();
    let mut state = OpState::new(module.name(cx.op), cx.loc());
    state.operands.extend(module.operands(cx.op));
    state.attrs = module.attrs(cx.op);
    state.results.extend_from_slice(&types);
    state.regions = 2;
    cx.rewriter.set_operands(end, &operands);
    for &ty in &types {
        cx.rewriter.add_argument(after, ty);
    }
    let new_args = cx.module().args(after)[results.len()..].to_vec();
    for (&from, new) in order.iter().zip(new_args) {
        cx.rewriter.replace_uses(old_args[from], new);
    }
    for i in (0..results.len()).rev() {
        cx.rewriter.erase_argument(after, i);
    }
    let made = cx.rewriter.create(Point::Before(cx.op), state);
    for i in 0..2 {
        let (from, to) = (cx.module().region(cx.op, i), cx.module().region(made, i));
        cx.rewriter.inline_region(from, to, None);
    }
    let mut values = results;
    for (to, &from) in order.iter().enumerate() {
        values[from] = cx.module().result(made, to);
    }
    cx.rewriter.replace(cx.op, &values).ok()
}

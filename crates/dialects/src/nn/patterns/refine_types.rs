//! `refine-types`: what inference finds out from operands that became better known is recorded.
//!
//! Types only become better: an unknown extent a symbol or number, a symbol a number, an unknown
//! rank a rank. Where inference contradicts what is recorded nothing is changed, nor where an
//! operation behind would be impossible.

use tangram_ir::{Attr, AttrData, Context, Dim, Op, TensorType, Type, TypeData, Value};
use tangram_rewrite::{NoMatch, Rewriter, Roots};

use super::{Matched, Native, because, refused};
use crate::nn;

pub(super) fn pattern(context: &Context) -> Native {
    let inferring = nn::ops().filter(|op| op.def.infer.is_some() && !op.def.results.is_empty());
    let names = inferring.map(|op| context.name(op.def.name)).collect();
    Native::new("refine-types", "types", Roots::Names(names), 1000, rewrite)
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let context = module.context();
    let settled =
        |value: Value| is_settled(context, module.value_type(value), module.contents(value));
    if module.results(op).all(settled) {
        return Err(NoMatch::SILENT);
    }
    let operands: Vec<Value> = module.operands(op).collect();
    let count = module.result_count(op);
    let inferred = match module.infer(module.name(op), &operands, module.attrs(op), Some(count)) {
        Ok(inferred) => inferred,
        Err(error) => return because(rewriter, || error.to_string()),
    };
    let mut better = Vec::new();
    for (i, value) in module.results(op).enumerate() {
        let old = module.value_type(value);
        let Some(&new) = inferred.types.get(i) else { continue };
        let Some(ty) = meet(context, old, new) else {
            return because(rewriter, || format!("inference contradicts the type of result {i}"));
        };
        let known = module.contents(value);
        let contents = meet_contents(context, known, inferred.contents.get(i).copied().flatten());
        if ty != old || contents != known {
            better.push((value, ty, contents));
        }
    }
    if better.is_empty() {
        return Err(NoMatch::SILENT);
    }
    let mut refined = false;
    for (value, ty, contents) in better {
        if let Some(objection) = rewriter.objection_to(value, ty, contents) {
            return if refined { Ok(()) } else { refused(&objection) };
        }
        rewriter.refine(value, ty, contents);
        refined = true;
    }
    Ok(())
}

/// Returns whether nothing more can become known of a value.
fn is_settled(context: &Context, ty: Type, contents: Option<Attr>) -> bool {
    let Some((dims, element)) = context.as_tensor(ty) else { return false };
    let fixed = dims.iter().all(|dim| dim.as_static().is_some());
    let discrete = matches!(context.type_data(element), TypeData::Integer { .. });
    let listed = contents.is_some_and(|contents| match context.attr_data(contents) {
        AttrData::Array(items) => items.iter().all(|&item| rank(context, item) == 2),
        _ => false,
    });
    let count = dims.iter().filter_map(|dim| dim.as_static()).fold(1i64, i64::saturating_mul);
    fixed && (!discrete || listed || count > crate::infer::MAX_CONTENTS as i64)
}

/// What both types say; `None` if they contradict each other.
fn meet(context: &Context, old: Type, new: Type) -> Option<Type> {
    if old == new {
        return Some(old);
    }
    match (context.type_data(old), context.type_data(new)) {
        (TypeData::Tensor(a), TypeData::Tensor(b)) => {
            if a.element != b.element || a.dims.len() != b.dims.len() {
                return None;
            }
            let dims: Option<Box<[Dim]>> =
                a.dims.iter().zip(&b.dims).map(|(&a, &b)| meet_dim(a, b)).collect();
            let met = TensorType { dims: dims?, element: a.element, encoding: a.encoding };
            Some(context.ty(TypeData::Tensor(met)))
        }
        (TypeData::UnrankedTensor(a), TypeData::Tensor(b)) => (*a == b.element).then_some(new),
        (TypeData::Tensor(a), TypeData::UnrankedTensor(b)) => (a.element == *b).then_some(old),
        // What is no tensor is left as it is.
        _ => Some(old),
    }
}

fn meet_dim(old: Dim, new: Dim) -> Option<Dim> {
    match (old.as_static(), new.as_static()) {
        (Some(a), Some(b)) => (a == b).then_some(old),
        (Some(_), None) => Some(old),
        (None, Some(_)) => Some(new),
        (None, None) => Some(if old.is_unknown() { new } else { old }),
    }
}

/// How much an entry of contents says: nothing, an expression, a number.
fn rank(context: &Context, item: Attr) -> u8 {
    match context.attr_data(item) {
        AttrData::Integer { .. } => 2,
        AttrData::String(_) => 1,
        _ => 0,
    }
}

fn meet_contents(context: &Context, old: Option<Attr>, new: Option<Attr>) -> Option<Attr> {
    let (Some(old), Some(new)) = (old, new) else { return old.or(new) };
    let (AttrData::Array(a), AttrData::Array(b)) = (context.attr_data(old), context.attr_data(new))
    else {
        return Some(old);
    };
    if old == new || a.len() != b.len() {
        return Some(old);
    }
    let best = |(&a, &b): (&Attr, &Attr)| if rank(context, b) > rank(context, a) { b } else { a };
    Some(context.array_attr(&a.iter().zip(b.iter()).map(best).collect::<Vec<_>>()))
}

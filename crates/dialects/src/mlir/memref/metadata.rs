//! Canonicalisation of what a buffer consists of: base, offset, extents and strides.

use tangram_ir::{Op, Value};

use super::layout::{cast_to, extents, layout, may_be_cast};
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::mixed::{Entry, Mixed};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("metadata-of-type", &["memref.extract_strided_metadata"], metadata_of_type),
    ("reinterpret-as-before", &["memref.reinterpret_cast"], reinterpret_as_before),
];

/// Offset, extents and strides of the buffer that `op` takes apart, where its type says them.
fn numbers(cx: &Cx<'_, '_>, op: Op) -> Option<Vec<Option<i64>>> {
    let ty = cx.type_of(cx.module().operand(op, 0));
    let (extents, layout) = (extents(cx.context, ty)?, layout(cx.context, ty)?);
    Some([vec![layout.offset], extents, layout.strides].concat())
}

/// Numbers that the type of a buffer says.
fn metadata_of_type(cx: &mut Cx<'_, '_>) -> Option<()> {
    let results: Vec<Value> = cx.module().results(cx.op).skip(1).collect();
    let mut changed = None;
    for (result, number) in results.into_iter().zip(numbers(cx, cx.op)?) {
        let Some(number) = number.filter(|_| cx.module().has_uses(result)) else { continue };
        let constant = cx.int_constant(number.into(), cx.type_of(result))?;
        cx.rewriter.replace_uses(result, constant);
        changed = Some(());
    }
    changed
}

/// A buffer put together from all that it was taken apart into.
fn reinterpret_as_before(cx: &mut Cx<'_, '_>) -> Option<()> {
    let apart = cx.def(0, cx.context.name("memref.extract_strided_metadata"))?;
    let module = cx.module();
    let results: Vec<Value> = module.results(apart).collect();
    if results.first() != Some(&cx.operand(0)) {
        return None;
    }
    let numbers = numbers(cx, apart)?;
    let entries = Mixed::of(module, cx.op)?.lists.concat();
    let is_same = |(at, entry): (usize, &Entry)| match *entry {
        Entry::Number(n) => numbers[at] == Some(n),
        Entry::Value(value) => {
            value == results[at + 1] || numbers[at].is_some_and(|n| cx.int(value) == Some(n.into()))
        }
    };
    let (source, ty) = (module.operand(apart, 0), cx.ty());
    if entries.len() != numbers.len()
        || results.len() != numbers.len() + 1
        || !entries.iter().enumerate().all(is_same)
        || !may_be_cast(cx.context, cx.type_of(source), ty)
    {
        return None;
    }
    let value = cast_to(cx, source, ty);
    cx.replace(&[value])
}

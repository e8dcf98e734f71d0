//! Where the elements of a buffer lie, as its type says it, and what casts may say.

use tangram_ir::{Attr, AttrData, Context, Dim, OpState, Point, Type, TypeData, Value};

use crate::mlir::fold::Cx;

/// Where elements lie: `None` where only a run knows.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::mlir) struct Layout {
    pub(in crate::mlir) offset: Option<i64>,
    pub(in crate::mlir) strides: Vec<Option<i64>>,
}

/// The extents and the layout of a buffer of known rank.
pub(super) fn buffer(context: &Context, ty: Type) -> Option<(&[Dim], Option<Attr>)> {
    match context.type_data(ty) {
        TypeData::MemRef { dims, layout, .. } => Some((dims, *layout)),
        _ => None,
    }
}

/// The extents of a buffer's type; `None` in it for those that are not constant.
pub(in crate::mlir) fn extents(context: &Context, ty: Type) -> Option<Vec<Option<i64>>> {
    Some(buffer(context, ty)?.0.iter().map(|dim| dim.as_static()).collect())
}

/// Returns whether all extents of `ty` are known.
pub(super) fn is_static(context: &Context, ty: Type) -> bool {
    extents(context, ty).is_some_and(|extents| !extents.contains(&None))
}

/// The strides of rows one after the other.
fn row_major(extents: &[Option<i64>]) -> Vec<Option<i64>> {
    let mut strides = vec![Some(1i64); extents.len()];
    for i in (1..extents.len()).rev() {
        strides[i - 1] = strides[i].zip(extents[i]).and_then(|(a, b)| a.checked_mul(b));
    }
    strides
}

/// The layout of a buffer type; `None` for a map that is no list of strides.
pub(in crate::mlir) fn layout(context: &Context, ty: Type) -> Option<Layout> {
    let extents = extents(context, ty)?;
    let Some(attr) = buffer(context, ty)?.1 else {
        return Some(Layout { offset: Some(0), strides: row_major(&extents) });
    };
    let AttrData::Opaque(text) = context.attr_data(attr) else { return None };
    let (strides, rest) = context.text(*text).strip_prefix("strided<[")?.split_once(']')?;
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let strides: Vec<Option<i64>> =
        strides.split(',').filter(|s| !s.trim().is_empty()).map(number).collect();
    let offset = match rest.strip_suffix('>')?.trim().strip_prefix(", offset:") {
        None => Some(0),
        Some(offset) => number(offset),
    };
    (strides.len() == extents.len()).then_some(Layout { offset, strides })
}

fn layout_attr(context: &Context, layout: &Layout) -> Attr {
    let number = |n: &Option<i64>| n.map_or("?".to_owned(), |n| n.to_string());
    let strides: Vec<String> = layout.strides.iter().map(number).collect();
    let offset = match layout.offset {
        Some(0) => String::new(),
        offset => format!(", offset: {}", number(&offset)),
    };
    let text = format!("strided<[{}]{offset}>", strides.join(", "));
    context.attr(AttrData::Opaque(context.str(&text)))
}

/// A buffer type like `ty` with other extents, and with strides or, for `None`, rows one after
/// the other.
pub(super) fn retyped(
    context: &Context,
    ty: Type,
    extents: &[Option<i64>],
    layout: Option<&Layout>,
) -> Option<Type> {
    let TypeData::MemRef { element, space, .. } = context.type_data(ty) else { return None };
    let dims = extents.iter().map(|extent| extent.map_or(Dim::UNKNOWN, Dim::fixed)).collect();
    let layout = layout.map(|layout| layout_attr(context, layout));
    Some(context.ty(TypeData::MemRef { dims, element: *element, layout, space: *space }))
}

/// The layout of `ty` where its type writes one that is not that of rows one after the other;
/// the outer `None` for a map that is no list of strides.
pub(super) fn written_layout(context: &Context, ty: Type) -> Option<Option<Layout>> {
    let (dims, attr) = buffer(context, ty)?;
    if attr.is_none() {
        return Some(None);
    }
    let layout = layout(context, ty)?;
    let plain = dims.len() <= 1
        && layout.offset == Some(0)
        && layout.strides.iter().all(|&stride| stride == Some(1));
    Some((!plain).then_some(layout))
}

/// Returns whether a cast from `from` to `to` only forgets.
pub(super) fn forgets(context: &Context, from: Type, to: Type) -> bool {
    agree(context, from, to, |a, b| b.is_none() || a == b)
}

/// Returns whether a cast may go from one type to the other: nothing is known to differ.
pub(in crate::mlir) fn may_be_cast(context: &Context, from: Type, to: Type) -> bool {
    agree(context, from, to, |a, b| a.is_none() || b.is_none() || a == b)
}

/// Returns whether the two types are of the same elements in the same memory, and all their
/// numbers agree by `fits`.
fn agree(
    context: &Context,
    from: Type,
    to: Type,
    fits: impl Fn(Option<i64>, Option<i64>) -> bool,
) -> bool {
    let parts = |ty| match context.type_data(ty) {
        TypeData::MemRef { element, space, .. } => Some((*element, *space)),
        _ => None,
    };
    let numbers = |ty| {
        let (extents, layout) = (extents(context, ty)?, layout(context, ty)?);
        Some([extents, layout.strides, vec![layout.offset]].concat())
    };
    let (Some(a), Some(b)) = (numbers(from), numbers(to)) else { return false };
    parts(from) == parts(to) && a.len() == b.len() && a.into_iter().zip(b).all(|(a, b)| fits(a, b))
}

/// What operand `i` was before a cast to another type of the same rank.
pub(super) fn before_any_cast(cx: &Cx<'_, '_>, i: usize) -> Option<Value> {
    let cast = cx.def(i, cx.known.memref_cast)?;
    let source = cx.module().operand(cast, 0);
    may_be_cast(cx.context, cx.type_of(source), cx.type_of(cx.operand(i))).then_some(source)
}

/// What operand `i` was before a cast that only forgets.
pub(in crate::mlir) fn before_cast(cx: &Cx<'_, '_>, i: usize) -> Option<Value> {
    let source = before_any_cast(cx, i)?;
    forgets(cx.context, cx.type_of(source), cx.type_of(cx.operand(i))).then_some(source)
}

/// `value` as a `ty`.
pub(in crate::mlir) fn cast_to(cx: &mut Cx<'_, '_>, value: Value, ty: Type) -> Value {
    if cx.type_of(value) == ty {
        return value;
    }
    cx.value(cx.known.memref_cast, &[value], ty)
}

/// The operation, which has one result and no regions, with other operands, attributes and result
/// type, cast to the old type.
pub(super) fn remake(
    cx: &mut Cx<'_, '_>,
    operands: &[Value],
    attrs: Attr,
    new_ty: Type,
) -> Option<()> {
    let ty = cx.ty();
    let mut state = OpState::new(cx.module().name(cx.op), cx.loc());
    state.operands = operands.into();
    state.attrs = attrs;
    state.results.push(new_ty);
    let made = cx.rewriter.create(Point::Before(cx.op), state);
    let value = cx.module().result(made, 0);
    let value = cast_to(cx, value, ty);
    cx.replace(&[value])
}

//! What patterns over tensors ask of types, and how they give results a better one.

use tangram_ir::{Attr, Dim, OpState, Point, TensorType, Type, TypeData, Value};

use crate::mlir::fold::Cx;

/// `ty` as a tensor of known rank.
pub(in crate::mlir) fn tensor<'a>(cx: &Cx<'a, '_>, ty: Type) -> Option<&'a TensorType> {
    match cx.context.type_data(ty) {
        TypeData::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

/// The extents of `ty`, a tensor or a buffer of rows one after the other.
pub(in crate::mlir) fn extents(cx: &Cx<'_, '_>, ty: Type) -> Option<Vec<Option<i64>>> {
    match cx.context.type_data(ty) {
        TypeData::Tensor(tensor) => Some(tensor.dims.iter().map(|dim| dim.as_static()).collect()),
        TypeData::MemRef { dims, layout: None, .. } => {
            Some(dims.iter().map(|dim| dim.as_static()).collect())
        }
        _ => None,
    }
}

/// Returns whether all extents of `ty` are known.
pub(in crate::mlir) fn is_static(cx: &Cx<'_, '_>, ty: Type) -> bool {
    tensor(cx, ty).is_some_and(|tensor| tensor.dims.iter().all(|dim| dim.as_static().is_some()))
}

/// Returns whether `known` says all that `ty` says.
pub(in crate::mlir) fn says_more(cx: &Cx<'_, '_>, known: Type, ty: Type) -> bool {
    let (Some(known), Some(other)) = (tensor(cx, known), tensor(cx, ty)) else { return false };
    known.element == other.element
        && known.encoding == other.encoding
        && known.dims.len() == other.dims.len()
        && known.dims.iter().zip(&other.dims).all(|(a, b)| a == b || b.as_static().is_none())
}

/// `ty` with other extents.
pub(in crate::mlir) fn with_dims(cx: &Cx<'_, '_>, ty: Type, dims: Vec<Dim>) -> Option<Type> {
    let tensor = tensor(cx, ty)?.clone();
    Some(cx.context.ty(TypeData::Tensor(TensorType { dims: dims.into(), ..tensor })))
}

/// `ty` with the extents `known` where they are.
pub(in crate::mlir) fn with_extents(
    cx: &Cx<'_, '_>,
    ty: Type,
    known: &[Option<i64>],
) -> Option<Type> {
    let dims = tensor(cx, ty)?.dims.iter().zip(known);
    let dims = dims.map(|(dim, known)| known.map_or(*dim, Dim::fixed)).collect();
    with_dims(cx, ty, dims)
}

/// `value` as a `ty`.
pub(in crate::mlir) fn cast_to(cx: &mut Cx<'_, '_>, value: Value, ty: Type) -> Value {
    if cx.type_of(value) == ty {
        return value;
    }
    let cast = cx.context.name("tensor.cast");
    cx.value(cast, &[value], ty)
}

/// Returns whether a cast may go from one type to the other: no extent is known to differ.
pub(in crate::mlir) fn may_be_cast(cx: &Cx<'_, '_>, from: Type, to: Type) -> bool {
    let (Some(a), Some(b)) = (tensor(cx, from), tensor(cx, to)) else { return false };
    let differ = |(a, b): (&Dim, &Dim)| match (a.as_static(), b.as_static()) {
        (Some(a), Some(b)) => a != b,
        _ => false,
    };
    a.element == b.element
        && a.encoding == b.encoding
        && a.dims.len() == b.dims.len()
        && !a.dims.iter().zip(&b.dims).any(differ)
}

/// The operation with other operands, attributes and result types, its results cast to the old
/// types.
pub(in crate::mlir) fn remake(
    cx: &mut Cx<'_, '_>,
    operands: &[Value],
    attrs: Attr,
    types: &[Type],
) -> Option<()> {
    let module = cx.module();
    let old: Vec<Type> = module.results(cx.op).map(|value| cx.type_of(value)).collect();
    let mut state = OpState::new(module.name(cx.op), cx.loc());
    state.operands = operands.into();
    state.attrs = attrs;
    state.results = types.into();
    let regions = module.regions(cx.op).to_vec();
    state.regions = regions.len() as u32;
    let made = cx.rewriter.create(Point::Before(cx.op), state);
    for (i, &region) in regions.iter().enumerate() {
        let to = cx.module().region(made, i);
        cx.rewriter.inline_region(region, to, None);
    }
    let mut values = Vec::with_capacity(old.len());
    for (i, &ty) in old.iter().enumerate() {
        let value = cx.module().result(made, i);
        values.push(cast_to(cx, value, ty));
    }
    cx.replace(&values)
}

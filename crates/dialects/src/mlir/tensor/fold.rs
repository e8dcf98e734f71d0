//! Folders of `tensor`.

use tangram_ir::{Fold, FoldCx, Type, Value};

use crate::mlir::fold::{Look, number};

/// The extents of a tensor type; `None` in it for those that are not constant.
fn extents(cx: &FoldCx<'_>, ty: Type) -> Option<Vec<Option<i64>>> {
    let (dims, _) = cx.context().as_tensor(ty)?;
    Some(dims.iter().map(|dim| dim.as_static()).collect())
}

/// The operation named `name` that defines operand `i`.
fn def(cx: &FoldCx<'_>, i: usize, name: &str) -> Option<tangram_ir::Op> {
    let def = cx.module.def_op(cx.operand(i))?;
    (def != cx.op && cx.module.name_text(def) == name).then_some(def)
}

/// A constant extent, or the one that an empty tensor was asked for.
pub(super) fn dim(cx: &FoldCx<'_>) -> Option<Fold> {
    let at = usize::try_from(cx.int(1)?).ok()?;
    let extents = extents(cx, cx.module.value_type(cx.operand(0)))?;
    match extents.get(at)? {
        Some(extent) => cx.whole((*extent).into()),
        None => {
            let before = extents[..at].iter().filter(|extent| extent.is_none()).count();
            if let Some(def) = def(cx, 0, "tensor.empty") {
                return Some(Fold::value(cx.module.operands(def).nth(before)?));
            }
            let def = def(cx, 0, "tensor.generate")?;
            Some(Fold::value(cx.module.operands(def).nth(before)?))
        }
    }
}

/// The number of dimensions, which the type says.
pub(super) fn rank(cx: &FoldCx<'_>) -> Option<Fold> {
    let rank = extents(cx, cx.module.value_type(cx.operand(0)))?.len();
    cx.whole(rank as i128)
}

/// A cast to the same type, or back.
pub(super) fn cast(cx: &FoldCx<'_>) -> Option<Fold> {
    if cx.module.value_type(cx.operand(0)) == cx.ty() {
        return cx.give(0);
    }
    let inner: Value = cx.module.operands(def(cx, 0, cx.module.name_text(cx.op))?).next()?;
    (cx.module.value_type(inner) == cx.ty()).then(|| Fold::value(inner))
}

/// A part that is the whole, or a reshape to the same type.
pub(super) fn whole_part(cx: &FoldCx<'_>) -> Option<Fold> {
    let ty = cx.module.value_type(cx.operand(0));
    let fixed = extents(cx, ty)?.iter().all(Option::is_some);
    (ty == cx.ty() && fixed).then(|| cx.give(0))?
}

/// The row-major number of the element that the operands from `first` on name.
fn position(cx: &FoldCx<'_>, first: usize) -> Option<usize> {
    let extents = extents(cx, cx.module.value_type(cx.operand(first - 1)))?;
    let mut at = 0usize;
    for (i, extent) in extents.into_iter().enumerate() {
        let (extent, index) =
            (usize::try_from(extent?).ok()?, usize::try_from(cx.int(first + i)?).ok()?);
        if index >= extent {
            return None;
        }
        at = at.checked_mul(extent)?.checked_add(index)?;
    }
    Some(at)
}

/// An element of a constant, of repeated or of listed elements.
pub(super) fn extract(cx: &FoldCx<'_>) -> Option<Fold> {
    if let Some(def) = def(cx, 0, "tensor.splat") {
        return Some(Fold::value(cx.module.operands(def).next()?));
    }
    let at = position(cx, 1)?;
    if let Some(def) = def(cx, 0, "tensor.from_elements") {
        return Some(Fold::value(cx.module.operands(def).nth(at)?));
    }
    number::element(cx.context(), cx.constant(0)?, at, cx.ty()).map(Fold::attr)
}

//! Folders of `tensor`.

use tangram_ir::{Fold, FoldCx, Type, Value};

use crate::mlir::extents::{list, operand_of_extent};
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
            let def = cx.module.def_op(cx.operand(0)).filter(|&def| def != cx.op)?;
            if matches!(cx.module.name_text(def), "tensor.insert" | "tensor.insert_slice") {
                // What is written into a tensor leaves its shape.
                let operands = [cx.module.operand(def, 1), cx.operand(1)][..].into();
                return Some(Fold::InPlace { operands, attrs: cx.module.attrs(cx.op) });
            }
            operand_of_extent(cx.module, def, (at, extents.len()), before).map(Fold::value)
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
    if let Some(fold) = extract_of_insert(cx) {
        return Some(fold);
    }
    if let Some(one) = cx.constant(0).and_then(|all| number::splat(cx.context(), all)) {
        return number::constant(cx.context(), cx.ty(), one).map(Fold::attr);
    }
    let at = position(cx, 1)?;
    if let Some(def) = def(cx, 0, "tensor.from_elements") {
        return Some(Fold::value(cx.module.operands(def).nth(at)?));
    }
    number::element(cx.context(), cx.constant(0)?, at, cx.ty()).map(Fold::attr)
}

/// The element that was just put there, or one that was there before.
fn extract_of_insert(cx: &FoldCx<'_>) -> Option<Fold> {
    let insert = def(cx, 0, "tensor.insert")?;
    let indices: Vec<Value> = cx.module.operands(cx.op).skip(1).collect();
    let written: Vec<Value> = cx.module.operands(insert).skip(2).collect();
    if indices == written {
        return Some(Fold::value(cx.module.operand(insert, 0)));
    }
    let constant = |value| number::as_int(cx.context(), cx.module.constant_value(value)?);
    let differs = indices.iter().zip(&written).enumerate().any(|(i, (_, &there))| {
        cx.int(i + 1).zip(constant(there)).is_some_and(|(here, there)| here != there)
    });
    let mut operands = [cx.module.operand(insert, 1)].to_vec();
    operands.extend(indices);
    let attrs = cx.module.attrs(cx.op);
    differs.then(|| Fold::InPlace { operands: operands.into(), attrs })
}

/// A part that takes the whole place.
pub(super) fn insert_whole(cx: &FoldCx<'_>) -> Option<Fold> {
    let ty = cx.module.value_type(cx.operand(0));
    let extents = extents(cx, ty)?;
    let zeros = list(cx.module, cx.op, "static_offsets")?.iter().all(|&at| at == 0);
    (ty == cx.ty() && zeros && extents.iter().all(Option::is_some)).then(|| cx.give(0))?
}

/// Nothing is put around the tensor.
pub(super) fn pad_by_nothing(cx: &FoldCx<'_>) -> Option<Fold> {
    let nothing = |name| list(cx.module, cx.op, name).is_some_and(|l| l.iter().all(|&n| n == 0));
    let same = cx.module.value_type(cx.operand(0)) == cx.ty();
    let stays = cx.module.attr(cx.op, "nofold").is_some();
    (same && !stays && nothing("static_low") && nothing("static_high")).then(|| cx.give(0))?
}

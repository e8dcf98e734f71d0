//! Masks that are boxes at the origin: constant ones, and parts of them.

use tangram_ir::{Attr, Type, Value};

use super::shape::{Coord, Shape, positions};
use crate::mlir::extents::list;
use crate::mlir::fold::number::{self, Number};
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(super) const REWRITES: &[Rewrite] = &[
    ("create-constant-mask", &["vector.create_mask"], create_constant),
    ("constant-mask-of-all-or-nothing", &["vector.constant_mask"], all_or_nothing),
    ("transpose-of-mask", &["vector.transpose"], transpose_of_mask),
    ("extract-of-mask", &["vector.extract"], extract_of_mask),
    ("slice-of-mask", &["vector.extract_strided_slice"], slice_of_mask),
    ("shape-of-mask", &["vector.shape_cast"], shape_of_mask),
];

/// How far a mask reaches along each dimension.
enum Sizes {
    Numbers(Vec<i64>),
    Values(Vec<Value>),
}

/// The sizes of the mask that `value` is.
fn sizes(cx: &Cx<'_, '_>, value: Value) -> Option<Sizes> {
    let module = cx.module();
    let def = module.def_op(value).filter(|&def| def != cx.op)?;
    match module.name_text(def) {
        "vector.create_mask" => Some(Sizes::Values(module.operands(def).collect())),
        "vector.constant_mask" => list(module, def, "mask_dim_sizes").map(Sizes::Numbers),
        _ => None,
    }
}

/// The number `c` if `value` is `vscale * c`.
fn scaled(cx: &Cx<'_, '_>, value: Value) -> Option<i128> {
    let product = cx.def_of(value, cx.context.name("arith.muli"))?;
    let scale = |value| cx.def_of(value, cx.context.name("vector.vscale")).is_some();
    let (a, b) = (cx.module().operand(product, 0), cx.module().operand(product, 1));
    if scale(a) { cx.int(b) } else { scale(b).then(|| cx.int(a))? }
}

/// The constant whose every element is `value`.
fn filled(cx: &mut Cx<'_, '_>, value: bool, ty: Type) -> Option<Value> {
    let attr = number::constant(cx.context, ty, Number::Int(-i128::from(value)))?;
    cx.constant(attr, ty)
}

fn constant_mask(cx: &mut Cx<'_, '_>, sizes: &[i64], ty: Type) -> Option<Value> {
    let attr: Attr = cx.context.i64s_attr(sizes);
    let attrs = cx.context.dict([(cx.context.str("mask_dim_sizes"), attr)]);
    let made = cx.make(cx.context.name("vector.constant_mask"), &[], attrs, &[ty]);
    Some(cx.module().result(made, 0))
}

/// A mask of known sizes.
fn create_constant(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (shape, ty) = (Shape::of(cx, cx.ty()), cx.ty());
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    // A vector without dimensions has a mask all the same.
    let ones = [1];
    let dims = if shape.rank() == 0 { &ones[..] } else { &shape.dims[..] };
    let mut numbers = Vec::new();
    for (i, (&value, &dim)) in operands.iter().zip(dims).enumerate() {
        let scales = shape.scalable.get(i) == Some(&true);
        let number = match cx.int(value) {
            Some(n) if n <= 0 => 0,
            Some(n) if !scales => i64::try_from(n).unwrap_or(i64::MAX).min(dim),
            Some(_) => return None,
            None if scales && scaled(cx, value) == Some(dim.into()) => dim,
            None => return None,
        };
        numbers.push(number);
    }
    if numbers.contains(&0) {
        numbers.fill(0);
    }
    let value = constant_mask(cx, &numbers, ty)?;
    cx.replace(&[value])
}

fn all_or_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (shape, ty) = (Shape::of(cx, cx.ty()), cx.ty());
    let numbers = list(cx.module(), cx.op, "mask_dim_sizes")?;
    let all = numbers == shape.dims || shape.rank() == 0 && numbers == [1];
    let value = match numbers.contains(&0) {
        true => filled(cx, false, ty)?,
        false if all => filled(cx, true, ty)?,
        false => return None,
    };
    cx.replace(&[value])
}

fn transpose_of_mask(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (ty, sizes) = (cx.ty(), sizes(cx, cx.operand(0))?);
    let order = list(cx.module(), cx.op, "permutation")?;
    let order: Option<Vec<usize>> = order.into_iter().map(|n| usize::try_from(n).ok()).collect();
    let order = order?;
    match sizes {
        Sizes::Numbers(numbers) => {
            let moved: Option<Vec<i64>> = order.iter().map(|&i| numbers.get(i).copied()).collect();
            let value = constant_mask(cx, &moved?, ty)?;
            cx.replace(&[value])
        }
        Sizes::Values(values) => {
            let moved: Option<Vec<Value>> = order.iter().map(|&i| values.get(i).copied()).collect();
            cx.become_op(cx.context.name("vector.create_mask"), &moved?)
        }
    }
}

/// A row of a mask is a mask, or nothing.
fn extract_of_mask(cx: &mut Cx<'_, '_>) -> Option<()> {
    let Some(Sizes::Values(values)) = sizes(cx, cx.operand(0)) else { return None };
    let (shape, ty) = (Shape::of_value(cx, cx.operand(0)), cx.ty());
    let coords = positions(cx, cx.op, 1)?;
    let mut nothing = false;
    for (i, &coord) in coords.iter().enumerate() {
        let size = cx.int(*values.get(i)?)?;
        match coord {
            Coord::At(n) if n < 0 => return None,
            Coord::At(n) => nothing |= i128::from(n) >= size,
            // Which row it is does not matter if all are alike.
            _ if size <= 0 => nothing = true,
            _ if size >= i128::from(shape.dims[i]) && !shape.scalable[i] => {}
            _ => return None,
        }
    }
    let rest = values.get(coords.len()..)?.to_vec();
    if nothing || rest.is_empty() {
        let value = filled(cx, !nothing, ty)?;
        return cx.replace(&[value]);
    }
    cx.become_op(cx.context.name("vector.create_mask"), &rest)
}

/// A part of a mask reaches less far, and begins where the mask does.
fn slice_of_mask(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (ty, module) = (cx.ty(), cx.module());
    let sizes = sizes(cx, cx.operand(0))?;
    let offsets = list(module, cx.op, "offsets")?;
    let lengths = Shape::of(cx, ty).dims;
    if list(module, cx.op, "strides")?.iter().any(|&stride| stride != 1) {
        return None;
    }
    let offset = |i: usize| offsets.get(i).copied().unwrap_or(0);
    match sizes {
        Sizes::Numbers(numbers) => {
            let left = |(i, &n): (usize, &i64)| (n - offset(i)).clamp(0, lengths[i]);
            let mut left: Vec<i64> = numbers.iter().enumerate().map(left).collect();
            if left.contains(&0) {
                left.fill(0);
            }
            let value = constant_mask(cx, &left, ty)?;
            cx.replace(&[value])
        }
        Sizes::Values(values) => {
            let mut left = Vec::new();
            for (i, &value) in values.iter().enumerate() {
                left.push(match offset(i) {
                    0 => value,
                    n => {
                        let index = cx.type_of(value);
                        let by = cx.int_constant(n.into(), index)?;
                        cx.value(cx.context.name("arith.subi"), &[value, by], index)
                    }
                });
            }
            cx.become_op(cx.context.name("vector.create_mask"), &left)
        }
    }
}

/// Dimensions of one element at the end, which the mask sets, are left out.
fn shape_of_mask(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (ty, sizes) = (cx.ty(), sizes(cx, cx.operand(0))?);
    let (from, to) = (Shape::of_value(cx, cx.operand(0)), Shape::of(cx, ty));
    let (kept, dropped) = from.dims.split_at_checked(to.rank())?;
    let units = dropped.iter().all(|&dim| dim == 1) && !from.scalable[to.rank()..].contains(&true);
    if !units || kept != to.dims || dropped.is_empty() || to.rank() == 0 {
        return None;
    }
    match sizes {
        Sizes::Numbers(numbers) => {
            let (kept, dropped) = numbers.split_at_checked(to.rank())?;
            if dropped.iter().any(|&n| n != 1) {
                return None;
            }
            let value = constant_mask(cx, kept, ty)?;
            cx.replace(&[value])
        }
        Sizes::Values(values) => {
            let (kept, dropped) = values.split_at_checked(to.rank())?;
            if dropped.iter().any(|&value| cx.int(value) != Some(1)) {
                return None;
            }
            cx.become_op(cx.context.name("vector.create_mask"), kept)
        }
    }
}

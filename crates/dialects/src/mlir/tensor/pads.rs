//! Canonicalisation of padding.

use tangram_affine::{AffineExprs, AffineMap};
use tangram_ir::{Attr, AttrData, Op, Value};

use super::types::{cast_to, extents, is_static, may_be_cast, remake, says_more, with_extents};
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::mixed::{Entry, Mixed, OFFSETS, SIZES, STRIDES};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("pad-by-numbers", PAD, pad_by_numbers),
    ("pad-by-nothing", PAD, pad_by_nothing),
    ("pad-past-cast", PAD, pad_past_cast),
    ("cast-of-pad", &["tensor.cast"], cast_of_pad),
    ("pad-of-pad", PAD, pad_of_pad),
    ("pads-of-different-dimensions", PAD, pads_of_different_dimensions),
];

const PAD: &[&str] = &["tensor.pad"];
const LOW: usize = 0;
const HIGH: usize = 1;

/// The extents of `source` with `padding` around it, where they are known.
fn padded(source: &[Option<i64>], padding: &Mixed) -> Vec<Option<i64>> {
    let around = padding.lists[LOW].iter().zip(&padding.lists[HIGH]);
    let whole = |(&extent, (low, high)): (&Option<i64>, (&Entry, &Entry))| {
        let sum = extent?.checked_add(low.number()?)?.checked_add(high.number()?);
        sum.filter(|&n| n >= 0)
    };
    source.iter().zip(around).map(whole).collect()
}

/// Constants that say how much stands around a tensor become numbers, and the type says extents
/// that follow.
fn pad_by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    let mut mixed = Mixed::of(cx.module(), cx.op)?;
    if !mixed.fix(cx, |_, _, n| n >= 0) {
        return None;
    }
    let source = extents(cx, cx.type_of(cx.operand(0)))?;
    let new_ty = with_extents(cx, ty, &padded(&source, &mixed))?;
    let attrs = mixed.attrs(cx, cx.module().attrs(cx.op));
    remake(cx, &mixed.operands(), attrs, &[new_ty])
}

fn stays(cx: &Cx<'_, '_>, pad: Op) -> bool {
    cx.module().attr(pad, "nofold").is_some()
}

/// Nothing stands around the tensor: it says so, or both have the same extents.
fn pad_by_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (source, ty) = (cx.operand(0), cx.ty());
    let mixed = Mixed::of(cx.module(), cx.op)?;
    let nothing = mixed.all_are(LOW, 0) && mixed.all_are(HIGH, 0);
    let same = cx.type_of(source) == ty && is_static(cx, ty);
    if stays(cx, cx.op) || !(nothing || same) || !may_be_cast(cx, cx.type_of(source), ty) {
        return None;
    }
    let value = cast_to(cx, source, ty);
    cx.replace(&[value])
}

fn pad_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let cast = cx.def(0, cx.context.name("tensor.cast"))?;
    let source = cx.module().operand(cast, 0);
    let (from, ty) = (cx.type_of(source), cx.ty());
    if !says_more(cx, from, cx.type_of(cx.operand(0))) {
        return None;
    }
    let mixed = Mixed::of(cx.module(), cx.op)?;
    let known = padded(&extents(cx, from)?, &mixed).into_iter().zip(extents(cx, ty)?);
    let known: Vec<Option<i64>> = known.map(|(follows, said)| said.or(follows)).collect();
    let new_ty = with_extents(cx, ty, &known)?;
    if new_ty == ty {
        cx.rewriter.set_operand(cx.op, 0, source);
        return Some(());
    }
    let mut operands: Vec<Value> = cx.module().operands(cx.op).collect();
    operands[0] = source;
    let attrs = cx.module().attrs(cx.op);
    remake(cx, &operands, attrs, &[new_ty])
}

/// A padded tensor that only the cast uses gets the type that says more.
fn cast_of_pad(cx: &mut Cx<'_, '_>) -> Option<()> {
    let def = super::casts::cast_source(cx, "tensor.pad")?;
    let (ty, padded) = (cx.ty(), cx.operand(0));
    if cx.module().uses(padded).count() != 1 {
        return None;
    }
    let mut mapping = tangram_rewrite::Mapping::new();
    let copy = cx.rewriter.clone_op(def, tangram_ir::Point::Before(cx.op), &mut mapping);
    let result = cx.module().result(copy, 0);
    cx.rewriter.refine(result, ty, None);
    cx.replace(&[result])
}

/// What a tensor is padded with, where that is one value: from outside of the padding, or a
/// constant.
#[derive(PartialEq)]
enum Padding {
    Value(Value),
    Constant(Attr),
}

fn padding(cx: &Cx<'_, '_>, pad: Op) -> Option<Padding> {
    let module = cx.module();
    let block = module.first_block(*module.regions(pad).first()?)?;
    let end = module.last_op(block)?;
    let value = module.operands(end).next()?;
    if let Some(constant) = module.constant_value(value) {
        return Some(Padding::Constant(constant));
    }
    let home = module.def_block(value)?;
    (home != block).then_some(Padding::Value(value))
}

/// The value that every element around a tensor has, where it is one from outside.
pub(in crate::mlir) fn padded_with(cx: &Cx<'_, '_>, pad: Op, value: Value) -> bool {
    let wanted = match cx.module().constant_value(value) {
        Some(constant) => Padding::Constant(constant),
        None => Padding::Value(value),
    };
    padding(cx, pad) == Some(wanted)
}

/// `a + b`, in front of the operation where it is not known.
pub(in crate::mlir) fn sum(cx: &mut Cx<'_, '_>, a: Entry, b: Entry) -> Option<Entry> {
    let (values, number) = match (a, b) {
        (Entry::Number(a), Entry::Number(b)) => return a.checked_add(b).map(Entry::Number),
        (Entry::Value(value), Entry::Number(n)) | (Entry::Number(n), Entry::Value(value)) => {
            (vec![value], n)
        }
        (Entry::Value(a), Entry::Value(b)) => (vec![a, b], 0),
    };
    if values.len() == 1 && number == 0 {
        return Some(Entry::Value(values[0]));
    }
    let mut exprs = AffineExprs::new();
    let mut whole = exprs.constant(number);
    for i in 0..values.len() {
        let symbol = exprs.symbol(i as u32);
        whole = exprs.add(symbol, whole);
    }
    let map = AffineMap::new(0, values.len() as u32, &exprs, &[whole]);
    let map = cx.context.attr(AttrData::AffineMap(map));
    let attrs = cx.context.dict([(cx.known.map, map)]);
    let ty = cx.type_of(values[0]);
    let made = cx.make(cx.known.apply, &values, attrs, &[ty]);
    Some(Entry::Value(cx.module().result(made, 0)))
}

/// The same is put around a tensor twice: once does it.
fn pad_of_pad(cx: &mut Cx<'_, '_>) -> Option<()> {
    let inner = cx.def(0, cx.context.name("tensor.pad"))?;
    let value = padding(cx, cx.op)?;
    if stays(cx, inner) || padding(cx, inner)? != value {
        return None;
    }
    let (outer, first) = (Mixed::of(cx.module(), cx.op)?, Mixed::of(cx.module(), inner)?);
    let mut both = first.clone();
    let pairs = first.lists.iter().flatten().zip(outer.lists.iter().flatten());
    let fits = |(a, b): (&Entry, &Entry)| match (a, b) {
        (Entry::Number(a), Entry::Number(b)) => a.checked_add(*b).is_some(),
        _ => true,
    };
    // From here on operations are made: nothing may fail.
    if !pairs.into_iter().all(fits) {
        return None;
    }
    for (i, list) in both.lists.iter_mut().enumerate() {
        for (at, entry) in list.iter_mut().enumerate() {
            *entry = sum(cx, *entry, *outer.lists[i].get(at)?)?;
        }
    }
    let (operands, attrs) = (both.operands(), both.attrs(cx, cx.module().attrs(cx.op)));
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&operands);
        edit.set_attrs(attrs);
    });
    Some(())
}

/// A part is padded at the end, a part of that again, along other dimensions: one part is padded
/// once.
fn pads_of_different_dimensions(cx: &mut Cx<'_, '_>) -> Option<()> {
    let slice_name = cx.context.name("tensor.extract_slice");
    let outer_slice = cx.def(0, slice_name)?;
    let module = cx.module();
    let inner_pad = cx.def_of(module.operand(outer_slice, 0), cx.context.name("tensor.pad"))?;
    let inner_slice = cx.def_of(module.operand(inner_pad, 0), slice_name)?;
    let [outer, inner] = [cx.op, inner_pad].map(|pad| Mixed::of(module, pad));
    let [outer_part, inner_part] = [outer_slice, inner_slice].map(|part| Mixed::of(module, part));
    let (outer, inner, outer_part, inner_part) = (outer?, inner?, outer_part?, inner_part?);
    let rank = extents(cx, cx.ty())?.len();
    let whole = extents(cx, cx.type_of(module.operand(outer_slice, 0)))?;
    let full = [&outer_part, &inner_part]
        .iter()
        .all(|part| part.all_are(STRIDES, 1) && part.lists[SIZES].len() == rank);
    let at_end = outer.all_are(LOW, 0) && inner.all_are(LOW, 0);
    let same = padding(cx, inner_pad)? == padding(cx, cx.op)?;
    if stays(cx, inner_pad) || !full || !at_end || !same || whole.len() != rank {
        return None;
    }
    let (mut part, mut pads) = (inner_part.clone(), outer.clone());
    for at in 0..rank {
        let [inner_high, outer_high] = [&inner, &outer].map(|pad| pad.lists[HIGH][at]);
        let [near, far] = [&inner_part, &outer_part].map(|part| part.lists[OFFSETS][at]);
        part.lists[OFFSETS][at] = match (near, far) {
            (near, Entry::Number(0)) => near,
            (Entry::Number(0), far) => far,
            _ => return None,
        };
        if inner_high == Entry::Number(0) {
            part.lists[SIZES][at] = outer_part.lists[SIZES][at];
            continue;
        }
        // Where the first padding is, the second part has to hold all of it.
        let all = outer_part.lists[SIZES][at].number();
        if outer_high != Entry::Number(0) || far != Entry::Number(0) || all.is_none() {
            return None;
        }
        if all != whole[at] {
            return None;
        }
        pads.lists[HIGH][at] = inner_high;
    }
    let sizes: Vec<Option<i64>> = part.lists[SIZES].iter().map(|size| size.number()).collect();
    let dims = sizes.iter().map(|n| n.map_or(tangram_ir::Dim::UNKNOWN, tangram_ir::Dim::fixed));
    let part_ty = super::types::with_dims(cx, cx.type_of(cx.operand(0)), dims.collect())?;
    let attrs = part.attrs(cx, cx.module().attrs(inner_slice));
    let made = cx.make(slice_name, &part.operands(), attrs, &[part_ty]);
    pads.front[0] = cx.module().result(made, 0);
    let (operands, attrs) = (pads.operands(), pads.attrs(cx, cx.module().attrs(cx.op)));
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&operands);
        edit.set_attrs(attrs);
    });
    Some(())
}

//! Vectors whose elements are all known.

use tangram_ir::{Attr, AttrData, Value};

use super::shape::{Coord, Shape, positions};
use crate::mlir::extents::list;
use crate::mlir::fold::number::{self, Number};
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(super) const REWRITES: &[Rewrite] = &[
    ("extract-of-constant", &["vector.extract"], extract),
    ("insert-into-constant", &["vector.insert"], insert),
    ("slice-of-constant", &["vector.extract_strided_slice"], slice),
    ("insert-slice-into-constant", &["vector.insert_strided_slice"], insert_slice),
    ("shuffle-of-constants", &["vector.shuffle"], shuffle),
    ("vector-of-constants", &["vector.from_elements"], from_elements),
    ("bits-of-constant", &["vector.bitcast"], bitcast),
];

/// New constants have no more elements than this: operands may have other users.
const MAX_NEW: usize = 256;

/// The elements of `value`, if it is a constant, and how many there are along each dimension.
fn elements(cx: &Cx<'_, '_>, value: Value) -> Option<(Vec<Number>, Vec<usize>)> {
    let shape = Shape::of_value(cx, value);
    let constant = cx.module().constant_value(value)?;
    let count = shape.count().filter(|&count| count <= number::MAX_ELEMENTS)?;
    let all = number::elements(cx.context, constant, count)?;
    let dims: Option<Vec<usize>> = shape.dims.iter().map(|&d| usize::try_from(d).ok()).collect();
    Some((all, dims?))
}

fn become_constant(cx: &mut Cx<'_, '_>, numbers: &[Number]) -> Option<()> {
    let ty = cx.ty();
    let attr = number::of_numbers(cx.context, ty, numbers)?;
    let value = cx.constant(attr, ty)?;
    cx.replace(&[value])
}

/// The numbers of elements that stand at `coords`, the first of so many dimensions.
fn range(dims: &[usize], coords: &[Coord]) -> Option<std::ops::Range<usize>> {
    let (mut at, inner) = (0usize, dims.get(coords.len()..)?);
    for (&coord, &dim) in coords.iter().zip(dims) {
        let Coord::At(n) = coord else { return None };
        at = at * dim + usize::try_from(n).ok().filter(|&n| n < dim)?;
    }
    let size: usize = inner.iter().product();
    Some(at * size..(at + 1) * size)
}

fn extract(cx: &mut Cx<'_, '_>) -> Option<()> {
    let coords = positions(cx, cx.op, 1)?;
    let (all, dims) = elements(cx, cx.operand(0))?;
    let part = all.get(range(&dims, &coords)?)?;
    become_constant(cx, part)
}

fn insert(cx: &mut Cx<'_, '_>) -> Option<()> {
    let coords = positions(cx, cx.op, 2)?;
    let (mut all, dims) = elements(cx, cx.operand(1))?;
    let (part, _) = elements(cx, cx.operand(0))?;
    let place = all.get_mut(range(&dims, &coords)?).filter(|place| place.len() == part.len())?;
    place.copy_from_slice(&part);
    (all.len() <= MAX_NEW).then(|| become_constant(cx, &all))?
}

/// For each element of a part, its number in the whole.
fn numbers_of(
    dims: &[usize],
    offsets: &[i64],
    sizes: &[usize],
    strides: &[i64],
) -> Option<Vec<usize>> {
    let mut all = vec![0usize];
    for (i, &dim) in dims.iter().enumerate() {
        let offset = usize::try_from(offsets.get(i).copied().unwrap_or(0)).ok()?;
        let stride = usize::try_from(strides.get(i).copied().unwrap_or(1)).ok()?;
        let size = sizes.get(i).copied().unwrap_or(dim);
        if offset + size.saturating_sub(1) * stride >= dim {
            return None;
        }
        let along = |&n: &usize| (0..size).map(move |k| n * dim + offset + k * stride);
        all = all.iter().flat_map(along).collect();
    }
    Some(all)
}

fn slice(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (all, dims) = elements(cx, cx.operand(0))?;
    let module = cx.module();
    let lists = ["offsets", "sizes", "strides"].map(|name| list(module, cx.op, name));
    let [Some(offsets), Some(sizes), Some(strides)] = lists else { return None };
    let sizes: Option<Vec<usize>> = sizes.into_iter().map(|n| usize::try_from(n).ok()).collect();
    let places = numbers_of(&dims, &offsets, &sizes?, &strides)?;
    let part: Option<Vec<Number>> = places.into_iter().map(|n| all.get(n).copied()).collect();
    become_constant(cx, &part?)
}

fn insert_slice(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (part, inner) = elements(cx, cx.operand(0))?;
    let (mut all, dims) = elements(cx, cx.operand(1))?;
    let module = cx.module();
    let offsets = list(module, cx.op, "offsets")?;
    let skipped = dims.len().checked_sub(inner.len())?;
    let strides = [vec![1; skipped], list(module, cx.op, "strides")?].concat();
    let sizes = [vec![1; skipped], inner].concat();
    for (n, &value) in numbers_of(&dims, &offsets, &sizes, &strides)?.into_iter().zip(&part) {
        *all.get_mut(n)? = value;
    }
    (all.len() <= MAX_NEW).then(|| become_constant(cx, &all))?
}

fn shuffle(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ((first, a), (second, b)) = (elements(cx, cx.operand(0))?, elements(cx, cx.operand(1))?);
    let all = [first, second].concat();
    if a.len() != 1 || b.len() != 1 {
        return None;
    }
    let taken = list(cx.module(), cx.op, "mask")?;
    let taken: Option<Vec<Number>> =
        taken.into_iter().map(|n| all.get(usize::try_from(n).ok()?).copied()).collect();
    become_constant(cx, &taken?)
}

fn from_elements(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    let module = cx.module();
    let all: Option<Vec<Attr>> =
        module.operands(cx.op).map(|value| module.constant_value(value)).collect();
    let attr = number::listed(cx.context, ty, &all?)?;
    let value = cx.constant(attr, ty)?;
    cx.replace(&[value])
}

/// The same bits everywhere, of elements that are whole bytes.
fn bitcast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (ty, context) = (cx.ty(), cx.context);
    let (from, to) = (Shape::of_value(cx, cx.operand(0)), Shape::of(cx, ty));
    let width = |shape: &Shape| {
        let bits = number::int_width(context, shape.element)
            .or_else(|| number::float_kind(context, shape.element).map(|kind| kind.width()))?;
        let bytes = context.element_bytes(shape.element)?;
        (bits as usize == 8 * bytes).then_some(bytes)
    };
    let (old, new) = (width(&from)?, width(&to)?);
    let constant = cx.module().constant_value(cx.operand(0))?;
    let AttrData::Dense { bytes, splat: true, .. } = context.attr_data(constant) else {
        return None;
    };
    // As many times as fill an element of the result; all parts of one have to be alike.
    let bytes = bytes.repeat(new.div_ceil(old));
    let first = bytes.get(..new)?;
    if !bytes.chunks(new).all(|chunk| chunk == first) {
        return None;
    }
    let data = AttrData::Dense { ty, bytes: first.into(), splat: true };
    let value = cx.constant(context.attr(data), ty)?;
    cx.replace(&[value])
}

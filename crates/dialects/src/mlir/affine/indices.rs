//! Canonicalisation of joined and split indices, and of extremes of extremes.

use tangram_affine::{AffineExpr, AffineExprs, AffineMap};
use tangram_ir::{AttrData, Module, Op, Value};

use crate::mlir::extents::{DYNAMIC, list};
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("merge-extremes", &["affine.min", "affine.max"], merge_extremes),
    ("basis-by-numbers", &["affine.linearize_index", "affine.delinearize_index"], by_numbers),
    ("join-one-index", &["affine.linearize_index"], join_one),
    ("split-into-one-index", &["affine.delinearize_index"], split_into_one),
    ("join-constants", &["affine.linearize_index"], join_constants),
    ("split-of-join", &["affine.delinearize_index"], split_of_join),
    ("join-of-split", &["affine.linearize_index"], join_of_split),
];

/// The most operands of an extreme after merging.
const MAX_OPERANDS: usize = 64;

/// The least of numbers of which one is the least of others is the least of all.
fn merge_extremes(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let name = module.name(cx.op);
    let map_of = |op: Op| cx.context.as_affine_map(module.attr_by(op, cx.known.map)?);
    let outer = map_of(cx.op)?;
    let operands: Vec<Value> = module.operands(cx.op).collect();
    let (own_dims, own_symbols) = operands.split_at_checked(outer.dims())?;
    let (mut dims, mut symbols) = (own_dims.to_vec(), own_symbols.to_vec());
    let mut exprs = AffineExprs::new();
    // Handles of the map are those of the copy of its nodes.
    let copies = outer.copy(&mut exprs);
    let mut results: Vec<AffineExpr> = Vec::new();
    let mut merged = false;
    for (i, result) in outer.results().iter().enumerate() {
        let value = outer.as_operand(i).and_then(|at| operands.get(at));
        let Some(def) = value.and_then(|&value| cx.def_of(value, name)) else {
            results.push(copies[result.index()]);
            continue;
        };
        let inner = map_of(def)?;
        let taken: Vec<Value> = module.operands(def).collect();
        let (more_dims, more_symbols) = taken.split_at_checked(inner.dims())?;
        let first = (dims.len(), symbols.len());
        let placed_dims: Vec<AffineExpr> =
            (0..more_dims.len()).map(|n| exprs.dim((first.0 + n) as u32)).collect();
        let placed_symbols: Vec<AffineExpr> =
            (0..more_symbols.len()).map(|n| exprs.symbol((first.1 + n) as u32)).collect();
        dims.extend_from_slice(more_dims);
        symbols.extend_from_slice(more_symbols);
        results.extend(inner.substitute(&mut exprs, &placed_dims, &placed_symbols));
        merged = true;
    }
    if !merged || dims.len() + symbols.len() > MAX_OPERANDS {
        return None;
    }
    let map = AffineMap::new(dims.len() as u32, symbols.len() as u32, &exprs, &results);
    let attr = cx.context.attr(AttrData::AffineMap(map));
    let (key, operands) = (cx.known.map, [dims, symbols].concat());
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&operands);
        edit.set_attr(key, Some(attr));
    });
    Some(())
}

/// The factors of an operation: numbers, and values in the place of those that are not known.
#[derive(PartialEq)]
struct Basis {
    numbers: Vec<i64>,
    values: Vec<Value>,
}

/// The indices that are joined, or the one that is split, and the factors.
fn parts(module: &Module, op: Op) -> Option<(Vec<Value>, Basis)> {
    let numbers = list(module, op, "static_basis")?;
    let dynamic = numbers.iter().filter(|&&n| n == DYNAMIC).count();
    let operands: Vec<Value> = module.operands(op).collect();
    let indices = operands.len().checked_sub(dynamic)?;
    let (indices, values) = operands.split_at(indices);
    Some((indices.to_vec(), Basis { numbers, values: values.to_vec() }))
}

/// Constants among the factors become numbers.
fn by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (indices, basis) = parts(cx.module(), cx.op)?;
    let (mut numbers, mut kept) = (basis.numbers, Vec::new());
    let mut values = basis.values.iter();
    for number in numbers.iter_mut().filter(|number| **number == DYNAMIC) {
        let &value = values.next()?;
        match cx.int(value).and_then(|n| i64::try_from(n).ok()).filter(|&n| n > 0) {
            Some(known) => *number = known,
            None => kept.push(value),
        }
    }
    if kept.len() == basis.values.len() {
        return None;
    }
    let module = cx.module();
    let joins = module.name_text(cx.op) == "affine.linearize_index";
    let segments = joins.then(|| module.i32s_attr([indices.len(), kept.len()]));
    let operands = [indices, kept].concat();
    let (key, attr) = (cx.context.str("static_basis"), cx.context.i64s_attr(&numbers));
    let sizes = cx.known.segments;
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&operands);
        edit.set_attr(key, Some(attr));
        if segments.is_some() {
            edit.set_attr(sizes, segments);
        }
    });
    Some(())
}

fn join_one(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (indices, basis) = parts(cx.module(), cx.op)?;
    let &[index] = &indices[..] else { return None };
    (basis.numbers.len() <= 1).then(|| cx.replace(&[index]))?
}

fn split_into_one(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (indices, basis) = parts(cx.module(), cx.op)?;
    let &[index] = &indices[..] else { return None };
    let one = cx.module().result_count(cx.op) == 1 && basis.numbers.len() <= 1;
    one.then(|| cx.replace(&[index]))?
}

fn join_constants(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (indices, basis) = parts(cx.module(), cx.op)?;
    if !basis.values.is_empty() {
        return None;
    }
    let (mut sum, mut stride) = (0i128, 1i128);
    let mut factors = basis.numbers.iter().rev();
    for &index in indices.iter().rev() {
        let index = cx.int(index)?;
        sum = sum.checked_add(index.checked_mul(stride)?)?;
        stride = stride.checked_mul(i128::from(factors.next().copied().unwrap_or(1)))?;
    }
    let ty = cx.ty();
    let value = cx.int_constant(i128::from(i64::try_from(sum).ok()?), ty)?;
    cx.replace(&[value])
}

/// What was joined without overlap is split by the same factors.
fn split_of_join(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (indices, basis) = parts(cx.module(), cx.op)?;
    let join = cx.def_of(*indices.first()?, cx.context.name("affine.linearize_index"))?;
    let (joined, other) = parts(cx.module(), join)?;
    let apart = cx.module().attr(join, "disjoint").is_some();
    if !apart || basis != other || joined.len() != cx.module().result_count(cx.op) {
        return None;
    }
    cx.replace(&joined)
}

/// All that an index was split into is joined by the same factors.
fn join_of_split(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (indices, basis) = parts(cx.module(), cx.op)?;
    let split = cx.def_of(*indices.first()?, cx.context.name("affine.delinearize_index"))?;
    let (whole, other) = parts(cx.module(), split)?;
    if basis != other || !cx.module().results(split).eq(indices.iter().copied()) {
        return None;
    }
    cx.replace(&whole)
}

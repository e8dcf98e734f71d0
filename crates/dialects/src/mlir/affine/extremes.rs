//! Canonicalisation of extremes: those of extremes, and the order of what they are of.

use tangram_affine::{AffineExpr, AffineExprs, AffineMap, BinaryOp, Node};
use tangram_ir::{AttrData, Op, Value};

use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] =
    &[("merge-extremes", EXTREMES, merge_extremes), ("order-extremes", EXTREMES, in_order)];

const EXTREMES: &[&str] = &["affine.min", "affine.max"];

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
    // What others are the extreme of comes behind.
    let (mut results, mut taken_over): (Vec<AffineExpr>, Vec<AffineExpr>) = Default::default();
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
        taken_over.extend(inner.substitute(&mut exprs, &placed_dims, &placed_symbols));
    }
    results.extend_from_slice(&taken_over);
    if taken_over.is_empty() || dims.len() + symbols.len() > MAX_OPERANDS {
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

/// The factors of dimensions, symbols and 1 in an expression; `None` where it is no such sum.
fn factors(map: &AffineMap, root: AffineExpr) -> Option<Vec<i64>> {
    let (dims, symbols) = (map.dims(), map.symbols());
    let mut out = vec![0i64; dims + symbols + 1];
    let mut open = vec![(root, 1i64)];
    while let Some((expr, by)) = open.pop() {
        let (at, by) = match map.node(expr) {
            Node::Dim(i) => (i as usize, by),
            Node::Symbol(i) => (dims + i as usize, by),
            Node::Constant(value) => (dims + symbols, by.checked_mul(value)?),
            Node::Binary(BinaryOp::Add, a, b) => {
                open.extend([(a, by), (b, by)]);
                continue;
            }
            Node::Binary(BinaryOp::Mul, a, b) => {
                let number = map.as_constant(b)?;
                open.push((a, by.checked_mul(number)?));
                continue;
            }
            Node::Binary(..) => return None,
        };
        out[at] = out[at].checked_add(by)?;
    }
    Some(out)
}

/// Sums are in the order of their factors.
fn in_order(cx: &mut Cx<'_, '_>) -> Option<()> {
    let map = cx.context.as_affine_map(cx.module().attr_by(cx.op, cx.known.map)?)?;
    let keys: Option<Vec<Vec<i64>>> =
        map.results().iter().map(|&result| factors(map, result)).collect();
    let keys = keys?;
    if keys.is_sorted() {
        return None;
    }
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| keys[a].cmp(&keys[b]));
    let mut exprs = AffineExprs::new();
    let copies = map.copy(&mut exprs);
    let results: Vec<AffineExpr> =
        order.into_iter().map(|i| copies[map.results()[i].index()]).collect();
    let map = AffineMap::new(map.dims() as u32, map.symbols() as u32, &exprs, &results);
    let attr = cx.context.attr(AttrData::AffineMap(map));
    cx.set_attr(cx.known.map, Some(attr));
    Some(())
}

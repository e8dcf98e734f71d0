//! Canonicalisation of extremes of extremes.

use tangram_affine::{AffineExpr, AffineExprs, AffineMap};
use tangram_ir::{AttrData, Op, Value};

use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] =
    &[("merge-extremes", &["affine.min", "affine.max"], merge_extremes)];

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

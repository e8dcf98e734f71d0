//! `static-reshape` and `static-broadcast`: a shape that is computed becomes an attribute where
//! numbers, "as it is" and "what is left" say it.
//!
//! An entry that provably equals the extent of the data at the same place is written 0 in
//! `nn.reshape` and 1 in `nn.broadcast_to`. Of the other entries of a reshape one may be open: the
//! number of elements fixes it, so it is -1. Exporters write `reshape(x, [shape(x)[0], -1, 8, 64])`
//! for `reshape(x, [0, -1, 8, 64])` throughout. A -1 that has to be one number, whatever the extents,
//! is written as that: `reshape(x, [n, -1])` of `8 * n` by 8 elements is `reshape(x, [-1, 64])`.

use tangram_affine::symbolic::{Expr, Truth};
use tangram_ir::{Context, Dim, Module, Op};
use tangram_rewrite::{NoMatch, Rewriter};

use super::static_operands::drop_operands;
use super::{Matched, Native, because, present, roots};
use crate::dims;
use crate::infer::value_contents;

pub(super) fn reshape(context: &Context) -> Native {
    Native::new("static-reshape", "fold", roots(context, ["nn.reshape"]), 600, rewrite_reshape)
}

pub(super) fn broadcast_to(context: &Context) -> Native {
    let roots = roots(context, ["nn.broadcast_to"]);
    Native::new("static-broadcast", "fold", roots, 600, rewrite_broadcast)
}

fn rewrite_reshape(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let shape = present(module, op, 1).ok_or(NoMatch::SILENT)?;
    let Some(entries) = value_contents(module, shape) else {
        return because(rewriter, || "nothing is known of the shape".to_owned());
    };
    let keeps_zero =
        module.attr(op, "allowzero").and_then(|a| module.context().as_bool(a)) == Some(true);
    match list(module, op, &entries, keeps_zero) {
        Some(list) => finish(rewriter, op, "newshape", &list),
        None => because(rewriter, || "more than one extent is open".to_owned()),
    }
}

/// The new shape as numbers, 0 and -1.
fn list(module: &Module, op: Op, entries: &[Option<Expr>], keeps_zero: bool) -> Option<Vec<i64>> {
    let data = extents(module, op);
    let mut out = Vec::with_capacity(entries.len());
    for (i, entry) in entries.iter().enumerate() {
        let number = entry.as_ref().and_then(Expr::as_int);
        let copied = !keeps_zero && same(module.context(), entry, data.get(i));
        out.push(number.unwrap_or(if copied { 0 } else { -1 }));
    }
    let mut open = out.iter().filter(|&&n| n == -1).count();
    if open > 1
        && let Some((at, number)) = left_over(module, &data, entries, keeps_zero)
    {
        out[at] = number;
        open -= 1;
    }
    // With `allowzero`, 0 is a number, and -1 beside it means nothing.
    let clear = open <= 1 && !(keeps_zero && open == 1 && out.contains(&0));
    clear.then_some(out)
}

/// Where -1 stands among the entries and the number that it has to be, if there is one other than 0.
fn left_over(
    module: &Module,
    data: &[Dim],
    entries: &[Option<Expr>],
    keeps_zero: bool,
) -> Option<(usize, i64)> {
    let context = module.context();
    let number = |entry: &Option<Expr>| entry.as_ref().and_then(Expr::as_int);
    let at = entries.iter().position(|entry| number(entry) == Some(-1))?;
    let total: Vec<Expr> =
        data.iter().map(|&dim| dims::expr(context, dim)).collect::<Option<_>>()?;
    let others = entries.iter().enumerate().filter(|(i, _)| *i != at);
    let known: Vec<Expr> = others
        .map(|(i, entry)| match number(entry) {
            Some(0) if !keeps_zero => total.get(i).cloned(),
            _ => entry.clone(),
        })
        .collect::<Option<_>>()?;
    let left = tangram_affine::symbolic::infer_minus_one(&total, &known)?.as_int()?;
    (left > 0).then_some((at, left))
}

fn rewrite_broadcast(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let shape = present(module, op, 1).ok_or(NoMatch::SILENT)?;
    let entries = value_contents(module, shape).ok_or(NoMatch::SILENT)?;
    let data = extents(module, op);
    let offset = entries.len().checked_sub(data.len()).filter(|_| !data.is_empty());
    let write = |(i, entry): (usize, &Option<Expr>)| match entry.as_ref().and_then(Expr::as_int) {
        Some(n) => Some(n),
        None => {
            let there = i.checked_sub(offset?).and_then(|i| data.get(i));
            same(module.context(), entry, there).then_some(1)
        }
    };
    match entries.iter().enumerate().map(write).collect::<Option<Vec<_>>>() {
        Some(list) => finish(rewriter, op, "shape", &list),
        None => because(rewriter, || "an extent of the shape is open".to_owned()),
    }
}

fn extents(module: &Module, op: Op) -> Vec<Dim> {
    let ty = module.value_type(module.operand(op, 0));
    module.context().as_tensor(ty).map_or_else(Vec::new, |(dims, _)| dims.to_vec())
}

/// Returns whether `entry` provably is the extent `dim`.
fn same(context: &Context, entry: &Option<Expr>, dim: Option<&Dim>) -> bool {
    let (Some(entry), Some(&dim)) = (entry, dim) else { return false };
    dims::expr(context, dim)
        .is_some_and(|dim| dims::facts(context).equal(entry, &dim) == Truth::True)
}

fn finish(rewriter: &mut Rewriter<'_>, op: Op, attr: &str, list: &[i64]) -> Matched {
    let context = rewriter.module().context();
    let (name, value) = (context.str(attr), context.i64s_attr(list));
    drop_operands(rewriter, op, &[1]);
    rewriter.set_attr(op, name, Some(value));
    Ok(())
}

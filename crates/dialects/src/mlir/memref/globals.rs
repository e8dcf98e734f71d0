//! Elements of global buffers that nothing writes to.

use tangram_ir::{AttrData, Context, Module, Op, Traits};

use super::layout::extents;
use crate::mlir::fold::{Cx, Rewrite, number};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] =
    &[("load-of-constant", &["memref.load", "affine.load"], load_of_constant)];

/// The global buffer that `user` names.
fn global(module: &Module, user: Op) -> Option<Op> {
    let context: &Context = module.context();
    let AttrData::Symbol(path) = context.attr_data(module.attr(user, "name")?) else { return None };
    let &[name] = &path[..] else { return None };
    let mut table = module.parent(user);
    while let Some(op) = table.filter(|&op| !module.has_traits(op, Traits::SYMBOL_TABLE)) {
        table = module.parent(op);
    }
    let block = match table {
        Some(op) => module.first_block(*module.regions(op).first()?)?,
        None => module.body(),
    };
    module.ops(block).find(|&op| {
        let text = module.attr(op, "sym_name").and_then(|attr| context.as_text(attr));
        module.name_text(op) == "memref.global" && text == Some(context.text(name))
    })
}

/// The indices of an access whose operands are constants, in row-major order.
fn position(cx: &Cx<'_, '_>) -> Option<usize> {
    let module = cx.module();
    let operands: Option<Vec<i64>> = module
        .operands(cx.op)
        .skip(1)
        .map(|value| cx.int(value).and_then(|n| i64::try_from(n).ok()))
        .collect();
    let at = match module.attr_by(cx.op, cx.known.map) {
        Some(attr) => cx.context.as_affine_map(attr)?.evaluate(&operands?)?,
        None => operands?,
    };
    let extents: Option<Vec<i64>> =
        extents(cx.context, cx.type_of(cx.operand(0)))?.into_iter().collect();
    let (extents, mut sum) = (extents?, 0i64);
    for (&at, &extent) in at.iter().zip(&extents) {
        sum = sum.checked_mul(extent)?.checked_add(at)?;
        if !(0..extent).contains(&at) {
            return None;
        }
    }
    usize::try_from(sum).ok().filter(|_| at.len() == extents.len())
}

fn load_of_constant(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let named = cx.def(0, cx.context.name("memref.get_global"))?;
    let global = global(module, named)?;
    module.attr(global, "constant")?;
    let initial = module.attr(global, "initial_value")?;
    if !matches!(cx.context.attr_data(initial), AttrData::Dense { .. }) {
        return None;
    }
    let ty = cx.ty();
    // One value everywhere needs no indices.
    let at = number::splat(cx.context, initial).map_or_else(|| position(cx), |_| Some(0))?;
    let attr = number::element(cx.context, initial, at, ty)?;
    let value = cx.constant(attr, ty)?;
    cx.replace(&[value])
}

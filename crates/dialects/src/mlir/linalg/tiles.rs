//! Canonicalisation of tiles beside slices and types: extents that one side knows, and parts of
//! what is put together again.

use tangram_ir::Value;

use crate::mlir::extents::list;
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::mixed::{Mixed, OFFSETS, STRIDES};
use crate::mlir::tensor::{cast_to, extents, remake, with_extents};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("extents-of-tiles", &["linalg.pack", "linalg.unpack"], extents_of_tiles),
    ("slice-of-unpack", &["tensor.extract_slice"], slice_of_unpack),
];

/// Where dimension `dim` of the plain tensor stands among those of the tiles.
fn place(order: &[i64], dim: usize) -> Option<usize> {
    if order.is_empty() {
        Some(dim)
    } else {
        order.iter().position(|&n| usize::try_from(n) == Ok(dim))
    }
}

/// Dimensions that are not tiled have the same extents in both tensors.
fn extents_of_tiles(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let plain = usize::from(module.name_text(cx.op) == "linalg.unpack");
    let tiled_dims = list(module, cx.op, "inner_dims_pos")?;
    let order = list(module, cx.op, "outer_dims_perm").unwrap_or_default();
    let mut operands: Vec<Value> = module.operands(cx.op).collect();
    let old = [0, 1].map(|i| extents(cx, cx.type_of(operands[i])));
    let [Some(first), Some(second)] = old.clone() else { return None };
    let mut sizes = [first, second];
    for dim in (0..sizes[plain].len()).filter(|&dim| !tiled_dims.contains(&(dim as i64))) {
        let at = place(&order, dim)?;
        match (sizes[plain][dim], *sizes[1 - plain].get(at)?) {
            (Some(a), Some(b)) if a != b => return None,
            (None, Some(known)) => sizes[plain][dim] = Some(known),
            (known, None) => sizes[1 - plain][at] = known,
            _ => {}
        }
    }
    if module.result_count(cx.op) != 1 || sizes.clone().map(Some) == old {
        return None;
    }
    for (operand, size) in operands.iter_mut().zip(&sizes) {
        let ty = with_extents(cx, cx.type_of(*operand), size)?;
        *operand = cast_to(cx, *operand, ty);
    }
    let (attrs, ty) = (cx.module().attrs(cx.op), cx.type_of(operands[1]));
    remake(cx, &operands, attrs, &[ty])
}

/// What is put together of tiles and cut at the end is put together cut, if the last tiles are
/// cut only.
fn slice_of_unpack(cx: &mut Cx<'_, '_>) -> Option<()> {
    let unpack = cx.def(0, cx.context.name("linalg.unpack"))?;
    let (module, mut part) = (cx.module(), Mixed::of(cx.module(), cx.op)?);
    if !module.has_one_use(cx.operand(0)) || !part.all_are(OFFSETS, 0) || !part.all_are(STRIDES, 1)
    {
        return None;
    }
    let tiles = list(module, unpack, "static_inner_tiles")?;
    let tiled_dims = list(module, unpack, "inner_dims_pos")?;
    let order = list(module, unpack, "outer_dims_perm").unwrap_or_default();
    let (source, init) = (module.operand(unpack, 0), module.operand(unpack, 1));
    let counts = extents(cx, cx.type_of(source))?;
    let (whole, cut) = (extents(cx, cx.type_of(init))?, extents(cx, cx.ty())?);
    let fits = |(dim, size): (usize, &Option<i64>)| {
        let count = *counts.get(place(&order, dim)?)?;
        match tiled_dims.iter().position(|&n| usize::try_from(n) == Ok(dim)) {
            Some(i) => {
                let tile = *tiles.get(i).filter(|&&tile| tile > 0)?;
                let left = count?.checked_mul(tile)?.checked_sub((*size)?)?;
                (0..tile).contains(&left).then_some(())
            }
            None => (size.is_some() && *size == count).then_some(()),
        }
    };
    if whole.len() != cut.len() || cut.iter().enumerate().any(|dim| fits(dim).is_none()) {
        return None;
    }
    part.front[0] = init;
    let (name, attrs, ty) = (module.name(cx.op), module.attrs(cx.op), cx.ty());
    let slice = cx.make(name, &part.operands(), attrs, &[ty]);
    let mut operands: Vec<Value> = cx.module().operands(unpack).collect();
    operands[1] = cx.module().result(slice, 0);
    let (name, attrs) = (cx.module().name(unpack), cx.module().attrs(unpack));
    let made = cx.make(name, &operands, attrs, &[ty]);
    let value = cx.module().result(made, 0);
    cx.replace(&[value])
}

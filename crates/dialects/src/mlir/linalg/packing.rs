//! Canonicalisation of `linalg`: tiles that are undone, constants in tiles, operations on buffers
//! without elements, and coordinates of dimensions of one point.

use tangram_affine::Node;
use tangram_ir::{AttrData, Dim, Module, Op, Type, TypeData, Value};

use crate::mlir::extents::list;
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("unpack-of-pack", &["linalg.unpack"], unpack_of_pack),
    ("pack-of-unpack", &["linalg.pack"], pack_of_unpack),
    ("pack-of-constant", &["linalg.pack", "linalg.unpack"], of_constant),
    ("padding-of-full-tiles", &["linalg.pack"], padding_of_full_tiles),
    ("unpack-into-fill", &["linalg.unpack"], unpack_into_fill),
    ("index-of-one-point", &["linalg.index"], index_of_one_point),
    ("no-elements", ON_BUFFERS, no_elements),
    ("copy-to-itself", &["linalg.copy"], copy_to_itself),
    ("broadcast-of-broadcast", &["linalg.broadcast"], broadcast_of_broadcast),
];

const ON_BUFFERS: &[&str] = &[
    "linalg.generic",
    "linalg.fill",
    "linalg.copy",
    "linalg.matmul",
    "linalg.batch_matmul",
    "linalg.add",
    "linalg.sub",
    "linalg.mul",
    "linalg.div",
    "linalg.transpose",
    "linalg.broadcast",
    "linalg.map",
    "linalg.reduce",
];

fn def(cx: &Cx<'_, '_>, value: Value, name: &str) -> Option<Op> {
    let op = cx.module().def_op(value)?;
    (op != cx.op && cx.module().name_text(op) == name).then_some(op)
}

/// The order of the tiles; that of the dimensions where none is written.
fn order(module: &Module, op: Op) -> Vec<i64> {
    let order = list(module, op, "outer_dims_perm").unwrap_or_default();
    if order.iter().enumerate().all(|(i, &n)| i as i64 == n) { Vec::new() } else { order }
}

/// The sizes of tiles that are operands.
fn dynamic_tiles(module: &Module, op: Op) -> Vec<Value> {
    let fixed = match module.name_text(op) {
        "linalg.pack" => 2 + usize::from(padding(module, op).is_some()),
        _ => 2,
    };
    module.operands(op).skip(fixed).collect()
}

pub(super) fn padding(module: &Module, pack: Op) -> Option<Value> {
    let segments = module.int_list(module.attr(pack, "operandSegmentSizes")?)?;
    (*segments.get(2)? == 1).then(|| module.operand(pack, 2))
}

/// Returns whether both tile the same dimensions by the same sizes in the same order.
fn same_tiles(module: &Module, a: Op, b: Op) -> bool {
    let both =
        |name| list(module, a, name).is_some() && list(module, a, name) == list(module, b, name);
    both("inner_dims_pos")
        && both("static_inner_tiles")
        && order(module, a) == order(module, b)
        && dynamic_tiles(module, a) == dynamic_tiles(module, b)
}

fn unpack_of_pack(cx: &mut Cx<'_, '_>) -> Option<()> {
    let pack = def(cx, cx.operand(0), "linalg.pack")?;
    let module = cx.module();
    let source = module.operand(pack, 0);
    if padding(module, pack).is_some() || !same_tiles(module, pack, cx.op) {
        return None;
    }
    cx.replace(&[source])
}

fn pack_of_unpack(cx: &mut Cx<'_, '_>) -> Option<()> {
    let unpack = def(cx, cx.operand(0), "linalg.unpack")?;
    let module = cx.module();
    let source = module.operand(unpack, 0);
    if padding(module, cx.op).is_some() || !same_tiles(module, unpack, cx.op) {
        return None;
    }
    cx.replace(&[source])
}

/// Tiles that are all full need nothing that completes them.
fn padding_of_full_tiles(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    padding(module, cx.op)?;
    let (tiles, at) =
        (list(module, cx.op, "static_inner_tiles")?, list(module, cx.op, "inner_dims_pos")?);
    let source = dims(cx, cx.type_of(cx.operand(0)))?;
    let full = at.iter().zip(&tiles).all(|(&at, &tile)| {
        let extent = usize::try_from(at).ok().and_then(|at| source.get(at)?.as_static());
        tile > 0 && extent.is_some_and(|extent| extent % tile == 0)
    });
    if !full {
        return None;
    }
    let mut operands: Vec<Value> = module.operands(cx.op).collect();
    operands.remove(2);
    let segments = module.i32s_attr([1, 1, 0, operands.len() - 2]);
    let key = cx.known.segments;
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&operands);
        edit.set_attr(key, Some(segments));
    });
    Some(())
}

/// All of the tensor is overwritten: what it was filled with does not matter.
fn unpack_into_fill(cx: &mut Cx<'_, '_>) -> Option<()> {
    let fill = def(cx, cx.operand(1), "linalg.fill")?;
    let init = cx.module().operand(fill, 1);
    (cx.type_of(init) == cx.ty()).then(|| cx.rewriter.set_operand(cx.op, 1, init))
}

fn is_static(cx: &Cx<'_, '_>, ty: Type) -> bool {
    matches!(cx.context.type_data(ty), TypeData::Tensor(tensor)
        if tensor.dims.iter().all(|dim| dim.as_static().is_some()))
}

/// One value everywhere, in other tiles.
fn of_constant(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    let module = cx.module();
    let constant = module.constant_value(cx.operand(0))?;
    let AttrData::Dense { bytes, splat: true, ty: from } = cx.context.attr_data(constant) else {
        return None;
    };
    // What fills tiles that are not full has to be that value.
    let filled = match module.name_text(cx.op) {
        "linalg.pack" => padding(module, cx.op).map(|value| module.constant_value(value)),
        _ => None,
    };
    if let Some(filled) = filled {
        let element = crate::mlir::fold::number::element(
            cx.context,
            constant,
            0,
            crate::mlir::fold::number::element_type(cx.context, *from),
        );
        if filled.is_none() || filled != element {
            return None;
        }
    }
    if !is_static(cx, ty) {
        return None;
    }
    let data = AttrData::Dense { ty, bytes: bytes.clone(), splat: true };
    let value = cx.constant(cx.context.attr(data), ty)?;
    cx.replace(&[value])
}

fn dims<'a>(cx: &Cx<'a, '_>, ty: Type) -> Option<&'a [Dim]> {
    match cx.context.type_data(ty) {
        TypeData::Tensor(tensor) => Some(&tensor.dims),
        TypeData::MemRef { dims, .. } => Some(dims),
        _ => None,
    }
}

/// A dimension along which there is one point has the coordinate 0.
fn index_of_one_point(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let dim = cx.context.as_i64(module.attr(cx.op, "dim")?)?;
    let around = module.parent(cx.op)?;
    let AttrData::Array(maps) = cx.context.attr_data(module.attr(around, "indexing_maps")?) else {
        return None;
    };
    let one = maps.iter().zip(module.operands(around)).any(|(&map, value)| {
        let (Some(map), Some(dims)) = (cx.context.as_affine_map(map), dims(cx, cx.type_of(value)))
        else {
            return false;
        };
        map.results().iter().zip(dims).any(|(&result, extent)| {
            map.node(result) == Node::Dim(dim as u32) && extent.as_static() == Some(1)
        })
    });
    let ty = cx.ty();
    if !one {
        return None;
    }
    let zero = cx.int_constant(0, ty)?;
    cx.replace(&[zero])
}

/// Nothing is read or written.
fn no_elements(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let empty = |value| {
        matches!(cx.context.type_data(cx.type_of(value)), TypeData::MemRef { dims, .. }
            if dims.iter().any(|dim| dim.as_static() == Some(0)))
    };
    if module.result_count(cx.op) > 0 || !module.operands(cx.op).any(empty) {
        return None;
    }
    cx.rewriter.erase(cx.op);
    Some(())
}

fn copy_to_itself(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    if module.operand_count(cx.op) != 2 || cx.operand(0) != cx.operand(1) {
        return None;
    }
    if module.result_count(cx.op) > 0 {
        let source = cx.operand(0);
        return cx.replace(&[source]);
    }
    cx.rewriter.erase(cx.op);
    Some(())
}

/// New dimensions of a tensor that got some before: all of them at once.
fn broadcast_of_broadcast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    if module.result_count(cx.op) == 0 {
        return None;
    }
    let first = def(cx, cx.operand(0), "linalg.broadcast")?;
    let (inner, outer) = (list(module, first, "dimensions")?, list(module, cx.op, "dimensions")?);
    let rank = dims(cx, cx.type_of(cx.operand(0)))?.len() + outer.len();
    // The dimensions of the result that those of the tensor between become.
    let between: Vec<i64> = (0..rank as i64).filter(|at| !outer.contains(at)).collect();
    let mut all = outer.clone();
    for at in inner {
        all.push(*between.get(usize::try_from(at).ok()?)?);
    }
    all.sort_unstable();
    let source = module.operand(first, 0);
    let init = cx.operand(1);
    let (name, attr) = (cx.context.str("dimensions"), cx.context.i64s_attr(&all));
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&[source, init]);
        edit.set_attr(name, Some(attr));
    });
    Some(())
}

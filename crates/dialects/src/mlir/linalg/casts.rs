//! Canonicalisation of operations on whole tensors beside casts: operands and results get types
//! that say more.

use tangram_affine::Node;
use tangram_ir::{Attr, AttrData, Module, Op, Type, Value};

use crate::mlir::extents::{DYNAMIC, list};
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::tensor::{cast_to, extents, may_be_cast, remake, says_more, with_extents};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("structured-past-cast", &["linalg.*"], structured_past_cast),
    ("cast-of-structured", &["tensor.cast"], cast_of_structured),
    ("extents-of-operands", &["linalg.generic"], extents_of_operands),
    ("tiles-past-cast", &["linalg.pack", "linalg.unpack"], tiles_past_cast),
];

/// The number of operands before the outputs of a structured operation on tensors, which has a
/// result for each output.
fn inputs(module: &Module, op: Op) -> Option<usize> {
    let results = module.result_count(op);
    let structured = results > 0 && module.has_traits(op, super::STRUCTURED);
    module.operand_count(op).checked_sub(results).filter(|_| structured)
}

/// Makes the operation again with other operands; results follow the outputs.
fn with_operands(cx: &mut Cx<'_, '_>, operands: &[Value]) -> Option<()> {
    let first = inputs(cx.module(), cx.op)?;
    let types: Vec<Type> = operands[first..].iter().map(|&value| cx.type_of(value)).collect();
    let attrs = cx.module().attrs(cx.op);
    remake(cx, operands, attrs, &types)
}

/// Tensors that are read and written may be of types that say more; results follow the outputs.
fn structured_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    inputs(module, cx.op)?;
    let cast = cx.context.name("tensor.cast");
    let mut changed = false;
    let mut operands: Vec<Value> = module.operands(cx.op).collect();
    for operand in &mut operands {
        let Some(def) = cx.def_of(*operand, cast) else { continue };
        let source = module.operand(def, 0);
        if says_more(cx, cx.type_of(source), cx.type_of(*operand)) {
            (*operand, changed) = (source, true);
        }
    }
    changed.then(|| with_operands(cx, &operands))?
}

/// A result that is cast to a type that says more is one of that type, as is the output.
fn cast_of_structured(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (result, ty) = (cx.operand(0), cx.ty());
    let module = cx.module();
    let def = module.def_op(result).filter(|&def| def != cx.op)?;
    let first = inputs(module, def)?;
    let beside = module.block(def) == module.block(cx.op);
    if !beside || !says_more(cx, ty, cx.type_of(result)) {
        return None;
    }
    let at = module.results(def).position(|value| value == result)?;
    let mut operands: Vec<Value> = module.operands(def).collect();
    let cast = std::mem::replace(&mut cx.op, def);
    operands[first + at] = cast_to(cx, operands[first + at], ty);
    let done = with_operands(cx, &operands);
    cx.op = cast;
    done
}

/// The extents of a dimension of the iteration space that one operand knows are known of all.
fn extents_of_operands(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let first = inputs(module, cx.op)?;
    let AttrData::Array(maps) = cx.context.attr_data(module.attr(cx.op, "indexing_maps")?) else {
        return None;
    };
    let mut operands: Vec<Value> = module.operands(cx.op).collect();
    // For each operand, the dimension that each of its coordinates is, if it is one.
    let mut places: Vec<Vec<Option<usize>>> = Vec::new();
    let mut known: Vec<Option<i64>> = Vec::new();
    for (&map, &value) in maps.iter().zip(&operands) {
        let map = cx.context.as_affine_map(map)?;
        known.resize(map.dims(), None);
        let place = |&result: &_| match map.node(result) {
            Node::Dim(dim) => Some(dim as usize),
            _ => None,
        };
        let place: Vec<_> = map.results().iter().map(place).collect();
        // A dimension that comes twice would have to agree with itself.
        let mut dims: Vec<usize> = place.iter().flatten().copied().collect();
        dims.sort_unstable();
        if place.contains(&None) || !dims.is_sorted_by(|a, b| a < b) {
            return None;
        }
        for (&dim, extent) in place.iter().zip(extents(cx, cx.type_of(value)).unwrap_or_default()) {
            let slot = dim.and_then(|dim| known.get_mut(dim));
            if let Some((slot, extent)) = slot.zip(extent) {
                if slot.is_some_and(|other| other != extent) {
                    return None;
                }
                *slot = Some(extent);
            }
        }
        places.push(place);
    }
    let mut types = Vec::new();
    for (place, &value) in places.iter().zip(&operands) {
        let ty = cx.type_of(value);
        let follows = |dim: &Option<usize>| dim.and_then(|dim| known[dim]);
        let better: Vec<Option<i64>> = place.iter().map(follows).collect();
        // A scalar that is read has no extents.
        types.push(if better.is_empty() { ty } else { with_extents(cx, ty, &better)? });
    }
    let changed = operands.iter().zip(&types).any(|(&value, &ty)| cx.type_of(value) != ty);
    let fits = |(&value, &ty): (&Value, &Type)| {
        cx.type_of(value) == ty || may_be_cast(cx, cx.type_of(value), ty)
    };
    if !changed || first > operands.len() || !operands.iter().zip(&types).all(fits) {
        return None;
    }
    for (operand, &ty) in operands.iter_mut().zip(&types) {
        *operand = cast_to(cx, *operand, ty);
    }
    with_operands(cx, &operands)
}

/// Tensors and tiles may be of types that say more; the sizes of tiles follow.
fn tiles_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let cast = cx.context.name("tensor.cast");
    let mut operands: Vec<Value> = module.operands(cx.op).collect();
    let mut changed = false;
    for operand in &mut operands[..2] {
        let Some(def) = cx.def_of(*operand, cast) else { continue };
        let source = module.operand(def, 0);
        if says_more(cx, cx.type_of(source), cx.type_of(*operand)) {
            (*operand, changed) = (source, true);
        }
    }
    let tiled = usize::from(module.name_text(cx.op) == "linalg.pack");
    let mut tiles = list(module, cx.op, "static_inner_tiles")?;
    let shape = extents(cx, cx.type_of(operands[tiled]))?;
    let inner = &shape[shape.len().checked_sub(tiles.len())?..];
    let dynamic = tiles.iter().filter(|&&tile| tile == DYNAMIC).count();
    let mut values = operands.split_off(operands.len().checked_sub(dynamic)?).into_iter();
    let mut left = 0;
    for (tile, extent) in tiles.iter_mut().zip(inner).filter(|(tile, _)| **tile == DYNAMIC) {
        let value = values.next()?;
        match extent {
            Some(extent) => *tile = *extent,
            None => {
                operands.push(value);
                left += 1;
            }
        }
    }
    if !changed && left == dynamic {
        return None;
    }
    let mut attrs = cx.context.with_entry(
        module.attrs(cx.op),
        cx.context.str("static_inner_tiles"),
        Some(cx.context.i64s_attr(&tiles)),
    );
    if module.attr_by(cx.op, cx.known.segments).is_some() {
        let padded = operands.len() - left - 2;
        attrs = segments(cx, attrs, [1, 1, padded, left]);
    }
    let ty = cx.type_of(operands[1]);
    remake(cx, &operands, attrs, &[ty])
}

fn segments(cx: &Cx<'_, '_>, attrs: Attr, counts: [usize; 4]) -> Attr {
    let counts = cx.module().i32s_attr(counts);
    cx.context.with_entry(attrs, cx.known.segments, Some(counts))
}

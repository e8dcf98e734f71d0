//! Canonicalisation of operations on whole tensors beside casts: operands and results get types
//! that say more.

use tangram_affine::{AffineMap, Node};
use tangram_ir::{Attr, Module, Op, Type, Value};

use crate::mlir::extents::{DYNAMIC, list};
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::memref::layout::before_cast;
use crate::mlir::tensor::{cast_to, extents, remake, says_more, with_extents};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("structured-past-cast", &["linalg.*"], structured_past_cast),
    ("cast-of-structured", &["tensor.cast"], cast_of_structured),
    ("extents-of-operands", &["linalg.*"], extents_of_operands),
    ("buffers-past-cast", &["linalg.*"], buffers_past_cast),
    ("tiles-past-cast", &["linalg.pack", "linalg.unpack"], tiles_past_cast),
];

/// The number of operands before the outputs of a structured operation on tensors, which has a
/// result for each output.
fn inputs(module: &Module, op: Op) -> Option<usize> {
    let results = module.result_count(op);
    let structured = results > 0 && module.has_traits(op, super::STRUCTURED);
    module.operand_count(op).checked_sub(results).filter(|_| structured)
}

/// Makes the operation again with other operands; results follow the outputs, and extents that one
/// operand knows are those of all.
fn with_operands(cx: &mut Cx<'_, '_>, mut operands: Vec<Value>) -> Option<()> {
    let first = inputs(cx.module(), cx.op)?;
    match followed(cx, &operands) {
        Followed::Types(types) => {
            for (operand, ty) in operands.iter_mut().zip(types) {
                *operand = cast_to(cx, *operand, ty);
            }
        }
        Followed::Unknown => {}
        Followed::Contradiction => return None,
    }
    let types: Vec<Type> = operands[first..].iter().map(|&value| cx.type_of(value)).collect();
    let attrs = cx.module().attrs(cx.op);
    remake(cx, &operands, attrs, &types)
}

/// Tensors that are read and written may be of types that say more.
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
    changed.then(|| with_operands(cx, operands))?
}

/// Buffers that are read and written may be of types that say more.
fn buffers_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    if module.result_count(cx.op) > 0 || !module.has_traits(cx.op, super::STRUCTURED) {
        return None;
    }
    let old: Vec<Value> = module.operands(cx.op).collect();
    let source = |(i, &value): (usize, &Value)| before_cast(cx, i).unwrap_or(value);
    let operands: Vec<Value> = old.iter().enumerate().map(source).collect();
    if operands == old || matches!(followed(cx, &operands), Followed::Contradiction) {
        return None;
    }
    cx.rewriter.set_operands(cx.op, &operands);
    Some(())
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
    let done = with_operands(cx, operands);
    cx.op = cast;
    done
}

/// The extents of a dimension of the iteration space that one operand knows are known of all.
fn extents_of_operands(cx: &mut Cx<'_, '_>) -> Option<()> {
    inputs(cx.module(), cx.op)?;
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let Followed::Types(types) = followed(cx, &operands) else { return None };
    let changed = operands.iter().zip(types).any(|(&value, ty)| cx.type_of(value) != ty);
    changed.then(|| with_operands(cx, operands))?
}

/// What the operands of a structured operation say about each other.
enum Followed {
    /// The types that follow, for each operand.
    Types(Vec<Type>),
    /// The operation does not say how its operands are read and written.
    Unknown,
    /// Two operands disagree.
    Contradiction,
}

/// The types that follow for `operands` of the operation from those of the others.
fn followed(cx: &Cx<'_, '_>, operands: &[Value]) -> Followed {
    let Some(maps) = super::maps(cx.module(), cx.op) else { return Followed::Unknown };
    let (mut places, mut known) = (Vec::new(), Vec::new());
    for (map, &value) in maps.iter().zip(operands) {
        known.resize(map.dims(), None);
        let Some(place) = projection(map) else { return Followed::Unknown };
        let own = extents(cx, cx.type_of(value)).unwrap_or_default();
        for (&dim, extent) in place.iter().zip(own) {
            let (slot, Some(extent)) = (&mut known[dim], extent) else { continue };
            if slot.is_some_and(|other| other != extent) {
                return Followed::Contradiction;
            }
            *slot = Some(extent);
        }
        places.push(place);
    }
    let better = |(place, &value): (&Vec<usize>, &Value)| {
        let ty = cx.type_of(value);
        let known: Vec<Option<i64>> = place.iter().map(|&dim| known[dim]).collect();
        // A scalar that is read has no extents.
        with_extents(cx, ty, &known).unwrap_or(ty)
    };
    Followed::Types(places.iter().zip(operands).map(better).collect())
}

/// The dimension that each result of `map` is, if each is one and none comes twice.
fn projection(map: &AffineMap) -> Option<Vec<usize>> {
    let dim = |&result: &_| match map.node(result) {
        Node::Dim(dim) => Some(dim as usize),
        _ => None,
    };
    let dims: Option<Vec<usize>> = map.results().iter().map(dim).collect();
    let dims = dims?;
    let mut sorted = dims.clone();
    sorted.sort_unstable();
    sorted.is_sorted_by(|a, b| a < b).then_some(dims)
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

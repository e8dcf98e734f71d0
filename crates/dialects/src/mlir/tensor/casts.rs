//! Casts of tensors that say more: what makes a tensor makes one of the better type, what takes
//! one takes the better type.

use tangram_ir::{Dim, Type, Value};

use super::canonicalize::{remake, says_more, tensor, with_dims};
use crate::mlir::extents::{DYNAMIC, in_bounds, list};
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("cast-of-empty", &["tensor.cast"], cast_of_empty),
    ("cast-of-slice", &["tensor.cast"], cast_of_slice),
    ("cast-of-pad", &["tensor.cast"], cast_of_pad),
    ("pad-past-cast", &["tensor.pad"], pad_past_cast),
    ("inserted-past-cast", &["tensor.insert_slice"], inserted_past_cast),
    ("structured-past-cast", STRUCTURED, structured_past_cast),
    ("constant-slice", &["tensor.extract_slice"], constant_slice),
    ("bitcast-chain", &["tensor.bitcast"], bitcast_chain),
];

/// Operations that write outputs whose types their results have.
const STRUCTURED: &[&str] = &[
    "linalg.generic",
    "linalg.fill",
    "linalg.copy",
    "linalg.matmul",
    "linalg.batch_matmul",
    "linalg.matvec",
    "linalg.vecmat",
    "linalg.dot",
    "linalg.transpose",
    "linalg.broadcast",
    "linalg.map",
    "linalg.add",
    "linalg.sub",
    "linalg.mul",
    "linalg.div",
    "linalg.exp",
    "linalg.max",
    "linalg.min",
    "linalg.conv_2d_nhwc_hwcf",
    "linalg.conv_2d_nchw_fchw",
];

/// The operation called `name` whose result is cast here, if the new type says more.
fn cast_source(cx: &Cx<'_, '_>, name: &str) -> Option<tangram_ir::Op> {
    let def = cx.def(0, cx.context.name(name))?;
    says_more(cx, cx.ty(), cx.type_of(cx.operand(0))).then_some(def)
}

fn cast_of_empty(cx: &mut Cx<'_, '_>) -> Option<()> {
    let def = cast_source(cx, "tensor.empty")?;
    let (ty, old) = (cx.ty(), cx.type_of(cx.operand(0)));
    let mut sizes = cx.module().operands(def);
    let mut kept = Vec::new();
    for (dim, before) in tensor(cx, ty)?.dims.iter().zip(&tensor(cx, old)?.dims) {
        if before.as_static().is_some() {
            continue;
        }
        let size = sizes.next()?;
        if dim.as_static().is_none() {
            kept.push(size);
        }
    }
    drop(sizes);
    let value = cx.value(cx.context.name("tensor.empty"), &kept, ty);
    cx.replace(&[value])
}

/// A part whose extents the cast knows.
fn cast_of_slice(cx: &mut Cx<'_, '_>) -> Option<()> {
    let def = cast_source(cx, "tensor.extract_slice")?;
    let ty = cx.ty();
    let module = cx.module();
    let mut sizes = list(module, def, "static_sizes")?;
    let dims = tensor(cx, ty)?.dims.clone();
    // Where dimensions are dropped, sizes have other numbers.
    if sizes.len() != dims.len() {
        return None;
    }
    let segments = module.int_list(module.attr(def, "operandSegmentSizes")?)?;
    let &[_, offsets, dynamic, strides] = &segments[..] else { return None };
    let operands: Vec<Value> = module.operands(def).collect();
    let first = 1 + usize::try_from(offsets).ok()?;
    let (mut kept, mut next) = (operands.get(..first)?.to_vec(), first);
    let mut left = 0;
    for (size, dim) in sizes.iter_mut().zip(dims.iter()) {
        if *size != DYNAMIC {
            continue;
        }
        let value = *operands.get(next)?;
        next += 1;
        match dim.as_static() {
            Some(extent) => *size = extent,
            None => {
                kept.push(value);
                left += 1;
            }
        }
    }
    let from = &tensor(cx, cx.type_of(operands[0]))?.dims;
    let (starts, steps) =
        (list(module, def, "static_offsets")?, list(module, def, "static_strides")?);
    let fits = in_bounds(from, &starts, &sizes, &steps);
    if !fits || i64::try_from(next - first).ok()? != dynamic {
        return None;
    }
    kept.extend_from_slice(operands.get(next..)?);
    let counts = [1, usize::try_from(offsets).ok()?, left, usize::try_from(strides).ok()?];
    let segments = module.i32s_attr(counts);
    let (name, attrs) = (module.name(def), module.attrs(def));
    let attrs = cx.context.with_entry(attrs, cx.known.segments, Some(segments));
    let sizes = cx.context.i64s_attr(&sizes);
    let attrs = cx.context.with_entry(attrs, cx.context.str("static_sizes"), Some(sizes));
    let made = cx.make(name, &kept, attrs, &[ty]);
    let value = cx.module().result(made, 0);
    cx.replace(&[value])
}

/// A padded tensor that only the cast uses gets the type that says more.
fn cast_of_pad(cx: &mut Cx<'_, '_>) -> Option<()> {
    let def = cast_source(cx, "tensor.pad")?;
    let (ty, padded) = (cx.ty(), cx.operand(0));
    if cx.module().uses(padded).count() != 1 {
        return None;
    }
    let mut mapping = tangram_rewrite::Mapping::new();
    let copy = cx.rewriter.clone_op(def, tangram_ir::Point::Before(cx.op), &mut mapping);
    let result = cx.module().result(copy, 0);
    cx.rewriter.refine(result, ty, None);
    cx.replace(&[result])
}

fn pad_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let cast = cx.def(0, cx.context.name("tensor.cast"))?;
    let source = cx.module().operand(cast, 0);
    let (from, ty) = (cx.type_of(source), cx.ty());
    if !says_more(cx, from, cx.type_of(cx.operand(0))) {
        return None;
    }
    let (low, high) =
        (list(cx.module(), cx.op, "static_low")?, list(cx.module(), cx.op, "static_high")?);
    let mut dims = Vec::new();
    for (i, dim) in tensor(cx, ty)?.dims.iter().enumerate() {
        let (low, high) = (*low.get(i)?, *high.get(i)?);
        let known = tensor(cx, from)?.dims.get(i)?.as_static();
        let known = known.filter(|_| low != DYNAMIC && high != DYNAMIC);
        let whole = known.and_then(|n| n.checked_add(low)?.checked_add(high));
        dims.push(match (dim.as_static(), whole.filter(|&n| n >= 0)) {
            (None, Some(n)) => Dim::fixed(n),
            _ => *dim,
        });
    }
    let new_ty = with_dims(cx, ty, dims)?;
    if new_ty == ty {
        cx.rewriter.set_operand(cx.op, 0, source);
        return Some(());
    }
    let mut operands: Vec<Value> = cx.module().operands(cx.op).collect();
    operands[0] = source;
    let attrs = cx.module().attrs(cx.op);
    remake(cx, &operands, attrs, new_ty)
}

/// What is inserted may say its extents, which are then those of the place.
fn inserted_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let cast = cx.def(0, cx.context.name("tensor.cast"))?;
    let module = cx.module();
    let source = module.operand(cast, 0);
    let from = cx.type_of(source);
    if !says_more(cx, from, cx.type_of(cx.operand(0))) {
        return None;
    }
    let dims = tensor(cx, from)?.dims.clone();
    let mut sizes = list(module, cx.op, "static_sizes")?;
    if sizes.len() != dims.len() {
        return None;
    }
    let segments = module.int_list(module.attr(cx.op, "operandSegmentSizes")?)?;
    let &[_, _, offsets, _, strides] = &segments[..] else { return None };
    let (offsets, strides) = (usize::try_from(offsets).ok()?, usize::try_from(strides).ok()?);
    let operands: Vec<Value> = module.operands(cx.op).collect();
    let mut kept = operands.get(..2 + offsets)?.to_vec();
    kept[0] = source;
    let (mut next, mut left) = (2 + offsets, 0);
    for (size, dim) in sizes.iter_mut().zip(dims.iter()) {
        match (*size == DYNAMIC, dim.as_static()) {
            (false, Some(extent)) if extent != *size => return None,
            (false, _) => {}
            (true, Some(extent)) => {
                *size = extent;
                next += 1;
            }
            (true, None) => {
                kept.push(*operands.get(next)?);
                left += 1;
                next += 1;
            }
        }
    }
    let into = &tensor(cx, cx.type_of(cx.operand(1)))?.dims;
    let starts = list(module, cx.op, "static_offsets")?;
    if !in_bounds(into, &starts, &sizes, &list(module, cx.op, "static_strides")?) {
        return None;
    }
    kept.extend_from_slice(operands.get(next..)?);
    let segments = module.i32s_attr([1, 1, offsets, left, strides]);
    let attrs = cx.context.with_entry(module.attrs(cx.op), cx.known.segments, Some(segments));
    let sizes = cx.context.i64s_attr(&sizes);
    let attrs = cx.context.with_entry(attrs, cx.context.str("static_sizes"), Some(sizes));
    let ty = cx.ty();
    remake(cx, &kept, attrs, ty)
}

/// Tensors that are read and written may be of types that say more; results follow the outputs.
fn structured_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
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
    let results = module.result_count(cx.op);
    if !changed || results == 0 {
        return None;
    }
    let outputs = operands.len().checked_sub(results)?;
    let types: Vec<Type> = operands[outputs..].iter().map(|&value| cx.type_of(value)).collect();
    let old: Vec<Type> = module.results(cx.op).map(|value| cx.type_of(value)).collect();
    let mut state = tangram_ir::OpState::new(module.name(cx.op), cx.loc());
    state.operands = operands.into();
    state.attrs = module.attrs(cx.op);
    state.results = types.into();
    let regions = module.regions(cx.op).to_vec();
    state.regions = regions.len() as u32;
    let made = cx.rewriter.create(tangram_ir::Point::Before(cx.op), state);
    for (i, &region) in regions.iter().enumerate() {
        let to = cx.module().region(made, i);
        cx.rewriter.inline_region(region, to, None);
    }
    let mut values = Vec::new();
    for (i, &ty) in old.iter().enumerate() {
        let value = cx.module().result(made, i);
        values.push(super::canonicalize::cast_to(cx, value, ty));
    }
    cx.replace(&values)
}

/// A part of one value everywhere.
fn constant_slice(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    let constant = cx.module().constant_value(cx.operand(0))?;
    let tangram_ir::AttrData::Dense { bytes, splat: true, .. } = cx.context.attr_data(constant)
    else {
        return None;
    };
    if !super::reshape::is_static(cx, ty) {
        return None;
    }
    let data = tangram_ir::AttrData::Dense { ty, bytes: bytes.clone(), splat: true };
    let value = cx.constant(cx.context.attr(data), ty)?;
    cx.replace(&[value])
}

/// The same bits twice, or not at all.
fn bitcast_chain(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    if cx.type_of(source) == cx.ty() {
        return cx.replace(&[source]);
    }
    let first = cx.def(0, cx.context.name("tensor.bitcast"))?;
    let source = cx.module().operand(first, 0);
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

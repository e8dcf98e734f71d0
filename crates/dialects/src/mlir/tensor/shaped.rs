//! Canonicalisation of reshapes to a shape that a tensor holds, of extents, and of concatenation.

use tangram_ir::Value;

use super::types::{cast_to, extents, is_static, may_be_cast, remake, says_more, with_extents};
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("reshape-of-reshape-to", RESHAPE, reshape_of_reshape_to),
    ("reshape-to-own-shape", RESHAPE, reshape_to_own_shape),
    ("dim-of-reshape-to", &["tensor.dim"], dim_of_reshape_to),
    ("dim-of-destination", &["tensor.dim"], dim_of_destination),
    ("concat-of-one", &["tensor.concat"], concat_of_one),
    ("concat-of-known-size", &["tensor.concat"], concat_of_known_size),
];

const RESHAPE: &[&str] = &["tensor.reshape"];

/// Only the last shape counts.
fn reshape_of_reshape_to(cx: &mut Cx<'_, '_>) -> Option<()> {
    let first = cx.def(0, cx.context.name("tensor.reshape"))?;
    let source = cx.module().operand(first, 0);
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

/// The shape is the one that the tensor has: no other has as many elements, or it was asked for
/// its extents.
fn reshape_to_own_shape(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (source, ty) = (cx.operand(0), cx.ty());
    if cx.type_of(source) != ty {
        return None;
    }
    let known = extents(cx, ty)?;
    if is_static(cx, ty) || known.len() <= 1 {
        return cx.replace(&[source]);
    }
    let listed = cx.def(1, cx.context.name("tensor.from_elements"))?;
    let dim = cx.context.name("tensor.dim");
    let module = cx.module();
    let is_own = |(at, element): (usize, Value)| match known.get(at) {
        Some(&Some(extent)) => cx.int(element) == Some(extent.into()),
        Some(None) => cx.def_of(element, dim).is_some_and(|dim| {
            module.operand(dim, 0) == source && cx.int(module.operand(dim, 1)) == Some(at as i128)
        }),
        None => false,
    };
    let own = module.operands(listed).enumerate().all(is_own);
    own.then(|| cx.replace(&[source]))?
}

/// An extent stands in the tensor that holds the shape.
fn dim_of_reshape_to(cx: &mut Cx<'_, '_>) -> Option<()> {
    let reshape = cx.def(0, cx.context.name("tensor.reshape"))?;
    let (shape, at) = (cx.module().operand(reshape, 1), cx.operand(1));
    let (ty, (_, element)) = (cx.ty(), cx.context.as_tensor(cx.type_of(shape))?);
    let mut value = cx.value(cx.context.name("tensor.extract"), &[shape, at], element);
    if element != ty {
        value = cx.value(cx.known.index_cast, &[value], ty);
    }
    cx.replace(&[value])
}

/// Operations whose results have the shapes of the outputs they are given, which are the last
/// operands.
fn writes_outputs(name: &str) -> bool {
    name.starts_with("linalg.") && !matches!(name, "linalg.index" | "linalg.yield")
}

/// An extent of what an operation writes is that of what it writes into.
fn dim_of_destination(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let value = cx.operand(0);
    let def = module.def_op(value)?;
    if !writes_outputs(module.name_text(def)) {
        return None;
    }
    let at = module.results(def).position(|result| result == value)?;
    let outputs = match module.name_text(def) {
        "linalg.pack" | "linalg.unpack" => vec![module.operand(def, 1)],
        _ => {
            let first = module.operand_count(def).checked_sub(module.result_count(def))?;
            module.operands(def).skip(first).collect()
        }
    };
    let output = *outputs.get(at)?;
    cx.rewriter.set_operand(cx.op, 0, output);
    Some(())
}

fn concat_of_one(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (source, ty) = (cx.operand(0), cx.ty());
    if cx.module().operand_count(cx.op) != 1 || !may_be_cast(cx, cx.type_of(source), ty) {
        return None;
    }
    let value = cast_to(cx, source, ty);
    cx.replace(&[value])
}

/// Extents that one part knows are those of all, and of the whole; that along which they stand is
/// the sum.
fn concat_of_known_size(cx: &mut Cx<'_, '_>) -> Option<()> {
    let along = usize::try_from(cx.context.as_i64(cx.module().attr(cx.op, "dim")?)?).ok()?;
    let ty = cx.ty();
    let parts: Vec<Value> = cx.module().operands(cx.op).collect();
    let sizes: Option<Vec<_>> = parts.iter().map(|&part| extents(cx, cx.type_of(part))).collect();
    let (sizes, mut known) = (sizes?, extents(cx, ty)?);
    let sum = sizes.iter().try_fold(0i64, |sum, size| sum.checked_add((*size.get(along)?)?));
    for (at, extent) in known.iter_mut().enumerate() {
        let follows =
            if at == along { sum } else { sizes.iter().find_map(|size| *size.get(at)?) };
        *extent = extent.or(follows);
    }
    let new_ty = with_extents(cx, ty, &known)?;
    let mut types = Vec::with_capacity(parts.len());
    for (&part, size) in parts.iter().zip(&sizes) {
        let mut better = known.clone();
        better[along] = size[along];
        types.push(with_extents(cx, cx.type_of(part), &better)?);
    }
    let better = new_ty != ty && says_more(cx, new_ty, ty);
    let cast = parts.iter().zip(&types).any(|(&part, &ty)| cx.type_of(part) != ty);
    let fits = parts.iter().zip(&types).all(|(&part, &ty)| may_be_cast(cx, cx.type_of(part), ty));
    if !fits || !(better || cast) {
        return None;
    }
    let parts: Vec<Value> =
        parts.into_iter().zip(types).map(|(part, ty)| cast_to(cx, part, ty)).collect();
    let attrs = cx.module().attrs(cx.op);
    remake(cx, &parts, attrs, &[new_ty])
}

//! Canonicalisation of reshapes, of tensors and of buffers: those that change nothing, two that
//! are one, and constants and listed elements in another shape.

use tangram_ir::{Attr, AttrData, Type, TypeData, Value};

use super::canonicalize::{groups, inner, tensor};
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("reshape-by-nothing", ALL, by_nothing),
    ("expand-of-expand", EXPAND, expand_of_expand),
    ("reshape-of-reshape", ALL, reshape_of_reshape),
    ("reshape-of-constant", OF_TENSORS, of_constant),
    ("reshape-of-elements", OF_TENSORS, of_elements),
    ("collapse-past-cast", &["tensor.collapse_shape"], collapse_past_cast),
];

const ALL: &[&str] = &[
    "tensor.collapse_shape",
    "tensor.expand_shape",
    "memref.collapse_shape",
    "memref.expand_shape",
];
const EXPAND: &[&str] = &["tensor.expand_shape", "memref.expand_shape"];
const OF_TENSORS: &[&str] = &["tensor.collapse_shape", "tensor.expand_shape"];

/// The extents of `ty`, a tensor or a buffer of rows one after the other.
fn extents(cx: &Cx<'_, '_>, ty: Type) -> Option<Vec<Option<i64>>> {
    match cx.context.type_data(ty) {
        TypeData::Tensor(tensor) => Some(tensor.dims.iter().map(|dim| dim.as_static()).collect()),
        TypeData::MemRef { dims, layout: None, .. } => {
            Some(dims.iter().map(|dim| dim.as_static()).collect())
        }
        _ => None,
    }
}

/// Each dimension stays alone, and the type is the same.
fn by_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    if cx.type_of(source) != cx.ty() {
        return None;
    }
    let alone = groups(cx.module(), cx.op)?.iter().all(|group| group.len() == 1);
    alone.then(|| cx.replace(&[source]))?
}

fn groups_attr(cx: &Cx<'_, '_>, groups: &[Vec<i64>]) -> Attr {
    let group = |group: &Vec<i64>| {
        let items: Vec<Attr> = group.iter().map(|&n| cx.i64_attr(n)).collect();
        cx.context.array_attr(&items)
    };
    let items: Vec<Attr> = groups.iter().map(group).collect();
    cx.context.array_attr(&items)
}

/// What was split is split again: the groups of the first hold those of the second.
fn expand_of_expand(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let first = inner(cx, "expand_shape")?;
    let (inside, outside) = (groups(module, first)?, groups(module, cx.op)?);
    let mut joined = Vec::new();
    for group in &inside {
        let mut all = Vec::new();
        for &at in group {
            all.extend(outside.get(usize::try_from(at).ok()?)?.iter().copied());
        }
        joined.push(all);
    }
    let source = module.operand(first, 0);
    let attr = groups_attr(cx, &joined);
    cx.set_attr(cx.context.str("reassociation"), Some(attr));
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

/// The groups of one reshape in the place of two, of which the first has the groups `higher` and
/// the second `lower` of one shape between them, or the other way round.
fn composed(higher: &[Vec<i64>], lower: &[Vec<i64>]) -> Option<Vec<Vec<i64>>> {
    let (mut at, mut all) = (0, Vec::new());
    for group in lower {
        let &end = group.last()?;
        let mut taken = Vec::new();
        while let Some(last) = higher.get(at).and_then(|group| group.last()) {
            if last > &end {
                return None;
            }
            taken.push(at as i64);
            at += 1;
            if *last == end {
                break;
            }
        }
        if taken.is_empty() {
            return None;
        }
        all.push(taken);
    }
    (at == higher.len()).then_some(all)
}

/// What was split is joined, or what was joined is split, to another rank than that of the source:
/// one reshape does it where groups end in the same places.
fn reshape_of_reshape(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let expands = module.name_text(cx.op).ends_with("expand_shape");
    let first = inner(cx, if expands { "collapse_shape" } else { "expand_shape" })?;
    let source = module.operand(first, 0);
    let ty = cx.ty();
    let (from, to) = (extents(cx, cx.type_of(source))?, extents(cx, ty)?);
    // What has no dimensions has no groups that say what becomes of ones.
    let between = extents(cx, cx.type_of(cx.operand(0)))?;
    if from.len() == to.len() || between.is_empty() || from.is_empty() || to.is_empty() {
        return None;
    }
    let (a, b) = (groups(module, first)?, groups(module, cx.op)?);
    let dialect = module.name_text(cx.op).split_once('.')?.0;
    if expands {
        // Between two splits of one shape the finer one decides.
        return split_of_join(cx, source, &a, &b, (&from, &to));
    }
    let joins = from.len() > to.len();
    let groups = if joins { composed(&a, &b)? } else { composed(&b, &a)? };
    make_reshape(cx, dialect.to_owned(), source, &groups, joins)
}

/// As `reshape_of_reshape`, for a join that is split: each group of one side is made of whole
/// extents of the other.
fn split_of_join(
    cx: &mut Cx<'_, '_>,
    source: Value,
    joined: &[Vec<i64>],
    split: &[Vec<i64>],
    (from, to): (&[Option<i64>], &[Option<i64>]),
) -> Option<()> {
    let dialect = cx.module().name_text(cx.op).split_once('.')?.0.to_owned();
    if joined.len() != split.len() {
        return None;
    }
    let joins = from.len() > to.len();
    let (mut all, mut offset) = (Vec::new(), 0i64);
    for (left, right) in joined.iter().zip(split) {
        let sizes = |group: &[i64], all: &[Option<i64>]| -> Option<Vec<i64>> {
            group.iter().map(|&at| *all.get(usize::try_from(at).ok()?)?).collect()
        };
        let (fine, coarse) = match joins {
            true => (sizes(left, from)?, sizes(right, to)?),
            false => (sizes(right, to)?, sizes(left, from)?),
        };
        all.extend(matched(&fine, &coarse, &mut offset)?);
    }
    make_reshape(cx, dialect, source, &all, joins)
}

/// For each of `coarse`, the places of neighbours in `fine` whose product it is; `offset` counts
/// places on.
fn matched(fine: &[i64], coarse: &[i64], offset: &mut i64) -> Option<Vec<Vec<i64>>> {
    // Ones may belong to either side: what is not clear stays.
    if fine.contains(&1) || coarse.contains(&1) || fine.contains(&0) {
        return None;
    }
    let mut sizes = fine.iter();
    let mut all = Vec::new();
    for &extent in coarse {
        let (mut product, mut group) = (1i64, Vec::new());
        while product < extent {
            product = product.checked_mul(*sizes.next()?)?;
            group.push(*offset);
            *offset += 1;
        }
        if product != extent {
            return None;
        }
        all.push(group);
    }
    sizes.next().is_none().then_some(all)
}

/// Replaces the operation by one reshape of `source`; a split needs extents that are all known.
fn make_reshape(
    cx: &mut Cx<'_, '_>,
    dialect: String,
    source: Value,
    groups: &[Vec<i64>],
    joins: bool,
) -> Option<()> {
    let ty = cx.ty();
    let reassociation = (cx.context.str("reassociation"), groups_attr(cx, groups));
    let (name, attrs) = match joins {
        true => ("collapse_shape", cx.context.dict([reassociation])),
        false => {
            let shape: Option<Vec<i64>> = extents(cx, ty)?.into_iter().collect();
            let shape = cx.context.i64s_attr(&shape?);
            let shape = (cx.context.str("static_output_shape"), shape);
            ("expand_shape", cx.context.dict([reassociation, shape]))
        }
    };
    let name = cx.context.name(&format!("{dialect}.{name}"));
    let made = cx.make(name, &[source], attrs, &[ty]);
    let value = cx.module().result(made, 0);
    cx.replace(&[value])
}

/// Returns whether all extents of `ty` are known.
pub(super) fn is_static(cx: &Cx<'_, '_>, ty: Type) -> bool {
    tensor(cx, ty).is_some_and(|tensor| tensor.dims.iter().all(|dim| dim.as_static().is_some()))
}

/// The elements of a constant stay in their order.
fn of_constant(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    let constant = cx.module().constant_value(cx.operand(0))?;
    let AttrData::Dense { bytes, splat, .. } = cx.context.attr_data(constant) else {
        return None;
    };
    if !is_static(cx, ty) {
        return None;
    }
    let data = AttrData::Dense { ty, bytes: bytes.clone(), splat: *splat };
    let value = cx.constant(cx.context.attr(data), ty)?;
    cx.replace(&[value])
}

/// The elements that a tensor was made of stay in their order.
fn of_elements(cx: &mut Cx<'_, '_>) -> Option<()> {
    let name = cx.context.name("tensor.from_elements");
    let made = cx.def(0, name)?;
    let ty = cx.ty();
    if !is_static(cx, ty) {
        return None;
    }
    let elements: Vec<Value> = cx.module().operands(made).collect();
    let value = cx.value(name, &elements, ty);
    cx.replace(&[value])
}

/// The extents of the joined tensor follow from a source whose type says more.
fn collapse_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let cast = cx.def(0, cx.context.name("tensor.cast"))?;
    let source = cx.module().operand(cast, 0);
    let (from, ty) = (cx.type_of(source), cx.ty());
    if !super::canonicalize::says_more(cx, from, cx.type_of(cx.operand(0))) {
        return None;
    }
    let known = extents(cx, from)?;
    let mut dims = Vec::new();
    for group in groups(cx.module(), cx.op)? {
        let mut product = Some(1i64);
        for at in group {
            let extent = *known.get(usize::try_from(at).ok()?)?;
            product = product.zip(extent).and_then(|(a, b)| a.checked_mul(b));
        }
        dims.push(product.map_or(tangram_ir::Dim::UNKNOWN, tangram_ir::Dim::fixed));
    }
    let new_ty = super::canonicalize::with_dims(cx, ty, dims)?;
    let attrs = cx.module().attrs(cx.op);
    super::canonicalize::remake(cx, &[source], attrs, new_ty)
}

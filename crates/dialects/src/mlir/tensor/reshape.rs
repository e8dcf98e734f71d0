//! Canonicalisation of reshapes, of tensors and of buffers: those that change nothing, two that
//! are one, and numbers in the place of constant extents.

use tangram_ir::{Attr, AttrData, Module, Op, TypeData, Value};

use super::types::{cast_to, extents, remake, says_more, with_dims, with_extents};
use crate::mlir::extents::{DYNAMIC, list};
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::mixed::{Entry, Mixed};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("reshape-by-nothing", ALL, by_nothing),
    ("expand-of-expand", EXPAND, expand_of_expand),
    ("reshape-of-reshape", ALL, reshape_of_reshape),
    ("collapse-of-collapse", COLLAPSE, collapse_of_collapse),
    ("reshape-back", ALL, reshape_back),
    ("expand-by-numbers", &["tensor.expand_shape"], expand_by_numbers),
    ("collapse-past-cast", &["tensor.collapse_shape"], collapse_past_cast),
];

const ALL: &[&str] = &[
    "tensor.collapse_shape",
    "tensor.expand_shape",
    "memref.collapse_shape",
    "memref.expand_shape",
];
const EXPAND: &[&str] = &["tensor.expand_shape", "memref.expand_shape"];
const COLLAPSE: &[&str] = &["tensor.collapse_shape", "memref.collapse_shape"];

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

/// What was split is joined, or what was joined is split: one reshape does it where groups end in
/// the same places, and none where nothing is left of it.
fn reshape_of_reshape(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let expands = module.name_text(cx.op).ends_with("expand_shape");
    let first = inner(cx, if expands { "collapse_shape" } else { "expand_shape" })?;
    let source = module.operand(first, 0);
    let (from, to) = (extents(cx, cx.type_of(source))?, extents(cx, cx.ty())?);
    let between = extents(cx, cx.type_of(cx.operand(0)))?;
    let (a, b) = (groups(module, first)?, groups(module, cx.op)?);
    let joins = from.len() > to.len();
    if expands {
        // What has no dimensions is one group of ones.
        let whole = |rank: usize| vec![(0..rank as i64).collect::<Vec<_>>()];
        let (a, b) = if between.is_empty() { (whole(from.len()), whole(to.len())) } else { (a, b) };
        let groups = split_of_join((&from, &a), (&to, &b))?;
        return make_reshape(cx, source, &groups, joins, None);
    }
    // What has no dimensions has no groups that say what becomes of ones.
    if from.len() == to.len() || between.is_empty() || from.is_empty() || to.is_empty() {
        return None;
    }
    let groups = if joins { composed(&a, &b)? } else { composed(&b, &a)? };
    make_reshape(cx, source, &groups, joins, Some((first, &b)))
}

/// The groups of one reshape in the place of a join and a split, each of extents and groups: each
/// group of one side is made of whole extents of the other.
fn split_of_join(
    (from, joined): (&[Option<i64>], &[Vec<i64>]),
    (to, split): (&[Option<i64>], &[Vec<i64>]),
) -> Option<Vec<Vec<i64>>> {
    if joined.len() != split.len() {
        return None;
    }
    let (mut all, mut offset) = (Vec::new(), 0i64);
    for (left, right) in joined.iter().zip(split) {
        let sizes = |group: &[i64], all: &[Option<i64>]| -> Option<Vec<Option<i64>>> {
            group.iter().map(|&at| all.get(usize::try_from(at).ok()?).copied()).collect()
        };
        let (mut fine, mut coarse) = (sizes(left, from)?, sizes(right, to)?);
        if from.len() < to.len() {
            std::mem::swap(&mut fine, &mut coarse);
        }
        for count in matched(&fine, &coarse)? {
            all.push((offset..offset + count as i64).collect());
            offset += count as i64;
        }
    }
    Some(all)
}

/// For each of `coarse`, of how many neighbours in `fine` it is the product. Both have the same
/// product; of each at most one is not known.
fn matched(fine: &[Option<i64>], coarse: &[Option<i64>]) -> Option<Vec<usize>> {
    let unknown = |sizes: &[Option<i64>]| sizes.iter().filter(|size| size.is_none()).count();
    if fine.contains(&Some(0)) || coarse.contains(&Some(0)) || unknown(fine) > 1 {
        return None;
    }
    let Some(open) = coarse.iter().position(Option::is_none) else {
        let (mut counts, left) = taken(fine.iter(), coarse.iter())?;
        // Ones that are left belong to the last.
        *counts.last_mut()? += left;
        return fine[fine.len() - left..].iter().all(|size| *size == Some(1)).then_some(counts);
    };
    if unknown(coarse) > 1 || unknown(fine) == 0 {
        return None;
    }
    let (mut counts, left) = taken(fine.iter(), coarse[..open].iter())?;
    let rest = &fine[fine.len() - left..];
    let (mut behind, left) = taken(rest.iter().rev(), coarse[open + 1..].iter().rev())?;
    behind.reverse();
    counts.push(left);
    counts.extend(behind);
    (left > 0).then_some(counts)
}

/// For each of `wanted`, how many of `sizes` it takes for that product, and how many are left.
fn taken<'a>(
    mut sizes: impl ExactSizeIterator<Item = &'a Option<i64>>,
    wanted: impl Iterator<Item = &'a Option<i64>>,
) -> Option<(Vec<usize>, usize)> {
    let mut counts = Vec::new();
    for extent in wanted {
        let (extent, mut product, mut count) = ((*extent)?, 1i64, 0);
        while count == 0 || product < extent {
            product = product.checked_mul((*sizes.next()?)?)?;
            count += 1;
        }
        if product != extent {
            return None;
        }
        counts.push(count);
    }
    Some((counts, sizes.len()))
}

/// The extents that joining `groups` of what `first` splits leaves: the least `i64` for one that is
/// not known, and these in turn. Of a group at most one is not.
fn joined_sizes(
    cx: &mut Cx<'_, '_>,
    first: Op,
    groups: &[Vec<i64>],
) -> Option<(Vec<i64>, Vec<Value>)> {
    let split = list(cx.module(), first, "static_output_shape")?;
    let given: Vec<Value> = cx.module().operands(first).skip(1).collect();
    let mut given = given.into_iter();
    let mut value = |n: i64| if n == DYNAMIC { given.next().map(Some) } else { Some(None) };
    let values: Option<Vec<Option<Value>>> = split.iter().map(|&n| value(n)).collect();
    let values = values?;
    let (mut shape, mut open) = (Vec::new(), Vec::new());
    for group in groups {
        let (mut product, mut unknown) = (1i64, None);
        for &at in group {
            let at = usize::try_from(at).ok()?;
            match *values.get(at)? {
                None => product = product.checked_mul(split[at])?,
                Some(value) if unknown.is_none() => unknown = Some(value),
                Some(_) => return None,
            }
        }
        shape.push(if unknown.is_some() { DYNAMIC } else { product });
        open.extend(unknown.map(|value| (value, product)));
    }
    let index = cx.context.ty(TypeData::Index);
    let mut sizes = Vec::with_capacity(open.len());
    for (value, product) in open {
        sizes.push(if product == 1 {
            value
        } else {
            let factor = cx.int_constant(product.into(), index)?;
            cx.value(cx.known.muli, &[value, factor], index)
        });
    }
    Some((shape, sizes))
}

/// Replaces the operation by one reshape of `source`, or by `source`. A split needs extents that
/// are all known, or an operation that says those that are not; where the operation joins, that is
/// the split before it, and the groups that it joins.
fn make_reshape(
    cx: &mut Cx<'_, '_>,
    source: Value,
    groups: &[Vec<i64>],
    joins: bool,
    before: Option<(Op, &[Vec<i64>])>,
) -> Option<()> {
    let (from, ty) = (cx.type_of(source), cx.ty());
    if groups.iter().all(|group| group.len() == 1) {
        return (from == ty).then(|| cx.replace(&[source]))?;
    }
    let (dialect, own) = cx.module().name_text(cx.op).split_once('.')?;
    let name = if joins { "collapse_shape" } else { "expand_shape" };
    let (splits, name) = (own == "expand_shape", cx.context.name(&format!("{dialect}.{name}")));
    let reassociation = (cx.context.str("reassociation"), groups_attr(cx, groups));
    let (mut operands, mut attrs) = (vec![source], cx.context.dict([reassociation]));
    if !joins {
        let key = cx.context.str("static_output_shape");
        let shape: Option<Vec<i64>> = extents(cx, ty)?.into_iter().collect();
        let shape = match shape {
            Some(shape) => cx.context.i64s_attr(&shape),
            None if splits => {
                operands.extend(cx.module().operands(cx.op).skip(1));
                cx.module().attr_by(cx.op, key)?
            }
            None => {
                let (first, joined) = before?;
                let (shape, sizes) = joined_sizes(cx, first, joined)?;
                operands.extend(sizes);
                cx.context.i64s_attr(&shape)
            }
        };
        attrs = cx.context.with_entry(attrs, key, Some(shape));
    }
    let made = cx.make(name, &operands, attrs, &[ty]);
    let value = cx.module().result(made, 0);
    cx.replace(&[value])
}

/// Extents that are constant, or follow from the tensor, become numbers.
fn expand_by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (ty, source) = (cx.ty(), cx.operand(0));
    let mut mixed = Mixed::of(cx.module(), cx.op)?;
    let mut changed = mixed.fix(cx, |_, _, n| n >= 0);
    let from = cx.type_of(source);
    let mut known = extents(cx, from)?;
    // A cast before it may know more.
    let cast = cx.def(0, cx.context.name("tensor.cast")).map(|cast| cx.module().operand(cast, 0));
    let before = cast.filter(|&value| says_more(cx, cx.type_of(value), from));
    if let Some(better) = before.and_then(|value| extents(cx, cx.type_of(value))) {
        known = better;
    }
    for (group, extent) in groups(cx.module(), cx.op)?.into_iter().zip(&mut known) {
        let group: Option<Vec<usize>> =
            group.into_iter().map(|at| usize::try_from(at).ok()).collect();
        let (mut product, mut open) = (1i64, Vec::new());
        for at in group? {
            match mixed.lists[0].get(at)?.number() {
                Some(n) => product = product.checked_mul(n)?,
                None => open.push(at),
            }
        }
        match (*extent, &open[..]) {
            (None, []) => *extent = Some(product),
            (Some(whole), []) if whole != product => return None,
            (Some(whole), &[at]) if product > 0 && whole % product == 0 => {
                mixed.lists[0][at] = Entry::Number(whole / product);
                changed = true;
            }
            _ => {}
        }
    }
    if !changed {
        return None;
    }
    let sizes: Vec<Option<i64>> = mixed.lists[0].iter().map(|size| size.number()).collect();
    let (new_from, new_ty) = (with_extents(cx, from, &known)?, with_extents(cx, ty, &sizes)?);
    let better = before.filter(|&value| cx.type_of(value) == new_from);
    mixed.front[0] = better.unwrap_or_else(|| cast_to(cx, source, new_from));
    let attrs = mixed.attrs(cx, cx.module().attrs(cx.op));
    remake(cx, &mixed.operands(), attrs, &[new_ty])
}

/// The groups of dimensions of a reshape.
pub(super) fn groups(module: &Module, op: Op) -> Option<Vec<Vec<i64>>> {
    let context = module.context();
    let AttrData::Array(items) = context.attr_data(module.attr(op, "reassociation")?) else {
        return None;
    };
    items.iter().map(|&item| context.as_i64s(item)).collect()
}

/// The operation that defines operand 0, if it is called `name` in the same dialect.
pub(super) fn inner(cx: &Cx<'_, '_>, name: &str) -> Option<Op> {
    let module = cx.module();
    let def = module.def_op(cx.operand(0)).filter(|&def| def != cx.op)?;
    let dialect = module.name_text(cx.op).split_once('.')?.0;
    (module.name_text(def).split_once('.') == Some((dialect, name))).then_some(def)
}

fn collapse_of_collapse(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let first = inner(cx, "collapse_shape")?;
    let (inside, outside) = (groups(module, first)?, groups(module, cx.op)?);
    let joined: Option<Vec<_>> = outside
        .iter()
        .map(|group| {
            let mut all = Vec::new();
            for &at in group {
                all.extend(inside.get(usize::try_from(at).ok()?)?.iter().copied());
            }
            let all = all.into_iter().map(|n| cx.i64_attr(n)).collect::<Vec<_>>();
            Some(cx.context.array_attr(&all))
        })
        .collect();
    let source = module.operand(first, 0);
    let attr = cx.context.array_attr(&joined?);
    cx.set_attr(cx.context.str("reassociation"), Some(attr));
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

/// What was split and joined again, or joined and split, in the same groups.
fn reshape_back(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let other = if module.name_text(cx.op).ends_with("collapse_shape") {
        "expand_shape"
    } else {
        "collapse_shape"
    };
    let first = inner(cx, other)?;
    let source = module.operand(first, 0);
    let fixed = match cx.context.type_data(cx.ty()) {
        TypeData::Tensor(tensor) => tensor.dims.iter().all(|dim| dim.as_static().is_some()),
        TypeData::MemRef { dims, .. } => dims.iter().all(|dim| dim.as_static().is_some()),
        _ => false,
    };
    // Extents that are not known are the same where the larger shape is the one in the middle.
    let same = groups(module, first)? == groups(module, cx.op)? && other == "expand_shape";
    if cx.type_of(source) != cx.ty() || !(fixed || same) {
        return None;
    }
    cx.replace(&[source])
}

/// The extents of the joined tensor follow from a source whose type says more.
fn collapse_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let cast = cx.def(0, cx.context.name("tensor.cast"))?;
    let source = cx.module().operand(cast, 0);
    let (from, ty) = (cx.type_of(source), cx.ty());
    if !says_more(cx, from, cx.type_of(cx.operand(0))) {
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
    let new_ty = with_dims(cx, ty, dims)?;
    let attrs = cx.module().attrs(cx.op);
    remake(cx, &[source], attrs, &[new_ty])
}

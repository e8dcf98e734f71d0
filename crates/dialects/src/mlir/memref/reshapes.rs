//! Canonicalisation of reshapes of buffers that have a layout, or whose types may say more.

use tangram_ir::{AttrData, Block, Module, Op, OpState, Point, Type, Value};

use super::layout::{
    Layout, before_cast, cast_to, extents, forgets, may_be_cast, remake, retyped, written_layout,
};
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::mixed::{Entry, Mixed};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("buffer-expand-by-numbers", &["memref.expand_shape"], expand_by_numbers),
    ("buffer-collapse-past-cast", &["memref.collapse_shape"], collapse_past_cast),
    ("buffer-reshape-back", &["memref.collapse_shape", "memref.expand_shape"], reshape_back),
    ("dim-of-buffer-reshape-to", &["memref.dim"], dim_of_reshape_to),
    ("reshape-to-past-cast", &["memref.reshape"], reshape_to_past_cast),
];

/// The groups of dimensions of a reshape.
fn groups(module: &Module, op: Op) -> Option<Vec<Vec<usize>>> {
    let context = module.context();
    let AttrData::Array(items) = context.attr_data(module.attr(op, "reassociation")?) else {
        return None;
    };
    let group = |&item| -> Option<Vec<usize>> {
        context.as_i64s(item)?.into_iter().map(|n| usize::try_from(n).ok()).collect()
    };
    items.iter().map(group).collect()
}

/// The type of a buffer of type `source` whose dimensions are split into `groups` of `sizes`.
fn expanded(
    cx: &Cx<'_, '_>,
    source: Type,
    groups: &[Vec<usize>],
    sizes: &[Option<i64>],
) -> Option<Type> {
    let Some(layout) = written_layout(cx.context, source)? else {
        return retyped(cx.context, source, sizes, None);
    };
    let mut strides = vec![Some(1); sizes.len()];
    for (group, &stride) in groups.iter().zip(&layout.strides) {
        let mut stride = stride;
        for &at in group.iter().rev() {
            *strides.get_mut(at)? = stride;
            stride = stride.zip(sizes[at]).and_then(|(a, b)| a.checked_mul(b));
        }
    }
    retyped(cx.context, source, sizes, Some(&Layout { offset: layout.offset, strides }))
}

/// Lets the sizes of a group fit `extent`: it is known exactly if they are. `None` if it cannot.
fn fit(extent: Option<i64>, old: &[Entry], sizes: &mut [Entry]) -> Option<()> {
    let open = sizes.iter().filter(|size| size.number().is_none()).count();
    let product =
        sizes.iter().filter_map(|size| size.number()).try_fold(1i64, |n, m| n.checked_mul(m))?;
    match (extent, open) {
        (Some(extent), 0) => (product == extent).then_some(()),
        (Some(extent), 1) if product > 0 && extent % product == 0 => {
            let open = sizes.iter_mut().find(|size| size.number().is_none())?;
            *open = Entry::Number(extent / product);
            Some(())
        }
        (Some(_), _) => None,
        (None, 0) => {
            // One of them has to stay an operand, and only a cast would tell of the others.
            old.iter().any(|size| size.number().is_none()).then(|| sizes.copy_from_slice(old))
        }
        (None, _) => Some(()),
    }
}

/// Constant extents become numbers, and a cast is passed by where its source says an extent that
/// the sizes say, too.
fn expand_by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    let old = Mixed::of(cx.module(), cx.op)?;
    let groups = groups(cx.module(), cx.op)?;
    let sources = [before_cast(cx, 0), Some(cx.operand(0))];
    for source in sources.into_iter().flatten() {
        let mut mixed = old.clone();
        mixed.front[0] = source;
        mixed.fix(cx, |_, _, n| n >= 0);
        let from = extents(cx.context, cx.type_of(source))?;
        let fits = groups.iter().zip(from).all(|(group, extent)| {
            let (Some(&first), Some(&last)) = (group.first(), group.last()) else { return true };
            let (Some(old), Some(sizes)) =
                (old.lists[0].get(first..=last), mixed.lists[0].get_mut(first..=last))
            else {
                return false;
            };
            fit(extent, old, sizes).is_some()
        });
        let sizes: Vec<Option<i64>> = mixed.lists[0].iter().map(|size| size.number()).collect();
        let Some(ty) = expanded(cx, cx.type_of(source), &groups, &sizes) else { continue };
        if fits && mixed != old && may_be_cast(cx.context, ty, cx.ty()) {
            let attrs = mixed.attrs(cx, cx.module().attrs(cx.op));
            return remake(cx, &mixed.operands(), attrs, ty);
        }
    }
    None
}

/// The type of a buffer of type `source` with the dimensions of each group joined.
fn collapsed(cx: &Cx<'_, '_>, source: Type, groups: &[Vec<usize>]) -> Option<Type> {
    let from = extents(cx.context, source)?;
    let (mut sizes, mut strides) = (Vec::new(), Vec::new());
    let layout = written_layout(cx.context, source)?;
    for group in groups {
        let size = group.iter().try_fold(Some(1i64), |n, &at| {
            Some(n.zip(*from.get(at)?).and_then(|(a, b)| a.checked_mul(b)))
        });
        sizes.push(size?);
        // Ones at the end of a group have any stride.
        let last = group.iter().rposition(|&at| from[at] != Some(1)).unwrap_or(0);
        let &at = group.get(last)?;
        let clear = from[at].is_some() || last == 0;
        strides.push(layout.as_ref().and_then(|layout| layout.strides[at].filter(|_| clear)));
    }
    let layout = layout.map(|layout| Layout { offset: layout.offset, strides });
    retyped(cx.context, source, &sizes, layout.as_ref())
}

fn collapse_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = before_cast(cx, 0)?;
    let groups = groups(cx.module(), cx.op).filter(|groups| !groups.is_empty())?;
    let ty = collapsed(cx, cx.type_of(source), &groups)?;
    if !may_be_cast(cx.context, ty, cx.ty()) {
        return None;
    }
    let attrs = cx.module().attrs(cx.op);
    remake(cx, &[source], attrs, ty)
}

/// What was split and joined again in the same groups is what it was, but for its type.
fn reshape_back(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let joins = module.name_text(cx.op) == "memref.collapse_shape";
    let other = if joins { "memref.expand_shape" } else { "memref.collapse_shape" };
    let first = cx.def(0, cx.context.name(other))?;
    let (source, ty) = (module.operand(first, 0), cx.ty());
    let from = cx.type_of(source);
    let same = groups(module, first)? == groups(module, cx.op)?;
    // Extents that are not known are the same where the larger shape is the one in the middle, or
    // where all elements make one only.
    let sizes = extents(cx.context, from)?;
    let open = sizes.iter().filter(|size| size.is_none()).count();
    let counted = open == 0 || open == 1 && !sizes.contains(&Some(0));
    let known = joins && same || counted && extents(cx.context, ty)? == sizes;
    let plain = written_layout(cx.context, from)?.is_none();
    if !known
        || !(same || plain)
        || !(forgets(cx.context, from, ty) || forgets(cx.context, ty, from))
    {
        return None;
    }
    let value = cast_to(cx, source, ty);
    cx.replace(&[value])
}

/// An extent stands in the buffer that holds the shape: it is read where the shape was, since the
/// buffer may change.
fn dim_of_reshape_to(cx: &mut Cx<'_, '_>) -> Option<()> {
    let reshape = cx.def(0, cx.context.name("memref.reshape"))?;
    let (shape, index, ty) = (cx.module().operand(reshape, 1), cx.operand(1), cx.ty());
    let element = match cx.context.type_data(cx.type_of(shape)) {
        tangram_ir::TypeData::MemRef { element, .. } => *element,
        _ => return None,
    };
    if !runs_with(cx, reshape) {
        return None;
    }
    let index = match cx.module().constant_value(index) {
        Some(attr) => {
            let (name, index_ty) = (cx.module().name(cx.op), cx.type_of(index));
            let state = cx.context.constant_state(name, attr, index_ty, cx.loc())?;
            let constant = cx.rewriter.create(Point::Before(reshape), state);
            cx.module().result(constant, 0)
        }
        None if is_there(cx, index, reshape) => index,
        None => return None,
    };
    let mut state = OpState::new(cx.context.name("memref.load"), cx.loc());
    state.operands = [shape, index].as_slice().into();
    state.results.push(element);
    let load = cx.rewriter.create(Point::Before(reshape), state);
    let mut value = cx.module().result(load, 0);
    if element != ty {
        value = cx.value(cx.known.index_cast, &[value], ty);
    }
    cx.replace(&[value])
}

/// Returns whether the operation runs wherever `first` does: it stands behind it, and nothing
/// between may leave the block.
fn runs_with(cx: &Cx<'_, '_>, first: Op) -> bool {
    let module = cx.module();
    let mut at = module.next(first);
    while let Some(op) = at.filter(|&op| op != cx.op) {
        let dialect = module.name_text(op).split_once('.').map_or("", |(dialect, _)| dialect);
        if !matches!(dialect, "memref" | "arith" | "tensor" | "affine")
            || !module.regions(op).is_empty()
        {
            return false;
        }
        at = module.next(op);
    }
    at.is_some()
}

/// Returns whether `value` is there in front of `op`, as far as their block and those around tell.
fn is_there(cx: &Cx<'_, '_>, value: Value, op: Op) -> bool {
    let module = cx.module();
    let home: Option<Block> = module.def_block(value);
    let Some(at) = home.and_then(|home| module.ancestor_in(home, op)) else { return false };
    module.def_op(value).is_none_or(|def| module.is_before(def, at))
}

/// A buffer of another shape with the same elements may know more of the elements it has.
fn reshape_to_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = before_cast(cx, 0)?;
    if written_layout(cx.context, cx.type_of(source))?.is_some() {
        return None;
    }
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

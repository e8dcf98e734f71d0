//! Canonicalisation of views of buffers: those that are the whole buffer, views of views, and
//! constants among offsets, sizes and strides.

use tangram_ir::{Attr, AttrData, Context, Dim, Module, Type, TypeData, Value};

use crate::mlir::extents::{DYNAMIC, in_bounds, list};
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("view-by-numbers", VIEWS, by_numbers),
    ("subview-of-all", &["memref.subview"], subview_of_all),
    ("reinterpret-past-view", &["memref.reinterpret_cast"], reinterpret_past_view),
    ("reinterpret-as-itself", &["memref.reinterpret_cast"], reinterpret_as_itself),
    ("transpose-by-nothing", &["memref.transpose"], transpose_by_nothing),
    ("space-cast-chain", &["memref.memory_space_cast"], space_cast_chain),
    ("copy-past-cast", &["memref.copy"], copy_past_cast),
    ("copy-of-nothing", &["memref.copy"], copy_of_nothing),
    ("cast-of-cast-of-buffer", &["memref.cast"], cast_of_cast),
];

const VIEWS: &[&str] = &["memref.subview", "memref.reinterpret_cast"];
const LISTS: [&str; 3] = ["static_offsets", "static_sizes", "static_strides"];

/// Where elements lie: `None` where only a run knows.
#[derive(Clone, PartialEq, Debug)]
struct Layout {
    offset: Option<i64>,
    strides: Vec<Option<i64>>,
}

fn buffer(context: &Context, ty: Type) -> Option<(&[Dim], Option<Attr>)> {
    match context.type_data(ty) {
        TypeData::MemRef { dims, layout, .. } => Some((dims, *layout)),
        _ => None,
    }
}

/// The layout of a buffer type; `None` for a map that is no list of strides.
fn layout(context: &Context, ty: Type) -> Option<Layout> {
    let (dims, attr) = buffer(context, ty)?;
    let Some(attr) = attr else {
        let mut strides = vec![Some(1i64); dims.len()];
        for i in (1..dims.len()).rev() {
            let extent = dims[i].as_static();
            strides[i - 1] = strides[i].zip(extent).and_then(|(a, b)| a.checked_mul(b));
        }
        return Some(Layout { offset: Some(0), strides });
    };
    let AttrData::Opaque(text) = context.attr_data(attr) else { return None };
    let (strides, rest) = context.text(*text).strip_prefix("strided<[")?.split_once(']')?;
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let strides: Vec<Option<i64>> =
        strides.split(',').filter(|s| !s.trim().is_empty()).map(number).collect();
    let offset = match rest.strip_suffix('>')?.trim().strip_prefix(", offset:") {
        None => Some(0),
        Some(offset) => number(offset),
    };
    (strides.len() == dims.len()).then_some(Layout { offset, strides })
}

fn layout_attr(context: &Context, layout: &Layout) -> Attr {
    let number = |n: &Option<i64>| n.map_or("?".to_owned(), |n| n.to_string());
    let strides: Vec<String> = layout.strides.iter().map(number).collect();
    let offset = match layout.offset {
        Some(0) => String::new(),
        offset => format!(", offset: {}", number(&offset)),
    };
    let text = format!("strided<[{}]{offset}>", strides.join(", "));
    context.attr(AttrData::Opaque(context.str(&text)))
}

/// The lists of a view and what stands for their dynamic entries.
struct Lists {
    numbers: [Vec<i64>; 3],
    kept: Vec<Value>,
    counts: [usize; 3],
}

/// The lists with constants as numbers; `None` if no operand is a constant that fits.
fn numbered(cx: &Cx<'_, '_>) -> Option<Lists> {
    let module = cx.module();
    let mut operands = module.operands(cx.op).skip(1);
    let (mut numbers, mut kept, mut counts) = ([const { Vec::new() }; 3], Vec::new(), [0; 3]);
    let mut changed = false;
    for (i, name) in LISTS.into_iter().enumerate() {
        let mut entries = list(module, cx.op, name)?;
        for entry in entries.iter_mut().filter(|entry| **entry == DYNAMIC) {
            let value = operands.next()?;
            let number = cx.int(value).and_then(|n| i64::try_from(n).ok());
            match number.filter(|&n| n != DYNAMIC && (i == 2 || n >= 0)) {
                Some(number) => (*entry, changed) = (number, true),
                None => {
                    kept.push(value);
                    counts[i] += 1;
                }
            }
        }
        numbers[i] = entries;
    }
    changed.then_some(Lists { numbers, kept, counts })
}

fn known(number: i64) -> Option<i64> {
    (number != DYNAMIC).then_some(number)
}

/// The type of the view with these lists, of dimensions `shown` of the lists.
fn view_type(cx: &Cx<'_, '_>, lists: &[Vec<i64>; 3], shown: &[usize]) -> Option<Type> {
    let ty = cx.ty();
    let [offsets, sizes, strides] = lists;
    let TypeData::MemRef { element, space, .. } = cx.context.type_data(ty) else { return None };
    let whole = if cx.module().name_text(cx.op) == "memref.subview" {
        let source = layout(cx.context, cx.type_of(cx.operand(0)))?;
        let mut offset = source.offset;
        for (at, stride) in offsets.iter().zip(&source.strides) {
            let step = match (known(*at), stride) {
                (Some(0), _) => Some(0),
                (Some(at), Some(stride)) => at.checked_mul(*stride),
                _ => None,
            };
            offset = offset.zip(step).and_then(|(a, b)| a.checked_add(b));
        }
        let of = |(by, stride): (&i64, &Option<i64>)| {
            known(*by).zip(*stride).and_then(|(a, b)| a.checked_mul(b))
        };
        Layout { offset, strides: strides.iter().zip(&source.strides).map(of).collect() }
    } else {
        let strides = strides.iter().map(|&n| known(n)).collect();
        Layout { offset: known(*offsets.first()?), strides }
    };
    let dims: Option<Vec<Dim>> = shown
        .iter()
        .map(|&i| Some(known(*sizes.get(i)?).map_or(Dim::UNKNOWN, Dim::fixed)))
        .collect();
    let strides: Option<Vec<Option<i64>>> =
        shown.iter().map(|&i| whole.strides.get(i).copied()).collect();
    let layout = layout_attr(cx.context, &Layout { offset: whole.offset, strides: strides? });
    let data = TypeData::MemRef {
        dims: dims?.into(),
        element: *element,
        layout: Some(layout),
        space: *space,
    };
    Some(cx.context.ty(data))
}

/// The dimensions of the lists that the type of the result shows; `None` if that is not clear.
fn shown(cx: &Cx<'_, '_>, sizes: &[i64]) -> Option<Vec<usize>> {
    let (dims, _) = buffer(cx.context, cx.ty())?;
    if dims.len() == sizes.len() {
        return Some((0..sizes.len()).collect());
    }
    // A dimension of size 1 may go; which one is clear only if as many go as there are.
    let ones = sizes.iter().filter(|&&size| size == 1).count();
    let others: Vec<usize> =
        sizes.iter().enumerate().filter(|entry| *entry.1 != 1).map(|entry| entry.0).collect();
    (sizes.len() - dims.len() == ones).then_some(others)
}

/// Constants among offsets, sizes and strides become numbers, and the type says them.
fn by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    // The old lists say which dimensions the type shows.
    let shown = shown(cx, &list(cx.module(), cx.op, LISTS[1])?)?;
    let lists = numbered(cx)?;
    if cx.module().name_text(cx.op) == "memref.subview" {
        let (dims, _) = buffer(cx.context, cx.type_of(cx.operand(0)))?;
        let [offsets, sizes, strides] = &lists.numbers;
        if !in_bounds(dims, offsets, sizes, strides) {
            return None;
        }
    }
    let new_ty = view_type(cx, &lists.numbers, &shown)?;
    let module = cx.module();
    let (name, old) = (module.name(cx.op), module.attrs(cx.op));
    let segments = module.i32s_attr([1, lists.counts[0], lists.counts[1], lists.counts[2]]);
    let mut attrs = cx.context.with_entry(old, cx.known.segments, Some(segments));
    for (name, numbers) in LISTS.into_iter().zip(&lists.numbers) {
        let numbers = cx.context.i64s_attr(numbers);
        attrs = cx.context.with_entry(attrs, cx.context.str(name), Some(numbers));
    }
    let ty = cx.ty();
    let operands = [&[cx.operand(0)], &lists.kept[..]].concat();
    let made = cx.make(name, &operands, attrs, &[new_ty]);
    let mut value = cx.module().result(made, 0);
    if new_ty != ty {
        value = cx.value(cx.known.memref_cast, &[value], ty);
    }
    cx.replace(&[value])
}

/// Returns whether all extents of `ty` are known.
fn is_static(context: &Context, ty: Type) -> bool {
    buffer(context, ty).is_some_and(|(dims, _)| dims.iter().all(|dim| dim.as_static().is_some()))
}

fn all_are(module: &Module, cx: &Cx<'_, '_>, name: &str, number: i64) -> bool {
    list(module, cx.op, name).is_some_and(|list| list.iter().all(|&n| n == number))
}

/// A part that begins at the origin and has the type of the buffer.
fn subview_of_all(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    let ty = cx.type_of(source);
    let module = cx.module();
    let whole = all_are(module, cx, LISTS[0], 0) && all_are(module, cx, LISTS[2], 1);
    if ty != cx.ty() || !whole || !is_static(cx.context, ty) {
        return None;
    }
    cx.replace(&[source])
}

/// A reinterpretation says all of a layout: what was said before does not matter.
fn reinterpret_past_view(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let def = module.def_op(cx.operand(0)).filter(|&def| def != cx.op)?;
    let origin = |name: &str| list(module, def, name).is_some_and(|l| l.iter().all(|&n| n == 0));
    let passes = match module.name_text(def) {
        "memref.cast" | "memref.reinterpret_cast" => true,
        "memref.subview" => origin(LISTS[0]),
        _ => false,
    };
    let source = if passes { module.operand(def, 0) } else { return None };
    buffer(cx.context, cx.type_of(source))?;
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

fn reinterpret_as_itself(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    let ty = cx.type_of(source);
    let at_origin = all_are(cx.module(), cx, LISTS[0], 0);
    if ty != cx.ty() || !at_origin || !is_static(cx.context, ty) {
        return None;
    }
    cx.replace(&[source])
}

/// The dimensions stay in their order, or two transpositions are one.
fn transpose_by_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let map = |op| cx.context.as_affine_map(module.attr(op, "permutation")?);
    let outer = map(cx.op)?.clone();
    let source = cx.operand(0);
    if outer.is_identity() && cx.type_of(source) == cx.ty() {
        return cx.replace(&[source]);
    }
    let first = cx.def(0, cx.context.name("memref.transpose"))?;
    let both = outer.compose(map(first)?)?;
    let source = module.operand(first, 0);
    let attr = cx.context.attr(AttrData::AffineMap(both));
    let name = cx.context.str("permutation");
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operand(0, source);
        edit.set_attr(name, Some(attr));
    });
    Some(())
}

fn space_cast_chain(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    if cx.type_of(source) == cx.ty() {
        return cx.replace(&[source]);
    }
    let first = cx.def(0, cx.context.name("memref.memory_space_cast"))?;
    let source = cx.module().operand(first, 0);
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

/// Returns whether a cast from `from` to `to` only forgets.
fn forgets(context: &Context, from: Type, to: Type) -> bool {
    let (Some((a, _)), Some((b, _))) = (buffer(context, from), buffer(context, to)) else {
        return false;
    };
    let (Some(here), Some(there)) = (layout(context, from), layout(context, to)) else {
        return false;
    };
    let weaker = |(a, b): (&Option<i64>, &Option<i64>)| b.is_none() || a == b;
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| a == b || b.as_static().is_none())
        && weaker((&here.offset, &there.offset))
        && here.strides.iter().zip(&there.strides).all(weaker)
}

fn copy_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    for i in 0..2 {
        let Some(cast) = cx.def(i, cx.known.memref_cast) else { continue };
        let source = cx.module().operand(cast, 0);
        if forgets(cx.context, cx.type_of(source), cx.type_of(cx.operand(i))) {
            cx.rewriter.set_operand(cx.op, i, source);
            return Some(());
        }
    }
    None
}

/// A buffer without elements.
fn copy_of_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let empty = |value| {
        buffer(cx.context, cx.type_of(value))
            .is_some_and(|(dims, _)| dims.iter().any(|dim| dim.as_static() == Some(0)))
    };
    if !empty(cx.operand(0)) && !empty(cx.operand(1)) {
        return None;
    }
    cx.rewriter.erase(cx.op);
    Some(())
}

/// Two casts are one if what stands between says nothing more than the source, and one end says
/// all that the other says.
fn cast_of_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let first = cx.def(0, cx.known.memref_cast)?;
    let source = cx.module().operand(first, 0);
    let (from, between, to) = (cx.type_of(source), cx.type_of(cx.operand(0)), cx.ty());
    let compatible = forgets(cx.context, from, to) || forgets(cx.context, to, from);
    if !forgets(cx.context, from, between) || !compatible {
        return None;
    }
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

//! Canonicalisation of `tensor`: numbers in the place of constant operands, casts that are passed
//! by, and reshapes of reshapes. What shows that a type is known better gets the better type, and
//! a cast gives the old one to its users.

use tangram_ir::{
    Attr, AttrData, Dim, Module, Op, OpState, Point, TensorType, Type, TypeData, Value,
};

use crate::mlir::extents::{DYNAMIC, in_bounds, list};
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("slice-by-numbers", &["tensor.extract_slice"], slice_by_numbers),
    ("insert-slice-by-numbers", &["tensor.insert_slice"], insert_by_numbers),
    ("pad-by-numbers", &["tensor.pad"], pad_by_numbers),
    ("destination-past-cast", &["tensor.insert", "tensor.insert_slice"], destination_past_cast),
    ("reshape-of-splat", RESHAPE, reshape_of_splat),
    ("empty-of-known-size", &["tensor.empty"], empty_of_known_size),
    ("tensor-past-cast", PAST_CAST, past_cast),
    ("cast-of-cast", &["tensor.cast"], cast_of_cast),
    ("collapse-of-collapse", COLLAPSE, collapse_of_collapse),
    ("reshape-back", RESHAPE, reshape_back),
];

/// Operations whose meaning is the same for a source whose type says more.
const PAST_CAST: &[&str] = &["tensor.extract", "tensor.extract_slice", "tensor.dim", "tensor.rank"];
const COLLAPSE: &[&str] = &["tensor.collapse_shape", "memref.collapse_shape"];
const RESHAPE: &[&str] = &[
    "tensor.collapse_shape",
    "tensor.expand_shape",
    "memref.collapse_shape",
    "memref.expand_shape",
];

pub(super) fn tensor<'a>(cx: &Cx<'a, '_>, ty: Type) -> Option<&'a TensorType> {
    match cx.context.type_data(ty) {
        TypeData::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

/// `ty` with other extents.
pub(super) fn with_dims(cx: &Cx<'_, '_>, ty: Type, dims: Vec<Dim>) -> Option<Type> {
    let tensor = tensor(cx, ty)?.clone();
    Some(cx.context.ty(TypeData::Tensor(TensorType { dims: dims.into(), ..tensor })))
}

pub(super) fn cast_to(cx: &mut Cx<'_, '_>, value: Value, ty: Type) -> Value {
    if cx.type_of(value) == ty {
        return value;
    }
    let cast = cx.context.name("tensor.cast");
    cx.value(cast, &[value], ty)
}

/// Lists of numbers and operands, after constants among the operands became numbers.
struct Mixed {
    lists: Vec<Vec<i64>>,
    /// The operands that are left, and how many of them each list has.
    kept: Vec<Value>,
    counts: Vec<usize>,
}

impl Mixed {
    /// Reads the lists of attributes `names`, whose operands stand behind the first `skip`.
    /// `None` if no operand becomes a number; `accepts` says which may, by list and place.
    fn read(
        cx: &Cx<'_, '_>,
        names: &[&str],
        skip: usize,
        accepts: impl Fn(usize, usize, i64) -> bool,
    ) -> Option<Mixed> {
        let mut values = cx.module().operands(cx.op).skip(skip);
        let mut mixed = Mixed { lists: Vec::new(), kept: Vec::new(), counts: Vec::new() };
        let mut changed = false;
        for (i, name) in names.iter().enumerate() {
            let (mut numbers, before) = (list(cx.module(), cx.op, name)?, mixed.kept.len());
            for (at, entry) in numbers.iter_mut().enumerate().filter(|(_, n)| **n == DYNAMIC) {
                let value = values.next()?;
                let number = cx.int(value).and_then(|n| i64::try_from(n).ok());
                match number.filter(|&n| n != DYNAMIC && accepts(i, at, n)) {
                    Some(number) => (*entry, changed) = (number, true),
                    None => mixed.kept.push(value),
                }
            }
            mixed.counts.push(mixed.kept.len() - before);
            mixed.lists.push(numbers);
        }
        changed.then_some(mixed)
    }

    /// The attributes of the operation with these lists, where `single` operands stand in front.
    fn attrs(&self, cx: &Cx<'_, '_>, names: &[&str], single: usize) -> Attr {
        let (module, context) = (cx.module(), cx.context);
        let counts = std::iter::repeat_n(1, single).chain(self.counts.iter().copied());
        let segments = module.i32s_attr(counts);
        let entries = context.entries(module.attrs(cx.op)).to_vec();
        context.dict(entries.into_iter().map(|(key, value)| {
            let at = names.iter().position(|&name| context.text(key) == name);
            match at {
                Some(i) => (key, context.i64s_attr(&self.lists[i])),
                None if key == cx.known.segments => (key, segments),
                None => (key, value),
            }
        }))
    }
}

const SLICE: [&str; 3] = ["static_offsets", "static_sizes", "static_strides"];

/// Constants among offsets, sizes and strides become numbers.
fn slice_by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    // An offset or size below 0 is an error that stays as it is.
    let mixed = Mixed::read(cx, &SLICE, 1, |i, _, n| i == 2 || n >= 0)?;
    let sizes = &mixed.lists[1];
    // Where dimensions are dropped, sizes have other numbers in the type.
    if sizes.len() != tensor(cx, ty)?.dims.len() {
        return None;
    }
    let from = &tensor(cx, cx.type_of(cx.operand(0)))?.dims;
    if !in_bounds(from, &mixed.lists[0], sizes, &mixed.lists[2]) {
        return None;
    }
    let dims = tensor(cx, ty)?.dims.iter().zip(sizes);
    let dims = dims.map(|(dim, &size)| if size == DYNAMIC { *dim } else { Dim::fixed(size) });
    let new_ty = with_dims(cx, ty, dims.collect())?;
    let operands = [&[cx.operand(0)], &mixed.kept[..]].concat();
    let attrs = mixed.attrs(cx, &SLICE, 1);
    remake(cx, &operands, attrs, new_ty)
}

/// As [`slice_by_numbers`], where the type of the part has to say its sizes already.
fn insert_by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = tensor(cx, cx.type_of(cx.operand(0)))?.dims.clone();
    let rank = list(cx.module(), cx.op, SLICE[1])?.len();
    let says = |at: usize, n: i64| {
        source.len() == rank && source[at].as_static().is_some_and(|extent| extent == n)
    };
    let mixed = Mixed::read(cx, &SLICE, 2, |i, at, n| match i {
        0 => n >= 0,
        1 => says(at, n),
        _ => true,
    })?;
    let into = &tensor(cx, cx.type_of(cx.operand(1)))?.dims;
    if !in_bounds(into, &mixed.lists[0], &mixed.lists[1], &mixed.lists[2]) {
        return None;
    }
    let operands = [&[cx.operand(0), cx.operand(1)], &mixed.kept[..]].concat();
    let (attrs, ty) = (mixed.attrs(cx, &SLICE, 2), cx.ty());
    remake(cx, &operands, attrs, ty)
}

/// Constants that say how much stands around a tensor become numbers.
fn pad_by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    const NAMES: [&str; 2] = ["static_low", "static_high"];
    let ty = cx.ty();
    let mixed = Mixed::read(cx, &NAMES, 1, |_, _, n| n >= 0)?;
    let source = &tensor(cx, cx.type_of(cx.operand(0)))?.dims;
    let mut dims = Vec::new();
    for (i, dim) in tensor(cx, ty)?.dims.iter().enumerate() {
        let (low, high) = (*mixed.lists[0].get(i)?, *mixed.lists[1].get(i)?);
        let whole = source.get(i)?.as_static().filter(|_| low != DYNAMIC && high != DYNAMIC);
        let whole = whole.and_then(|n| n.checked_add(low)?.checked_add(high));
        dims.push(whole.filter(|&n| n >= 0).map_or_else(|| *dim, Dim::fixed));
    }
    let new_ty = with_dims(cx, ty, dims)?;
    let operands = [&[cx.operand(0)], &mixed.kept[..]].concat();
    let attrs = mixed.attrs(cx, &NAMES, 1);
    remake(cx, &operands, attrs, new_ty)
}

/// The operation with other operands, attributes and result type, cast to the old type.
pub(super) fn remake(
    cx: &mut Cx<'_, '_>,
    operands: &[Value],
    attrs: Attr,
    new_ty: Type,
) -> Option<()> {
    let (module, ty) = (cx.module(), cx.ty());
    let mut state = OpState::new(module.name(cx.op), cx.loc());
    state.operands = operands.into();
    state.attrs = attrs;
    state.results.push(new_ty);
    let regions = module.regions(cx.op).to_vec();
    state.regions = regions.len() as u32;
    let made = cx.rewriter.create(Point::Before(cx.op), state);
    for (i, &region) in regions.iter().enumerate() {
        let to = cx.module().region(made, i);
        cx.rewriter.inline_region(region, to, None);
    }
    let value = cx.module().result(made, 0);
    let value = cast_to(cx, value, ty);
    cx.replace(&[value])
}

fn empty_of_known_size(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    let module = cx.module();
    let all: Vec<Value> = module.operands(cx.op).collect();
    let mut operands = all.iter().copied();
    let (mut kept, mut dims) = (Vec::new(), Vec::new());
    for dim in &tensor(cx, ty)?.dims {
        if dim.as_static().is_some() {
            dims.push(*dim);
            continue;
        }
        let operand = operands.next()?;
        match cx.int(operand).and_then(|n| i64::try_from(n).ok()).filter(|&n| n >= 0) {
            Some(extent) => dims.push(Dim::fixed(extent)),
            None => {
                dims.push(*dim);
                kept.push(operand);
            }
        }
    }
    if kept.len() == all.len() {
        return None;
    }
    let new_ty = with_dims(cx, ty, dims)?;
    let attrs = cx.module().attrs(cx.op);
    remake(cx, &kept, attrs, new_ty)
}

/// What is written into may be of the type that says more.
fn destination_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let cast = cx.def(1, cx.context.name("tensor.cast"))?;
    let source = cx.module().operand(cast, 0);
    let ty = cx.type_of(source);
    if !says_more(cx, ty, cx.type_of(cx.operand(1))) || !part_fits(cx, ty)? {
        return None;
    }
    let mut operands: Vec<Value> = cx.module().operands(cx.op).collect();
    operands[1] = source;
    let attrs = cx.module().attrs(cx.op);
    remake(cx, &operands, attrs, ty)
}

/// Returns whether the operation names no part that is known to lie outside of a tensor of type
/// `ty`.
fn part_fits(cx: &Cx<'_, '_>, ty: Type) -> Option<bool> {
    let lists = SLICE.map(|name| list(cx.module(), cx.op, name));
    let [Some(offsets), Some(sizes), Some(strides)] = lists else { return Some(true) };
    Some(in_bounds(&tensor(cx, ty)?.dims, &offsets, &sizes, &strides))
}

/// One value everywhere, in another shape.
fn reshape_of_splat(cx: &mut Cx<'_, '_>) -> Option<()> {
    let splat = cx.def(0, cx.context.name("tensor.splat"))?;
    let ty = cx.ty();
    if tensor(cx, ty)?.dims.iter().any(|dim| dim.as_static().is_none()) {
        return None;
    }
    let value = cx.module().operand(splat, 0);
    let value = cx.value(cx.context.name("tensor.splat"), &[value], ty);
    cx.replace(&[value])
}

/// The cast that defines operand 0, with what it casts.
fn cast_before(cx: &Cx<'_, '_>) -> Option<Value> {
    let cast = cx.def(0, cx.context.name("tensor.cast"))?;
    Some(cx.module().operand(cast, 0))
}

/// Returns whether `known` says all that `ty` says.
pub(super) fn says_more(cx: &Cx<'_, '_>, known: Type, ty: Type) -> bool {
    let (Some(known), Some(other)) = (tensor(cx, known), tensor(cx, ty)) else { return false };
    known.element == other.element
        && known.encoding == other.encoding
        && known.dims.len() == other.dims.len()
        && known.dims.iter().zip(&other.dims).all(|(a, b)| a == b || b.as_static().is_none())
}

fn past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cast_before(cx)?;
    let ty = cx.type_of(source);
    if !says_more(cx, ty, cx.type_of(cx.operand(0))) || !part_fits(cx, ty)? {
        return None;
    }
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

/// Two casts are one if what stands between says nothing that neither end says.
fn cast_of_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cast_before(cx)?;
    let (from, between, to) = (cx.type_of(source), cx.type_of(cx.operand(0)), cx.ty());
    let (a, b, c) = (tensor(cx, from)?, tensor(cx, between)?, tensor(cx, to)?);
    let same_kind = a.element == c.element && a.encoding == c.encoding && b.encoding == c.encoding;
    let told = |((a, b), c): ((&Dim, &Dim), &Dim)| {
        let (a, b, c) = (a.as_static(), b.as_static(), c.as_static());
        (b.is_none() || b == a || b == c) && (a.is_none() || c.is_none() || a == c)
    };
    if !same_kind
        || a.dims.len() != c.dims.len()
        || !a.dims.iter().zip(&b.dims).zip(&c.dims).all(told)
    {
        return None;
    }
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
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
    let other = match module.name_text(cx.op).ends_with("collapse_shape") {
        true => "expand_shape",
        false => "collapse_shape",
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

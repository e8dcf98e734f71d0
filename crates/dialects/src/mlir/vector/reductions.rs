//! Reductions of one element, and those that a mask is around: what is masked out takes no part.

use tangram_ir::{Attr, AttrData, Block, Op, Point, TypeData, Value};

use super::shape::{Coord, Shape, extract, reshaped};
use crate::mlir::extents::list;
use crate::mlir::fold::{Cx, Rewrite, number};

/// The patterns, with their roots.
pub(super) const REWRITES: &[Rewrite] = &[
    ("reduce-one-element", &["vector.reduction"], reduce_one),
    ("masked-reduce-one-element", &["vector.mask"], masked_reduce_one),
    ("reduce-along-units", &["vector.multi_reduction"], along_units),
    ("masked-reduce-along-units", &["vector.mask"], masked_along_units),
    ("mask-around-nothing", &["vector.mask"], mask_around_nothing),
    ("mask-of-all", &["vector.mask"], mask_of_all),
    ("contraction-and-sum", &["arith.addf", "arith.addi"], contraction_and_sum),
];

/// The function of `#vector.kind<add>` on elements of the type of `value`.
fn function(cx: &Cx<'_, '_>, reduction: Op, value: Value) -> Option<&'static str> {
    let kind = cx.module().attr(reduction, "kind")?;
    let AttrData::Opaque(text) = cx.context.attr_data(kind) else { return None };
    let kind = cx.context.text(*text).strip_suffix('>')?.split('<').nth(1)?;
    let element = number::element_type(cx.context, cx.type_of(value));
    let float = matches!(cx.context.type_data(element), TypeData::Float(_));
    Some(match (kind, float) {
        ("add", true) => "arith.addf",
        ("add", false) => "arith.addi",
        ("mul", true) => "arith.mulf",
        ("mul", false) => "arith.muli",
        ("minui", false) => "arith.minui",
        ("minsi", false) => "arith.minsi",
        ("maxui", false) => "arith.maxui",
        ("maxsi", false) => "arith.maxsi",
        ("and", false) => "arith.andi",
        ("or", false) => "arith.ori",
        ("xor", false) => "arith.xori",
        ("minnumf", true) => "arith.minnumf",
        ("maxnumf", true) => "arith.maxnumf",
        ("minimumf", true) => "arith.minimumf",
        ("maximumf", true) => "arith.maximumf",
        _ => return None,
    })
}

/// `a` and `b` combined as `reduction` combines elements.
fn combined(cx: &mut Cx<'_, '_>, reduction: Op, [a, b]: [Value; 2]) -> Option<Value> {
    let name = function(cx, reduction, a)?;
    let flags = cx.module().attr(reduction, "fastmath").filter(|_| name.ends_with('f'));
    let attrs = flags.map(|flags| cx.context.dict([(cx.context.str("fastmath"), flags)]));
    let ty = cx.type_of(a);
    let made = cx.make(cx.context.name(name), &[a, b], attrs.unwrap_or(Attr::EMPTY_DICT), &[ty]);
    Some(cx.module().result(made, 0))
}

/// The block of the mask, and the one operation in it that is no terminator.
fn masked(cx: &Cx<'_, '_>) -> Option<(Block, Option<Op>)> {
    let block = cx.only_block(0)?;
    let (first, last) = (cx.module().first_op(block)?, cx.module().last_op(block)?);
    let alone = first == last || cx.module().next(first) == Some(last);
    alone.then_some((block, (first != last).then_some(first)))
}

/// The masked operation called `name`; there is no value in place of what is masked out.
fn masked_op(cx: &Cx<'_, '_>, name: &str) -> Option<Op> {
    let (_, op) = masked(cx)?;
    let op = op.filter(|&op| cx.module().name_text(op) == name)?;
    (cx.module().operand_count(cx.op) == 1 && cx.module().result_count(cx.op) == 1).then_some(op)
}

/// One value or another, as `mask` says.
fn select(cx: &mut Cx<'_, '_>, mask: Value, yes: Value, no: Value) -> Value {
    let ty = cx.type_of(yes);
    cx.value(cx.context.name("arith.select"), &[mask, yes, no], ty)
}

/// Returns whether a mask is around the operation: only what can be masked may stand there.
fn in_mask(cx: &Cx<'_, '_>) -> bool {
    let around = cx.module().parent(cx.op);
    around.is_some_and(|around| cx.module().name_text(around) == "vector.mask")
}

/// A sum of one element is the element, and what is added.
fn reduce_one(cx: &mut Cx<'_, '_>) -> Option<()> {
    let op = cx.op;
    (!in_mask(cx)).then_some(())?;
    one_element(cx, op, None)
}

/// Masked out, what is added is left.
fn masked_reduce_one(cx: &mut Cx<'_, '_>) -> Option<()> {
    let op = masked_op(cx, "vector.reduction")?;
    if cx.module().operand_count(op) < 2 {
        return None;
    }
    let mask = cx.operand(0);
    one_element(cx, op, Some(mask))
}

fn one_element(cx: &mut Cx<'_, '_>, op: Op, mask: Option<Value>) -> Option<()> {
    let operands: Vec<Value> = cx.module().operands(op).collect();
    let vector = *operands.first()?;
    let shape = Shape::of_value(cx, vector);
    if shape.count()? != 1 {
        return None;
    }
    if let Some(&acc) = operands.get(1) {
        function(cx, op, acc)?;
    }
    let place = vec![Coord::At(0); shape.rank()];
    let (ty, flag) = (shape.element, cx.context.int_type(1));
    let chosen = match (mask, operands.get(1)) {
        (Some(mask), Some(_)) => Some(extract(cx, mask, &place, flag)),
        _ => None,
    };
    let element = extract(cx, vector, &place, ty);
    let value = match operands.get(1) {
        None => element,
        Some(&acc) => {
            let sum = combined(cx, op, [element, acc])?;
            chosen.map_or(sum, |chosen| select(cx, chosen, sum, acc))
        }
    };
    cx.replace(&[value])
}

fn dims(cx: &Cx<'_, '_>, op: Op) -> Option<Vec<usize>> {
    let dims = list(cx.module(), op, "reduction_dims")?;
    dims.into_iter().map(|n| usize::try_from(n).ok()).collect()
}

fn along_units(cx: &mut Cx<'_, '_>) -> Option<()> {
    let op = cx.op;
    (!in_mask(cx)).then_some(())?;
    units(cx, op, None)
}

fn masked_along_units(cx: &mut Cx<'_, '_>) -> Option<()> {
    let op = masked_op(cx, "vector.multi_reduction")?;
    let mask = cx.operand(0);
    units(cx, op, Some(mask))
}

/// Along dimensions of one element, each element is combined with one initial value, which is left
/// where it is masked out.
///
/// Divergence: `mlir-opt` 22 gives the element there, and the element alone along no dimension.
fn units(cx: &mut Cx<'_, '_>, op: Op, mask: Option<Value>) -> Option<()> {
    let (source, acc) = (cx.module().operand(op, 0), cx.module().operand(op, 1));
    let (shape, along) = (Shape::of_value(cx, source), dims(cx, op)?);
    let unit = |&i: &usize| shape.dims.get(i) == Some(&1) && !shape.scalable[i];
    if along.is_empty() || !along.iter().all(unit) {
        return None;
    }
    function(cx, op, acc)?;
    let ty = cx.ty();
    let chosen = mask.map(|mask| {
        let flags = Shape { element: cx.context.int_type(1), ..Shape::of(cx, ty) };
        let flags = if flags.vector { flags.with_dims(cx, 0..flags.rank()) } else { flags.element };
        reshaped(cx, mask, flags)
    });
    let elements = reshaped(cx, source, ty);
    let sum = combined(cx, op, [acc, elements])?;
    let value = chosen.map_or(sum, |chosen| select(cx, chosen, sum, acc));
    cx.replace(&[value])
}

/// Nothing is masked: what the region gives, or what is given instead.
fn mask_around_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (block, None) = masked(cx)? else { return None };
    let values = cx.yields(block)?;
    let rest: Vec<Value> = cx.module().operands(cx.op).skip(1).collect();
    match (&values[..], &rest[..]) {
        (_, []) => cx.replace(&values),
        (&[value], &[other]) => {
            let mask = cx.operand(0);
            let chosen = select(cx, mask, value, other);
            cx.replace(&[chosen])
        }
        _ => None,
    }
}

/// Where everything is set, there is no mask.
fn mask_of_all(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (block, Some(op)) = masked(cx)? else { return None };
    if !is_all_set(cx, cx.operand(0)) {
        return None;
    }
    let values = cx.yields(block)?;
    cx.rewriter.move_to(op, Point::Before(cx.op));
    cx.replace(&values)
}

/// Returns whether the mask `value` is set everywhere.
pub(super) fn is_all_set(cx: &Cx<'_, '_>, value: Value) -> bool {
    if cx.int(value).is_some_and(|n| n != 0) {
        return true;
    }
    let constant = cx.def_of(value, cx.context.name("vector.constant_mask"));
    let sizes = constant.and_then(|def| list(cx.module(), def, "mask_dim_sizes"));
    sizes.is_some_and(|sizes| sizes == Shape::of_value(cx, value).dims)
}

/// What is added to products is where their sum begins.
fn contraction_and_sum(cx: &mut Cx<'_, '_>) -> Option<()> {
    let name = cx.context.name("vector.contract");
    let at = (0..2).find(|&i| cx.def(i, name).is_some())?;
    let def = cx.def(at, name)?;
    let (other, module) = (cx.operand(1 - at), cx.module());
    let zero = module.constant_value(module.operand(def, 2))?;
    let empty = match number::splat(cx.context, zero)? {
        number::Number::Int(n) => n == 0,
        number::Number::Float(x) => x == 0.0,
    };
    let adds = function(cx, def, other) == Some(module.name_text(cx.op));
    if !empty || !adds || !module.has_one_use(module.result(def, 0)) {
        return None;
    }
    let operands = [module.operand(def, 0), module.operand(def, 1), other];
    let (attrs, ty) = (module.attrs(def), cx.ty());
    let made = cx.make(name, &operands, attrs, &[ty]);
    let value = cx.module().result(made, 0);
    cx.replace(&[value])
}

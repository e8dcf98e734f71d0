//! Operations that join, cut, repeat and pad tensors.

pub(super) mod sample;
mod structured;

use smallvec::smallvec;
use tangram_affine::symbolic::{Expr, Facts, Truth};
use tangram_ir::{Arity, AttrKind, Context, Dim, InferCx, Inferred, OpDef, ResultDef, Traits};

use tangram_tensor::shape::{self as kernels, PadMode};

use super::{
    Form, NnOp, Numbers, either, maybe, needed, operand, optional, result, sample::Sample, variadic,
};
use crate::eval::{EvalCx, EvalError, Evaluated, single, sizes};
use crate::infer::{
    Contents, Dims, InferExt, Result, Shaped, axis, broadcast, contents_attr, one, one_element,
    one_with,
};
use crate::{dims, infer_error};

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    NnOp::new(OpDef {
        operands: &[variadic("inputs", "equal extents but along `axis`")],
        results: &[result("output", "along `axis` the sum of the inputs' extents")],
        attrs: &[needed("axis", AttrKind::Int, "the dimension along which to join")],
        traits: Traits::PURE,
        infer: Some(infer_concatenate),
        ..OpDef::new("nn.concatenate", "the inputs one after the other along a dimension")
    })
    .eval(eval_concatenate)
    .structured(structured::concatenate)
    .moves()
    .extents(sample::concatenate),
    NnOp::new(OpDef {
        operands: &[
            operand("data", "any shape"),
            optional("split", "the extent of each part, when they are no attribute"),
        ],
        results: &[ResultDef {
            name: "parts",
            arity: Arity::Variadic,
            doc: "consecutive parts along `axis`",
        }],
        attrs: &[
            maybe(
                "indices_or_sections",
                AttrKind::Any,
                "an integer: that many equal parts, the last one smaller if need be; or a \
                     list: where part 1, 2... start",
            ),
            needed("axis", AttrKind::Int, "the dimension along which to cut"),
        ],
        traits: Traits::PURE,
        infer: Some(infer_split),
        ..OpDef::new("nn.split", "`data` cut into parts along a dimension")
    })
    .eval(eval_split)
    .structured(structured::split)
    .moves()
    .either(&[either(1, "indices_or_sections", Form::Starts)])
    .sample(Sample { kept: &["indices_or_sections"], ..Sample::USUAL })
    .tried(sample::split),
    NnOp::new(OpDef {
        operands: &[
            operand("data", "any shape"),
            optional("begin", "first index for each listed axis"),
            optional("end", "end index for each listed axis"),
            optional("axes", "the axes; the first ones in order if absent"),
            optional("strides", "1 if absent"),
        ],
        results: &[result("slice", "the elements taken")],
        attrs: &[
            maybe("begin", AttrKind::Ints, "first index, clamped; negative from the end"),
            maybe("end", AttrKind::Ints, "end index, clamped; negative from the end"),
            maybe("axes", AttrKind::Ints, "the axes that `begin` and `end` speak of"),
            maybe("strides", AttrKind::Ints, "steps, not 0; negative ones go backwards"),
        ],
        traits: Traits::PURE,
        infer: Some(infer_slice),
        ..OpDef::new("nn.strided_slice", "every `strides`-th element from `begin` to `end`")
    })
    .eval(eval_slice)
    .structured(structured::slice)
    .moves()
    .either(&[
        either(1, "begin", Form::Ints),
        either(2, "end", Form::Ints),
        either(3, "axes", Form::Ints),
        either(4, "strides", Form::Ints),
    ])
    .tried(sample::slice),
    NnOp::new(OpDef {
        operands: &[
            operand("data", "any shape"),
            optional("shape", "the shape, when it is no attribute"),
        ],
        results: &[result("output", "`data`'s and the given shape broadcast together")],
        attrs: &[maybe("shape", AttrKind::Ints, "extents; 1 keeps that of `data`")],
        traits: Traits::PURE,
        infer: Some(infer_broadcast_to),
        ..OpDef::new("nn.broadcast_to", "`data` repeated so that it has at least the shape")
    })
    .eval(eval_broadcast_to)
    .structured(structured::broadcast_to)
    .moves()
    .either(&[either(1, "shape", Form::Shape)])
    .tried(sample::broadcast_to),
    NnOp::new(OpDef {
        operands: &[
            operand("data", "any shape"),
            optional("repeats", "for each dimension, when they are no attribute"),
        ],
        results: &[result("tiled", "each extent times its number of repeats")],
        attrs: &[maybe("reps", AttrKind::Ints, "repeats for each dimension")],
        traits: Traits::PURE,
        infer: Some(infer_tile),
        ..OpDef::new("nn.tile", "copies of `data` side by side")
    })
    .eval(eval_tile)
    .structured(structured::tile)
    .moves()
    .either(&[either(1, "reps", Form::Ints)])
    .tried(sample::tile),
    NnOp::new(OpDef {
        operands: &[
            operand("data", "any shape"),
            optional("pads", "begins, then ends, when they are no attribute"),
            optional("value", "the scalar to fill with; 0 if absent"),
            optional("axes", "the axes that `pads` speaks of"),
        ],
        results: &[result("padded", "each extent and its two widths")],
        attrs: &[
            maybe("pad_width", AttrKind::Ints, "begins, then ends; negative ones cut"),
            maybe("pad_value", AttrKind::Float, "the value to fill with"),
            maybe("axes", AttrKind::Ints, "the axes that `pad_width` speaks of; all if absent"),
            maybe(
                "pad_mode",
                AttrKind::Enum(&["constant", "reflect", "edge", "wrap"]),
                "what to fill with; `constant` if absent",
            ),
        ],
        traits: Traits::PURE,
        infer: Some(infer_pad),
        ..OpDef::new("nn.pad", "`data` with elements added around it")
    })
    .eval(eval_pad)
    .structured(structured::pad)
    .numbers(Numbers::EXACT.union(Numbers::FITS))
    .over_field(|cx| cx.moved_with(cx.attrs().float("pad_value").unwrap_or(0.0)))
    .either(&[
        either(1, "pad_width", Form::Ints),
        either(2, "pad_value", Form::Number),
        either(3, "axes", Form::Ints),
    ])
    .tried(sample::pad),
];

fn infer_concatenate(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let inputs: Vec<Shaped> =
        (0..cx.operands.len()).map(|i| cx.tensor(i)).collect::<Result<_>>()?;
    one_element(cx, 0..inputs.len())?;
    let first = inputs.first().ok_or_else(|| infer_error!("`nn.concatenate` has no operand"))?;
    let Some(rank) = inputs.iter().find_map(Shaped::rank) else {
        return one(cx, &Shaped::unranked(first.element));
    };
    let along = axis(cx.need_int("axis")?, rank)?;
    let mut out: Dims = smallvec![Dim::UNKNOWN; rank];
    out[along] = Dim::fixed(0);
    for input in &inputs {
        let Some(from) = &input.dims else {
            out[along] = Dim::UNKNOWN;
            continue;
        };
        if from.len() != rank {
            return Err(infer_error!("ranks {rank} and {} are joined", from.len()));
        }
        for i in 0..rank {
            out[i] = if i == along {
                dims::add(context, out[i], from[i])
            } else {
                let found = dims::refine(context, out[i], from[i]).ok_or_else(|| {
                    infer_error!("inputs have different extents in dimension {i}")
                })?;
                // Of a symbol and a number, which are equal, the number says more.
                if from[i].as_static().is_some() { from[i] } else { found }
            };
        }
    }
    let contents = if rank == 1 { joined_contents(cx, &inputs) } else { None };
    one_with(cx, &Shaped { dims: Some(out), element: first.element }, contents)
}

fn joined_contents(cx: &InferCx<'_>, inputs: &[Shaped]) -> Option<Contents> {
    let mut all = Contents::new();
    for (i, input) in inputs.iter().enumerate() {
        match cx.contents(i) {
            Some(part) => all.extend(part),
            None => {
                let n = input.dims.as_ref()?.first()?.as_static()?;
                if n > crate::infer::MAX_CONTENTS as i64 {
                    return None;
                }
                all.extend((0..n).map(|_| None));
            }
        }
    }
    Some(all)
}

/// The most parts that a tensor is split into: more are a mistake, not a model.
const MAX_PARTS: usize = 1 << 16;

/// The extent of each part, and the index at which it starts where that is a number.
fn part_extents(cx: &InferCx<'_>, total: Dim) -> Result<Vec<Dim>> {
    let context = cx.context();
    if let Some(starts) = cx.attrs().ints("indices_or_sections") {
        let mut bounds: Vec<Dim> = vec![Dim::fixed(0)];
        bounds.extend(starts.iter().map(|&n| Dim::fixed(n)));
        bounds.push(total);
        return Ok(bounds.windows(2).map(|w| dims::sub(context, w[1], w[0])).collect());
    }
    if let Some(n) = cx.attrs().int("indices_or_sections") {
        let count = usize::try_from(n).ok().filter(|n| (1..=MAX_PARTS).contains(n));
        let count = count.ok_or_else(|| infer_error!("a tensor is split into {n} parts"))?;
        let chunk = dims::ceil_div(context, total, n);
        return Ok(match (total.as_static(), chunk.as_static()) {
            (Some(total), Some(chunk)) => {
                (0..n).map(|i| Dim::fixed((total - i * chunk).clamp(0, chunk))).collect()
            }
            // The last part may be smaller, unless the extent divides for all sizes.
            _ => {
                let even = dims::equal(context, dims::mul(context, chunk, Dim::fixed(n)), total);
                let last = dims::sub(context, total, dims::mul(context, chunk, Dim::fixed(n - 1)));
                let mut parts = vec![chunk; count];
                if even != Truth::True {
                    parts[count - 1] = last;
                }
                parts
            }
        });
    }
    if let Some(list) = cx.contents(1) {
        let known = |e: &Option<Expr>| e.as_ref().map_or(Dim::UNKNOWN, |e| dims::dim(context, e));
        return Ok(list.iter().map(known).collect());
    }
    let count = cx.result_count.ok_or_else(|| infer_error!("the number of parts is unknown"))?;
    Ok(vec![Dim::UNKNOWN; count])
}

fn infer_split(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let data = cx.tensor(0)?;
    let Some(from) = &data.dims else {
        let count = part_extents(cx, Dim::UNKNOWN)?.len();
        let ty = data.ty(context);
        return Ok(Inferred { types: smallvec![ty; count], ..Inferred::default() });
    };
    let along = axis(cx.need_int("axis")?, from.len())?;
    let parts = part_extents(cx, from[along])?;
    if cx.result_count.is_some_and(|count| count != parts.len()) {
        return Err(infer_error!("{} parts are cut, but there are other results", parts.len()));
    }
    let mut inferred = Inferred::default();
    let mut rest = cx.contents(0).filter(|_| from.len() == 1).unwrap_or_default();
    for part in parts {
        let mut out = from.clone();
        out[along] = part;
        inferred.types.push(Shaped { dims: Some(out), element: data.element }.ty(context));
        let here = part.as_static().and_then(|n| usize::try_from(n).ok());
        let contents = here.filter(|&n| n <= rest.len()).map(|n| rest.drain(..n).collect());
        inferred.contents.push(contents.and_then(|c: Contents| contents_attr(context, &c)));
    }
    Ok(inferred)
}

/// `begin`, `end`, `axes`, `strides` or `pad_width`: the attribute, or the contents of operand `i`.
fn slice_list(cx: &InferCx<'_>, name: &str, i: usize) -> Option<Contents> {
    match cx.attrs().ints(name) {
        Some(list) => Some(list.into_iter().map(|n| Some(Expr::int(n))).collect()),
        None if cx.has(i) => cx.contents(i),
        None => None,
    }
}

fn infer_slice(cx: &InferCx<'_>) -> Result {
    let data = cx.tensor(0)?;
    let Some(from) = &data.dims else { return one(cx, &data) };
    let unknown = || Shaped::ranked(vec![Dim::UNKNOWN; from.len()], data.element);
    let numbers = |c: Contents| c.iter().map(|e| e.as_ref()?.as_int()).collect::<Option<Vec<_>>>();
    let given = |name: &str, i: usize| cx.attrs().find(name).is_some() || cx.has(i);
    let begin = slice_list(cx, "begin", 1);
    let end = slice_list(cx, "end", 2);
    let listed = slice_list(cx, "axes", 3).and_then(numbers);
    if listed.is_none() && given("axes", 3) {
        return one(cx, &unknown());
    }
    let Some(count) =
        begin.as_ref().or(end.as_ref()).map(Vec::len).or(listed.as_ref().map(Vec::len))
    else {
        return one(cx, &unknown());
    };
    let listed = listed.unwrap_or_else(|| (0..count as i64).collect());
    let open = || vec![None; count];
    let steps = match slice_list(cx, "strides", 4) {
        Some(steps) => steps,
        None if given("strides", 4) => open(),
        None => vec![Some(Expr::int(1)); count],
    };
    let (begin, end) = (begin.unwrap_or_else(open), end.unwrap_or_else(open));
    if [listed.len(), begin.len(), end.len(), steps.len()].iter().any(|&n| n != count) {
        return Err(infer_error!("`begin`, `end`, `axes` and `strides` have different lengths"));
    }
    let mut out = from.clone();
    for (k, &a) in listed.iter().enumerate() {
        let a = axis(a, from.len())?;
        out[a] = slice_extent(cx, from[a], [&begin[k], &end[k], &steps[k]])?;
    }
    let contents = if from.len() == 1 { sliced(cx, &begin, &end, &steps) } else { None };
    one_with(cx, &Shaped { dims: Some(out), element: data.element }, contents)
}

/// The number of elements from `begin` to `end` by `step` in a dimension of extent `n`.
fn slice_extent(cx: &InferCx<'_>, n: Dim, bounds: [&Option<Expr>; 3]) -> Result<Dim> {
    let context = cx.context();
    let [Some(begin), Some(end), Some(step)] = bounds else { return Ok(Dim::UNKNOWN) };
    let Some(step) = step.as_int() else { return Ok(Dim::UNKNOWN) };
    if step == 0 {
        return Err(infer_error!("a slice has the stride 0"));
    }
    if let (Some(n), Some(b), Some(e)) = (n.as_static(), begin.as_int(), end.as_int()) {
        return Ok(Dim::fixed(slice_count(n, b, e, step)));
    }
    let Some(extent) = dims::expr(context, n) else { return Ok(Dim::UNKNOWN) };
    let place =
        |bound: &Expr, low: bool| symbolic_bound(&dims::facts(context), &extent, bound, low);
    let (Some(b), Some(e)) = (place(begin, true), place(end, false)) else {
        return Ok(Dim::UNKNOWN);
    };
    if step < 0 {
        return Ok(Dim::UNKNOWN);
    }
    let count = e.try_sub(&b).and_then(|d| d.ceil_div(&Expr::int(step)));
    let count = count.and_then(|c| match dims::facts(context).nonneg(&c) {
        Truth::True => Some(c),
        _ => Expr::max(&c, &Expr::int(0)),
    });
    Ok(count.map_or(Dim::UNKNOWN, |c| dims::dim(context, &c)))
}

/// A bound of a slice as a place between 0 and the extent `n`; `None` if that is not clear.
fn symbolic_bound(facts: &Facts, n: &Expr, bound: &Expr, low: bool) -> Option<Expr> {
    match bound.as_int() {
        Some(0) if low => return Some(Expr::int(0)),
        Some(b) if b >= i64::from(i32::MAX) => return Some(n.clone()),
        Some(b) if b <= -i64::from(i32::MAX) => return Some(Expr::int(0)),
        Some(b) if b < 0 => return facts.max(&n.try_add(bound)?, &Expr::int(0)),
        _ => {}
    }
    if facts.nonneg(bound) != Truth::True {
        return None;
    }
    match facts.less_equal(bound, n) {
        Truth::True => Some(bound.clone()),
        Truth::False => Some(n.clone()),
        Truth::Unknown => bound.min(n),
    }
}

/// How many elements a slice takes of `n`, with ONNX's clamping.
fn slice_count(n: i64, begin: i64, end: i64, step: i64) -> i64 {
    let from_end = |i: i64| if i < 0 { i.saturating_add(n) } else { i };
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let b = from_end(begin).clamp(low.max(0), high.max(0));
    let e = from_end(end).clamp(low, high);
    let span = if step > 0 { e - b } else { b - e };
    if span <= 0 || n == 0 { 0 } else { (span - 1) / step.saturating_abs() + 1 }
}

fn sliced(
    cx: &InferCx<'_>,
    begin: &Contents,
    end: &Contents,
    steps: &Contents,
) -> Option<Contents> {
    let all = cx.contents(0)?;
    let int = |c: &Contents| c.first()?.as_ref()?.as_int();
    let (begin, end, step) = (int(begin)?, int(end)?, int(steps)?);
    let n = all.len() as i64;
    let count = slice_count(n, begin, end, step);
    let first = if begin < 0 { begin.saturating_add(n) } else { begin }.clamp(0, (n - 1).max(0));
    (0..count).map(|k| all.get(usize::try_from(first + k * step).ok()?).cloned()).collect()
}

/// The extents in attribute `name`, or the contents of operand `i`.
pub(super) fn shape_list(cx: &InferCx<'_>, name: &str, i: usize) -> Option<Dims> {
    let context = cx.context();
    if let Some(list) = cx.attrs().ints(name) {
        return Some(list.into_iter().map(Dim::fixed).collect());
    }
    if let Some(list) = cx.contents(i) {
        let known = |e: &Option<Expr>| e.as_ref().map_or(Dim::UNKNOWN, |e| dims::dim(context, e));
        return Some(list.iter().map(known).collect());
    }
    let rank = cx.tensor(i).ok()?.dims?.first()?.as_static()?;
    Some(smallvec![Dim::UNKNOWN; usize::try_from(rank).ok()?])
}

fn infer_broadcast_to(cx: &InferCx<'_>) -> Result {
    let data = cx.tensor(0)?;
    let Some(wanted) = shape_list(cx, "shape", 1) else {
        return one(cx, &Shaped::unranked(data.element));
    };
    let wanted = Shaped { dims: Some(wanted), element: data.element };
    let dims = broadcast(cx.context(), &[&data, &wanted])?;
    let same = dims == data.dims && data.rank().is_some_and(|r| r <= 1);
    let contents = if same { cx.contents(0) } else { spread(cx, &dims) };
    one_with(cx, &Shaped { dims, element: data.element }, contents)
}

/// The contents of one element repeated.
fn spread(cx: &InferCx<'_>, dims: &Option<Dims>) -> Option<Contents> {
    let dims = dims.as_ref().filter(|dims| dims.len() <= 1)?;
    let n = dims.first().map_or(Some(1), |d| d.as_static())?;
    let [one] = <[Option<Expr>; 1]>::try_from(cx.contents(0)?).ok()?;
    (n <= crate::infer::MAX_CONTENTS as i64).then(|| vec![one; n as usize])
}

fn infer_tile(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let data = cx.tensor(0)?;
    let (Some(from), Some(reps)) = (&data.dims, shape_list(cx, "reps", 1)) else {
        let open = data.dims.map(|d| d.iter().map(|_| Dim::UNKNOWN).collect());
        return one(cx, &Shaped { dims: open, element: data.element });
    };
    if from.len() != reps.len() {
        return Err(infer_error!("{} repeats for rank {}", reps.len(), from.len()));
    }
    let out = from.iter().zip(&reps).map(|(&d, &r)| dims::mul(context, d, r));
    one(cx, &Shaped::ranked(out, data.element))
}

fn infer_pad(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let data = cx.tensor(0)?;
    let Some(from) = &data.dims else { return one(cx, &data) };
    let pads = slice_list(cx, "pad_width", 1);
    let listed = cx.attrs().ints("axes").or_else(|| cx.constant_ints(3));
    let (Some(pads), true) = (pads, listed.is_some() || !cx.has(3)) else {
        return one(cx, &Shaped::ranked(vec![Dim::UNKNOWN; from.len()], data.element));
    };
    let listed = listed.unwrap_or_else(|| (0..from.len() as i64).collect());
    if pads.len() != 2 * listed.len() {
        return Err(infer_error!("{} widths for {} axes", pads.len(), listed.len()));
    }
    let mut out = from.clone();
    for (k, &a) in listed.iter().enumerate() {
        let a = axis(a, from.len())?;
        out[a] = grown(context, out[a], [&pads[k], &pads[k + listed.len()]])?;
    }
    one(cx, &Shaped { dims: Some(out), element: data.element })
}

/// `dim` and what stands before and after it; negative widths subtract.
fn grown(context: &Context, dim: Dim, widths: [&Option<Expr>; 2]) -> Result<Dim> {
    let [Some(before), Some(after)] = widths else { return Ok(Dim::UNKNOWN) };
    let numbers = before.as_int().zip(after.as_int());
    let width = match numbers.map(|(before, after)| before.checked_add(after)) {
        Some(None) => return Err(infer_error!("the widths overflow")),
        Some(Some(width)) if width < 0 => {
            return Ok(dims::sub(context, dim, Dim::fixed(width.saturating_neg())));
        }
        Some(width) => width.map(Expr::int),
        None => before.try_add(after),
    };
    let sum = dims::expr(context, dim).zip(width).and_then(|(dim, width)| dim.try_add(&width));
    Ok(sum.map_or(Dim::UNKNOWN, |sum| dims::dim(context, &sum)))
}

fn eval_concatenate(cx: &EvalCx<'_>) -> Evaluated {
    let axis = cx.attrs().int("axis").ok_or(EvalError::Attribute("axis"))?;
    single(kernels::concatenate(&cx.all()?, axis))
}

fn eval_split(cx: &EvalCx<'_>) -> Evaluated {
    let data = cx.need(0)?;
    let along = cx.attrs().int("axis").ok_or(EvalError::Attribute("axis"))?;
    if let Some(starts) = cx.attrs().ints("indices_or_sections") {
        let at = tangram_tensor::layout::resolve_axis("split", along, data.rank())?;
        let mut bounds = vec![0];
        bounds.extend(starts);
        bounds.push(data.shape()[at] as i64);
        let extents: Vec<i64> = bounds.windows(2).map(|w| w[1].saturating_sub(w[0])).collect();
        return Ok(kernels::split(data, along, &sizes("indices_or_sections", &extents)?)?);
    }
    if let Some(extents) = cx.get(1) {
        return Ok(kernels::split(data, along, &sizes("split", &extents.i64s()?)?)?);
    }
    let parts = match cx.attrs().int("indices_or_sections") {
        Some(n) => sizes("indices_or_sections", &[n])?[0],
        None => cx.results.len(),
    };
    Ok(kernels::split_equal(data, along, parts)?)
}

fn eval_slice(cx: &EvalCx<'_>) -> Evaluated {
    let begin = cx.ints("begin", 1)?.ok_or(EvalError::Attribute("begin"))?;
    let end = cx.ints("end", 2)?.ok_or(EvalError::Attribute("end"))?;
    let (axes, strides) = (cx.ints("axes", 3)?, cx.ints("strides", 4)?);
    let (axes, strides) = (axes.as_deref(), strides.as_deref());
    single(kernels::strided_slice(cx.need(0)?, &begin, &end, axes, strides))
}

fn eval_broadcast_to(cx: &EvalCx<'_>) -> Evaluated {
    let shape = cx.ints("shape", 1)?.ok_or(EvalError::Attribute("shape"))?;
    single(kernels::broadcast_to(cx.need(0)?, &sizes("shape", &shape)?))
}

fn eval_tile(cx: &EvalCx<'_>) -> Evaluated {
    let reps = cx.ints("reps", 1)?.ok_or(EvalError::Attribute("reps"))?;
    single(kernels::tile(cx.need(0)?, &sizes("reps", &reps)?))
}

fn eval_pad(cx: &EvalCx<'_>) -> Evaluated {
    let data = cx.need(0)?;
    let mode = match cx.attrs().text("pad_mode") {
        None | Some("constant") => PadMode::Constant,
        Some("reflect") => PadMode::Reflect,
        Some("edge") => PadMode::Edge,
        Some("wrap") => PadMode::Wrap,
        Some(other) => return Err(EvalError::Value("pad_mode", other.to_owned())),
    };
    let widths = cx.ints("pad_width", 1)?.ok_or(EvalError::Attribute("pad_width"))?;
    let value = cx.scalar("pad_value", 2, data.dtype())?;
    let axes = cx.ints("axes", 3)?;
    single(kernels::pad(data, &widths, axes.as_deref(), mode, value.as_ref()))
}

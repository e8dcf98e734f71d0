//! Reductions over dimensions, and softmax.

use fastrand::Rng;
use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_ir::{AttrDef, AttrKind, Dim, InferCx, OpDef, OperandDef, ResultDef, Traits};
use tangram_tensor::DType;
use tangram_tensor::reduce::{Reduce, reduce};
use tangram_tensor::softmax::{Softmax, softmax, softmax_flattened};

use super::conv::agree;
use super::{
    Either, Form, NnOp, Numbers, either, maybe, open, operand, optional, result,
    sample::{Extents, Wanted},
};
use crate::eval::{EvalCx, EvalError, EvalFn, Evaluated, single};
use crate::infer::{
    Contents, InferExt, Result, Shaped, axes, axes_of_any_rank, axis, one, one_with,
};
use crate::infer_error;
use crate::structured::{
    self, Binary, Comparison, Loops, Number, Reducing, ScalarId, Stage, Structured, StructuredCx,
    TensorRef, Unary, equal, over, scalars, wide,
};

const ATTRS: &[AttrDef] = &[
    maybe("axis", AttrKind::Ints, "the dimensions to reduce; all if absent or empty"),
    maybe("keepdims", AttrKind::Bool, "reduced dimensions stay with extent 1; true if absent"),
    maybe(
        "noop_with_empty_axes",
        AttrKind::Bool,
        "without axes nothing is reduced; false if absent",
    ),
];

const DATA: &[OperandDef] = &[operand("data", "any shape")];
const DATA_AXES: &[OperandDef] =
    &[operand("data", "any shape"), optional("axes", "rank 1, when they are no attribute")];
const REDUCED: &[ResultDef] = &[result("reduced", "the extents that are not reduced")];
const LIKE_DATA: &[ResultDef] = &[result("output", "the shape of `data`")];
const SOFTMAX_ATTRS: &[AttrDef] = &[
    maybe("axis", AttrKind::Int, "the dimension; -1 if absent"),
    maybe(
        "flatten",
        AttrKind::Bool,
        "all dimensions from `axis` on together, as ONNX before opset 13; false if absent",
    ),
];

const fn reduction(name: &'static str, summary: &'static str, eval: EvalFn) -> NnOp {
    let def = OpDef {
        operands: DATA_AXES,
        results: REDUCED,
        attrs: ATTRS,
        traits: Traits::PURE,
        infer: Some(infer_reduction),
        ..OpDef::new(name, summary)
    };
    NnOp::new(def).eval(eval)
}

const fn normalised(name: &'static str, summary: &'static str, eval: EvalFn) -> NnOp {
    let def = OpDef {
        operands: DATA,
        results: LIKE_DATA,
        attrs: SOFTMAX_ATTRS,
        traits: Traits::PURE,
        infer: Some(infer_softmax),
        ..OpDef::new(name, summary)
    };
    NnOp::new(def).eval(eval)
}

const AXES: &[Either] = &[either(1, "axis", Form::Ints)];

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    reduction("nn.sum", "the sum over dimensions", |cx| reduced(cx, Reduce::Sum))
        .structured(|cx| structured_reduction(cx, Reduce::Sum))
        .sums()
        .either(AXES),
    reduction("nn.mean", "the mean over dimensions", |cx| reduced(cx, Reduce::Mean))
        .structured(|cx| structured_reduction(cx, Reduce::Mean))
        .over_field(|cx| cx.mean(cx.operand(0)?.len() as f64))
        .forbids(open::mean)
        .either(AXES),
    reduction("nn.max", "the greatest element over dimensions", |cx| reduced(cx, Reduce::Max))
        .structured(|cx| structured_reduction(cx, Reduce::Max))
        .numbers(Numbers::CHOSEN)
        .either(AXES),
    reduction("nn.min", "the least element over dimensions", |cx| reduced(cx, Reduce::Min))
        .structured(|cx| structured_reduction(cx, Reduce::Min))
        .numbers(Numbers::CHOSEN)
        .either(AXES),
    reduction("nn.prod", "the product over dimensions", |cx| reduced(cx, Reduce::Prod))
        .structured(|cx| structured_reduction(cx, Reduce::Prod))
        .numbers(Numbers::INTEGRAL.union(Numbers::PRODUCT))
        .either(AXES),
    reduction("nn.reduce_l1", "the sum of absolute values over dimensions", |cx| {
        reduced(cx, Reduce::L1)
    })
    .structured(|cx| structured_reduction(cx, Reduce::L1))
    .either(AXES),
    reduction("nn.reduce_l2", "the square root of the sum of squares over dimensions", |cx| {
        reduced(cx, Reduce::L2)
    })
    .structured(|cx| structured_reduction(cx, Reduce::L2))
    .either(AXES),
    reduction("nn.reduce_log_sum", "the logarithm of the sum over dimensions", |cx| {
        reduced(cx, Reduce::LogSum)
    })
    .structured(|cx| structured_reduction(cx, Reduce::LogSum))
    .either(AXES),
    reduction("nn.reduce_log_sum_exp", "the logarithm of the sum of exponentials", |cx| {
        reduced(cx, Reduce::LogSumExp)
    })
    .structured(|cx| structured_reduction(cx, Reduce::LogSumExp))
    .either(AXES),
    reduction("nn.reduce_sum_square", "the sum of squares over dimensions", |cx| {
        reduced(cx, Reduce::SumSquare)
    })
    .structured(|cx| structured_reduction(cx, Reduce::SumSquare))
    .either(AXES),
    NnOp::new(OpDef {
        operands: &[
            operand("data", "any shape"),
            operand("like", "a shape that broadcasts to that of `data`"),
        ],
        results: &[result("reduced", "the shape of `like`")],
        traits: Traits::PURE,
        infer: Some(infer_collapse_sum_like),
        ..OpDef::new(
            "nn.collapse_sum_like",
            "the sum over the dimensions in which `like` is broadcast to the shape of `data`",
        )
    })
    .eval(eval_collapse_sum_like)
    .structured(structured_collapse)
    .sums()
    .extents(collapsed),
    normalised("nn.softmax", "exponentials divided by their sum along `axis`", |cx| {
        softened(cx, Softmax::Softmax)
    })
    .structured(|cx| structured_softmax(cx, Softmax::Softmax))
    .numbers(Numbers::EXPONENTIAL),
    normalised("nn.log_softmax", "the logarithm of softmax along `axis`", |cx| {
        softened(cx, Softmax::LogSoftmax)
    })
    .structured(|cx| structured_softmax(cx, Softmax::LogSoftmax)),
    normalised("nn.hardmax", "1 at the first greatest element along `axis`, else 0", |cx| {
        softened(cx, Softmax::Hardmax)
    })
    .structured(structured_hardmax)
    .numbers(Numbers::JUMPS),
];

fn infer_softmax(cx: &InferCx<'_>) -> Result {
    let data = cx.tensor(0)?;
    if let Some(rank) = data.rank().filter(|&rank| rank > 0) {
        axis(cx.attrs().int("axis").unwrap_or(-1), rank)?;
    }
    one(cx, &data)
}

fn infer_reduction(cx: &InferCx<'_>) -> Result {
    let data = cx.tensor(0)?;
    let keep = cx.attrs().bool("keepdims").unwrap_or(true);
    let listed = match cx.attrs().ints("axis") {
        Some(list) => Some(list),
        None if !cx.has(1) => Some(Vec::new()),
        None => cx.constant_ints(1),
    };
    let Some(from) = &data.dims else {
        axes_of_any_rank(listed.as_deref().unwrap_or_default())?;
        return one(cx, &Shaped::unranked(data.element));
    };
    let Some(listed) = listed else {
        // Which dimensions go is unknown; with `keepdims` at least the rank is not.
        let open = keep.then(|| from.iter().map(|_| Dim::UNKNOWN).collect());
        return one(cx, &Shaped { dims: open, element: data.element });
    };
    let reduced = if !listed.is_empty() {
        axes(&listed, from.len())?
    } else if cx.attrs().flag("noop_with_empty_axes") {
        Vec::new()
    } else {
        (0..from.len()).collect()
    };
    let out = (0..from.len()).filter_map(|i| {
        if reduced.contains(&i) { keep.then(|| Dim::fixed(1)) } else { Some(from[i]) }
    });
    one_with(cx, &Shaped::ranked(out, data.element), reduced_contents(cx, from.len(), &reduced))
}

fn infer_collapse_sum_like(cx: &InferCx<'_>) -> Result {
    let (data, like) = (cx.tensor(0)?, cx.tensor(1)?);
    if let (Some(from), Some(wanted)) = (&data.dims, &like.dims) {
        let lead = from.len().checked_sub(wanted.len()).ok_or_else(|| {
            infer_error!("a sum of rank {} is wanted of rank {}", wanted.len(), from.len())
        })?;
        let summed = Dim::fixed(1);
        let pairs = from[lead..].iter().zip(wanted).filter(|(_, wanted)| **wanted != summed);
        for (from, wanted) in pairs {
            agree(cx, "an extent", *wanted, *from)?;
        }
    }
    one(cx, &Shaped { dims: like.dims, element: data.element })
}

fn eval_collapse_sum_like(cx: &EvalCx<'_>) -> Evaluated {
    let (data, like) = (cx.need(0)?, cx.need(1)?);
    let refused = || {
        let shape = format!("{:?}, which does not broadcast to {:?}", like.shape(), data.shape());
        EvalError::Value("like", shape)
    };
    let lead = data.rank().checked_sub(like.rank()).ok_or_else(refused)?;
    let mut axes: Vec<i64> = (0..lead as i64).collect();
    for (i, (from, wanted)) in data.shape()[lead..].iter().zip(like.shape()).enumerate() {
        match (*from, *wanted) {
            (_, 1) => axes.push((lead + i) as i64),
            (from, wanted) if from == wanted => {}
            _ => return Err(refused()),
        }
    }
    // No axes are none, not all.
    single(reduce(Reduce::Sum, data, &axes, true, true)?.reshaped(like.shape()))
}

/// The product or sum of a list of extents.
fn reduced_contents(cx: &InferCx<'_>, rank: usize, reduced: &[usize]) -> Option<Contents> {
    let all = cx.contents(0).filter(|_| rank == 1 && reduced == [0])?;
    let all: Vec<_> = all.into_iter().collect::<Option<_>>()?;
    let (first, rest) = all.split_first()?;
    let folded = rest.iter().try_fold(first.clone(), |acc, e| match cx.def.name {
        "nn.prod" => acc.try_mul(e),
        "nn.sum" => acc.try_add(e),
        "nn.max" => Expr::max(&acc, e),
        "nn.min" => Expr::min(&acc, e),
        _ => None,
    });
    // One element alone is its own sum, product, greatest and least, but not its own norm.
    let plain = matches!(cx.def.name, "nn.prod" | "nn.sum" | "nn.max" | "nn.min");
    plain.then(|| vec![folded])
}

fn reduced(cx: &EvalCx<'_>, kind: Reduce) -> Evaluated {
    let axes = cx.ints("axis", 1)?.unwrap_or_default();
    let keepdims = cx.attrs().bool("keepdims").unwrap_or(true);
    let noop = cx.attrs().flag("noop_with_empty_axes");
    single(reduce(kind, cx.need(0)?, &axes, keepdims, noop))
}

fn softened(cx: &EvalCx<'_>, kind: Softmax) -> Evaluated {
    let axis = cx.attrs().int("axis").unwrap_or(-1);
    let flat = cx.attrs().flag("flatten");
    let kernel = if flat { softmax_flattened } else { softmax };
    single(kernel(kind, cx.need(0)?, axis))
}

/// The dimensions that a reduction reduces, if they are known.
fn structured_axes(cx: &StructuredCx<'_>, rank: usize) -> Option<Reducing> {
    let listed = cx.ints("axis", 1)?.unwrap_or_default();
    if listed.is_empty() && !cx.attrs().flag("noop_with_empty_axes") {
        return Some(Reducing::from(0, rank));
    }
    Reducing::new(&listed, rank)
}

fn structured_reduction(cx: &StructuredCx<'_>, kind: Reduce) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let reducing = structured_axes(cx, x.rank())?;
    let keep = cx.attrs().bool("keepdims").unwrap_or(true);
    if kind == Reduce::LogSumExp {
        return structured_log_sum_exp(&x, &out, &reducing, keep);
    }
    if kind == Reduce::Mean && matches!(x.element, DType::I64 | DType::U64) {
        return structured_wide_mean(&x, &out, &reducing, keep);
    }
    let plan = Combination::new(kind, &x)?;
    let (mut stage, at) = reducing.nest(&x.extents);
    let element = stage.load(&x, &at);
    let element = stage.cast(plan.element, element);
    let term = (plan.lift)(&mut stage, element);
    let mut loops = Loops::default();
    if !plan.finishes && plan.element == out.element {
        let to = written(&mut stage, &reducing, &out, keep);
        loops.push(stage.store_reduced_at(&out, &to, plan.combine, term));
        return Some(loops.finish());
    }
    let sum = loops.temporary(plan.element, &reducing.kept(&x.extents));
    loops.push(stage.store_reduced(&sum, plan.combine, term));
    let mut stage = Stage::over(&sum.extents);
    let value = stage.broadcast(&sum)?;
    let count = reducing.count(&x.extents)?;
    let value = match kind {
        Reduce::Mean => over(&mut stage, value, &count),
        Reduce::L2 => stage.unary(Unary::Sqrt, value),
        Reduce::LogSum => stage.unary(Unary::Log, value),
        _ => value,
    };
    let to = written(&mut stage, &reducing, &out, keep);
    loops.push(stage.store(&out, &to, value));
    Some(loops.finish())
}

/// Where a nest over the dimensions that stay writes.
fn written(stage: &mut Stage, reducing: &Reducing, out: &TensorRef, keep: bool) -> Vec<AffineExpr> {
    if keep { reducing.with_units(stage) } else { stage.all(0..out.rank()) }
}

/// How elements are combined.
struct Combination {
    /// The type of the sum.
    element: DType,
    lift: fn(&mut Stage, ScalarId) -> ScalarId,
    combine: (Binary, Number),
    /// Whether the sum is not yet the result.
    finishes: bool,
}

impl Combination {
    fn new(kind: Reduce, x: &TensorRef) -> Option<Combination> {
        let mut element = wide(x.element);
        let float = element.is_float();
        if x.element == DType::Bool {
            let combine = match kind {
                Reduce::Max => Binary::Or,
                Reduce::Min => Binary::And,
                _ => return None,
            };
            let initial = Number::Int(DType::Bool, i64::from(kind == Reduce::Min));
            return Some(Combination {
                element,
                lift: |_, x| x,
                combine: (combine, initial),
                finishes: false,
            });
        }
        match kind {
            Reduce::Mean if !float => element = DType::I64,
            // Of integers as the kernel: in `f64`, and then as a cast.
            Reduce::L2 | Reduce::LogSum if !float => element = DType::F64,
            _ => {}
        }
        let square: fn(&mut Stage, ScalarId) -> ScalarId = |s, x| s.mul(x, x);
        let lift = match kind {
            Reduce::L1 => |s: &mut Stage, x| s.unary(Unary::Abs, x),
            Reduce::L2 | Reduce::SumSquare => square,
            _ => |_: &mut Stage, x| x,
        };
        let combine = match kind {
            Reduce::Max => (Binary::Max, Number::lowest(element)),
            Reduce::Min => (Binary::Min, Number::highest(element)),
            Reduce::Prod => (Binary::Mul, Number::one(element)),
            _ => (Binary::Add, Number::zero(element)),
        };
        let finishes = matches!(kind, Reduce::Mean | Reduce::L2 | Reduce::LogSum);
        Some(Combination { element, lift, combine, finishes })
    }
}

/// `m + log(sum of e^(x - m))` for the greatest element `m`, or 0 where that is infinite.
fn structured_log_sum_exp(
    x: &TensorRef,
    out: &TensorRef,
    reducing: &Reducing,
    keep: bool,
) -> Option<Structured> {
    let mut loops = Loops::default();
    let floats = (!x.element.is_float()).then(|| loops.map(x, |s, x| s.cast(DType::F64, x)));
    let x = floats.as_ref().unwrap_or(x);
    let greatest = reducing.greatest(&mut loops, x);
    let shift = loops.map(&greatest, |s, m| {
        let (zero, infinity) = (s.number(m, 0.0), s.number(m, f64::INFINITY));
        let magnitude = s.unary(Unary::Abs, m);
        let infinite = s.compare(Comparison::Eq, magnitude, infinity);
        s.select(infinite, zero, m)
    });
    let (mut stage, at) = reducing.nest(&x.extents);
    let element = stage.load(x, &at);
    let kept = stage.all(0..shift.rank());
    let offset = stage.load(&shift, &kept);
    let difference = stage.sub(element, offset);
    let power = stage.unary(Unary::Exp, difference);
    let sum = loops.temporary(shift.element, &shift.extents);
    loops.push(stage.store_sum(&sum, power));
    let mut stage = Stage::over(&sum.extents);
    let (sum, offset) = (stage.broadcast(&sum)?, stage.broadcast(&shift)?);
    let logarithm = stage.unary(Unary::Log, sum);
    let value = stage.add(offset, logarithm);
    let to = written(&mut stage, reducing, out, keep);
    loops.push(stage.store(out, &to, value));
    Some(loops.finish())
}

/// The mean of 64-bit integers towards zero, whose sum may have more bits: the upper and the lower
/// halves are summed by themselves. Exact for fewer than 2^31 elements.
fn structured_wide_mean(
    x: &TensorRef,
    out: &TensorRef,
    reducing: &Reducing,
    keep: bool,
) -> Option<Structured> {
    let mut loops = Loops::default();
    let zero = (Binary::Add, Number::zero(DType::I64));
    let upper = reducing.reduce(&mut loops, x, zero, |s, x| {
        let half = s.number(x, 32.0);
        let upper = s.binary(Binary::ShiftRight, x, half);
        s.cast(DType::I64, upper)
    });
    let lower = reducing.reduce(&mut loops, x, zero, |s, x| {
        let mask = s.number(x, f64::from(u32::MAX));
        let lower = s.binary(Binary::BitAnd, x, mask);
        s.cast(DType::I64, lower)
    });
    let count = reducing.count(&x.extents)?;
    let mut stage = Stage::over(&upper.extents);
    let (upper, lower) = (stage.broadcast(&upper)?, stage.broadcast(&lower)?);
    let s = &mut stage;
    let (half, mask, count) = (s.int(32), s.int(i64::from(u32::MAX)), s.extent(&count));
    let carry = s.binary(Binary::ShiftRight, lower, half);
    let (upper, lower) = (s.add(upper, carry), s.binary(Binary::BitAnd, lower, mask));
    // Long division, rounding down.
    let count = s.unary(Unary::Nonzero, count);
    let rest = s.binary(Binary::Mod, upper, count);
    let whole = s.sub(upper, rest);
    let whole = s.div(whole, count);
    let (whole, rest) =
        (s.binary(Binary::ShiftLeft, whole, half), s.binary(Binary::ShiftLeft, rest, half));
    let rest = s.add(rest, lower);
    let quotient = s.div(rest, count);
    let done = s.mul(quotient, count);
    let floor = s.add(whole, quotient);
    // A negative mean that is no integer is one more.
    let (zero, one) = (s.int(0), s.int(1));
    let negative = s.compare(Comparison::Lt, upper, zero);
    let inexact = s.compare(Comparison::Ne, rest, done);
    let up = s.binary(Binary::And, negative, inexact);
    let next = s.add(floor, one);
    let value = s.select(up, next, floor);
    let to = written(s, reducing, out, keep);
    loops.push(stage.store(out, &to, value));
    Some(loops.finish())
}

fn structured_collapse(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let lead = x.rank().checked_sub(out.rank())?;
    let unit = |i: usize| i < lead || out.extents[i - lead].as_int() == Some(1);
    let pairs = (lead..x.rank()).all(|i| unit(i) || equal(&x.extents[i], &out.extents[i - lead]));
    let plan = Combination::new(Reduce::Sum, &x).filter(|_| pairs)?;
    let axes: Vec<i64> = (0..x.rank()).filter(|&i| unit(i)).map(|i| i as i64).collect();
    let reducing = Reducing::new(&axes, x.rank())?;
    let (mut stage, at) = reducing.nest(&x.extents);
    let element = stage.load(&x, &at);
    let mut loops = Loops::default();
    let to = reducing.with_units(&mut stage).split_off(lead);
    let sum = loops.accumulator(&out, plan.element);
    loops.push(stage.store_reduced_at(&sum, &to, plan.combine, element));
    loops.convert(&sum, &out);
    Some(loops.finish())
}

/// The dimensions that a softmax runs over.
fn softmax_axes(cx: &StructuredCx<'_>, rank: usize) -> Option<Reducing> {
    let listed = cx.attrs().int("axis").unwrap_or(-1);
    if !cx.attrs().flag("flatten") {
        return Reducing::new(&[listed], rank);
    }
    let first = if listed == rank as i64 { rank } else { structured::axis(listed, rank)? };
    Some(Reducing::from(first, rank))
}

/// Greatest element, exponentials relative to it, their sum, and what is left to do.
fn structured_softmax(cx: &StructuredCx<'_>, kind: Softmax) -> Option<Structured> {
    let (x, out) = (cx.operand(0).filter(|x| x.element.is_float())?, cx.result(0)?);
    let reducing = softmax_axes(cx, x.rank())?;
    let mut loops = Loops::default();
    let greatest = reducing.greatest(&mut loops, &x);
    let kept = reducing.kept_loops();
    let mut stage = Stage::over(&x.extents);
    let (element, top) = (stage.broadcast(&x)?, stage.broadcast_over(&greatest, &kept)?);
    let shifted = stage.sub(element, top);
    let plain = kind == Softmax::Softmax;
    let value = if plain { stage.unary(Unary::Exp, shifted) } else { shifted };
    let terms = loops.temporary(wide(x.element), &x.extents);
    loops.push(stage.store_parallel(&terms, value));
    let sum =
        reducing.sum(&mut loops, &terms, |s, x| if plain { x } else { s.unary(Unary::Exp, x) });
    let norm =
        loops.map(
            &sum,
            |s, sum| if plain { scalars::reciprocal(s, sum) } else { s.unary(Unary::Log, sum) },
        );
    let mut stage = Stage::over(&out.extents);
    let (term, norm) = (stage.broadcast(&terms)?, stage.broadcast_over(&norm, &kept)?);
    let value = if plain { stage.mul(term, norm) } else { stage.sub(term, norm) };
    loops.push(stage.store_parallel(&out, value));
    Some(loops.finish())
}

/// The greatest element, the first place that has it or a NaN, and 1 there.
fn structured_hardmax(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0).filter(|x| x.element.is_float())?, cx.result(0)?);
    let reducing = softmax_axes(cx, x.rank())?;
    let mut loops = Loops::default();
    let greatest = reducing.greatest(&mut loops, &x);
    let first = reducing.place(&mut loops, &x, &greatest, false);
    let mut stage = Stage::over(&out.extents);
    let first = stage.broadcast_over(&first, &reducing.kept_loops())?;
    let here = reducing.position(&mut stage, &x.extents, reducing.reduced_loops());
    let hit = stage.compare(Comparison::Eq, first, here);
    let value = stage.cast(out.element, hit);
    loops.push(stage.store_parallel(&out, value));
    Some(loops.finish())
}

/// The last extents of the operand, some of them 1.
fn collapsed(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    let from = wanted.other().filter(|_| wanted.index == 1)?;
    let first = rng.usize(0..=from.len());
    Some(from[first..].iter().map(|&n| if rng.bool() { n } else { 1 }).collect())
}

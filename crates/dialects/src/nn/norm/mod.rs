//! Normalisations: mean and variance set to 0 and 1, norms set to 1.

mod over_field;
mod structured;

use fastrand::Rng;
use tangram_ir::{AttrDef, AttrKind, Dim, InferCx, OpDef, OperandDef, ResultDef, Type};
use tangram_tensor::elementwise::{add, cast, multiply, subtract};
use tangram_tensor::reduce::{Reduce, reduce};
use tangram_tensor::{DType, Tensor, norm as kernels};

use super::conv::agree;
use super::{
    NnOp, maybe, maybe_result, needed, op, operand, optional, result,
    sample::{Call, Extents, Tried, Value, Wanted, place},
};
use crate::dtype;
use crate::eval::{EvalCx, EvalError, Evaluated, single, sizes};
use crate::infer::{InferExt, Result, Shaped, axis, one, several};
use crate::infer_error;

const NCHW: OperandDef = operand("x", "batch, channels, then spatial extents");
const X: OperandDef = operand("x", "any shape");
const LIKE_X: &[ResultDef] = &[result("output", "the shape of `x`")];
const EPSILON: AttrDef =
    maybe("epsilon", AttrKind::Float, "added to the variance before the root; 1e-5 if absent");
const STASH: AttrDef = maybe(
    "stash_type",
    AttrKind::Int,
    "ONNX's number of the float type to compute in; 1 (`f32`) if absent",
);
const AXIS: AttrDef =
    maybe("axis", AttrKind::Int, "this dimension and all after it are normalised; -1 if absent");

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    op(
        "nn.batch_norm",
        "`(data - moving_mean) / sqrt(moving_var + epsilon) * gamma + beta` for each channel",
        &[
            operand("data", "batch, channels, then spatial extents"),
            operand("gamma", "channels"),
            operand("beta", "channels"),
            operand("moving_mean", "channels"),
            operand("moving_var", "channels"),
        ],
        &[result("output", "the shape of `data`")],
        &[EPSILON],
        infer_batch_norm,
    )
    .structured(structured::batch_norm)
    .eval(eval_batch_norm)
    .over_field(over_field::batch_norm)
    .rank(one_each)
    .extents(per_channel),
    op(
        "nn.batch_norm_training",
        "`nn.batch_norm` with the statistics of `data` itself, which also move the given ones",
        &[
            operand("data", "batch, channels, then spatial extents"),
            operand("gamma", "channels"),
            operand("beta", "channels"),
            operand("moving_mean", "channels"),
            operand("moving_var", "channels"),
        ],
        &[
            result("output", "the shape of `data`"),
            maybe_result("running_mean", "`momentum * moving_mean + (1 - momentum) * mean`"),
            maybe_result("running_var", "likewise"),
        ],
        &[EPSILON, maybe("momentum", AttrKind::Float, "0.9 if absent")],
        infer_batch_norm_training,
    )
    .eval(eval_batch_norm_training)
    .extents(per_channel),
    op(
        "nn.layer_norm",
        "`x` with mean 0 and variance 1 over the last dimensions, scaled and shifted",
        &[
            X,
            operand("gamma", "broadcasts to the normalised dimensions"),
            optional("beta", "broadcasts to the normalised dimensions; 0 if absent"),
        ],
        &[
            result("output", "the shape of `x`"),
            maybe_result("mean", "extent 1 in the normalised dimensions"),
            maybe_result("inv_std_dev", "extent 1 in the normalised dimensions"),
        ],
        &[AXIS, EPSILON, STASH],
        infer_layer_norm,
    )
    .structured(structured::layer_norm)
    .eval(eval_layer_norm)
    .over_field(over_field::layer_norm)
    .extents(normalised),
    op(
        "nn.instance_norm",
        "each channel of each batch with mean 0 and variance 1, scaled and shifted",
        &[NCHW, operand("gamma", "channels"), operand("beta", "channels")],
        LIKE_X,
        &[EPSILON],
        infer_per_channel,
    )
    .structured(structured::instance_norm)
    .eval(|cx| single(kernels::instance_norm(cx.need(0)?, cx.need(1)?, cx.need(2)?, epsilon(cx))))
    .over_field(over_field::instance_norm)
    .rank(image_and_one_each)
    .extents(per_channel),
    op(
        "nn.group_norm",
        "each group of channels of each batch with mean 0 and variance 1, scaled and shifted",
        &[NCHW, operand("gamma", "channels"), operand("beta", "channels")],
        LIKE_X,
        &[needed("num_groups", AttrKind::Int, "divides the number of channels"), EPSILON, STASH],
        infer_like,
    )
    .structured(structured::group_norm)
    .eval(eval_group_norm)
    .over_field(over_field::group_norm)
    .rank(one_each)
    .extents(per_channel)
    .tried(grouped),
    op(
        "nn.rms_norm",
        "`x` divided by the root of its mean square over the last dimensions, scaled",
        &[X, operand("scale", "broadcasts to the normalised dimensions")],
        LIKE_X,
        &[AXIS, EPSILON, STASH],
        infer_last_axis,
    )
    .structured(structured::rms_norm)
    .eval(|cx| single(kernels::rms_norm(cx.need(0)?, cx.get(1), last_axis(cx), epsilon(cx))))
    .over_field(over_field::rms_norm)
    .extents(normalised),
    op(
        "nn.lp_norm",
        "`x` divided by its p-norm along a dimension",
        &[X],
        LIKE_X,
        &[
            maybe("axis", AttrKind::Int, "-1 if absent"),
            maybe("p", AttrKind::Int, "1 or 2; 2 if absent"),
        ],
        infer_last_axis,
    )
    .structured(structured::lp_norm)
    .eval(|cx| {
        single(kernels::lp_norm(cx.need(0)?, last_axis(cx), cx.attrs().int("p").unwrap_or(2)))
    })
    .over_field(over_field::lp_norm),
    op(
        "nn.mean_variance_norm",
        "`x` with mean 0 and variance 1 over dimensions",
        &[X],
        LIKE_X,
        &[maybe("axes", AttrKind::Ints, "the dimensions; 0, 2, 3 if absent")],
        infer_like,
    )
    .structured(structured::mean_variance)
    .eval(|cx| {
        let axes = cx.attrs().ints("axes").unwrap_or_else(|| vec![0, 2, 3]);
        single(kernels::mean_variance_norm(cx.need(0)?, &axes))
    }),
    op(
        "nn.lrn",
        "`x / (bias + alpha / size * s)^beta`, `s` the sum of squares in nearby channels",
        &[NCHW],
        LIKE_X,
        &[
            needed("size", AttrKind::Int, "how many channels are summed"),
            maybe("alpha", AttrKind::Float, "1e-4 if absent"),
            maybe("beta", AttrKind::Float, "0.75 if absent"),
            maybe("bias", AttrKind::Float, "1 if absent"),
        ],
        infer_like,
    )
    .structured(structured::lrn)
    .eval(eval_lrn),
];

fn infer_like(cx: &InferCx<'_>) -> Result {
    one(cx, &cx.tensor(0)?)
}

/// Operands from 1 on that are there have rank 1 and as many elements as there are channels.
fn infer_per_channel(cx: &InferCx<'_>) -> Result {
    let x = cx.tensor(0)?;
    let channels = x.dims.as_ref().and_then(|d| d.get(1)).copied().unwrap_or(Dim::UNKNOWN);
    for i in (1..cx.operands.len()).filter(|&i| cx.has(i)) {
        let Some(found) = cx.tensor(i)?.dims else { continue };
        if found.len() != 1 {
            let (name, rank) = (cx.def.name, found.len());
            return Err(infer_error!("operand {i} of `{name}` needs rank 1, found {rank}"));
        }
        agree(cx, "one number for each channel", channels, found[0])?;
    }
    one(cx, &x)
}

fn infer_batch_norm(cx: &InferCx<'_>) -> Result {
    infer_per_channel(cx)
}

fn infer_batch_norm_training(cx: &InferCx<'_>) -> Result {
    let results = [cx.tensor(0)?, cx.tensor(3)?, cx.tensor(4)?];
    several(cx, results.into_iter().take(cx.result_count.unwrap_or(1).clamp(1, 3)))
}

fn infer_last_axis(cx: &InferCx<'_>) -> Result {
    let x = cx.tensor(0)?;
    if let Some(rank) = x.rank() {
        axis(cx.attrs().int("axis").unwrap_or(-1), rank)?;
    }
    one(cx, &x)
}

fn infer_layer_norm(cx: &InferCx<'_>) -> Result {
    let x = cx.tensor(0)?;
    let mut moments = Shaped { element: stash_type(cx), ..x.clone() };
    if let Some(dims) = &mut moments.dims {
        let from = axis(cx.attrs().int("axis").unwrap_or(-1), dims.len())?;
        dims[from..].fill(Dim::fixed(1));
    }
    let count = cx.result_count.unwrap_or(1).clamp(1, 3);
    several(cx, [x, moments.clone(), moments].into_iter().take(count))
}

/// The float type that ONNX's number `number` stands for.
pub(super) fn float_numbered(number: i64) -> Option<DType> {
    Some(match number {
        1 => DType::F32,
        10 => DType::F16,
        11 => DType::F64,
        16 => DType::BF16,
        _ => return None,
    })
}

fn stash_type(cx: &InferCx<'_>) -> Type {
    let number = cx.attrs().int("stash_type").unwrap_or(1);
    dtype::type_of(cx.context(), float_numbered(number).unwrap_or(DType::F32))
}

fn epsilon(cx: &EvalCx<'_>) -> f64 {
    cx.attrs().float("epsilon").unwrap_or(f64::from(1e-5_f32))
}

fn last_axis(cx: &EvalCx<'_>) -> i64 {
    cx.attrs().int("axis").unwrap_or(-1)
}

fn eval_batch_norm(cx: &EvalCx<'_>) -> Evaluated {
    let (gamma, beta) = (cx.need(1)?, cx.need(2)?);
    let (mean, variance) = (cx.need(3)?, cx.need(4)?);
    single(kernels::batch_norm(cx.need(0)?, gamma, beta, mean, variance, epsilon(cx)))
}

fn eval_batch_norm_training(cx: &EvalCx<'_>) -> Evaluated {
    let x = cx.need(0)?;
    let rest: Vec<i64> = (0..x.rank() as i64).filter(|&axis| axis != 1).collect();
    let average = |x: &Tensor, keep| reduce(Reduce::Mean, x, &rest, keep, false);
    let wide = cast(x, DType::F64)?;
    let centred = subtract(&wide, &average(&wide, true)?)?;
    let (mean, variance) =
        (average(&wide, false)?, average(&multiply(&centred, &centred)?, false)?);
    let momentum = cx.attrs().float("momentum").unwrap_or(f64::from(0.9_f32));
    let moved = |old: &Tensor, new: &Tensor| {
        let kept = multiply(&cast(old, DType::F64)?, &Tensor::scalar(momentum))?;
        cast(&add(&kept, &multiply(new, &Tensor::scalar(1.0 - momentum))?)?, old.dtype())
    };
    let running = [moved(cx.need(3)?, &mean)?, moved(cx.need(4)?, &variance)?];
    let y = kernels::batch_norm(x, cx.need(1)?, cx.need(2)?, &mean, &variance, epsilon(cx))?;
    Ok([y].into_iter().chain(running).collect())
}

fn eval_layer_norm(cx: &EvalCx<'_>) -> Evaluated {
    let number = cx.attrs().int("stash_type").unwrap_or(1);
    let stash =
        float_numbered(number).ok_or_else(|| EvalError::Value("stash_type", number.to_string()))?;
    let (x, gamma, beta) = (cx.need(0)?, cx.get(1), cx.get(2));
    let norm = kernels::layer_norm(x, gamma, beta, last_axis(cx), epsilon(cx), stash)?;
    Ok(vec![norm.y, norm.mean, norm.inv_std])
}

fn eval_group_norm(cx: &EvalCx<'_>) -> Evaluated {
    let groups = cx.attrs().int("num_groups").ok_or(EvalError::Attribute("num_groups"))?;
    let groups = sizes("num_groups", &[groups])?[0];
    single(kernels::group_norm(cx.need(0)?, cx.need(1)?, cx.need(2)?, groups, epsilon(cx)))
}

fn eval_lrn(cx: &EvalCx<'_>) -> Evaluated {
    let size = cx.attrs().int("size").ok_or(EvalError::Attribute("size"))?;
    let number = |name, default: f32| cx.attrs().float(name).unwrap_or(f64::from(default));
    single(kernels::lrn(
        cx.need(0)?,
        sizes("size", &[size])?[0],
        number("alpha", 1e-4),
        number("beta", 0.75),
        number("bias", 1.0),
    ))
}

/// One number for each channel.
fn per_channel(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    let channels = wanted.of(0).and_then(|like| like.get(1).copied());
    (wanted.index > 0).then(|| vec![channels.unwrap_or_else(|| wanted.extent(rng))])
}

/// Parameters of rank 1.
fn one_each(_: &OpDef, index: usize) -> Option<usize> {
    (index > 0).then_some(1)
}

/// Images, and parameters of rank 1.
fn image_and_one_each(def: &OpDef, index: usize) -> Option<usize> {
    if index == 0 { Some(4) } else { one_each(def, index) }
}

/// The extents from the axis on, or ones that broadcast to them.
fn normalised(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    let Some(like) = wanted.of(0).filter(|_| wanted.index > 0) else {
        return Some(wanted.any(rng));
    };
    let first = place(wanted.axis.unwrap_or(-1), like.len()).unwrap_or(0);
    let like = like.get(first..).unwrap_or_default();
    Some(match rng.u8(0..6) {
        0 => like.iter().map(|&n| if rng.bool() { n } else { 1 }).collect(),
        1 => like[rng.usize(0..=like.len())..].to_vec(),
        _ => like.to_vec(),
    })
}

/// As many groups as divide the channels.
fn grouped(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    if attr.name != "num_groups" {
        return Tried::Usual;
    }
    let Some(&channels) = call.x().get(1) else { return Tried::Absent };
    let divisors: Vec<i64> = (1..=channels as i64).filter(|d| channels as i64 % d == 0).collect();
    Value::Int(rng.choice(&divisors).copied().unwrap_or(1)).into()
}

//! Reductions over dimensions, and softmax.

use tangram_affine::symbolic::Expr;
use tangram_ir::{AttrDef, AttrKind, Dim, InferCx, OpDef, OperandDef, ResultDef, Traits};
use tangram_tensor::reduce::{Reduce, reduce};
use tangram_tensor::softmax::{Softmax, softmax, softmax_flattened};

use super::conv::agree;
use super::{NnOp, maybe, operand, optional, result};
use crate::eval::{EvalCx, EvalError, EvalFn, Evaluated, single};
use crate::infer::{Contents, InferExt, Result, Shaped, axes, axis, one, one_with};
use crate::infer_error;

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
    NnOp { def, eval: Some(eval) }
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
    NnOp { def, eval: Some(eval) }
}

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    reduction("nn.sum", "the sum over dimensions", |cx| reduced(cx, Reduce::Sum)),
    reduction("nn.mean", "the mean over dimensions", |cx| reduced(cx, Reduce::Mean)),
    reduction("nn.max", "the greatest element over dimensions", |cx| reduced(cx, Reduce::Max)),
    reduction("nn.min", "the least element over dimensions", |cx| reduced(cx, Reduce::Min)),
    reduction("nn.prod", "the product over dimensions", |cx| reduced(cx, Reduce::Prod)),
    reduction("nn.reduce_l1", "the sum of absolute values over dimensions", |cx| {
        reduced(cx, Reduce::L1)
    }),
    reduction("nn.reduce_l2", "the square root of the sum of squares over dimensions", |cx| {
        reduced(cx, Reduce::L2)
    }),
    reduction("nn.reduce_log_sum", "the logarithm of the sum over dimensions", |cx| {
        reduced(cx, Reduce::LogSum)
    }),
    reduction("nn.reduce_log_sum_exp", "the logarithm of the sum of exponentials", |cx| {
        reduced(cx, Reduce::LogSumExp)
    }),
    reduction("nn.reduce_sum_square", "the sum of squares over dimensions", |cx| {
        reduced(cx, Reduce::SumSquare)
    }),
    NnOp {
        def: OpDef {
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
        },
        eval: Some(eval_collapse_sum_like),
    },
    normalised("nn.softmax", "exponentials divided by their sum along `axis`", |cx| {
        softened(cx, Softmax::Softmax)
    }),
    normalised("nn.log_softmax", "the logarithm of softmax along `axis`", |cx| {
        softened(cx, Softmax::LogSoftmax)
    }),
    normalised("nn.hardmax", "1 at the first greatest element along `axis`, else 0", |cx| {
        softened(cx, Softmax::Hardmax)
    }),
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
    let Some(from) = &data.dims else { return one(cx, &Shaped::unranked(data.element)) };
    let listed = match cx.attrs().ints("axis") {
        Some(list) => Some(list),
        None if !cx.has(1) => Some(Vec::new()),
        None => cx.constant_ints(1),
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
    let out = (0..from.len()).filter_map(|i| match reduced.contains(&i) {
        true => keep.then(|| Dim::fixed(1)),
        false => Some(from[i]),
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

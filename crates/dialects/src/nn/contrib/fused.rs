//! Operations of onnxruntime's own domain that stand for several of ONNX's.

use tangram_ir::{AttrDef, AttrKind, Dim, InferCx, ResultDef};

use super::{
    A, ALPHA, AXIS, B, TRANSPOSE_A, TRANSPOSE_B, X, alike, f32_type, laid_out, multiplied,
    product_like, wanted,
};
use super::{evaluate, structured};
use crate::infer::{InferExt, Result, Shaped, broadcast, one};
use crate::nn::conv::{agree, convolved};
use crate::nn::window::FUSED_NAMES;
use crate::nn::{NnOp, maybe, maybe_result, op, operand, optional, result};
use crate::structured::scalars;

const EPSILON: AttrDef = maybe("epsilon", AttrKind::Float, "added to the variance");

const ACTIVATION: AttrDef = maybe("activation", AttrKind::Str, "what follows; nothing if absent");

const MATMUL: &[AttrDef] = &[
    TRANSPOSE_A,
    TRANSPOSE_B,
    maybe("transpose_batch_a", AttrKind::Bool, "the first dimension of `a` is its rows"),
    maybe("transpose_batch_b", AttrKind::Bool, "the first dimension of `b` is its rows"),
    ALPHA,
];

const SKIP_RESULTS: &[ResultDef] = &[
    result("output", "the shape of `x`"),
    maybe_result("mean", "for training"),
    maybe_result("inv_std_var", "for training"),
    maybe_result("sum", "`x` plus `skip` plus the bias"),
];

/// The operations of this family.
pub(in crate::nn) static OPS: &[NnOp] = &[
    alike("nn.contrib_gelu", "`nn.gelu`, exact", &[X], &[])
        .structured(|cx| structured::of_sum(cx, scalars::gelu))
        .eval(evaluate::fused::exact_gelu),
    alike(
        "nn.contrib_fast_gelu",
        "`nn.gelu` by tanh, of `x + bias`",
        &[X, optional("bias", "rank 1")],
        &[],
    )
    .structured(|cx| structured::of_sum(cx, scalars::gelu_tanh))
    .eval(evaluate::fused::fast_gelu),
    alike("nn.contrib_quick_gelu", "`x * sigmoid(alpha * x)`", &[X], &[ALPHA])
        .structured(structured::quick_gelu)
        .eval(evaluate::fused::quick_gelu),
    alike("nn.contrib_bias_gelu", "`nn.gelu` of `x + bias`", &[X, operand("bias", "rank 1")], &[])
        .structured(|cx| structured::of_sum(cx, scalars::gelu))
        .eval(evaluate::fused::exact_gelu),
    alike(
        "nn.contrib_bias_add",
        "`x + bias + skip`",
        &[X, operand("bias", "rank 1"), operand("skip", "the shape of `x`")],
        &[],
    )
    .structured(|cx| structured::of_sum(cx, |_, sum| sum))
    .eval(evaluate::fused::bias_add),
    product_like(
        "nn.contrib_fused_matmul",
        "`alpha` times the product of matrices, transposed as asked",
        &[A, B],
        MATMUL,
        infer_fused_matmul,
    )
    .structured(structured::fused_matmul)
    .eval(evaluate::fused::fused_matmul),
    product_like(
        "nn.contrib_transpose_matmul",
        "`alpha` times the product of matrices, transposed as asked",
        &[A, B],
        MATMUL,
        infer_fused_matmul,
    )
    .structured(structured::fused_matmul)
    .eval(evaluate::fused::fused_matmul),
    product_like(
        "nn.contrib_fused_gemm",
        "`nn.gemm` and an activation",
        &[A, B, optional("c", "broadcasts to the result; 0 if absent")],
        &[
            TRANSPOSE_A,
            TRANSPOSE_B,
            ALPHA,
            maybe("beta", AttrKind::Float, "factor of `c`"),
            ACTIVATION,
            maybe("activation_alpha", AttrKind::Float, "of the activation"),
            maybe("activation_beta", AttrKind::Float, "of the activation"),
            maybe("activation_gamma", AttrKind::Float, "of the activation"),
        ],
        infer_gemm,
    )
    .eval(evaluate::fused::fused_gemm)
    .tried(super::activation),
    product_like(
        "nn.contrib_fused_conv",
        "`nn.conv`, a bias, a sum and an activation",
        &[
            operand("x", "batch, channels, then spatial extents"),
            operand("w", "filters, channels / groups, then window extents"),
            optional("bias", "one for each filter"),
            optional("sum", "the shape of the result"),
        ],
        &[
            maybe("strides", AttrKind::Ints, "1 if absent"),
            maybe("padding", AttrKind::Ints, "begins, then ends; 0 if absent"),
            maybe("dilation", AttrKind::Ints, "1 if absent"),
            maybe("groups", AttrKind::Int, "1 if absent"),
            maybe("auto_pad", AttrKind::Str, "in place of `padding`"),
            maybe("kernel_shape", AttrKind::Ints, "the extents of the window"),
            ACTIVATION,
            maybe("activation_params", AttrKind::Floats, "of the activation"),
        ],
        infer_fused_conv,
    )
    .structured(structured::fused_conv)
    .eval(evaluate::fused::fused_conv)
    .tried(super::activation)
    .steps(crate::nn::window::filter_steps),
    op(
        "nn.contrib_skip_layer_norm",
        "`nn.layer_norm` of `x + skip + bias`",
        &[
            X,
            operand("skip", "broadcasts to the shape of `x`"),
            operand("gamma", "rank 1"),
            optional("beta", "rank 1"),
            optional("bias", "rank 1"),
        ],
        SKIP_RESULTS,
        &[EPSILON],
        infer_skip,
    )
    .structured(structured::skip_layer_norm)
    .eval(evaluate::fused::skip_layer_norm),
    op(
        "nn.contrib_skip_rms_norm",
        "`nn.rms_norm` of `x + skip + bias`",
        &[
            X,
            operand("skip", "broadcasts to the shape of `x`"),
            operand("gamma", "rank 1"),
            optional("bias", "rank 1"),
        ],
        SKIP_RESULTS,
        &[EPSILON],
        infer_skip,
    )
    .structured(structured::skip_rms_norm)
    .eval(evaluate::fused::skip_rms_norm),
    op(
        "nn.contrib_embed_layer_norm",
        "`nn.layer_norm` of a sum of embeddings",
        &[
            operand("input_ids", "batch, steps"),
            optional("segment_ids", "batch, steps"),
            operand("word_embedding", "words, width"),
            operand("position_embedding", "positions, width"),
            optional("segment_embedding", "segments, width"),
            operand("gamma", "width"),
            operand("beta", "width"),
            optional("mask", "batch, steps"),
            optional("position_ids", "batch, steps"),
        ],
        &[
            result("output", "batch, steps, width"),
            maybe_result("mask_index", "batch, `i32`"),
            maybe_result("embedding_sum", "batch, steps, width"),
        ],
        &[EPSILON, maybe("mask_index_type", AttrKind::Int, "what `mask_index` holds")],
        infer_embed,
    )
    .eval(evaluate::fused::embed_layer_norm),
    op(
        "nn.contrib_rms_norm",
        "`nn.rms_norm`",
        &[X, operand("scale", "the normalised extents")],
        &[result("output", "the shape of `x`"), maybe_result("inv_std_var", "for training")],
        &[AXIS, EPSILON, maybe("stash_type", AttrKind::Int, "ONNX's number of a type")],
        infer_rms,
    )
    .eval(evaluate::fused::root_mean_square_norm),
];

fn infer_fused_matmul(cx: &InferCx<'_>) -> Result {
    let flag = |name| cx.attrs().flag(name);
    let a = laid_out(cx, 0, flag("transpose_a"), flag("transpose_batch_a"))?;
    let b = laid_out(cx, 1, flag("transpose_b"), flag("transpose_batch_b"))?;
    let element = cx.tensor(0)?.element;
    let shaped = |dims| Shaped { dims, element };
    let (Some(a), Some(b)) = (a, b) else { return one(cx, &shaped(None)) };
    let ([batch_a @ .., m, k], [batch_b @ .., l, n]) = (&a[..], &b[..]) else {
        return one(cx, &shaped(None));
    };
    agree(cx, "an inner extent", *k, *l)?;
    let side = |dims: &[Dim]| Shaped::ranked(dims.iter().copied(), element);
    let out = broadcast(cx.context(), &[&side(batch_a), &side(batch_b)])?;
    one(cx, &shaped(out.map(|batch| batch.into_iter().chain([*m, *n]).collect())))
}

fn infer_gemm(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped::ranked(multiplied(cx, (0, 1))?, cx.tensor(0)?.element))
}

fn infer_fused_conv(cx: &InferCx<'_>) -> Result {
    let (x, w) = (cx.tensor(0)?, cx.tensor(1)?);
    let groups = cx.attrs().int("groups").unwrap_or(1).max(1);
    let dims = convolved(cx, &x, &w, groups, &FUSED_NAMES)?;
    one(cx, &Shaped { dims, element: x.element })
}

fn infer_skip(cx: &InferCx<'_>) -> Result {
    let x = cx.tensor(0)?;
    let statistics = Shaped::unranked(f32_type(cx));
    wanted(cx, [x.clone(), statistics.clone(), statistics, x])
}

fn infer_rms(cx: &InferCx<'_>) -> Result {
    wanted(cx, [cx.tensor(0)?, Shaped::unranked(f32_type(cx))])
}

fn infer_embed(cx: &InferCx<'_>) -> Result {
    let (ids, words) = (cx.tensor(0)?, cx.tensor(2)?);
    let width = words.dims.as_ref().and_then(|dims| dims.get(1).copied()).unwrap_or(Dim::UNKNOWN);
    let dims = ids.dims.as_ref().map(|dims| dims.iter().copied().chain([width]).collect());
    let out = Shaped { dims, element: words.element };
    let batch = ids.dims.and_then(|dims| dims.first().copied()).unwrap_or(Dim::UNKNOWN);
    let masks = Shaped::ranked([batch], cx.context().int_type(32));
    wanted(cx, [out.clone(), masks, out])
}

//! Products of matrices, and the bias that follows them.

pub(super) mod sample;
mod structured;

use tangram_ir::{AttrDef, AttrKind, Context, Dim, InferCx, OperandDef, ResultDef, Traits};
use tangram_tensor::KernelError;
use tangram_tensor::elementwise::add;
use tangram_tensor::layout::resolve_axis;
use tangram_tensor::linear::{self as kernels, GemmParams};
use tangram_tensor::shape::transpose;

use super::conv::agree;
use super::{NnOp, maybe, needed, op, operand, optional, result, sample::Sample, variadic};
use crate::eval::{EvalCx, EvalError, Evaluated, single};
use crate::infer::{Dims, InferExt, Result, Shaped, axis, one, one_element};
use crate::{dims, infer_error};

pub(super) use structured::{Side, contract};

const A: OperandDef = operand("a", "batch extents, then rows and columns");
const PRODUCT: ResultDef = result("output", "batch extents, rows of `a`, columns of `b`");
const ALPHA: AttrDef = maybe("alpha", AttrKind::Float, "factor of the product; 1 if absent");
const BETA: AttrDef = maybe("beta", AttrKind::Float, "factor of `c`; 1 if absent");
const TRANSPOSE_A: AttrDef =
    maybe("transpose_a", AttrKind::Bool, "use `a` transposed; false if absent");
const TRANSPOSE_B: AttrDef =
    maybe("transpose_b", AttrKind::Bool, "use `b` transposed; false if absent");

/// Equations, and operands that fit them.
const EINSUM: Sample = Sample {
    attr: Some(super::einsum::equation),
    meant: Some(super::einsum::labels_agree),
    ..Sample::USUAL
};

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    op(
        "nn.dense",
        "`x` times the transpose of `w`",
        &[operand("x", "rows, in"), operand("w", "units, in")],
        &[result("output", "rows, units")],
        &[],
        infer_dense,
    )
    .structured(structured::dense)
    .eval(eval_dense)
    .bilinear()
    .rank(sample::matrices)
    .extents(sample::dense)
    .steps(|sizes| sizes.last(0)),
    op(
        "nn.matmul",
        "the product of matrices, as NumPy's `matmul`",
        &[A, operand("b", "batch extents, then rows and columns; all broadcast")],
        &[PRODUCT],
        &[],
        infer_matmul,
    )
    .structured(structured::matmul)
    .eval(|cx| single(kernels::matmul(cx.need(0)?, cx.need(1)?)))
    .with(Traits::ASSOCIATIVE)
    .bilinear()
    .extents(sample::matmul)
    .steps(|sizes| sizes.last(0)),
    op(
        "nn.batch_matmul",
        "for each batch, `x` times the transpose of `y`",
        &[operand("x", "batch, m, k"), operand("y", "batch, n, k")],
        &[result("output", "batch, m, n")],
        &[],
        infer_batch_matmul,
    )
    .structured(structured::batch_matmul)
    .eval(eval_batch_matmul)
    .bilinear()
    .rank(|_, _| Some(3))
    .extents(sample::batch_matmul),
    op(
        "nn.gemm",
        "`alpha * a * b + beta * c`",
        &[
            operand("a", "m by k; k by m if `transpose_a`"),
            operand("b", "k by n; n by k if `transpose_b`"),
            optional("c", "broadcasts to m by n; 0 if absent"),
        ],
        &[result("output", "m by n")],
        &[ALPHA, BETA, TRANSPOSE_A, TRANSPOSE_B],
        infer_gemm,
    )
    .structured(structured::gemm)
    .eval(eval_gemm)
    .rank(sample::matrices)
    .extents(sample::gemm)
    .steps(|sizes| sizes.last(0)),
    op(
        "nn.bias_add",
        "`x` plus a number for each place along `axis`",
        &[operand("x", "any shape"), operand("bias", "rank 1: extent `axis` of `x`")],
        &[result("output", "the shape of `x`")],
        &[maybe("axis", AttrKind::Int, "1 if absent")],
        infer_bias_add,
    )
    .structured(structured::bias_add)
    .eval(eval_bias_add)
    .sums()
    .rank(|_, index| (index == 1).then_some(1))
    .extents(sample::bias)
    .axis(1),
    op(
        "nn.einsum",
        "the sum of products that an equation describes",
        &[variadic("inputs", "one shape for each term of the equation")],
        &[result("output", "the extents that the equation lists")],
        &[needed(
            "equation",
            AttrKind::Str,
            "`ij,jk->ik`: letters name dimensions, those without a place in the result are summed",
        )],
        super::einsum::infer,
    )
    .structured(super::einsum::structured)
    .eval(eval_einsum)
    .bilinear()
    .sample(EINSUM)
    .steps(super::einsum::steps),
];

/// Rows and columns of a matrix, unknown where the rank is; an error if it has another rank.
fn matrix(cx: &InferCx<'_>, i: usize) -> Result<[Dim; 2]> {
    let Some(dims) = cx.tensor(i)?.dims else { return Ok([Dim::UNKNOWN; 2]) };
    <[Dim; 2]>::try_from(&dims[..]).map_err(|_| {
        infer_error!("operand {i} of `{}` needs rank 2, found {}", cx.def.name, dims.len())
    })
}

fn infer_dense(cx: &InferCx<'_>) -> Result {
    one_element(cx, 0..2)?;
    let ([rows, inner], [units, k]) = (matrix(cx, 0)?, matrix(cx, 1)?);
    agree(cx, "an inner extent", k, inner)?;
    one(cx, &Shaped::ranked([rows, units], cx.tensor(0)?.element))
}

/// The extents of a product of tensors of matrices; `element` is that of the result.
pub(super) fn product(cx: &InferCx<'_>, (a, b): (usize, usize)) -> Result<Option<Dims>> {
    let (a, b) = (cx.tensor(a)?.dims, cx.tensor(b)?.dims);
    let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
    let (rows, inner, batch_a) = match &a[..] {
        [] => return Err(infer_error!("`{}` needs rank 1 or more, found 0", cx.def.name)),
        [k] => (None, *k, &a[..0]),
        [batch @ .., m, k] => (Some(*m), *k, batch),
    };
    let (k, columns, batch_b) = match &b[..] {
        [] => return Err(infer_error!("`{}` needs rank 1 or more, found 0", cx.def.name)),
        [k] => (*k, None, &b[..0]),
        [batch @ .., k, n] => (*k, Some(*n), batch),
    };
    agree(cx, "an inner extent", k, inner)?;
    let mut out = batches(cx.context(), batch_a, batch_b)?;
    out.extend(rows);
    out.extend(columns);
    Ok(Some(out))
}

fn batches(context: &Context, a: &[Dim], b: &[Dim]) -> Result<Dims> {
    let rank = a.len().max(b.len());
    let at = |list: &[Dim], i: usize| {
        (i + list.len()).checked_sub(rank).map_or(Dim::fixed(1), |i| list[i])
    };
    (0..rank)
        .map(|i| {
            dims::broadcast(context, at(a, i), at(b, i))
                .map_err(|(a, b)| infer_error!("batch extents {a} and {b} do not broadcast"))
        })
        .collect()
}

fn infer_matmul(cx: &InferCx<'_>) -> Result {
    one_element(cx, 0..2)?;
    let dims = product(cx, (0, 1))?;
    one(cx, &Shaped { dims, element: cx.tensor(0)?.element })
}

fn infer_batch_matmul(cx: &InferCx<'_>) -> Result {
    one_element(cx, 0..2)?;
    let side = |i: usize| -> Result<[Dim; 3]> {
        let Some(dims) = cx.tensor(i)?.dims else { return Ok([Dim::UNKNOWN; 3]) };
        <[Dim; 3]>::try_from(&dims[..]).map_err(|_| {
            infer_error!("operand {i} of `nn.batch_matmul` needs rank 3, found {}", dims.len())
        })
    };
    let ([b, m, k], [c, n, l]) = (side(0)?, side(1)?);
    agree(cx, "an inner extent", k, l)?;
    let batch = batches(cx.context(), &[b], &[c])?;
    one(cx, &Shaped::ranked([batch[0], m, n], cx.tensor(0)?.element))
}

fn infer_gemm(cx: &InferCx<'_>) -> Result {
    one_element(cx, 0..3)?;
    let (mut a, mut b) = (matrix(cx, 0)?, matrix(cx, 1)?);
    if cx.attrs().flag("transpose_a") {
        a.reverse();
    }
    if cx.attrs().flag("transpose_b") {
        b.reverse();
    }
    agree(cx, "an inner extent", a[1], b[0])?;
    one(cx, &Shaped::ranked([a[0], b[1]], cx.tensor(0)?.element))
}

fn infer_bias_add(cx: &InferCx<'_>) -> Result {
    one_element(cx, 0..2)?;
    let (mut x, bias) = (cx.tensor(0)?, cx.tensor(1)?);
    if let Some(rank) = bias.rank().filter(|&rank| rank != 1) {
        return Err(infer_error!("the bias of `nn.bias_add` needs rank 1, found {rank}"));
    }
    if let (Some(dims), Some(bias)) = (&mut x.dims, &bias.dims) {
        let along = axis(cx.attrs().int("axis").unwrap_or(1), dims.len())?;
        agree(cx, "a bias", dims[along], bias[0])?;
        if dims[along].is_unknown() {
            dims[along] = bias[0];
        }
    }
    one(cx, &x)
}

fn eval_bias_add(cx: &EvalCx<'_>) -> Evaluated {
    let (x, bias) = (cx.need(0)?, cx.need(1)?);
    let along = resolve_axis("bias_add", cx.attrs().int("axis").unwrap_or(1), x.rank())?;
    if bias.len() != x.shape()[along] {
        let parameter = "bias";
        let expected = "an element for each channel";
        let found = format!("{:?} for {:?}", bias.shape(), x.shape());
        return Err(
            KernelError::BadParameter { kernel: "bias_add", parameter, expected, found }.into()
        );
    }
    let mut shape = vec![1; x.rank()];
    shape[along] = bias.len();
    single(add(x, &bias.reshaped(shape)?))
}

fn eval_dense(cx: &EvalCx<'_>) -> Evaluated {
    let params = GemmParams { trans_b: true, ..GemmParams::default() };
    single(kernels::gemm(cx.need(0)?, cx.need(1)?, None, params))
}

fn eval_batch_matmul(cx: &EvalCx<'_>) -> Evaluated {
    let y = transpose(cx.need(1)?, Some(&[0, 2, 1]))?;
    single(kernels::matmul(cx.need(0)?, &y))
}

fn eval_gemm(cx: &EvalCx<'_>) -> Evaluated {
    let params = GemmParams {
        alpha: cx.attrs().float("alpha").unwrap_or(1.0),
        beta: cx.attrs().float("beta").unwrap_or(1.0),
        trans_a: cx.attrs().flag("transpose_a"),
        trans_b: cx.attrs().flag("transpose_b"),
    };
    single(kernels::gemm(cx.need(0)?, cx.need(1)?, cx.get(2), params))
}

fn eval_einsum(cx: &EvalCx<'_>) -> Evaluated {
    let equation = cx.attrs().text("equation").ok_or(EvalError::Attribute("equation"))?;
    single(kernels::einsum(equation, &cx.all()?))
}

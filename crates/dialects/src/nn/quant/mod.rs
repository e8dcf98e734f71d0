//! Quantisation: real numbers as small integers with a scale and a zero point.

mod sample;
pub(super) mod structured;

pub(super) use sample::tried;
pub(super) use structured::there_and_back;

use tangram_ir::{AttrDef, AttrKind, FloatKind, InferCx, OperandDef, ResultDef, Type};
use tangram_tensor::quant::{self as kernels, QuantizeParams, Quantized};
use tangram_tensor::{DType, Tensor};

use super::conv::{convolved, group_count};
use super::linear::product;
use super::norm::float_numbered;
use super::window::{self, NAMES, PADDING};
use super::{NnOp, Numbers, maybe, op, open, operand, optional, result};
use crate::dtype;
use crate::eval::{EvalCx, EvalError, Evaluated, single, sizes};
use crate::infer::{Dims, InferExt, Result, Shaped, one, several};

const SCALE: OperandDef =
    operand("scale", "a scalar, one number for each place along `axis`, or one for each block");
const ZERO: OperandDef = optional("zero_point", "the shape of `scale`; 0 if absent");
const AXIS: AttrDef = maybe("axis", AttrKind::Int, "1 if absent");
const BLOCK: AttrDef = maybe(
    "block_size",
    AttrKind::Int,
    "places along `axis` that share a scale; 0 (none) if absent",
);
const OUTPUT_DTYPE: AttrDef = maybe(
    "output_dtype",
    AttrKind::DType,
    "the element type of the result; that of an operand if absent",
);
const STRIDES: AttrDef = maybe("strides", AttrKind::Ints, "steps between windows; 1 if absent");
const DILATION: AttrDef =
    maybe("dilation", AttrKind::Ints, "steps between elements of a window; 1 if absent");
const GROUPS: AttrDef = maybe("groups", AttrKind::Int, "independent parts; 1 if absent");
const CONV_ATTRS: &[AttrDef] = &[STRIDES, PADDING, DILATION, GROUPS];
const CONV_OUT: &[ResultDef] = &[result("output", "batch, filters, then spatial extents")];
const PRODUCT: &[ResultDef] = &[result("output", "the shape of `nn.matmul`")];

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    op(
        "nn.quantize",
        "`round(x / scale) + zero_point`, ties to even, saturated",
        &[operand("x", "any shape"), SCALE, ZERO],
        &[result("output", "the shape of `x`, the element type of `zero_point`, or `ui8`")],
        &[
            AXIS,
            BLOCK,
            OUTPUT_DTYPE,
            maybe("saturate", AttrKind::Bool, "for eight-bit floats; true if absent"),
            maybe("precision", AttrKind::Int, "ONNX's number of the type to divide in"),
        ],
        infer_quantize,
    )
    .structured(structured::quantize)
    .eval(eval_quantize)
    .numbers(Numbers::JUMPS)
    .open(open::scaled)
    .roles(sample::QUANTIZE)
    .extents(sample::scales)
    .tried(tried),
    op(
        "nn.dequantize",
        "`(x - zero_point) * scale`",
        &[operand("x", "any shape"), SCALE, ZERO],
        &[result("output", "the shape of `x`, the element type of `scale`")],
        &[AXIS, BLOCK, OUTPUT_DTYPE],
        infer_dequantize,
    )
    .structured(structured::dequantize)
    .eval(eval_dequantize)
    .numbers(Numbers::JUMPS)
    .open(open::scaled)
    .roles(sample::DEQUANTIZE)
    .extents(sample::scales)
    .tried(tried),
    op(
        "nn.dynamic_quantize",
        "`x` quantised to `ui8` with a scale that just covers its range",
        &[operand("x", "any shape")],
        &[
            result("output", "the shape of `x`, `ui8`"),
            result("scale", "a scalar, `f32`"),
            result("zero_point", "a scalar, `ui8`"),
        ],
        &[],
        infer_dynamic,
    )
    .structured(structured::dynamic)
    .eval(eval_dynamic)
    .numbers(Numbers::JUMPS),
    op(
        "nn.matmul_integer",
        "the product of quantised matrices, in `i32`",
        &[
            operand("a", "8-bit integers"),
            operand("b", "8-bit integers"),
            optional("a_zero_point", "a scalar or one for each row; 0 if absent"),
            optional("b_zero_point", "a scalar or one for each column; 0 if absent"),
        ],
        PRODUCT,
        &[],
        infer_matmul_integer,
    )
    .structured(structured::matmul_integer)
    .eval(eval_matmul_integer)
    .extents(sample::matmul_integer)
    .steps(|sizes| sizes.last(0)),
    op(
        "nn.qlinear_matmul",
        "the product of quantised matrices, quantised",
        &[
            operand("a", "8-bit"),
            operand("a_scale", "a scalar or one for each row"),
            operand("a_zero_point", "the shape of `a_scale`"),
            operand("b", "8-bit"),
            operand("b_scale", "a scalar or one for each column"),
            operand("b_zero_point", "the shape of `b_scale`"),
            operand("y_scale", "a scalar or one for each row"),
            operand("y_zero_point", "the shape of `y_scale`; says the element type of the result"),
        ],
        PRODUCT,
        &[],
        infer_qlinear_matmul,
    )
    .structured(structured::qlinear_matmul)
    .eval(eval_qlinear_matmul)
    .extents(sample::qlinear_matmul)
    .steps(|sizes| sizes.last(0)),
    op(
        "nn.conv_integer",
        "the convolution of quantised tensors, in `i32`",
        &[
            operand("x", "batch, channels, then spatial extents; 8-bit"),
            operand("w", "filters, channels / groups, then window extents; 8-bit"),
            optional("x_zero_point", "a scalar; 0 if absent"),
            optional("w_zero_point", "a scalar or one for each filter; 0 if absent"),
        ],
        CONV_OUT,
        CONV_ATTRS,
        infer_conv_integer,
    )
    .structured(structured::conv_integer)
    .eval(eval_conv_integer)
    .extents(sample::conv_integer)
    .tried(window::tried)
    .steps(window::filter_steps),
    op(
        "nn.qlinear_conv",
        "the convolution of quantised tensors, quantised",
        &[
            operand("x", "batch, channels, then spatial extents; 8-bit"),
            operand("x_scale", "a scalar"),
            operand("x_zero_point", "a scalar"),
            operand("w", "filters, channels / groups, then window extents; 8-bit"),
            operand("w_scale", "a scalar or one for each filter"),
            operand("w_zero_point", "the shape of `w_scale`"),
            operand("y_scale", "a scalar"),
            operand("y_zero_point", "a scalar; says the element type of the result"),
            optional("bias", "one for each filter, `i32`, at scale x_scale * w_scale"),
        ],
        CONV_OUT,
        CONV_ATTRS,
        infer_qlinear_conv,
    )
    .structured(structured::qlinear_conv)
    .eval(eval_qlinear_conv)
    .extents(sample::qlinear_conv)
    .tried(window::tried)
    .steps(window::filter_steps),
];

fn infer_quantize(cx: &InferCx<'_>) -> Result {
    let element = match cx.attrs().ty("output_dtype") {
        Some(ty) => ty,
        None if cx.has(2) => cx.tensor(2)?.element,
        None => dtype::type_of(cx.context(), DType::U8),
    };
    one(cx, &Shaped { element, ..cx.tensor(0)? })
}

fn infer_dequantize(cx: &InferCx<'_>) -> Result {
    let element = match cx.attrs().ty("output_dtype") {
        Some(ty) => ty,
        None => cx.tensor(1)?.element,
    };
    one(cx, &Shaped { element, ..cx.tensor(0)? })
}

fn infer_dynamic(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let byte = context.uint_type(8);
    let scale = Shaped::ranked([], context.float_type(FloatKind::F32));
    let x = Shaped { element: byte, ..cx.tensor(0)? };
    several(cx, [x, scale, Shaped::ranked([], byte)])
}

fn typed(cx: &InferCx<'_>, dims: Option<Dims>, element: Type) -> Result {
    one(cx, &Shaped { dims, element })
}

fn infer_matmul_integer(cx: &InferCx<'_>) -> Result {
    typed(cx, product(cx, (0, 1))?, cx.context().int_type(32))
}

fn infer_qlinear_matmul(cx: &InferCx<'_>) -> Result {
    typed(cx, product(cx, (0, 3))?, cx.tensor(7)?.element)
}

fn groups(cx: &InferCx<'_>) -> i64 {
    cx.attrs().int("groups").unwrap_or(1).max(1)
}

fn infer_conv_integer(cx: &InferCx<'_>) -> Result {
    let dims = convolved(cx, &cx.tensor(0)?, &cx.tensor(1)?, groups(cx), &NAMES)?;
    typed(cx, dims, cx.context().int_type(32))
}

fn infer_qlinear_conv(cx: &InferCx<'_>) -> Result {
    let dims = convolved(cx, &cx.tensor(0)?, &cx.tensor(3)?, groups(cx), &NAMES)?;
    typed(cx, dims, cx.tensor(7)?.element)
}

fn block_size(cx: &EvalCx<'_>) -> Result<usize, EvalError> {
    Ok(sizes("block_size", &[cx.attrs().int("block_size").unwrap_or(0)])?[0])
}

fn eval_quantize(cx: &EvalCx<'_>) -> Evaluated {
    let params = QuantizeParams {
        axis: cx.attrs().int("axis").unwrap_or(1),
        block_size: block_size(cx)?,
        saturate: cx.attrs().bool("saturate").unwrap_or(true),
        output: cx.attrs().dtype("output_dtype"),
        precision: cx.attrs().int("precision").and_then(float_numbered),
    };
    single(kernels::quantize_linear(cx.need(0)?, cx.need(1)?, cx.get(2), params))
}

fn eval_dequantize(cx: &EvalCx<'_>) -> Evaluated {
    let (x, scale, zero) = (cx.need(0)?, cx.need(1)?, cx.get(2));
    let (axis, output) = (cx.attrs().int("axis").unwrap_or(1), cx.attrs().dtype("output_dtype"));
    single(kernels::dequantize_linear(x, scale, zero, axis, block_size(cx)?, output))
}

fn eval_dynamic(cx: &EvalCx<'_>) -> Evaluated {
    let (output, scale, zero) = kernels::dynamic_quantize_linear(cx.need(0)?)?;
    Ok(vec![output, scale, zero])
}

fn eval_matmul_integer(cx: &EvalCx<'_>) -> Evaluated {
    single(kernels::matmul_integer(cx.need(0)?, cx.need(1)?, cx.get(2), cx.get(3)))
}

/// Operands `i`, `i + 1`, `i + 2`: values, scale, zero point.
fn quantized<'a>(cx: &EvalCx<'a>, i: usize) -> Result<Quantized<'a>, EvalError> {
    Ok(Quantized { values: cx.need(i)?, scale: cx.need(i + 1)?, zero_point: cx.need(i + 2)? })
}

/// Operands 6 and 7: scale and zero point of the result.
fn target<'a>(cx: &EvalCx<'a>) -> Result<(&'a Tensor, &'a Tensor), EvalError> {
    Ok((cx.need(6)?, cx.need(7)?))
}

fn eval_qlinear_matmul(cx: &EvalCx<'_>) -> Evaluated {
    let (scale, zero) = target(cx)?;
    single(kernels::qlinear_matmul(quantized(cx, 0)?, quantized(cx, 3)?, scale, zero))
}

fn eval_conv_integer(cx: &EvalCx<'_>) -> Evaluated {
    let params = window::params(cx.attrs(), &NAMES);
    let (x, w) = (cx.need(0)?, cx.need(1)?);
    single(kernels::conv_integer(x, w, cx.get(2), cx.get(3), group_count(cx)?, &params))
}

fn eval_qlinear_conv(cx: &EvalCx<'_>) -> Evaluated {
    let params = window::params(cx.attrs(), &NAMES);
    let (scale, zero) = target(cx)?;
    let (x, w) = (quantized(cx, 0)?, quantized(cx, 3)?);
    single(kernels::qlinear_conv(x, w, scale, zero, cx.get(8), group_count(cx)?, &params))
}

//! What prepares features.

use tangram_ir::{AttrKind, Dim, InferCx};
use tangram_tensor::learned::{self as kernels, Norm};
use tangram_tensor::{DType, Tensor};

use super::made;
use super::{OUT, X, element, floats, ints, labels, rows, singles, strs};
use crate::eval::{EvalCx, EvalError, Evaluated, single};
use crate::infer::{InferExt, Result, Shaped, one};
use crate::nn::{NnOp, maybe, op, operand, variadic};

/// The operations of this family.
pub(in crate::nn) static OPS: &[NnOp] = &[
    op(
        "nn.ml_array_feature_extractor",
        "columns of `x`, by their places",
        &[X, operand("places", "`i64`")],
        OUT,
        &[],
        infer_extractor,
    )
    .eval(|cx| single(kernels::array_feature_extractor(cx.need(0)?, cx.need(1)?)))
    .decomposed(made::extractor),
    op(
        "nn.ml_binarizer",
        "1 for what exceeds a threshold, 0 for all else",
        &[X],
        OUT,
        &[maybe("threshold", AttrKind::Float, "0 if absent")],
        infer_alike,
    )
    .eval(|cx| {
        let threshold = cx.attrs().float("threshold").unwrap_or(0.0);
        single(kernels::binarizer(cx.need(0)?, threshold as f32))
    })
    .decomposed(made::binarizer),
    op(
        "nn.ml_feature_vectorizer",
        "the rows of all inputs behind each other, `f32`",
        &[variadic("inputs", "a row of features for each sample")],
        OUT,
        &[ints("inputdimensions", "how many features of each input are taken")],
        infer_vectorizer,
    )
    .eval(|cx| {
        let widths = cx.attrs().ints("inputdimensions").unwrap_or_default();
        single(kernels::feature_vectorizer(&cx.all()?, &widths))
    })
    .decomposed(made::vectorizer),
    op(
        "nn.ml_imputer",
        "`x` with other values in place of one, which may be NaN",
        &[X],
        OUT,
        &[
            floats("imputed_value_floats", "of each feature, for floats"),
            ints("imputed_value_int64s", "of each feature, for integers"),
            maybe("replaced_value_float", AttrKind::Float, "0 if absent"),
            maybe("replaced_value_int64", AttrKind::Int, "0 if absent"),
        ],
        infer_alike,
    )
    .eval(eval_imputer)
    .decomposed(made::imputer),
    op(
        "nn.ml_normalizer",
        "each row by its norm, `f32`",
        &[X],
        OUT,
        &[maybe("norm", AttrKind::Enum(&["MAX", "L1", "L2"]), "MAX if absent")],
        infer_float,
    )
    .eval(|cx| single(kernels::normalizer(cx.need(0)?, norm(cx)?)))
    .decomposed(made::normalizer),
    op(
        "nn.ml_one_hot_encoder",
        "a new last dimension with 1 at the place of each element among categories, `f32`",
        &[operand("x", "any shape")],
        OUT,
        &[
            ints("cats_int64s", "categories of numbers"),
            strs("cats_strings", "categories of texts"),
            maybe("zeros", AttrKind::Int, "0: refuse what is no category; 1 if absent"),
        ],
        infer_one_hot,
    )
    .eval(|cx| {
        let categories = labels(&cx.attrs(), "cats_strings", "cats_int64s");
        let zeros = cx.attrs().int("zeros").unwrap_or(1) != 0;
        single(kernels::one_hot_encoder(cx.need(0)?, &categories, zeros))
    }),
    op(
        "nn.ml_scaler",
        "`(x - offset) * scale`, `f32`",
        &[X],
        OUT,
        &[
            floats("offset", "of each feature, or of all; 0 if absent"),
            floats("scale", "of each feature, or of all; 1 if absent"),
        ],
        infer_float,
    )
    .eval(eval_scaler)
    .decomposed(made::scaler),
];

fn infer_alike(cx: &InferCx<'_>) -> Result {
    one(cx, &cx.tensor(0)?)
}

fn infer_float(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped { element: element(cx, DType::F32), ..cx.tensor(0)? })
}

fn infer_extractor(cx: &InferCx<'_>) -> Result {
    let (x, places) = (cx.tensor(0)?, cx.tensor(1)?);
    let count = places.dims.and_then(|dims| {
        dims.iter().try_fold(1i64, |n, extent| n.checked_mul(extent.as_static()?))
    });
    let count = count.map_or(Dim::UNKNOWN, Dim::fixed);
    let dims = match x.dims {
        Some(dims) if dims.len() < 2 => Some([Dim::fixed(1), count].into_iter().collect()),
        Some(mut dims) => {
            dims.pop();
            dims.push(count);
            Some(dims)
        }
        None => None,
    };
    one(cx, &Shaped { dims, element: x.element })
}

fn infer_vectorizer(cx: &InferCx<'_>) -> Result {
    let widths = cx.attrs().ints("inputdimensions").unwrap_or_default();
    let total = widths.iter().try_fold(0i64, |sum, &n| sum.checked_add(n.max(0)));
    one(cx, &rows(cx, DType::F32, Some(total.map_or(Dim::UNKNOWN, Dim::fixed)))?)
}

fn infer_one_hot(cx: &InferCx<'_>) -> Result {
    let categories = labels(&cx.attrs(), "cats_strings", "cats_int64s").len();
    let x = cx.tensor(0)?;
    let last = [Dim::fixed(categories as i64)];
    let dims = x.dims.map(|dims| dims.into_iter().chain(last).collect());
    one(cx, &Shaped { dims, element: element(cx, DType::F32) })
}

/// What a row is divided by.
pub(super) fn norm(cx: &EvalCx<'_>) -> std::result::Result<Norm, EvalError> {
    match cx.attrs().text("norm") {
        None | Some("MAX") => Ok(Norm::Max),
        Some("L1") => Ok(Norm::L1),
        Some("L2") => Ok(Norm::L2),
        Some(other) => Err(EvalError::Value("norm", other.to_owned())),
    }
}

/// The values that an imputer puts in place of another one, and that one.
pub(super) fn imputed(cx: &EvalCx<'_>, element: DType) -> (Tensor, Tensor) {
    let attrs = cx.attrs();
    if element.is_float() {
        (
            Tensor::vector(attrs.floats("imputed_value_floats").unwrap_or_default()),
            Tensor::scalar(attrs.float("replaced_value_float").unwrap_or(0.0)),
        )
    } else {
        (
            Tensor::vector(attrs.ints("imputed_value_int64s").unwrap_or_default()),
            Tensor::scalar(attrs.int("replaced_value_int64").unwrap_or(0)),
        )
    }
}

fn eval_imputer(cx: &EvalCx<'_>) -> Evaluated {
    let x = cx.need(0)?;
    let (imputed, replaced) = imputed(cx, x.dtype());
    single(kernels::imputer(x, &imputed, &replaced))
}

/// What is subtracted from each feature, and what the difference is multiplied by.
pub(super) fn offset_and_scale(cx: &EvalCx<'_>) -> (Vec<f32>, Vec<f32>) {
    let (mut offset, mut scale) = (singles(cx, "offset"), singles(cx, "scale"));
    if offset.is_empty() {
        offset = vec![0.0; scale.len().max(1)];
    }
    if scale.is_empty() {
        scale = vec![1.0; offset.len()];
    }
    (offset, scale)
}

fn eval_scaler(cx: &EvalCx<'_>) -> Evaluated {
    let (offset, scale) = offset_and_scale(cx);
    single(kernels::scaler(cx.need(0)?, &offset, &scale))
}

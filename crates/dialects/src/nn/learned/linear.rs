//! Linear models.

use tangram_ir::{AttrKind, InferCx};
use tangram_tensor::DType;
use tangram_tensor::learned::{self as kernels, LinearParams};

use super::made;
use super::{CLASSIFIED, OUT, POST, X, classified, count, counted, floats, ints, labels, post};
use super::{rows, singles, strs};
use crate::eval::{EvalCx, EvalError, Evaluated, single};
use crate::infer::{Result, one};
use crate::nn::{NnOp, maybe, op};

/// The operations of this family.
pub(in crate::nn) static OPS: &[NnOp] = &[
    op(
        "nn.ml_linear_classifier",
        "the class whose linear function is greatest, and all functions",
        &[X],
        CLASSIFIED,
        &[
            strs("classlabels_strings", "classes that are texts"),
            ints("classlabels_ints", "classes that are numbers"),
            floats("coefficients", "a row of weights for each function"),
            floats("intercepts", "what is added to each; a single one separates two classes"),
            maybe("multi_class", AttrKind::Int, "how it was learned; changes nothing"),
            POST,
        ],
        |cx| classified(cx, ["classlabels_strings", "classlabels_ints"], false),
    )
    .eval(|cx| {
        let labels = labels(&cx.attrs(), "classlabels_strings", "classlabels_ints");
        let (label, scores) = kernels::linear_classifier(cx.need(0)?, &params(cx)?, &labels)?;
        Ok(vec![label, scores])
    })
    .decomposed(made::linear_classifier),
    op(
        "nn.ml_linear_regressor",
        "linear functions of features, `f32`",
        &[X],
        OUT,
        &[
            floats("coefficients", "a row of weights for each function"),
            floats("intercepts", "what is added to each"),
            maybe("targets", AttrKind::Int, "how many functions; 1 if absent"),
            POST,
        ],
        infer_regressor,
    )
    .eval(eval_regressor)
    .decomposed(made::linear_regressor),
];

pub(super) fn params(cx: &EvalCx<'_>) -> std::result::Result<LinearParams, EvalError> {
    let (coefficients, intercepts) = (singles(cx, "coefficients"), singles(cx, "intercepts"));
    Ok(LinearParams { coefficients, intercepts, post: post(&cx.attrs())? })
}

fn infer_regressor(cx: &InferCx<'_>) -> Result {
    one(cx, &rows(cx, DType::F32, Some(counted(cx, "targets")))?)
}

fn eval_regressor(cx: &EvalCx<'_>) -> Evaluated {
    single(kernels::linear_regressor(cx.need(0)?, &params(cx)?, count(cx, "targets", 1)?))
}

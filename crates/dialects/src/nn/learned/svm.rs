//! Support vector machines.

use tangram_ir::{AttrKind, Dim, InferCx};
use tangram_tensor::DType;
use tangram_tensor::learned::{self as kernels, Kernel, SvmClassifierParams, SvmParams};

use super::prepared::prepared;
use super::{CLASSIFIED, OUT, POST, X, classified, count, floats, ints, labels, post};
use super::{rows, singles, strs};
use crate::eval::{EvalCx, EvalError, Evaluated, single, sizes};
use crate::infer::{Result, one};
use crate::nn::{NnOp, maybe, op};

const KERNELS: AttrKind = AttrKind::Enum(&["LINEAR", "POLY", "RBF", "SIGMOID"]);

/// The operations of this family.
pub(in crate::nn) static OPS: &[NnOp] = &[
    op(
        "nn.ml_svm_classifier",
        "classes by support vectors, and shares of classes or decisions of pairs",
        &[X],
        CLASSIFIED,
        &[
            strs("classlabels_strings", "classes that are texts"),
            ints("classlabels_ints", "classes that are numbers"),
            floats("coefficients", "a row for each class but one"),
            floats("kernel_params", "gamma, coef0 and degree"),
            maybe("kernel_type", KERNELS, "LINEAR if absent"),
            floats("prob_a", "slopes of the shares of pairs; scores are decisions if absent"),
            floats("prob_b", "offsets of the shares of pairs"),
            floats("rho", "what is added to the decision of each pair"),
            floats("support_vectors", "one after the other, those of a class together"),
            ints("vectors_per_class", "how many vectors each class has"),
            POST,
        ],
        |cx| classified(cx, ["classlabels_strings", "classlabels_ints"], false),
    )
    .eval(|cx| {
        let params = prepared(cx, &[], || classifier(cx))?;
        let (label, scores) = kernels::svm_classifier(cx.need(0)?, &params)?;
        Ok(vec![label, scores])
    }),
    op(
        "nn.ml_svm_regressor",
        "a sum over support vectors, `f32`",
        &[X],
        OUT,
        &[
            floats("coefficients", "of each vector"),
            floats("kernel_params", "gamma, coef0 and degree"),
            maybe("kernel_type", KERNELS, "LINEAR if absent"),
            maybe("n_supports", AttrKind::Int, "how many vectors; 0 if absent"),
            maybe("one_class", AttrKind::Int, "1: whether the sum is above 0, as 1 or -1"),
            floats("rho", "what is added"),
            floats("support_vectors", "one after the other"),
            POST,
        ],
        infer_regressor,
    )
    .eval(eval_regressor),
];

fn machine(cx: &EvalCx<'_>) -> std::result::Result<SvmParams, EvalError> {
    let given = singles(cx, "kernel_params");
    let at = |i: usize| given.get(i).copied().unwrap_or(0.0);
    let (gamma, coef0) = (at(0), at(1));
    let kernel = match cx.attrs().text("kernel_type") {
        None | Some("LINEAR") => Kernel::Linear,
        Some("POLY") => Kernel::Poly { gamma, coef0, degree: at(2) },
        Some("RBF") => Kernel::Rbf { gamma },
        Some("SIGMOID") => Kernel::Sigmoid { gamma, coef0 },
        Some(other) => return Err(EvalError::Value("kernel_type", other.to_owned())),
    };
    Ok(SvmParams {
        kernel,
        vectors: singles(cx, "support_vectors"),
        coefficients: singles(cx, "coefficients"),
        rho: singles(cx, "rho"),
        post: post(&cx.attrs())?,
    })
}

fn classifier(cx: &EvalCx<'_>) -> std::result::Result<SvmClassifierParams, EvalError> {
    let attrs = cx.attrs();
    let (a, b) = (singles(cx, "prob_a"), singles(cx, "prob_b"));
    let per_class = attrs.ints("vectors_per_class").unwrap_or_default();
    Ok(SvmClassifierParams {
        machine: machine(cx)?,
        vectors_per_class: sizes("vectors_per_class", &per_class)?,
        shares: (!a.is_empty()).then_some((a, b)),
        labels: labels(&attrs, "classlabels_strings", "classlabels_ints"),
    })
}

fn infer_regressor(cx: &InferCx<'_>) -> Result {
    one(cx, &rows(cx, DType::F32, Some(Dim::fixed(1)))?)
}

fn eval_regressor(cx: &EvalCx<'_>) -> Evaluated {
    let params = prepared(cx, &[], || machine(cx))?;
    let one_class = cx.attrs().int("one_class").unwrap_or(0) != 0;
    let supports = count(cx, "n_supports", 0)?;
    single(kernels::svm_regressor(cx.need(0)?, &params, supports, one_class))
}

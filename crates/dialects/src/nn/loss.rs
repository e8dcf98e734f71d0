//! Losses of classification.

use fastrand::Rng;
use tangram_ir::{AttrDef, AttrKind, InferCx};
use tangram_tensor::loss::{self as kernels, Reduction};

use super::{
    NnOp, maybe, maybe_result, op, operand, optional, result,
    sample::{Extents, Role, Wanted},
};
use crate::eval::{EvalCx, Evaluated, single};
use crate::infer::{InferExt, Result, Shaped, one, several};

const ATTRS: &[AttrDef] = &[
    maybe("ignore_index", AttrKind::Int, "a class that does not count; none if absent"),
    maybe("reduction", AttrKind::Enum(&["none", "mean", "sum"]), "mean if absent"),
];

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    op(
        "nn.nll_loss",
        "minus the entry of `x` at each target class, weighted",
        &[
            operand("x", "batch, classes, then any extents: logarithms of probabilities"),
            operand("target", "the shape of `x` without classes, integers"),
            optional("weight", "one for each class; 1 if absent"),
        ],
        &[result("loss", "a scalar; the shape of `target` for the reduction `none`")],
        ATTRS,
        infer_nll,
    )
    .eval(eval_nll)
    .roles(&[Role::Data, Role::Places])
    .extents(classes),
    op(
        "nn.softmax_cross_entropy_loss",
        "`nn.nll_loss` of the logarithm of the softmax of `scores`",
        &[
            operand("scores", "batch, classes, then any extents"),
            operand("labels", "the shape of `scores` without classes, integers"),
            optional("weights", "one for each class; 1 if absent"),
        ],
        &[
            result("loss", "a scalar; the shape of `labels` for the reduction `none`"),
            maybe_result("log_prob", "the shape of `scores`"),
        ],
        ATTRS,
        infer_cross_entropy,
    )
    .eval(eval_cross_entropy)
    .roles(&[Role::Data, Role::Places])
    .extents(classes),
];

fn loss(cx: &InferCx<'_>) -> Result<Shaped> {
    let element = cx.tensor(0)?.element;
    Ok(match cx.attrs().text("reduction") {
        Some("none") => Shaped { element, ..cx.tensor(1)? },
        _ => Shaped::ranked([], element),
    })
}

fn infer_nll(cx: &InferCx<'_>) -> Result {
    one(cx, &loss(cx)?)
}

fn infer_cross_entropy(cx: &InferCx<'_>) -> Result {
    let count = cx.result_count.unwrap_or(1).clamp(1, 2);
    several(cx, [loss(cx)?, cx.tensor(0)?].into_iter().take(count))
}

fn reduction(cx: &EvalCx<'_>) -> Reduction {
    match cx.attrs().text("reduction") {
        Some("none") => Reduction::None,
        Some("sum") => Reduction::Sum,
        _ => Reduction::Mean,
    }
}

fn eval_nll(cx: &EvalCx<'_>) -> Evaluated {
    let ignored = cx.attrs().int("ignore_index");
    single(kernels::nll_loss(cx.need(0)?, cx.need(1)?, cx.get(2), reduction(cx), ignored))
}

fn eval_cross_entropy(cx: &EvalCx<'_>) -> Evaluated {
    let ignored = cx.attrs().int("ignore_index");
    let (scores, labels) = (cx.need(0)?, cx.need(1)?);
    let (loss, log_prob) =
        kernels::softmax_cross_entropy(scores, labels, cx.get(2), reduction(cx), ignored)?;
    Ok(vec![loss, log_prob])
}

/// A class for each place, a weight for each class.
fn classes(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    Some(match (wanted.index, wanted.of(0)) {
        (1, Some(like)) if like.len() > 1 => [&like[..1], &like[2..]].concat(),
        (2, Some(like)) => like.iter().copied().skip(1).take(1).collect(),
        _ => {
            let rank = rng.usize(2..=4);
            wanted.free(rng, Some(rank))
        }
    })
}

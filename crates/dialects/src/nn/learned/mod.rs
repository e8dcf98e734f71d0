//! Operations of ONNX's domain `ai.onnx.ml`: trees, linear models, support vector machines, and
//! what prepares features for them.
//!
//! Operands and attributes are ONNX's, with those of all versions: which of them are there says
//! which version a node is of. Nothing makes one anew.

pub(super) mod features;
pub(super) mod labels;
pub(super) mod linear;
mod made;
pub(super) mod maps;
mod prepared;
pub(super) mod svm;
pub(super) mod trees;

pub(crate) use maps::evaluate as evaluate_maps;

use tangram_ir::{AttrDef, AttrKind, Dim, InferCx, OperandDef, ResultDef, Type};
use tangram_tensor::DType;
use tangram_tensor::learned::{Labels, PostTransform};

use super::{maybe, operand, result};
use crate::attrs::Attrs;
use crate::dtype;
use crate::eval::{EvalCx, EvalError};
use crate::infer::{InferExt, Result, Shaped, several};

const X: OperandDef = operand("x", "a row of features for each sample");

const OUT: &[ResultDef] = &[result("output", "a tensor")];

const CLASSIFIED: &[ResultDef] = &[
    result("label", "the class of each sample"),
    result("scores", "a row for each sample, `f32`"),
];

const POST: AttrDef = maybe(
    "post_transform",
    AttrKind::Enum(&["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"]),
    "what is done with scores; NONE if absent",
);

const fn strs(name: &'static str, doc: &'static str) -> AttrDef {
    maybe(name, AttrKind::Strs, doc)
}

const fn ints(name: &'static str, doc: &'static str) -> AttrDef {
    maybe(name, AttrKind::Ints, doc)
}

const fn floats(name: &'static str, doc: &'static str) -> AttrDef {
    maybe(name, AttrKind::Floats, doc)
}

const fn tensor(name: &'static str, doc: &'static str) -> AttrDef {
    maybe(name, AttrKind::Tensor, doc)
}

/// The type of an element.
fn element(cx: &InferCx<'_>, dtype: DType) -> Type {
    dtype::type_of(cx.context(), dtype)
}

/// A vector with an element for each row of the first operand, or a matrix with a row for each.
fn rows(cx: &InferCx<'_>, dtype: DType, columns: Option<Dim>) -> Result<Shaped> {
    let element = element(cx, dtype);
    // A vector as operand is one row in some engines, and in others a column.
    Ok(match cx.tensor(0)?.dims.as_deref() {
        Some(&[rows, _]) => Shaped::ranked([rows].into_iter().chain(columns), element),
        _ => Shaped::unranked(element),
    })
}

/// A dimension of as many elements as the integer attribute `name` says, 1 if it is absent.
fn counted(cx: &InferCx<'_>, name: &str) -> Dim {
    match cx.attrs().int(name).unwrap_or(1) {
        count if count > 0 => Dim::fixed(count),
        _ => Dim::UNKNOWN,
    }
}

/// Labels and scores. There is a score for each class, but two classes may have one, and machines
/// one for each pair.
fn classified(cx: &InferCx<'_>, names: [&str; 2], certain: bool) -> Result {
    let texts = cx.attrs().texts(names[0]).map_or(0, |texts| texts.len());
    let numbers = cx.attrs().ints(names[1]).map_or(0, |numbers| numbers.len());
    let label = if texts > 0 { DType::String } else { DType::I64 };
    let classes = texts + numbers;
    let scores = if certain && classes > 2 { Dim::fixed(classes as i64) } else { Dim::UNKNOWN };
    several(cx, [rows(cx, label, None)?, rows(cx, DType::F32, Some(scores))?])
}

/// The texts or numbers of the attributes of these names; those that are there, texts first.
fn labels(attrs: &Attrs<'_>, texts: &str, numbers: &str) -> Labels {
    let found = attrs.texts(texts).filter(|texts| !texts.is_empty());
    match found {
        Some(texts) => Labels::Texts(texts.iter().map(|text| text.as_bytes().to_vec()).collect()),
        None => Labels::Numbers(attrs.ints(numbers).unwrap_or_default()),
    }
}

fn post(attrs: &Attrs<'_>) -> std::result::Result<PostTransform, EvalError> {
    let text = attrs.text("post_transform").unwrap_or("NONE");
    PostTransform::named(text).ok_or_else(|| EvalError::Value("post_transform", text.to_owned()))
}

/// The numbers of attribute `name`; none if it is absent.
fn singles(cx: &EvalCx<'_>, name: &str) -> Vec<f32> {
    let list = cx.attrs().floats(name).unwrap_or_default();
    list.into_iter().map(|v| v as f32).collect()
}

/// The integer attribute `name` as a number of things, `default` if it is absent.
fn count(
    cx: &EvalCx<'_>,
    name: &'static str,
    default: i64,
) -> std::result::Result<usize, EvalError> {
    let found = cx.attrs().int(name).unwrap_or(default);
    usize::try_from(found).map_err(|_| EvalError::Value(name, found.to_string()))
}

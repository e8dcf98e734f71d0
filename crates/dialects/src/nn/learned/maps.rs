//! Maps: what they are made of, and what becomes of them.
//!
//! `!nn.map<K, V>` has the type of an element as key and that of a value, a tensor, as parameters.

use tangram_ir::{AttrKind, Dim, InferCx, Module, Op, ResultDef, Type};
use tangram_tensor::learned::{self as kernels, CastForm};
use tangram_tensor::{DType, Tensor};

use super::{OUT, X, element, ints, labels, strs};
use crate::attrs::Attrs;
use crate::eval::EvalError;
use crate::infer::{InferExt, Result, Shaped, one};
use crate::infer_error;
use crate::interpret::Datum;
use crate::nn::container::{self, map_type, sequence_type};
use crate::nn::{NnOp, maybe, op, operand, result};

const MAPS: &[ResultDef] = &[result("output", "a sequence of maps")];

/// The operations of this family, which the interpreter evaluates: maps are no tensors.
pub(in crate::nn) static OPS: &[NnOp] = &[
    op(
        "nn.ml_cast_map",
        "the values of a map as one row",
        &[operand("map", "from `i64`")],
        OUT,
        &[
            maybe(
                "cast_to",
                AttrKind::Enum(&["TO_FLOAT", "TO_INT64", "TO_STRING"]),
                "TO_FLOAT if absent",
            ),
            maybe(
                "map_form",
                AttrKind::Enum(&["DENSE", "SPARSE"]),
                "SPARSE: each value stands at its key; DENSE if absent",
            ),
            maybe("max_map", AttrKind::Int, "the extent of the sparse row; 1 if absent"),
        ],
        infer_cast,
    ),
    op(
        "nn.ml_dict_vectorizer",
        "the values of the keys of a vocabulary, 0 for one that the map lacks, as one row",
        &[operand("map", "from texts or `i64`")],
        OUT,
        &[
            ints("int64_vocabulary", "keys that are numbers"),
            strs("string_vocabulary", "keys that are texts"),
        ],
        infer_vectorizer,
    ),
    op(
        "nn.ml_zip_map",
        "for each row the map from labels to scores",
        &[X],
        MAPS,
        &[
            ints("classlabels_int64s", "labels that are numbers"),
            strs("classlabels_strings", "labels that are texts"),
        ],
        infer_zip,
    ),
];

/// The type that `cast_to` names.
fn cast_type(attrs: &Attrs<'_>) -> DType {
    match attrs.text("cast_to") {
        Some("TO_INT64") => DType::I64,
        Some("TO_STRING") => DType::String,
        _ => DType::F32,
    }
}

/// The key and value types of the operand.
fn mapped(cx: &InferCx<'_>) -> Result<(Type, Type)> {
    let found = cx.operand_type(0).and_then(|ty| container::map_types(cx.context(), ty));
    found.ok_or_else(|| infer_error!("operand 0 of `{}` is no map", cx.def.name))
}

fn infer_cast(cx: &InferCx<'_>) -> Result {
    mapped(cx)?;
    let sparse = cx.attrs().text("map_form") == Some("SPARSE");
    let width = if sparse { super::counted(cx, "max_map") } else { Dim::UNKNOWN };
    one(cx, &Shaped::ranked([Dim::fixed(1), width], element(cx, cast_type(&cx.attrs()))))
}

fn infer_vectorizer(cx: &InferCx<'_>) -> Result {
    let (_, value) = mapped(cx)?;
    let element = cx.context().element_type(value);
    let element = element.ok_or_else(|| infer_error!("a map of values that are no tensors"))?;
    let count = labels(&cx.attrs(), "string_vocabulary", "int64_vocabulary").len();
    one(cx, &Shaped::ranked([Dim::fixed(1), Dim::fixed(count as i64)], element))
}

fn infer_zip(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    cx.tensor(0)?;
    let texts = cx.attrs().texts("classlabels_strings").is_some_and(|list| !list.is_empty());
    let key = element(cx, if texts { DType::String } else { DType::I64 });
    let value = Shaped::unranked(element(cx, DType::F32)).ty(context);
    Ok(container::plain(sequence_type(context, map_type(context, key, value))))
}

/// Evaluates an operation on maps; `None` for any other.
pub(crate) fn evaluate(
    module: &Module,
    op: Op,
    operands: &[Datum],
) -> Option<std::result::Result<Datum, EvalError>> {
    let attrs = Attrs::new(module.context(), module.attrs(op));
    let map = || match operands.first() {
        Some(Datum::Map { keys, values }) => Ok((keys, values)),
        _ => Err(EvalError::Value("operand 0", "no map".to_owned())),
    };
    Some(match module.name_text(op) {
        "nn.ml_zip_map" => zip(&attrs, operands.first()),
        "nn.ml_cast_map" => map().and_then(|(keys, values)| cast(&attrs, keys, values)),
        "nn.ml_dict_vectorizer" => map().and_then(|(keys, values)| {
            let vocabulary = labels(&attrs, "string_vocabulary", "int64_vocabulary");
            Ok(Datum::Tensor(kernels::dict_vectorizer(keys, values, &vocabulary)?))
        }),
        _ => return None,
    })
}

fn zip(attrs: &Attrs<'_>, x: Option<&Datum>) -> std::result::Result<Datum, EvalError> {
    let Some(Datum::Tensor(x)) = x else { return Err(EvalError::AbsentOperand(0)) };
    let labels = labels(attrs, "classlabels_strings", "classlabels_int64s");
    let maps = kernels::zip_map(x, &labels)?.into_iter();
    Ok(Datum::Sequence(maps.map(|(keys, values)| Datum::Map { keys, values }).collect()))
}

fn cast(
    attrs: &Attrs<'_>,
    keys: &Tensor,
    values: &Tensor,
) -> std::result::Result<Datum, EvalError> {
    let form = match attrs.text("map_form") {
        Some("SPARSE") => {
            let width = attrs.int("max_map").unwrap_or(1);
            let size = usize::try_from(width);
            CastForm::Sparse(size.map_err(|_| EvalError::Value("max_map", width.to_string()))?)
        }
        _ => CastForm::Dense,
    };
    Ok(Datum::Tensor(kernels::cast_map(keys, values, form, cast_type(attrs))?))
}

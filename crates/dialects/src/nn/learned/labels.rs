//! Tables from labels to labels.

use tangram_ir::{AttrKind, InferCx};
use tangram_tensor::elementwise::cast;
use tangram_tensor::learned as kernels;
use tangram_tensor::{DType, Tensor};

use super::{OUT, element, floats, ints, strs, tensor};
use crate::dtype;
use crate::eval::{EvalCx, EvalError, Evaluated, single};
use crate::infer::{InferExt, Result, Shaped, one};
use crate::nn::{NnOp, maybe, op, operand};

/// The operations of this family.
pub(in crate::nn) static OPS: &[NnOp] = &[
    op(
        "nn.ml_category_mapper",
        "numbers of texts, or texts of numbers",
        &[operand("x", "texts or `i64`")],
        OUT,
        &[
            ints("cats_int64s", "numbers, one for each text"),
            strs("cats_strings", "texts, one for each number"),
            maybe("default_int64", AttrKind::Int, "the number of an unknown text; -1 if absent"),
            maybe("default_string", AttrKind::Str, "the text of an unknown number"),
        ],
        infer_other,
    )
    .eval(|cx| between(cx, texts(cx, "cats_strings")?, numbers(cx, "cats_int64s"))),
    op(
        "nn.ml_label_encoder",
        "the value of each element, which is a key",
        &[operand("x", "any shape")],
        OUT,
        &[
            strs("classes_strings", "texts, each with its place as the number; of version 1"),
            strs("keys_strings", "keys that are texts"),
            ints("keys_int64s", "keys that are integers"),
            floats("keys_floats", "keys that are floats"),
            tensor("keys_tensor", "keys of another type"),
            strs("values_strings", "values that are texts"),
            ints("values_int64s", "values that are integers"),
            floats("values_floats", "values that are floats"),
            tensor("values_tensor", "values of another type"),
            maybe("default_string", AttrKind::Str, "of what is no key; \"_Unused\" if absent"),
            maybe("default_int64", AttrKind::Int, "of what is no key; -1 if absent"),
            maybe("default_float", AttrKind::Float, "of what is no key; -0.0 if absent"),
            tensor("default_tensor", "of what is no key, in another type"),
        ],
        infer_encoded,
    )
    .eval(eval_encoder),
];

/// Texts become numbers and numbers texts.
fn other(x: DType) -> DType {
    if x == DType::String { DType::I64 } else { DType::String }
}

fn infer_other(cx: &InferCx<'_>) -> Result {
    let element = element(cx, other(cx.dtype(0)?));
    one(cx, &Shaped { element, ..cx.tensor(0)? })
}

fn infer_encoded(cx: &InferCx<'_>) -> Result {
    let attrs = cx.attrs();
    let kinds = [
        ("values_strings", DType::String),
        ("values_int64s", DType::I64),
        ("values_floats", DType::F32),
    ];
    let of_tensor = || {
        let ty = attrs.find("values_tensor").and_then(|attr| attrs.tensor_type(attr))?;
        dtype::dtype_of(cx.context(), cx.context().element_type(ty)?)
    };
    let given = kinds.into_iter().find(|kind| attrs.find(kind.0).is_some()).map(|kind| kind.1);
    // A tensor of texts is an attribute without a type.
    let tensor = || attrs.find("values_tensor").map(|_| of_tensor().unwrap_or(DType::String));
    let dtype = match given.or_else(tensor) {
        Some(dtype) => dtype,
        None => other(cx.dtype(0)?),
    };
    one(cx, &Shaped { element: element(cx, dtype), ..cx.tensor(0)? })
}

/// The texts of attribute `name` as a vector.
fn texts(cx: &EvalCx<'_>, name: &'static str) -> std::result::Result<Tensor, EvalError> {
    let texts = cx.attrs().texts(name).ok_or(EvalError::Attribute(name))?;
    let bytes: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    Ok(Tensor::from_strings([bytes.len()], bytes)?)
}

fn numbers(cx: &EvalCx<'_>, name: &str) -> Tensor {
    Tensor::vector(cx.attrs().ints(name).unwrap_or_default())
}

/// From texts to numbers or back, by what the operand holds; of equal keys the last counts.
fn between(cx: &EvalCx<'_>, texts: Tensor, numbers: Tensor) -> Evaluated {
    let x = cx.need(0)?;
    let (keys, values) =
        if x.dtype() == DType::String { (texts, numbers) } else { (numbers, texts) };
    let default = default(cx, values.dtype())?;
    single(kernels::label_encoder(x, &keys, &values, &default, true))
}

/// What stands for an element that is no key, where values have type `dtype`.
fn default(cx: &EvalCx<'_>, dtype: DType) -> std::result::Result<Tensor, EvalError> {
    let attrs = cx.attrs();
    if let Some(tensor) = cx.tensor_attr("default_tensor") {
        return Ok(tensor);
    }
    Ok(match dtype {
        DType::String => {
            let text = attrs.text("default_string").unwrap_or("_Unused");
            Tensor::from_strings([1], vec![text.as_bytes().to_vec()])?
        }
        _ if dtype.is_float() => {
            let number = attrs.float("default_float").unwrap_or(-0.0);
            cast(&Tensor::vector(vec![number]), dtype)?
        }
        _ => cast(&Tensor::vector(vec![attrs.int("default_int64").unwrap_or(-1)]), dtype)?,
    })
}

/// The list that one of four attributes holds.
fn list(cx: &EvalCx<'_>, names: [&'static str; 4]) -> std::result::Result<Tensor, EvalError> {
    let attrs = cx.attrs();
    let has = |name: &str| attrs.find(name).is_some();
    let [strings, int64s, floats, tensor] = names;
    if has(tensor) {
        return cx.tensor_attr(tensor).ok_or(EvalError::Attribute(tensor));
    }
    if has(strings) {
        return texts(cx, strings);
    }
    if has(int64s) {
        return Ok(numbers(cx, int64s));
    }
    let list = attrs.floats(floats).ok_or(EvalError::Attribute(floats))?;
    Ok(Tensor::vector(list.into_iter().map(|v| v as f32).collect::<Vec<f32>>()))
}

fn eval_encoder(cx: &EvalCx<'_>) -> Evaluated {
    if cx.attrs().find("classes_strings").is_some() {
        let texts = texts(cx, "classes_strings")?;
        let numbers = Tensor::vector((0..texts.len() as i64).collect());
        return between(cx, texts, numbers);
    }
    let keys = list(cx, ["keys_strings", "keys_int64s", "keys_floats", "keys_tensor"])?;
    let values = list(cx, ["values_strings", "values_int64s", "values_floats", "values_tensor"])?;
    let default = default(cx, values.dtype())?;
    single(kernels::label_encoder(cx.need(0)?, &keys, &values, &default, false))
}

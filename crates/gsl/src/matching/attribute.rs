//! Attributes, types and constants of the IR as attribute values.

use tangram_dialects::{constant, dtype, infer};
use tangram_ir::{Attr, AttrData, Context, DimKind, FloatKind, Module, Type, TypeData, Value};
use tangram_tensor::{DType, Tensor};

use super::symbolic;
use crate::eval::{AttrValue, MAX_ELEMENTS};

/// Returns an attribute as a value; none for what the language has no values for.
pub(crate) fn from_attr(module: &Module, attr: Attr) -> Option<AttrValue> {
    let context = module.context();
    Some(match context.attr_data(attr) {
        AttrData::Bool(value) => AttrValue::Bool(*value),
        AttrData::Integer { value, .. } => AttrValue::Int(i64::try_from(*value).ok()?),
        AttrData::Float { bits, ty } => match context.type_data(*ty) {
            TypeData::Float(FloatKind::F64) => AttrValue::Float(f64::from_bits(*bits)),
            _ => AttrValue::Single(f64::from_bits(*bits)),
        },
        AttrData::String(text) => AttrValue::Str(context.text(*text).to_owned()),
        AttrData::I64s(values) => values.to_vec().into(),
        AttrData::Array(items) => {
            // One level: nothing in the dialects nests arrays, and recursion stays bounded.
            if items.iter().any(|item| matches!(context.attr_data(*item), AttrData::Array(_))) {
                return None;
            }
            let fields = items.iter().map(|item| from_attr(module, *item));
            AttrValue::Tuple(fields.collect::<Option<_>>()?)
        }
        AttrData::Type(ty) => AttrValue::Str(dtype::dtype_of(context, *ty)?.name().to_owned()),
        AttrData::Dense { ty, .. } | AttrData::Resource { ty, .. } => {
            from_tensor(&small_tensor(module, attr, *ty)?)?
        }
        _ => return None,
    })
}

/// Returns the tensor in `attr`, if it has few enough elements to be a value.
fn small_tensor(module: &Module, attr: Attr, ty: Type) -> Option<Tensor> {
    let count = element_count(module.context(), ty)?;
    if count > MAX_ELEMENTS { None } else { constant::attr_tensor(module, attr, ty) }
}

fn element_count(context: &Context, ty: Type) -> Option<usize> {
    let (_, shape) = constant::static_tensor(context, ty)?;
    tangram_tensor::element_count(&shape)
}

/// Returns a tensor as nested tuples, outermost dimension first; a scalar as a number.
pub(crate) fn from_tensor(tensor: &Tensor) -> Option<AttrValue> {
    let mut values = scalars(tensor)?;
    for &extent in tensor.shape().iter().rev() {
        values = match extent {
            0 => return Some(AttrValue::Tuple(Vec::new())),
            n => values.chunks(n).map(|chunk| AttrValue::Tuple(chunk.to_vec())).collect(),
        };
    }
    values.pop()
}

/// Returns the elements of a tensor in row-major order.
pub(crate) fn scalars(tensor: &Tensor) -> Option<Vec<AttrValue>> {
    if tensor.len() > MAX_ELEMENTS {
        return None;
    }
    match tensor.dtype() {
        DType::Bool => {
            let flags = tensor.i64s().ok()?;
            Some(flags.into_iter().map(|flag| AttrValue::Bool(flag != 0)).collect())
        }
        DType::String => {
            let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).ok().map(AttrValue::Str);
            tensor.strings()?.iter().map(text).collect()
        }
        dtype if dtype.is_int() => Some(tensor.i64s().ok()?.into_iter().map(Into::into).collect()),
        _ => Some(tensor.f64s().ok()?.into_iter().map(Into::into).collect()),
    }
}

/// Returns the extents of a type, none if its rank is unknown.
pub(crate) fn shape(context: &Context, ty: Type) -> Option<AttrValue> {
    let (dims, _) = context.as_tensor(ty)?;
    Some(AttrValue::Tuple(dims.iter().map(|dim| symbolic::from_dim(context, *dim)).collect()))
}

/// Returns the element type of a tensor type by its name.
pub(crate) fn element(context: &Context, ty: Type) -> Option<AttrValue> {
    let dtype = dtype::dtype_of(context, context.element_type(ty)?)?;
    Some(AttrValue::Str(dtype.name().to_owned()))
}

/// Returns an attribute that every value has: `shape`, `dtype`, `ndim`, `value`.
pub(crate) fn of_value(module: &Module, value: Value, name: &str) -> Option<AttrValue> {
    let context = module.context();
    let ty = module.value_type(value);
    match name {
        "shape" => shape(context, ty),
        "dtype" => element(context, ty),
        "ndim" => Some(AttrValue::Int(context.as_tensor(ty)?.0.len() as i64)),
        "value" => known_elements(module, value),
        _ => None,
    }
}

/// Returns the elements of a constant, or of a value whose elements inference knows.
fn known_elements(module: &Module, value: Value) -> Option<AttrValue> {
    if let Some(attr) = constant::constant_attr(module, value) {
        return match module.context().attr_data(attr) {
            AttrData::Dense { ty, .. } | AttrData::Resource { ty, .. } => {
                from_tensor(&small_tensor(module, attr, *ty)?)
            }
            _ => from_tensor(&constant::constant_tensor(module, value)?),
        };
    }
    let contents = infer::value_contents(module, value)?;
    let mut items = contents.iter().map(|item| match item {
        Some(expr) => symbolic::from_expr(module.context(), expr),
        None => symbolic::unknown(),
    });
    match module.context().as_tensor(module.value_type(value))?.0 {
        [] => items.next(),
        [_] => Some(AttrValue::Tuple(items.collect())),
        _ => None,
    }
}

/// Writes a type for a message: `f32[N, 3, ?]`.
pub(crate) fn type_text(context: &Context, ty: Type) -> String {
    let element = |ty: Type| match dtype::dtype_of(context, ty) {
        Some(dtype) => dtype.name().to_owned(),
        None => format!("{:?}", context.type_data(ty)),
    };
    match context.type_data(ty) {
        TypeData::Tensor(tensor) => {
            let dim = |dim: &tangram_ir::Dim| match dim.kind() {
                DimKind::Static(n) => n.to_string(),
                DimKind::Symbolic(expr) => context.dim_text(expr).to_owned(),
                DimKind::Unknown => "?".to_owned(),
            };
            let dims: Vec<_> = tensor.dims.iter().map(dim).collect();
            format!("{}[{}]", element(tensor.element), dims.join(", "))
        }
        TypeData::UnrankedTensor(ty) => format!("{}[*]", element(*ty)),
        _ => element(ty),
    }
}

/// Writes a value for a message.
pub(crate) fn show(value: &AttrValue) -> String {
    match value {
        AttrValue::Int(value) => value.to_string(),
        AttrValue::Bool(value) => value.to_string(),
        AttrValue::Float(value) => format!("{value:?}"),
        AttrValue::Single(value) => format!("{:?}", *value as f32),
        AttrValue::Str(text) => format!("{text:?}"),
        AttrValue::Tuple(fields) => {
            let shown = fields.iter().take(8).map(|field| match field {
                // Tensors of many dimensions are cut off: a message is one line.
                AttrValue::Tuple(inner) => format!("[{} fields]", inner.len()),
                field => show(field),
            });
            let more = if fields.len() > 8 { ", ..." } else { "" };
            format!("[{}{more}]", shown.collect::<Vec<_>>().join(", "))
        }
        AttrValue::Spelled(both) => show(&both.0),
        AttrValue::Dim(_) => match symbolic::to_expr(value) {
            Some(expr) => expr.to_string(),
            None => "?".to_owned(),
        },
    }
}

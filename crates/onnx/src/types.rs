//! ONNX types as IR types.

use tangram_affine::symbolic::Expr;
use tangram_dialects::nn::container;
use tangram_dialects::{dims, dtype};
use tangram_ir::{Context, Dim, Type, TypeData};
use tangram_tensor::DType;

use crate::proto::{
    Dimension, DimensionValue, MapType, OptionalType, SequenceType, TensorShapeProto, TensorType,
    TypeProto, TypeValue,
};

/// ONNX's numbers for the element types that tensors here can have.
const DTYPES: &[(i32, DType)] = &[
    (1, DType::F32),
    (2, DType::U8),
    (3, DType::I8),
    (4, DType::U16),
    (5, DType::I16),
    (6, DType::I32),
    (7, DType::I64),
    (8, DType::String),
    (9, DType::Bool),
    (10, DType::F16),
    (11, DType::F64),
    (12, DType::U32),
    (13, DType::U64),
    (14, DType::C64),
    (15, DType::C128),
    (16, DType::BF16),
    (17, DType::F8E4M3FN),
    (18, DType::F8E4M3FNUZ),
    (19, DType::F8E5M2),
    (20, DType::F8E5M2FNUZ),
    (21, DType::U4),
    (22, DType::I4),
    (23, DType::F4E2M1),
    (24, DType::F8E8M0),
    (25, DType::U2),
    (26, DType::I2),
];

/// The element type with ONNX's number `number`.
pub(crate) fn dtype_of(number: i64) -> Option<DType> {
    DTYPES.iter().find(|row| i64::from(row.0) == number).map(|row| row.1)
}

/// ONNX's number of an element type.
pub(crate) fn number_of(dtype: DType) -> i32 {
    DTYPES.iter().find(|row| row.1 == dtype).map_or(0, |row| row.0)
}

/// The IR type of an element; one that tensors here cannot have is an opaque type.
pub(crate) fn element(context: &Context, number: i32) -> Type {
    match dtype_of(number.into()) {
        Some(dtype) => dtype::type_of(context, dtype),
        None => context.ty(TypeData::Opaque(context.str(&format!("nn.element<{number}>")))),
    }
}

/// The IR type that a claimed ONNX type stands for.
///
/// A symbolic extent keeps its name. Extents of 0 and below, which some exporters write for what
/// they do not know, are unknown.
pub(crate) fn import(context: &Context, proto: Option<&TypeProto>) -> Type {
    let unknown = || context.ty(TypeData::Opaque(context.str("nn.unknown")));
    match proto.and_then(|proto| proto.value.as_ref()) {
        Some(TypeValue::TensorType(tensor)) => import_tensor(context, tensor),
        Some(TypeValue::SequenceType(sequence)) => {
            wrapped(context, "nn.sequence", import(context, sequence.elem_type.as_deref()))
        }
        Some(TypeValue::OptionalType(optional)) => {
            wrapped(context, "nn.optional", import(context, optional.elem_type.as_deref()))
        }
        Some(TypeValue::SparseTensorType(sparse)) => {
            wrapped(context, "nn.sparse", element(context, sparse.elem_type.unwrap_or(0)))
        }
        Some(TypeValue::MapType(map)) => {
            let key = element(context, map.key_type.unwrap_or(0));
            container::map_type(context, key, import(context, map.value_type.as_deref()))
        }
        Some(TypeValue::OpaqueType(_)) | None => unknown(),
    }
}

fn wrapped(context: &Context, name: &str, inner: Type) -> Type {
    let params = [context.type_attr(inner)].into();
    context.ty(TypeData::Dialect { name: context.str(name), params })
}

fn import_tensor(context: &Context, tensor: &TensorType) -> Type {
    let element = element(context, tensor.elem_type.unwrap_or(0));
    match &tensor.shape {
        None => context.ty(TypeData::UnrankedTensor(element)),
        Some(shape) => {
            let dims: Vec<Dim> = shape.dim.iter().map(|d| import_dim(context, d)).collect();
            context.tensor_type(&dims, element)
        }
    }
}

fn import_dim(context: &Context, dim: &Dimension) -> Dim {
    match &dim.value {
        Some(DimensionValue::DimValue(n)) if *n > 0 => Dim::fixed(*n),
        Some(DimensionValue::DimParam(name)) if !matches!(name.trim(), "" | "?") => {
            dims::dim(context, &Expr::symbol(name))
        }
        _ => Dim::UNKNOWN,
    }
}

/// The ONNX type that an IR type stands for; `None` where ONNX has none.
///
/// Extents that are expressions are left open: ONNX has names for whole extents only.
pub(crate) fn export(context: &Context, ty: Type) -> Option<TypeProto> {
    let boxed = |ty: Type| Some(Box::new(export(context, ty)?));
    let held = |wrapper: &str| container::held_type(context, ty, wrapper);
    let value = if let Some(held) = held("nn.sequence") {
        TypeValue::SequenceType(Box::new(SequenceType { elem_type: boxed(held) }))
    } else if let Some(held) = held("nn.optional") {
        TypeValue::OptionalType(Box::new(OptionalType { elem_type: boxed(held) }))
    } else if let Some((key, value)) = container::map_types(context, ty) {
        let key_type = Some(number_of(dtype::dtype_of(context, key)?));
        TypeValue::MapType(Box::new(MapType { key_type, value_type: boxed(value) }))
    } else {
        let element = dtype::dtype_of(context, context.element_type(ty)?)?;
        let shape = context.as_tensor(ty).map(|(dims, _)| TensorShapeProto {
            dim: dims.iter().map(|&dim| export_dim(context, dim)).collect(),
        });
        TypeValue::TensorType(TensorType { elem_type: Some(number_of(element)), shape })
    };
    Some(TypeProto { value: Some(value), denotation: None })
}

/// As [`export`], with the text of an expression as the name of an extent: values of equal extents
/// are seen to have them.
pub(crate) fn annotation(context: &Context, ty: Type) -> Option<TypeProto> {
    let mut proto = export(context, ty)?;
    if let (Some((extents, _)), Some(TypeValue::TensorType(tensor))) =
        (context.as_tensor(ty), &mut proto.value)
    {
        let written = tensor.shape.iter_mut().flat_map(|shape| &mut shape.dim);
        for (written, &dim) in written.zip(extents).filter(|(_, dim)| !dim.is_unknown()) {
            let name = || DimensionValue::DimParam(dims::text(context, dim));
            written.value.get_or_insert_with(name);
        }
    }
    Some(proto)
}

fn export_dim(context: &Context, dim: Dim) -> Dimension {
    let value = match dim.as_static() {
        Some(n) => Some(DimensionValue::DimValue(n)),
        None if dim.is_unknown() => None,
        None => {
            let expr = dims::expr(context, dim);
            let name = expr.as_ref().and_then(Expr::as_symbol);
            name.map(|name| DimensionValue::DimParam(name.to_owned()))
        }
    };
    Dimension { value, ..Dimension::default() }
}

//! Element types of tensors as IR types.

use tangram_ir::{Context, FloatKind, Signedness, Type, TypeData};
use tangram_tensor::DType;

/// The type of an element: `f32`, `i64` (signed), `ui8`, `i1` (bool), `complex<f32>`,
/// `!nn.string`.
pub fn type_of(context: &Context, dtype: DType) -> Type {
    let float = |kind| context.float_type(kind);
    match dtype {
        DType::Bool => context.int_type(1),
        DType::I2 => context.int_type(2),
        DType::I4 => context.int_type(4),
        DType::I8 => context.int_type(8),
        DType::I16 => context.int_type(16),
        DType::I32 => context.int_type(32),
        DType::I64 => context.int_type(64),
        DType::U2 => context.uint_type(2),
        DType::U4 => context.uint_type(4),
        DType::U8 => context.uint_type(8),
        DType::U16 => context.uint_type(16),
        DType::U32 => context.uint_type(32),
        DType::U64 => context.uint_type(64),
        DType::F16 => float(FloatKind::F16),
        DType::BF16 => float(FloatKind::BF16),
        DType::F32 => float(FloatKind::F32),
        DType::F64 => float(FloatKind::F64),
        DType::F8E4M3FN => float(FloatKind::F8E4M3FN),
        DType::F8E4M3FNUZ => float(FloatKind::F8E4M3FNUZ),
        DType::F8E5M2 => float(FloatKind::F8E5M2),
        DType::F8E5M2FNUZ => float(FloatKind::F8E5M2FNUZ),
        DType::F8E8M0 => float(FloatKind::F8E8M0FNU),
        DType::F4E2M1 => float(FloatKind::F4E2M1FN),
        DType::C64 => context.ty(TypeData::Complex(float(FloatKind::F32))),
        DType::C128 => context.ty(TypeData::Complex(float(FloatKind::F64))),
        DType::String => {
            let name = context.str("nn.string");
            context.ty(TypeData::Dialect { name, params: Box::default() })
        }
    }
}

/// The element type that `ty` stands for; `None` if tensors have no such elements.
pub fn dtype_of(context: &Context, ty: Type) -> Option<DType> {
    match context.type_data(ty) {
        TypeData::Integer { width, sign } => int_dtype(*width, *sign == Signedness::Unsigned),
        TypeData::Float(kind) => float_dtype(*kind),
        TypeData::Complex(part) => match context.type_data(*part) {
            TypeData::Float(FloatKind::F32) => Some(DType::C64),
            TypeData::Float(FloatKind::F64) => Some(DType::C128),
            _ => None,
        },
        TypeData::Dialect { name, .. } => {
            (context.text(*name) == "nn.string").then_some(DType::String)
        }
        _ => None,
    }
}

fn int_dtype(width: u32, unsigned: bool) -> Option<DType> {
    Some(match (width, unsigned) {
        (1, false) => DType::Bool,
        (2, false) => DType::I2,
        (4, false) => DType::I4,
        (8, false) => DType::I8,
        (16, false) => DType::I16,
        (32, false) => DType::I32,
        (64, false) => DType::I64,
        (2, true) => DType::U2,
        (4, true) => DType::U4,
        (8, true) => DType::U8,
        (16, true) => DType::U16,
        (32, true) => DType::U32,
        (64, true) => DType::U64,
        _ => return None,
    })
}

fn float_dtype(kind: FloatKind) -> Option<DType> {
    Some(match kind {
        FloatKind::F16 => DType::F16,
        FloatKind::BF16 => DType::BF16,
        FloatKind::F32 => DType::F32,
        FloatKind::F64 => DType::F64,
        FloatKind::F8E4M3FN => DType::F8E4M3FN,
        FloatKind::F8E4M3FNUZ => DType::F8E4M3FNUZ,
        FloatKind::F8E5M2 => DType::F8E5M2,
        FloatKind::F8E5M2FNUZ => DType::F8E5M2FNUZ,
        FloatKind::F8E8M0FNU => DType::F8E8M0,
        FloatKind::F4E2M1FN => DType::F4E2M1,
        FloatKind::F80
        | FloatKind::F128
        | FloatKind::TF32
        | FloatKind::F8E4M3
        | FloatKind::F8E3M4
        | FloatKind::F8E4M3B11FNUZ
        | FloatKind::F6E2M3FN
        | FloatKind::F6E3M2FN => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_has_a_type_of_its_own() {
        let context = Context::new();
        for dtype in DType::ALL {
            assert_eq!(dtype_of(&context, type_of(&context, dtype)), Some(dtype));
        }
    }
}

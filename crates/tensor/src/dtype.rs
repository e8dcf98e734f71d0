//! Element types: what ONNX can store in a tensor.

use std::fmt;
use std::str::FromStr;

use crate::error::KernelError;

/// Names one element type. The spelling of [`DType::name`] is numpy's (`ml_dtypes`' for the
/// types that numpy itself lacks).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The variants say what they are; the table below says the rest.
pub enum DType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F8E8M0,
    F4E2M1,
    I4,
    U4,
    I2,
    U2,
    C64,
    C128,
    String,
}

/// What kind of number an element type holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
    Text,
}

impl DType {
    /// Every element type, in the order of the enum.
    pub const ALL: [DType; 26] = [
        DType::Bool,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::F8E4M3FN,
        DType::F8E4M3FNUZ,
        DType::F8E5M2,
        DType::F8E5M2FNUZ,
        DType::F8E8M0,
        DType::F4E2M1,
        DType::I4,
        DType::U4,
        DType::I2,
        DType::U2,
        DType::C64,
        DType::C128,
        DType::String,
    ];

    /// The one table: name, width in bits (0 for text), kind.
    const fn row(self) -> (&'static str, usize, Kind) {
        match self {
            DType::Bool => ("bool", 8, Kind::Bool),
            DType::I8 => ("int8", 8, Kind::Signed),
            DType::I16 => ("int16", 16, Kind::Signed),
            DType::I32 => ("int32", 32, Kind::Signed),
            DType::I64 => ("int64", 64, Kind::Signed),
            DType::U8 => ("uint8", 8, Kind::Unsigned),
            DType::U16 => ("uint16", 16, Kind::Unsigned),
            DType::U32 => ("uint32", 32, Kind::Unsigned),
            DType::U64 => ("uint64", 64, Kind::Unsigned),
            DType::F16 => ("float16", 16, Kind::Float),
            DType::BF16 => ("bfloat16", 16, Kind::Float),
            DType::F32 => ("float32", 32, Kind::Float),
            DType::F64 => ("float64", 64, Kind::Float),
            DType::F8E4M3FN => ("float8_e4m3fn", 8, Kind::Float),
            DType::F8E4M3FNUZ => ("float8_e4m3fnuz", 8, Kind::Float),
            DType::F8E5M2 => ("float8_e5m2", 8, Kind::Float),
            DType::F8E5M2FNUZ => ("float8_e5m2fnuz", 8, Kind::Float),
            DType::F8E8M0 => ("float8_e8m0fnu", 8, Kind::Float),
            DType::F4E2M1 => ("float4_e2m1fn", 4, Kind::Float),
            DType::I4 => ("int4", 4, Kind::Signed),
            DType::U4 => ("uint4", 4, Kind::Unsigned),
            DType::I2 => ("int2", 2, Kind::Signed),
            DType::U2 => ("uint2", 2, Kind::Unsigned),
            DType::C64 => ("complex64", 64, Kind::Complex),
            DType::C128 => ("complex128", 128, Kind::Complex),
            DType::String => ("str", 0, Kind::Text),
        }
    }

    /// Spells the type as numpy does: `float32`, `int4`, `str`.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns the width of one element in bits; 0 for [`DType::String`], which has none.
    pub const fn size_bits(self) -> usize {
        self.row().1
    }

    /// Returns the number of bytes that `len` elements take, packed; `None` on overflow and for
    /// [`DType::String`].
    pub fn byte_len(self, len: usize) -> Option<usize> {
        match self.size_bits() {
            0 => None,
            bits if bits < 8 => Some(len.div_ceil(8 / bits)),
            bits => len.checked_mul(bits / 8),
        }
    }

    /// Whether the elements are real floating-point numbers, of any width.
    pub fn is_float(self) -> bool {
        self.row().2 == Kind::Float
    }

    /// Whether the elements are integers, signed or not. Booleans are not integers here.
    pub fn is_int(self) -> bool {
        matches!(self.row().2, Kind::Signed | Kind::Unsigned)
    }

    /// Whether the elements can be negative: signed integers, floats (except the exponent-only
    /// `float8_e8m0fnu`) and complex numbers.
    pub fn is_signed(self) -> bool {
        matches!(self.row().2, Kind::Signed | Kind::Float | Kind::Complex)
            && !matches!(self, DType::F8E8M0)
    }

    /// Whether the elements are complex numbers.
    pub fn is_complex(self) -> bool {
        self.row().2 == Kind::Complex
    }

    /// Whether several elements share a byte.
    pub fn is_packed(self) -> bool {
        matches!(self.size_bits(), 2 | 4)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = KernelError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        DType::ALL
            .into_iter()
            .find(|dtype| dtype.name() == text)
            .ok_or_else(|| KernelError::UnknownDType { found: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for dtype in DType::ALL {
            assert_eq!(dtype.name().parse::<DType>().ok(), Some(dtype));
        }
        assert!("float33".parse::<DType>().is_err());
    }

    #[test]
    fn packed_lengths_round_up() {
        assert_eq!(DType::I4.byte_len(0), Some(0));
        assert_eq!(DType::I4.byte_len(3), Some(2));
        assert_eq!(DType::U2.byte_len(5), Some(2));
        assert_eq!(DType::C128.byte_len(3), Some(48));
        assert_eq!(DType::F64.byte_len(usize::MAX), None);
        assert_eq!(DType::String.byte_len(1), None);
    }
}

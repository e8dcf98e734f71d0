//! Tensors, dense and sparse, and their element types.

use bytes::Bytes;
use prost::{Enumeration, Message};

use super::StringStringEntryProto;

/// Holds a tensor: its elements stand in `raw_data`, in one of the typed fields, or in a file.
///
/// [`crate::file::tensor_bytes`] reads all of these forms.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    /// Size of each dimension; empty for a scalar.
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// Element type: a [`DataType`].
    #[prost(int32, optional, tag = "2")]
    pub data_type: Option<i32>,
    /// The part of a larger tensor that is stored here.
    #[prost(message, optional, tag = "3")]
    pub segment: Option<Segment>,
    /// Elements of `Float`, and of `Complex64` in pairs.
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// Elements of the integers up to 32 bits (not `Uint32`), of `Bool` and of the small floats.
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    /// Elements of `String`.
    #[prost(bytes = "bytes", repeated, tag = "6")]
    pub string_data: Vec<Bytes>,
    /// Elements of `Int64`.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    /// Name of the value.
    #[prost(string, optional, tag = "8")]
    pub name: Option<String>,
    /// Elements of any type but `String`: little endian, row major, narrow ones packed.
    #[prost(bytes = "bytes", optional, tag = "9")]
    pub raw_data: Option<Bytes>,
    /// Elements of `Double`, and of `Complex128` in pairs.
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
    /// Elements of `Uint32` and `Uint64`.
    #[prost(uint64, repeated, tag = "11")]
    pub uint64_data: Vec<u64>,
    /// Description in Markdown.
    #[prost(string, optional, tag = "12")]
    pub doc_string: Option<String>,
    /// Where the elements are if `data_location` is `External`.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    /// Where the elements are: a [`DataLocation`].
    #[prost(int32, optional, tag = "14")]
    pub data_location: Option<i32>,
    /// Free key and value pairs (IR version 10).
    #[prost(message, repeated, tag = "16")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

impl TensorProto {
    /// Whether the elements are in another file.
    pub fn is_external(&self) -> bool {
        self.data_location() == DataLocation::External as i32
    }
}

/// Bounds a part of a larger tensor.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Segment {
    /// First element.
    #[prost(int64, optional, tag = "1")]
    pub begin: Option<i64>,
    /// One past the last element.
    #[prost(int64, optional, tag = "2")]
    pub end: Option<i64>,
}

/// Numbers the places where a tensor's elements can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum DataLocation {
    /// In the message.
    Default = 0,
    /// In a file that `external_data` names.
    External = 1,
}

/// Numbers the element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum DataType {
    /// Not given.
    Undefined = 0,
    /// IEEE 754, 32 bits.
    Float = 1,
    /// Unsigned, 8 bits.
    Uint8 = 2,
    /// Signed, 8 bits.
    Int8 = 3,
    /// Unsigned, 16 bits.
    Uint16 = 4,
    /// Signed, 16 bits.
    Int16 = 5,
    /// Signed, 32 bits.
    Int32 = 6,
    /// Signed, 64 bits.
    Int64 = 7,
    /// A string.
    String = 8,
    /// One byte, 0 or 1.
    Bool = 9,
    /// IEEE 754, 16 bits.
    Float16 = 10,
    /// IEEE 754, 64 bits.
    Double = 11,
    /// Unsigned, 32 bits.
    Uint32 = 12,
    /// Unsigned, 64 bits.
    Uint64 = 13,
    /// Two of `Float`, real part first.
    Complex64 = 14,
    /// Two of `Double`, real part first.
    Complex128 = 15,
    /// The upper half of `Float`.
    Bfloat16 = 16,
    /// 4 bits of exponent, 3 of mantissa, no infinities.
    Float8e4m3fn = 17,
    /// As `Float8e4m3fn`, without a negative zero.
    Float8e4m3fnuz = 18,
    /// 5 bits of exponent, 2 of mantissa.
    Float8e5m2 = 19,
    /// As `Float8e5m2`, without infinities and a negative zero.
    Float8e5m2fnuz = 20,
    /// Unsigned, 4 bits, two in a byte.
    Uint4 = 21,
    /// Signed, 4 bits, two in a byte.
    Int4 = 22,
    /// 2 bits of exponent, 1 of mantissa, two in a byte.
    Float4e2m1 = 23,
    /// A power of two: 8 bits of exponent.
    Float8e8m0 = 24,
    /// Unsigned, 2 bits, four in a byte.
    Uint2 = 25,
    /// Signed, 2 bits, four in a byte.
    Int2 = 26,
    /// 2 bits of exponent, 3 of mantissa, four in three bytes.
    Float6e2m3 = 27,
    /// 3 bits of exponent, 2 of mantissa, four in three bytes.
    Float6e3m2 = 28,
}

impl DataType {
    /// Bits that an element takes in `raw_data`; `None` for `Undefined` and `String`.
    pub fn bits(self) -> Option<u64> {
        use DataType::*;
        Some(match self {
            Undefined | String => return None,
            Uint2 | Int2 => 2,
            Uint4 | Int4 | Float4e2m1 => 4,
            Float6e2m3 | Float6e3m2 => 6,
            Uint8 | Int8 | Bool | Float8e4m3fn | Float8e4m3fnuz | Float8e5m2 | Float8e5m2fnuz
            | Float8e8m0 => 8,
            Uint16 | Int16 | Float16 | Bfloat16 => 16,
            Float | Int32 | Uint32 => 32,
            Double | Int64 | Uint64 | Complex64 => 64,
            Complex128 => 128,
        })
    }
}

/// Holds a tensor by its elements that are not zero.
#[derive(Clone, PartialEq, Message)]
pub struct SparseTensorProto {
    /// The elements, `[n]`; its name is the name of the value.
    #[prost(message, optional, tag = "1")]
    pub values: Option<TensorProto>,
    /// Their indices, ascending: `[n]` in row-major order, or `[n, rank]`.
    #[prost(message, optional, tag = "2")]
    pub indices: Option<TensorProto>,
    /// Size of each dimension of the whole.
    #[prost(int64, repeated, packed = "false", tag = "3")]
    pub dims: Vec<i64>,
}

//! Attributes: constant data attached to operations.

use tangram_affine::{AffineMap, IntegerSet};

use crate::context::{Context, Str};
use crate::location::Loc;
use crate::types::{FloatKind, Type};

/// A handle of an interned attribute. Two attributes are equal when their handles are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Attr(pub(crate) u32);

impl Attr {
    /// The empty dictionary.
    pub const EMPTY_DICT: Attr = Attr(0);
    /// `unit`.
    pub const UNIT: Attr = Attr(1);
    /// `false`.
    pub const FALSE: Attr = Attr(2);
    /// `true`.
    pub const TRUE: Attr = Attr(3);
}

impl Context {
    /// The attribute that a definition writes as `text`: `true`, `0 : i32`, `#dialect.name<word>`.
    pub(crate) fn attr_of(&self, text: &str) -> Attr {
        let integer = text.split_once(" : i").and_then(|(value, width)| {
            Some((value.parse().ok()?, self.int_type(width.parse().ok()?)))
        });
        match (text, integer) {
            ("unit", _) => Attr::UNIT,
            ("false", _) => Attr::FALSE,
            ("true", _) => Attr::TRUE,
            (_, Some((value, ty))) => self.attr(AttrData::Integer { value, ty }),
            ("array<i32>", _) => {
                self.attr(AttrData::DenseArray { element: self.int_type(32), bytes: [].into() })
            }
            _ => self.attr(AttrData::Opaque(self.str(text.trim_start_matches('#')))),
        }
    }

    /// The number of float type `ty` with the bits `pattern`; `kind` is the format of `ty`.
    pub(crate) fn float_data(&self, pattern: u128, kind: FloatKind, ty: Type) -> AttrData {
        let value = kind.decode(pattern);
        let pattern = kind.canonical(pattern);
        if kind.is_wide() && kind.encode(value) != pattern {
            return AttrData::WideFloat { pattern, ty };
        }
        AttrData::Float { bits: value.to_bits(), ty }
    }
}

/// What an attribute says.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AttrData {
    /// `{a = 1 : i64}`: entries sorted by name, names unique.
    Dict(Box<[(Str, Attr)]>),
    /// What an operation of an unknown dialect carries where its text has properties:
    /// `<{a = 1 : i32}> {b}`. It stands in the place of the operation's dictionary only; see
    /// [`Context::with_properties`](crate::Context::with_properties).
    Properties {
        /// What stands in `<...>`: a dictionary or another attribute.
        properties: Attr,
        /// The dictionary in `{...}`.
        attributes: Attr,
        /// The entries of both, sorted by name; of two with one name, that of the properties.
        entries: Box<[(Str, Attr)]>,
    },
    /// `unit`.
    Unit,
    /// `true` and `false` (MLIR: integers of type `i1`).
    Bool(bool),
    /// `5 : i32`; the value is sign-extended.
    Integer {
        /// The value.
        value: i128,
        /// An integer or index type.
        ty: Type,
    },
    /// `1.0 : f32`; the value is held as the bits of an `f64`. What no `f64` holds is a
    /// [`WideFloat`](AttrData::WideFloat).
    Float {
        /// `f64::to_bits` of the value.
        bits: u64,
        /// A float type.
        ty: Type,
    },
    /// A number of `f80` or `f128` that no `f64` is.
    WideFloat {
        /// The bits of the number in its format.
        pattern: u128,
        /// The float type.
        ty: Type,
    },
    /// `"text"`.
    String(Str),
    /// Bytes that are no UTF-8 text.
    Bytes(Box<[u8]>),
    /// `[1, "a"]`.
    Array(Box<[Attr]>),
    /// `array<i64: 1, 2>`.
    I64s(Box<[i64]>),
    /// `array<i32: 1, 2>`, `array<f32: ...>` and other element types, little endian.
    DenseArray {
        /// The element type.
        element: Type,
        /// The elements, little endian, one after the other (one byte each for `i1`).
        bytes: Box<[u8]>,
    },
    /// `i32`.
    Type(Type),
    /// `@f::@g`.
    Symbol(Box<[Str]>),
    /// `dense<...> : tensor<2xf32>`: a small tensor, or a splat of any size.
    Dense {
        /// A tensor or vector type with static extents.
        ty: Type,
        /// Elements, little endian, in row-major order; one element alone for a splat.
        bytes: Box<[u8]>,
        /// Whether `bytes` holds one element that stands for all.
        splat: bool,
    },
    /// `dense_resource<key> : tensor<...>`: a big tensor, held by the module under `key`.
    Resource {
        /// A tensor type with static extents.
        ty: Type,
        /// The key in the module's resources.
        key: Str,
    },
    /// A location used as an attribute.
    Location(Loc),
    /// `affine_map<(d0)[s0] -> (d0 + s0)>`.
    AffineMap(AffineMap),
    /// `affine_set<(d0) : (d0 >= 0)>`.
    IntegerSet(IntegerSet),
    /// A dialect's attribute, as written after `#`.
    Opaque(Str),
}

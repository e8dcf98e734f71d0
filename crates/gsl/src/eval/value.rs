//! Attribute values, as conditions and attributes of rules compute them.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use crate::ast::BinaryOp;

/// The value of an attribute.
#[derive(Clone, Debug)]
pub enum AttrValue {
    /// An integer.
    Int(i64),
    /// A symbolic dimension, whose value is not known.
    Dim(Arc<dyn SymbolicDim>),
    /// A truth value.
    Bool(bool),
    /// A float.
    Float(f64),
    /// A float of an attribute that has 32 bits, or what was computed with one: it is compared with
    /// other numbers as the nearest of 32 bits, so that a decimal means the number nearest to it.
    Single(f64),
    /// A string.
    Str(String),
    /// A tuple.
    Tuple(Vec<AttrValue>),
    /// A value that may be written in another way too, which it equals as well: dimension 2 of three
    /// as -1.
    Spelled(Box<(AttrValue, AttrValue)>),
}

/// Arithmetic on symbolic dimensions: an integer for every value of the symbols.
///
/// An implementation finds its own kind among the others through `Any`.
pub trait SymbolicDim: Any + Debug + Send + Sync {
    /// Computes `self op other`, or with `swapped` `other op self`, where `other` is an integer or
    /// another dimension. Returns none for what it cannot represent.
    fn arithmetic(&self, op: BinaryOp, other: &AttrValue, swapped: bool) -> Option<AttrValue>;

    /// Decides a comparison for all values of the symbols at once; none if it depends on them.
    fn compare(&self, op: BinaryOp, other: &AttrValue, swapped: bool) -> Option<bool>;
}

impl AttrValue {
    /// This value, which may be written as `other`.
    #[must_use]
    pub fn or_written(self, other: AttrValue) -> AttrValue {
        Self::Spelled(Box::new((self, other)))
    }

    /// Returns the value as it is written.
    pub fn plain(&self) -> &AttrValue {
        match self {
            Self::Spelled(both) => &both.0,
            value => value,
        }
    }

    /// Returns the value with all that is in it as it is written.
    #[must_use]
    pub fn into_plain(self) -> AttrValue {
        match self {
            Self::Spelled(both) => both.0.into_plain(),
            Self::Tuple(fields) => {
                Self::Tuple(fields.into_iter().map(AttrValue::into_plain).collect())
            }
            value => value,
        }
    }

    /// Names the kind of value in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Int(_) => "an integer",
            Self::Dim(_) => "a symbolic dimension",
            Self::Bool(_) => "a truth value",
            Self::Float(_) | Self::Single(_) => "a float",
            Self::Str(_) => "a string",
            Self::Tuple(_) => "a tuple",
            Self::Spelled(both) => both.0.kind(),
        }
    }
}

impl From<i64> for AttrValue {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for AttrValue {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<bool> for AttrValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for AttrValue {
    fn from(value: &str) -> Self {
        Self::Str(value.to_owned())
    }
}

impl<T: Into<AttrValue>> From<Vec<T>> for AttrValue {
    fn from(fields: Vec<T>) -> Self {
        Self::Tuple(fields.into_iter().map(Into::into).collect())
    }
}

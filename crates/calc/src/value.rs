//! The values of the language.

use std::fmt;

use tangram_polyhedral::ScheduleTree;
use tangram_presburger::Union;
use tangram_presburger::count::{Rational, UnionPwQPolynomial, UnionPwQPolynomialFold};

/// What an expression evaluates to.
#[derive(Debug, Clone)]
pub enum Value {
    /// A union of sets or of relations.
    Union(Union),
    /// Piecewise quasi-polynomials: numbers of points, sums.
    Functions(UnionPwQPolynomial),
    /// Bounds of such functions over their domains.
    Bound(UnionPwQPolynomialFold),
    /// The answer to a question.
    Bool(bool),
    /// A rational number of any size.
    Number(Rational),
    /// A text between double quotes; code, pictures and reports are texts as well.
    Text(String),
    /// Several values, read with `[index]`.
    List(Vec<Value>),
    /// A schedule tree.
    Schedule(Box<ScheduleTree>),
}

impl Value {
    /// Names the kind of the value, as messages and JSON do.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Union(union) => match union.relations().next() {
                Some(piece) if !piece.is_set() => "map",
                _ => "set",
            },
            Self::Functions(_) => "function",
            Self::Bound(_) => "bound",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::List(_) => "list",
            Self::Schedule(_) => "schedule",
        }
    }

    /// Names the kind of the value as `typeof` of iscc does.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Functions(_) => "piecewise quasipolynomial",
            Self::Bound(_) => "piecewise quasipolynomial fold",
            Self::Number(_) => "value",
            _ => self.kind(),
        }
    }

    /// Returns the first of a pair whose second is a boolean: a result and whether it is exact.
    pub(crate) fn result(self) -> Self {
        match self {
            Self::List(mut items) if matches!(items[..], [_, Self::Bool(_)]) => {
                items.swap_remove(0)
            }
            other => other,
        }
    }
}

impl From<Union> for Value {
    fn from(union: Union) -> Self {
        Self::Union(union)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Union(union) => union.fmt(f),
            Self::Functions(functions) => functions.fmt(f),
            Self::Bound(bound) => bound.fmt(f),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Number(value) => value.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => {
                f.write_str("(")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
            Self::Schedule(tree) => f.write_str(tree.to_string().trim_end()),
        }
    }
}

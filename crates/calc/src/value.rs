//! The values of the language.

use std::fmt;

use tangram_presburger::Union;
use tangram_presburger::count::{PiecewiseBound, PiecewiseQuasiPolynomial};

/// What an expression evaluates to.
#[derive(Debug, Clone)]
pub enum Value {
    /// A union of sets or of relations.
    Union(Union),
    /// Numbers of points, a function for each space.
    Counts(Vec<PiecewiseQuasiPolynomial>),
    /// Bounds of such functions over their domains.
    Bounds(Vec<PiecewiseBound>),
    /// The answer to a question.
    Bool(bool),
    /// A number.
    Int(i128),
    /// A text between double quotes.
    Text(String),
    /// Several values, read with `[index]`.
    List(Vec<Value>),
}

impl Value {
    /// Names the kind of the value.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Union(union) => match union.relations().next() {
                Some(piece) if !piece.is_set() => "map",
                _ => "set",
            },
            Self::Counts(_) => "pwqp",
            Self::Bounds(_) => "fold",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Text(_) => "string",
            Self::List(_) => "list",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Union(union) => union.fmt(f),
            Self::Counts(counts) => sum(f, counts),
            Self::Bounds(bounds) => sum(f, bounds),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => value.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => {
                f.write_str("(")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Writes functions of different spaces as their sum.
fn sum(f: &mut fmt::Formatter<'_>, all: &[impl fmt::Display]) -> fmt::Result {
    let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
    f.write_str(&texts.join(" + "))
}

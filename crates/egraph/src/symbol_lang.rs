//! A language of any operators over any number of children.

use crate::{FromOp, Id, Language, Symbol};
use std::convert::Infallible;
use std::fmt;

/// A node with a symbol for its operator and any number of children.
///
/// Handy for trying things out; in an e-graph it costs no more than an enum, as operators are
/// interned either way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub struct SymbolLang {
    /// The operator.
    pub op: Symbol,
    /// The children.
    pub children: Vec<Id>,
}

impl SymbolLang {
    /// Makes a node.
    pub fn new(op: impl Into<Symbol>, children: Vec<Id>) -> Self {
        SymbolLang { op: op.into(), children }
    }

    /// Makes a node without children.
    pub fn leaf(op: impl Into<Symbol>) -> Self {
        SymbolLang::new(op, Vec::new())
    }
}

impl Language for SymbolLang {
    type Discriminant = Symbol;

    fn discriminant(&self) -> Symbol {
        self.op
    }

    fn matches(&self, other: &Self) -> bool {
        self.op == other.op && self.children.len() == other.children.len()
    }

    #[inline(always)]
    fn __matches_equal() -> bool {
        true
    }

    fn children(&self) -> &[Id] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.children
    }
}

impl fmt::Display for SymbolLang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.op, f)
    }
}

impl FromOp for SymbolLang {
    type Error = Infallible;

    fn from_op(op: &str, children: Vec<Id>) -> Result<Self, Infallible> {
        Ok(SymbolLang::new(op, children))
    }
}

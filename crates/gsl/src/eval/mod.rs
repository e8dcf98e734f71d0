//! Evaluation (`Γ; a ⇓ v`) and matching (`Γ ⊢ a ≅ v`) of attribute expressions.
//!
//! Indices count from 0. A projection out of range does not evaluate, negative indices are not
//! wrapped, and an empty `var` or Σ has no value: whoever asked refuses the match or the rewrite.

mod arithmetic;
mod evaluate;
mod function;
mod matching;
mod value;

pub(crate) use arithmetic::equal;
pub use evaluate::{Env, evaluate};
pub(crate) use evaluate::{instance_path, variadic_of, with_symbol};
pub use matching::matches;
pub use value::{AttrValue, SymbolicDim};

use std::cell::Cell;

use crate::ast::{ExprId, PatId};

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// `_` matches everything and evaluates to nothing.
    #[error("`_` has no value")]
    Any,
    /// A pattern matched nothing, or has no such attribute.
    #[error("attribute `{1}` of pattern {p} is not known", p = .0.index())]
    Access(PatId, String),
    /// A symbol outside what binds it.
    #[error("the symbol is not bound")]
    Symbol,
    /// An operand of the wrong kind.
    #[error("expected {expected}, found {found}")]
    Kind {
        /// What the operation needs.
        expected: &'static str,
        /// What it got.
        found: String,
    },
    /// A field that is not there.
    #[error("index {index} is out of range for {length} fields")]
    Range {
        /// Which field.
        index: i64,
        /// How many there are.
        length: usize,
    },
    /// A tuple, reduction or variadic of no elements.
    #[error("the range is empty")]
    Empty,
    /// A result that does not fit, or a division by zero.
    #[error("{0} has no representable result")]
    Arithmetic(&'static str),
    /// It depends on the values of symbolic dimensions.
    #[error("not decided for all values of the symbolic dimensions")]
    Undecided,
    /// A registered function that is missing or refused.
    #[error("native `{0}` gives no value")]
    Native(String),
    /// More elements than any attribute has.
    #[error("more than {MAX_ELEMENTS} elements")]
    TooLong,
    /// More steps than any evaluation may take.
    #[error("more than {MAX_STEPS} steps of evaluation")]
    TooMuch,
    /// An expression of another rule.
    #[error("expression {} is not one of this rule", .0.index())]
    Foreign(ExprId),
}

/// The greatest number of elements that a range or tuple is expanded to.
pub const MAX_ELEMENTS: usize = 1 << 16;

/// The greatest number of steps of one evaluation: operations, and fields of tuples that are copied.
/// A text of some lines can ask for more than anybody can wait for, or for tuples that no memory
/// holds.
pub const MAX_STEPS: usize = 1 << 20;

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// The steps that evaluations have taken on this thread: who evaluates again and again looks at how
/// much was added.
pub(crate) fn steps_taken() -> u64 {
    TAKEN.get()
}

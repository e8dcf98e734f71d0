//! What can go wrong in an operation on integer sets and relations.

use std::borrow::Cow;

use thiserror::Error;

/// A request that could not be answered; every value involved stays usable.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A number is too large for what was asked.
    ///
    /// Sets, functions and counts hold numbers of any size. What has a limit says so: rows of
    /// coefficients and pictures hold 128 bits, exponents fewer, and a power in a text 65,536 bits.
    #[error("a number is too large for this operation")]
    Overflow,
    /// The number of elementary steps reached the budget's limit.
    #[error("the operation needs more than {limit} steps")]
    Steps {
        /// Steps that the budget allowed.
        limit: u64,
    },
    /// The budget's deadline passed.
    #[error("the deadline passed")]
    Deadline,
    /// The budget's flag was raised.
    #[error("the operation was cancelled")]
    Cancelled,
    /// Two operands do not live in spaces that the operation allows.
    #[error("expected the space `{expected}`, found `{found}`")]
    Space {
        /// The tuples that the operation needs.
        expected: String,
        /// The tuples it was given.
        found: String,
    },
    /// A row of integers does not fit the columns of its system.
    #[error("expected a row of {expected} integers, found {found}")]
    Row {
        /// Columns: constant, dimensions, divisions.
        expected: usize,
        /// The length of the row.
        found: usize,
    },
    /// A formula has a name that is none of its space.
    #[error("`{0}` is no parameter or dimension")]
    Undeclared(String),
    /// A formula is nested too deeply.
    #[error("the formula is nested more than {limit} deep")]
    Nesting {
        /// The greatest depth.
        limit: usize,
    },
    /// A product or quotient of expressions is not affine.
    #[error("expected a constant factor or divisor")]
    NotAffine,
    /// The value of an expression was asked for where it is NaN, as after a division by 0.
    #[error("the expression is not a number (NaN) here")]
    NotANumber,
    /// A number was asked for where the value is an infinity or NaN.
    #[error("the value is not finite here; a set that bounds the points makes it so")]
    NotFinite,
    /// A relation is not a function.
    #[error("expected one output for each input, found several")]
    NotSingleValued,
    /// Points of an infinite set were asked for.
    #[error("dimension {dim} is unbounded")]
    Unbounded {
        /// Position of the dimension among parameters, input and output.
        dim: usize,
    },
    /// The least or greatest output was asked for where there is none.
    #[error("{dimension} has no {end} value where {inputs}")]
    NoOptimum {
        /// The first dimension that has no end, and its tuple.
        dimension: String,
        /// `least` or `greatest`.
        end: &'static str,
        /// A set of parameters and inputs for which it has none; others can be like it.
        inputs: String,
    },
    /// Points were asked for where a parameter has infinitely many values.
    #[error("the parameter `{name}` has no value here")]
    UnboundedParameter {
        /// The parameter.
        name: String,
    },
    /// A picture or a list of more points than make sense was asked for.
    #[error("there are more than {limit} points")]
    Points {
        /// Points that are taken at the most.
        limit: usize,
    },
    /// A text is not in the notation.
    #[error("column {column}: expected {expected}, found `{found}`")]
    Syntax {
        /// Column of the offending token, from 1, in characters.
        column: usize,
        /// What could stand there.
        expected: Cow<'static, str>,
        /// What stands there.
        found: String,
    },
}

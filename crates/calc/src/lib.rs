//! The calculator language over integer sets and relations.
//!
//! A program is a list of statements that end in `;`. `name := expression;` stores a
//! value, `expression;` prints one. Binary operators have the same precedence and
//! group to the left; unary operators bind tighter. A set or relation is written in
//! isl's notation.
//!
//! ```
//! use tangram_calc::Session;
//!
//! let mut session = Session::default();
//! let lines = session.run("A := { [i] : 0 <= i < 4 }; A - { [2] }; A <= { [i] };")?;
//! assert_eq!(lines[1], "True");
//! # Ok::<(), tangram_calc::CalcError>(())
//! ```
//!
//! Source: the language of `iscc` (S. Verdoolaege, barvinok). Divergence: operations on unions
//! follow the definitions of this library; `codegen` is an expression, its code a string; functions
//! are equal if their values are. [`help`] lists everything; what iscc does not know, such as
//! `is_injective`, `fm`, `loops`, `box`, `strides`, `plot` and `time`, is ours.

mod complete;
mod error;
mod evaluate;
mod functions;
mod help;
mod host;
mod matrices;
mod operators;
mod reader;
mod session;
mod unary;
mod value;
mod verbs;

pub use complete::{complete, is_complete};
pub use error::CalcError;
pub use help::all as help;
pub use host::Host;
pub use session::{Printed, Session};
pub use value::Value;

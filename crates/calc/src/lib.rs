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
//! Source: the language of `iscc` (S. Verdoolaege, barvinok). Divergence: operations
//! on unions follow the definitions of this library; `is_injective`, `is_bijective`,
//! `is_single_valued`, `is_surjective`, `is_empty`, `simple_hull` and `bounds` are ours.

mod complete;
mod error;
mod operators;
mod reader;
mod session;
mod unary;
mod value;

pub use complete::{complete, is_complete};
pub use error::CalcError;
pub use session::Session;
pub use unary::NAMES as UNARY;
pub use value::Value;

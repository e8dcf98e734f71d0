//! GSL, the graph substitution language: syntax, checking, matching, mapping.

pub mod ast;
pub mod check;
pub mod diagnostic;
pub mod eval;
pub mod text;

//! GSL, the graph substitution language: syntax, checking, matching, mapping, verification.

pub mod analysis;
pub mod ast;
pub mod check;
pub mod diagnostic;
pub mod eval;
pub mod import;
mod mapping;
pub mod matching;
pub mod plan;
pub mod rules;
pub mod schema;
pub mod text;
pub mod verify;

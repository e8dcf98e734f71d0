//! The abstract syntax of rules: one for the text form, the Python objects and the JSON form.
//!
//! A [`Rule`] owns four arenas: patterns, attribute expressions, operators and symbols. Nodes refer
//! to each other by handle, so a pattern that is used twice *is* one vertex and means one value:
//!
//! ```text
//! let x = *;            %0 = wildcard
//! match relu(x) + x;    %1 = call relu(%0)      %2 = call add(%1, %0)
//! ```
//!
//! Patterns have identity (two wildcards are two vertices); attribute expressions are pure values
//! and are hash-consed by the [`RuleBuilder`]. A finished rule is acyclic and at most [`MAX_DEPTH`]
//! deep, which bounds every recursion over it, and whatever it shares has a name, so that it can be
//! written as text.

mod builder;
mod canonical;
mod exactness;
mod expr;
mod graph;
mod handle;
mod pattern;
mod references;
mod relation;
mod rule;
mod templates;
mod validate;

pub use builder::{RuleBuilder, VariadicSpec};
pub use exactness::Exactness;
pub use expr::{BinaryOp, Expr, ExprKind, Function, NativeArg, Real, Reduction, UnaryOp};
pub use graph::{PatternGraph, Vertex, VertexId, expression_sequence, pattern_graph};
pub use handle::{ExprId, OpId, PatId, SymId};
pub use pattern::{Field, OpChoice, OpPattern, Pattern, PatternKind, Template, TensorFields};
pub use references::Reference;
pub use relation::{equal, is_direct_subexpression, is_subexpression, subexpressions};
pub use rule::{Rule, Symbol};
pub use validate::{MAX_DEPTH, SyntaxError, is_identifier, is_rule_name};

pub(crate) use rule::RuleData;
pub(crate) use templates::default_templates;
pub(crate) use validate::RESERVED;

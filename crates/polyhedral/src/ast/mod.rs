//! Loops, conditions and calls that run the instances of a schedule in its order.
//!
//! [`Ast::of_tree`] and [`Ast::of_map`] generate one dimension of the schedule after the
//! other. For each, the values that instances take are split into disjoint pieces in
//! their order, each piece becomes a loop (or an assignment, if there is one value), and
//! the rest of the schedule is generated inside, restricted to the piece. Conditions that
//! all instances of a loop share stand in front of it; what the loops do not say is left
//! for a condition around the call.
//!
//! ```text
//! { S[i, j] -> [i + j, j] : 0 <= i < N and 0 <= j < M }
//!
//! for (c0 = 0; c0 < M + N - 1; c0 += 1)
//!   for (c1 = max(0, c0 - N + 1); c1 <= min(M - 1, c0); c1 += 1)
//!     S(c0 - c1, c1);
//! ```
//!
//! # Source
//! Grosser, Verdoolaege, Cohen: Polyhedral AST Generation Is More Than Scanning Polyhedra
//! (TOPLAS 2015); Quilleré, Rajopadhye, Wilde: Generation of Efficient Nested Loops from
//! Polyhedra (2000). Options and trees are isl's. Divergence: conditions are found top
//! down, from what every instance below needs, and not collected on the way up.

mod basic_set;
mod check_options;
mod expr;
mod expression;
mod generate;
mod guard;
mod input;
mod interpret;
mod loops;
mod node;
mod options;
mod separation;
mod text;

pub(crate) use check_options::band_fault;
pub use check_options::idle_option;
pub use expr::{Comparison, Expr, ExprKind};
pub use input::MapInput;
pub use interpret::Instance;
pub use node::{Ast, AstNode, AstNodeKind};
pub use options::AstOptions;
pub use text::cuda::{KernelHead, Launch};
pub use text::{CStyle, Kept, ParamType, SplitLoop, Statements};

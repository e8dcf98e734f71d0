//! Patterns, the rewriter and the drivers that change IR.
//!
//! [`Rewriter`] is the only way in which patterns and passes change a module: every change is
//! told to a [`Listener`], so that worklists, traces and statistics never miss one.

mod listener;
mod pattern;
mod rewriter;

pub use listener::{Listener, Silent};
pub use pattern::{NoMatch, RewritePattern, Roots};
pub use rewriter::Rewriter;

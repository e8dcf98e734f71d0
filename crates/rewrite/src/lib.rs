//! Patterns, the rewriter and the drivers that change IR.
//!
//! [`Rewriter`] is the only way in which patterns and passes change a module: every change is
//! told to a [`Listener`], so that worklists, traces and statistics never miss one.

pub mod greedy;
mod listener;
mod pattern;
mod rewriter;
mod set;

pub use greedy::{GreedyConfig, Report};
pub use listener::{Listener, Silent};
pub use pattern::{NoMatch, RewritePattern, Roots};
pub use rewriter::Rewriter;
pub use set::{FrozenPatternSet, PatternReport, PatternSet};

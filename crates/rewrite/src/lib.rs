//! Patterns, the rewriter and the drivers that change IR.
//!
//! [`Rewriter`] is the only way in which patterns and passes change a module: every change is
//! told to a [`Listener`], so that worklists, traces and statistics never miss one.
//!
//! Three drivers apply patterns: [`walk_and_apply`] goes once over a program, [`greedy`] goes on
//! until nothing matches, and [`conversion`] makes a program of what a target allows. The
//! [`tutorial`] shows each part at work.

mod applicator;
pub mod conversion;
mod debug_log;
mod discriminator;
mod fn_pattern;
mod forms;
pub mod greedy;
mod journal;
mod listener;
mod order;
mod pattern;
mod reduce;
mod rewriter;
mod set;
pub mod tutorial;
mod walk;

pub use applicator::{Attempts, PatternApplicator};
pub use debug_log::{DebugKind, DebugLog};
pub use discriminator::Discriminator;
pub use fn_pattern::FnPattern;
pub use forms::{Forms, form};
pub use greedy::{GreedyConfig, Report};
pub use journal::{Journal, Mark};
pub use listener::{Both, Listener, Outcome, Silent};
pub use pattern::{
    IMPOSSIBLE, Interface, MatchThenRewrite, NoMatch, RewritePattern, Roots, Split, create,
};
pub use reduce::{Reduced, reduce};
pub use rewriter::{Mapping, Modification, OpEdit, Rewriter};
pub use set::{FrozenPatternSet, PatternReport, PatternSet};
pub use walk::{WalkLimits, WalkReport, walk_and_apply, walk_within};

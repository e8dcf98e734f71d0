//! Patterns, the rewriter and the drivers that change IR.
//!
//! [`Rewriter`] is the only way in which patterns and passes change a module: every change is
//! told to a [`Listener`], so that worklists, traces and statistics never miss one.
//!
//! Three drivers apply patterns: [`walk_and_apply`] goes once over a program, [`greedy`] goes on
//! until nothing matches, and [`conversion`] makes a program of what a target allows. The
//! [`tutorial`] shows each part at work.
//! ```
//! use tangram_ir::{Context, text};
//! use tangram_rewrite::{FnPattern, GreedyConfig, NoMatch, PatternSet, Roots, greedy};
//!
//! let context = Context::new();
//! let neg = context.name("toy.neg");
//! let roots = Roots::Names(vec![neg]);
//! let double_negation = FnPattern::new("double-negation", roots, move |rewriter, op| {
//!     let module = rewriter.module();
//!     let inner = module.def_op(module.operand(op, 0)).filter(|inner| module.name(*inner) == neg);
//!     let inner = inner.ok_or(NoMatch::SILENT)?;
//!     let x = module.operand(inner, 0);
//!     rewriter.replace(op, &[x]).map_err(|error| NoMatch::because(error.message))
//! });
//! let mut set = PatternSet::new();
//! set.add(double_negation);
//!
//! let source = r#"
//!     %0 = "toy.read"() : () -> i64
//!     %1 = "toy.neg"(%0) : (i64) -> i64
//!     %2 = "toy.neg"(%1) : (i64) -> i64
//!     "toy.print"(%2) : (i64) -> ()
//! "#;
//! let mut module = text::parse(source, "toy.mlir", context).expect("a right program");
//! let (root, set) = (module.root(), set.freeze());
//! assert_eq!(greedy::apply(&mut module, root, &set, &GreedyConfig::default()).rewrites, 1);
//! assert!(text::print(&module).contains(r#""toy.print"(%0)"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod applicator;
pub mod conversion;
mod copies;
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
pub use copies::{Copies, Exchange, Made, all_bytes, constant_bytes, most_constant_bytes};
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

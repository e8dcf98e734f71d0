//! E-graphs: patterns, equality saturation, extraction, explanations.
//!
//! An e-graph holds many equal terms at once: nodes in classes of equals, closed under
//! congruence. Rules add to it without forgetting what was there, so their order does not matter;
//! when nothing changes any more, or a limit is reached, the cheapest term is extracted.
//!
//! ```
//! use tangram_egraph::*;
//!
//! define_language! {
//!     enum Math {
//!         Num(i32),
//!         "+" = Add([Id; 2]),
//!         "*" = Mul([Id; 2]),
//!         Symbol(Symbol),
//!     }
//! }
//!
//! let rules: Vec<Rewrite<Math, ()>> = vec![
//!     rewrite!("commute"; "(* ?a ?b)" => "(* ?b ?a)"),
//!     rewrite!("one"; "(* ?a 1)" => "?a"),
//!     rewrite!("factor"; "(+ (* ?a ?b) (* ?a ?c))" => "(* ?a (+ ?b ?c))"),
//! ];
//! let start = "(+ (* x 3) (* y (* 1 x)))".parse().unwrap();
//! let runner = Runner::default().with_expr(&start).run(&rules);
//! let (cost, best) = Extractor::new(&runner.egraph, AstSize).find_best(runner.roots[0]);
//! assert_eq!(cost, 5);
//! assert_eq!(best.to_string(), "(* x (+ 3 y))");
//! ```
//!
//! # Two layers
//! The typed front end has the names and shapes of the `egg` crate: a program written for it
//! compiles after its dependency is renamed. What differs is told in `docs/egg-migration.md`.
//! Below lies the untyped [`core`], which knows operators as numbers and nodes as runs of words;
//! use it to build an e-graph over operators that only exist at run time.
//!
//! # Where things are
//! - [`EGraph`], [`Language`], [`Analysis`], [`RecExpr`]: what is stored.
//! - [`Pattern`], [`MultiPattern`], [`Rewrite`], [`rewrite!`], [`Runner`]: how it grows.
//! - [`Extractor`], [`choices`], and `LpExtractor` with the feature `lp`: what comes out, by tree or
//!   by shared cost.
//! - [`Explanation`]: why it is so.

/// The example of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[macro_use]
mod macros;

pub mod core;
#[doc(hidden)]
pub mod test;

mod analysis;
mod checkpoint;
pub mod choices;
mod code;
mod dot;
mod eclass;
mod egraph;
mod explain;
mod extract;
mod id;
mod language;
#[cfg(feature = "lp")]
mod lp_extract;
mod mapper;
mod multipattern;
mod pattern;
mod recexpr;
mod rewrite;
mod rule_file;
mod run;
mod schedule;
mod search;
mod serialize;
mod sexp;
#[cfg(feature = "serde-1")]
mod stored;
mod subst;
mod symbol;
mod symbol_lang;

pub use analysis::{Analysis, DidMerge, merge_max, merge_min, merge_option};
pub use checkpoint::Checkpoints;
#[doc(hidden)]
pub use code::LeftCode;
pub use dot::Dot;
pub use eclass::{EClass, ENodes};
pub use egraph::EGraph;
pub use explain::{
    Explanation, FlatExplanation, FlatTerm, Justification, ProofError, TreeExplanation, TreeTerm,
    UnionEqualities,
};
pub use extract::{AstDepth, AstSize, CostFunction, Extractor};
pub use id::Id;
pub use language::{FromOp, FromOpError, Language, LanguageChildren};
#[cfg(feature = "lp")]
pub use lp_extract::{LpCostFunction, LpExtractor};
pub use mapper::{LanguageMapper, SimpleLanguageMapper};
pub use multipattern::{MultiPattern, MultiPatternParseError};
pub use pattern::{
    ENodeOrVar, ENodeOrVarDiscriminant, ENodeOrVarParseError, Pattern, PatternAst, SearchMatches,
};
pub use recexpr::{RecExpr, RecExprParseError};
#[doc(hidden)]
pub use rewrite::Batch;
pub use rewrite::{Applier, Condition, ConditionEqual, ConditionalApplier, Rewrite, Searcher};
pub use rule_file::{RuleFileError, RuleFileErrorKind, parse_rules};
pub use run::{
    Iteration, IterationData, Report, RuleStatistics, Runner, RunnerLimits, RunnerResult,
    StopReason,
};
pub use schedule::{BackoffScheduler, RewriteScheduler, SimpleScheduler};
pub use serialize::{SerializeError, SerializedEGraph, SerializedNode, SharedTerms};
pub use sexp::SexpError;
pub use subst::{Subst, Var, VarParseError};
pub use symbol::Symbol;
pub use symbol_lang::SymbolLang;

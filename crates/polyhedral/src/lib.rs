//! Static control parts on integer sets: dependences, schedules and schedule trees.
//!
//! Statement instances are points of named sets. A [`ScheduleTree`] says in which order
//! they run; [`flow`] says which write each read takes its value from.
//!
//! ```
//! use tangram_polyhedral::ast::CStyle;
//! use tangram_polyhedral::schedule::{Constraints, Options};
//! use tangram_polyhedral::{Ast, AstOptions};
//! use tangram_presburger::Budget;
//!
//! let budget = Budget::steps(10_000_000);
//! // S[i, j] needs what S[i - 1, j] computed, and nothing along j.
//! let constraints = Constraints::parse(
//!     "domain: '[n] -> { S[i, j] : 0 <= i, j < n }'\n\
//!      validity: '[n] -> { S[i, j] -> S[i + 1, j] : 0 <= i < n - 1 and 0 <= j < n }'\n\
//!      proximity: '{ S[i, j] -> S[i + 1, j] }'\n",
//!     &budget,
//! )?;
//! let schedule = constraints.schedule(&Options::default(), None, &budget)?;
//! // Checked already, as every computed schedule is.
//! constraints.check(&schedule.tree, &budget)?;
//!
//! let code = Ast::of_tree(&schedule.tree, None, &AstOptions::default(), &budget)?;
//! assert_eq!(code.to_c(&CStyle::default()).matches("for (").count(), 2);
//! # Ok::<(), tangram_polyhedral::Error>(())
//! ```

/// The example of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod ast;
pub mod contraction;
pub mod device;
mod error;
pub mod flow;
pub mod legality;
mod number;
pub mod optimise;
pub mod picture;
pub mod representation;
pub mod schedule;
pub mod schedule_tree;
pub mod scop;
pub mod transform;
pub mod units;
mod yaml;

pub use ast::{Ast, AstOptions};
pub use error::{Error, Fault, OptionFault, Violation};
pub use schedule_tree::{Band, Member, Node, NodeKind, ScheduleTree};

/// Rows of machine numbers: coefficients of loops and schedules are small.
pub(crate) type Conjunction = tangram_presburger::Conjunction<i128>;
pub(crate) type Division = tangram_presburger::Division<i128>;

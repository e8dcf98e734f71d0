//! Static control parts on integer sets: dependences, schedules and schedule trees.
//!
//! Statement instances are points of named sets. A [`ScheduleTree`] says in which order
//! they run; [`flow`] says which write each read takes its value from.

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
mod yaml;

pub use ast::{Ast, AstOptions};
pub use error::{Error, Fault, Violation};
pub use schedule_tree::{Band, Member, Node, NodeKind, ScheduleTree};

/// Rows of machine numbers: coefficients of loops and schedules are small.
pub(crate) type Conjunction = tangram_presburger::Conjunction<i128>;
pub(crate) type Division = tangram_presburger::Division<i128>;

//! Schedule trees and exact dependences of static control parts, on integer sets.
//!
//! Statement instances are points of named sets. A [`ScheduleTree`] says in which order
//! they run; [`flow`] says which write each read takes its value from.

mod error;
pub mod flow;
pub mod schedule_tree;
mod yaml;

pub use error::{Error, Fault};
pub use schedule_tree::{Band, Member, Node, NodeKind, ScheduleTree};

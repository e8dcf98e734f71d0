//! The walk over the schedule: trees and maps, one dimension after the other, down to the calls.
//!
//! `tree` walks a schedule tree or the dimensions of a map; `level` makes the loops of one
//! dimension out of the pieces that [`separation`](super::separation) finds; `user_node` makes
//! the calls. `build` is what is handed down.

pub(super) mod build;
mod copies;
mod level;
mod tree;
pub(super) mod unroll_and_jam;
pub(super) mod user_node;

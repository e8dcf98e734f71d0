//! The untyped e-graph: flat nodes, a hashcons, congruence by worklist.
//!
//! A node is a run of `u32` words: an operator [`Op`], then its children. All runs lie in one
//! arena, so a node has no allocation of its own, whatever its arity. A node's id is also the id
//! of the class that it started; [`Core::find`] leads from either to the class that holds it now.
//!
//! An operator is whatever the user calls one, with its data or attributes: `+`, `3`, or a
//! convolution with its strides. It is interned to an [`Op`] by the layer above, and the *opcode*
//! beside it (the `+` or "some convolution" part) is a second, coarser key. So a language whose
//! operators are only known at run time is indexed as well as an enum is.
//!
//! ```text
//! words   [ + a b | a | b | * a a | ... ]        children are canonical after a rebuild
//! starts  [ 0       3   4   5       ... ]
//! find    [ 0       1   2   3       ... ]        union-find over ids
//! ring    the nodes of a class, a circular list
//! uses    the nodes above a class, a circular list in one pool
//! rows    (operator, node) of each class, sorted: what matching reads
//! ```
//!
//! Changes go through [`Core::add`] and [`Core::union`]; then a driver calls
//! [`Core::next_congruence`] until nothing is left and [`Core::settle`] once. Analyses, types and
//! the like belong to the driver: [`Graph`] is one with a trait for them, and the typed
//! [`EGraph`](crate::EGraph) is another.

mod apply;
mod classes;
mod congruence;
mod gate;
mod graph;
mod hashcons;
mod job;
mod log;
mod machine;
mod matcher;
mod nodes;
mod program;
mod proof;
mod spare;
#[cfg(feature = "serde-1")]
mod stored;
mod term;
mod variadic_pattern;

pub use apply::{Host, Template};
pub use classes::Row;
pub use congruence::Merge;
pub use graph::{Facts, Graph};
pub use job::Found;
pub use log::Why;
pub use matcher::{Query, RuleSet};
pub use nodes::{Core, Op};
pub use proof::{Proof, ProofStep, Vertex};
pub use term::{Atom, Term};
pub use variadic_pattern::{Binding, FlexAtom, FlexPattern, Selector};

pub(crate) use job::{Job, Link, Match};
pub(crate) use log::Edge;
pub(crate) use machine::Machine;
pub(crate) use nodes::STALE_FACT;
pub(crate) use program::{Ground, Program, compile_all};
pub(crate) use proof::Proofs;
pub(crate) use spare::Lists;

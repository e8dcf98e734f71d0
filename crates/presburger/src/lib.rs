//! Integer sets and relations, quasi-affine functions, counting.
//!
//! A [`Relation`] has conjunctions of rows (`basic_map`, `system`, `matrix`) in one [`Space`]; a
//! [`Union`] has relations in several. What takes variables away is in `project`, what holds for
//! all points in `hull`, and everything that decides rests on the tableaus in `solve`. Functions
//! are pieces over relations (`function`), as are counts ([`count`]). `parse` and `print` are
//! inverse to each other. Every operation that may take long has a [`Budget`].

mod basic_map;
mod budget;
mod closure;
mod coalesce;
pub mod count;
mod divisions;
mod error;
mod function;
mod hull;
mod matrix;
mod number;
mod parse;
pub mod plot;
mod print;
mod project;
mod rational_relation;
mod relation;
mod solve;
mod space;
mod system;
mod union;

pub use budget::{Budget, USUAL_STEPS};
pub use error::Error;
pub use function::{
    Aff, MultiAff, MultiPwAff, MultiUnionPwAff, PwAff, PwMultiAff, UnionPwAff, UnionPwMultiAff,
};
pub use hull::{Extent, FixedBox, Stride};
pub use number::{Integer, Rational, Value};
pub use project::{EliminationStep, Inequalities, LoopBounds};
pub use rational_relation::RationalRelation;
pub use relation::{Conjunction, Division, Order, Relation, narrow};
pub use solve::{LeastPoint, Relaxation};
pub use space::{Space, Tuple};
pub use union::Union;

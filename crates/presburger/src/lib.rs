//! Integer sets and relations, quasi-affine functions, counting.
//!
//! A [`Relation`] has conjunctions of rows (`basic_map`, `system`, `matrix`) in one [`Space`]; a
//! [`Union`] has relations in several. What takes variables away is in `project`, what holds for
//! all points in `hull`, and everything that decides rests on the tableaus in `solve`. Functions
//! are pieces over relations (`function`), as are counts ([`count`]). `parse` and `print` are
//! inverse to each other. Every operation that may take long has a [`Budget`].
//!
//! ```
//! use tangram_presburger::{Budget, Relation};
//!
//! let budget = Budget::steps(1_000_000);
//! let triangle = Relation::parse("[n] -> { [i, j] : 0 <= i <= j < n }", &budget)?;
//!
//! // The least point in lexicographic order, for every n for which there is one.
//! let first = Relation::parse("[n] -> { [0, 0] : n > 0 }", &budget)?;
//! assert!(triangle.lexmin(&budget)?.is_equal(&first, &budget)?);
//!
//! // How many points there are: 1 + 2 + ... + n.
//! let points = triangle.card(&budget)?;
//! assert_eq!(points.evaluate(&[10])?.to_string(), "55");
//!
//! // Two pieces that are one set.
//! let pieces = Relation::parse("{ [i] : 0 <= i < 5 or 5 <= i < 9 }", &budget)?;
//! assert_eq!(pieces.coalesce(&budget)?.conjunctions().len(), 1);
//!
//! // What can be reached in one step or more.
//! let (steps, exact) = Relation::parse("{ [i] -> [i + 2] : 0 <= i < 6 }", &budget)?
//!     .transitive_closure(&budget)?;
//! assert!(exact && steps.contains(&[0, 6])? && !steps.contains(&[0, 5])?);
//! # Ok::<(), tangram_presburger::Error>(())
//! ```

/// The example of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod basic_map;
mod budget;
mod closure;
mod coalesce;
pub mod count;
mod div;
mod divisions;
mod error;
pub mod formula;
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
pub use parse::{exact_quotients, is_name};
pub use project::{EliminationStep, Inequalities, LoopBounds};
pub use rational_relation::RationalRelation;
pub use relation::{Conjunction, Division, Order, Relation, Rows, narrow};
pub use solve::{Cone, LeastPoint, Relaxation};
pub use space::{Space, Tuple};
pub use union::Union;

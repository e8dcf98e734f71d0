//! Integer sets and relations, quasi-affine functions, counting, symbolic dimensions.

mod affine_hull;
mod algebra;
mod basic;
mod budget;
mod closure;
mod conjunction;
mod convex_hull;
pub mod count;
mod eliminate;
mod error;
mod fourier_motzkin;
mod function;
mod hull;
mod matrix;
mod parse;
pub mod plot;
mod print;
mod project;
mod relation;
mod solve;
mod space;
mod subtract;
pub mod symbolic;
mod system;
mod token;
mod union;

pub use algebra::Order;
pub use budget::Budget;
pub use conjunction::{Conjunction, Division};
pub use error::Error;
pub use fourier_motzkin::{Inequalities, LoopBounds, Step};
pub use function::{Aff, MultiAff, MultiPwAff, PwAff, PwMultiAff, UnionPwMultiAff};
pub use relation::Relation;
pub use space::{Space, Tuple};
pub use union::Union;

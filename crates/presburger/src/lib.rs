//! Integer sets and relations, quasi-affine functions, counting, symbolic dimensions.

mod basic;
mod budget;
mod eliminate;
mod error;
mod matrix;
mod parse;
mod print;
mod relation;
mod space;
pub mod symbolic;
mod system;
mod token;

pub use budget::Budget;
pub use error::Error;
pub use relation::Relation;
pub use space::{Space, Tuple};

//! Decision procedures on integer tableaus.
//!
//! Everything here works on integers of one width and reports overflow; `widening`
//! repeats a call with 64 bits, 128 bits and arbitrary precision. Results are exact.

pub(crate) mod bounds;
pub(crate) mod feasible;
pub(crate) mod generators;
pub(crate) mod lattice;
pub(crate) mod least;
mod least_point;
pub(crate) mod lexmin;
pub(crate) mod number;
pub(crate) mod reduction;
pub(crate) mod redundancy;
mod relaxation;
pub(crate) mod simplex;

pub use generators::Cone;
pub use least_point::LeastPoint;
pub use relaxation::Relaxation;

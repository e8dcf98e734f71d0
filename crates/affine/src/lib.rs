//! Affine arithmetic, below the IR and below integer sets.
//!
//! An *affine expression* is a sum of dimensions, symbols and numbers with constant factors, and
//! of quotients and remainders of such sums by positive numbers. An [`AffineMap`] has expressions
//! as results; an [`IntegerSet`] compares them with zero. [`AffineExprs`] makes expressions, in
//! the form that MLIR gives them when they are made; [`simplify`] brings them further, to a sum of
//! dimensions, symbols and quotients. `parse` and `print` know MLIR's notation.
//!
//! [`symbolic`] holds the dimensions of tensors: polynomials of *named* symbols in a normal form,
//! with minima and maxima, and what is known of them.
//!
//! ```
//! use tangram_affine::{AffineExprs, AffineMap};
//!
//! let tile: AffineMap = "(i)[n] -> (i floordiv 4, i - (i floordiv 4) * 4)".parse().unwrap();
//! assert_eq!(tile.to_string(), "(d0)[s0] -> (d0 floordiv 4, d0 mod 4)");
//! assert_eq!(tile.evaluate(&[11, 0]), Some(vec![2, 3]));
//!
//! let twice: AffineMap = "(i) -> (i * 2, i + 1)".parse().unwrap();
//! let outer: AffineMap = "(i, j) -> (i + j * 2)".parse().unwrap();
//! let composed = outer.compose(&twice).unwrap();
//! assert_eq!(composed.to_string(), "(d0) -> (d0 * 2 + (d0 + 1) * 2)");
//! assert_eq!(composed.evaluate(&[10]), Some(vec![42]));
//! ```

/// The example of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod expr;
mod map;
mod parse;
mod print;
mod range;
mod remainder;
mod set;
mod simplify;
pub mod symbolic;

pub use expr::{AffineExpr, AffineExprs, BinaryOp, Node};
pub use map::AffineMap;
pub use parse::{NoOperands, Operands, ParseError, Reader, Variable};
pub use print::{Name, Sink};
pub use range::Bounds;
pub use set::IntegerSet;
pub use simplify::simplify;

#[cfg(test)]
mod tests;

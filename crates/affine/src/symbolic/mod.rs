//! Symbolic tensor dimensions: integer expressions over named symbols, in a normal form.
//!
//! An [`Expr`] is a polynomial with integer coefficients over *atoms*. An atom is a symbol
//! (`batch`), a division (`floor(num/den)`, or `trunc(num/den)` where signs are unknown), or a
//! minimum or maximum of other expressions. What the operations return is always normal, so that
//! two expressions that print alike are equal, and equality is a comparison of cached hashes
//! followed by one pass over the terms. The main identities, each applied when a term is made:
//!
//! - multiples leave a division: `floor((4*N + 6)/2)` is `2*N + 3`, and
//!   `floor((H + 2*s)/s)` is `floor(H/s) + 2`;
//! - coefficients under an integer denominator `d` lie in `[0, d)`, with
//!   `floor(-Y/d) = -floor((Y + d - 1)/d)` to choose between a number and its mirror image;
//! - divisions by positive integers do not nest: `floor(floor(N/2)/3)` is `floor(N/6)`;
//! - `a mod b` is `a - b*floor(a/b)`;
//! - arguments of `min` and `max` that differ by a constant collapse.
//!
//! An expression has the value of what it was made from wherever the latter is defined: no
//! division by zero, no result beyond `i64`. The normal form is not complete for equality
//! (`floor(N/2) + floor((N + 1)/2)` stays, although it is `N`): [`Facts`] decides such questions.
//!
//! [`Facts`] holds assumptions on symbols and answers comparisons with a [`Truth`]. The affine
//! part, divisions by constants included, is decided exactly over the integers (W. Pugh, "The
//! Omega test", 1991); products and symbolic denominators are abstracted soundly.

mod c;
mod compute;
mod division;
mod expr;
mod extremum;
mod facts;
mod interval;
mod linear;
mod monomial;
mod omega;
mod parse;
mod polynomial;
mod print;
mod shape;
mod substitute;

pub use c::C_FUNCTIONS;
pub use compute::{Arithmetic, Operation};
pub use expr::Expr;
pub use facts::{Facts, Truth};
pub use parse::{ParseError, ParseErrorKind};
pub use shape::{broadcast, infer_minus_one};

/// Bounds the number of non-constant terms of an expression.
pub const MAX_TERMS: usize = 256;
/// Bounds the nesting of divisions, minima and maxima.
pub const MAX_DEPTH: u32 = 32;
/// Bounds the size of the whole tree of an expression, in atoms.
pub const MAX_WEIGHT: u32 = 4096;
/// Bounds the total degree of a monomial.
pub const MAX_DEGREE: u32 = 64;

#[cfg(test)]
mod tests;

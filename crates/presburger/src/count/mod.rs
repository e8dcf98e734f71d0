//! Counting integer points: parametric cardinality by Barvinok's algorithm.
//!
//! The number of integer points of a parametric polytope is a piecewise
//! quasi-polynomial in its parameters:
//!
//! 1. equations are solved over the integers, so that the polytope is full-dimensional;
//! 2. its parametric vertices are found, and the chambers of the parameters on which
//!    the set of vertices is constant;
//! 3. the cone at each vertex is decomposed into unimodular ones, with signs;
//! 4. each of those contributes the constant term of its generating function.
//!
//! `[n] -> { [i] : 0 <= 2 i <= n }` has the vertices `0` and `n / 2`; the first
//! contributes `1/2`, the second `1/2 + floor(n / 2)`.
//!
//! Source: A. Barvinok, 1994; S. Verdoolaege et al., "Counting integer points in
//! parametric polytopes using Barvinok's rational functions", 2007. Divergence: chambers
//! are half-open, so that the pieces are disjoint; all steps are in exact integers.

mod barvinok;
mod bound;
mod piecewise;
mod polytope;
mod quasi_polynomial;
mod slicing;
mod text;

pub use crate::{Integer, Rational};
pub use barvinok::polyhedron::Polyhedron;
pub use bound::bernstein::{PwQPolynomialFold, Side};
pub use bound::union_fold::UnionPwQPolynomialFold;
pub use piecewise::Pieces;
pub use piecewise::pw_qpolynomial::PwQPolynomial;
pub use piecewise::union::UnionPwQPolynomial;
pub use quasi_polynomial::QPolynomial;
pub use quasi_polynomial::nonfinite::NonFinite;

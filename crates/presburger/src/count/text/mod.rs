//! Piecewise quasi-polynomials and bounds in isl's notation, read and printed.

pub(super) mod parse;
pub(super) mod print;

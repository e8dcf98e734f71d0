//! Piecewise quasi-polynomials and bounds in isl's notation, read and printed.

mod parse;
mod print;

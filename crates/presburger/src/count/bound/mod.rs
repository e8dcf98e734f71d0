//! Bounds of quasi-polynomials over sets, and what is calculated with them.

pub(super) mod bernstein;
mod fold;
pub(super) mod union_fold;

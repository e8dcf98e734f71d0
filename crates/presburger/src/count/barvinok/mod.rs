//! Barvinok's algorithm on one parametric polytope of full dimension.
//!
//! The cone at each vertex is decomposed into unimodular ones by short vectors of lattices
//! (`unimodular`, `lll`); each contributes the constant term of its generating function
//! (`contribution`, `todd`). `polyhedron` adds them up, `weighted` with a polynomial as weight.

pub(super) mod contribution;
mod lll;
pub(super) mod polyhedron;
mod todd;
pub(super) mod unimodular;
mod weighted;

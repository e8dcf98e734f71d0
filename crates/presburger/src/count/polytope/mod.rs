//! Parametric polytopes: cones and their generators, vertices, chambers, lattice width.
//!
//! Equations go first (`equalities`); `cone` turns constraints into generators, `vertices` reads
//! the parametric vertices off the faces of such a cone, and `chambers` says where in the space of
//! the parameters which of them are there.

pub(super) mod chambers;
pub(super) mod cone;
pub(super) mod equalities;
mod lattice_width;
mod set_vertices;
pub(super) mod vertices;

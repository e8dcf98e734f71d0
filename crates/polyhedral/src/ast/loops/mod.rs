//! Loops of one dimension: bounds, strides, residue classes, unrolling.

pub(super) mod bounds;
pub(super) mod residue_classes;
pub(super) mod stride;
mod tighten;
mod unroll;

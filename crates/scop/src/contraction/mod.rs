//! Contractions in C: statements read as updates, and tiles written as vector code.

mod pack;
mod update;
mod write;

pub use update::Operands;
pub(crate) use update::update;
pub(crate) use write::{Kernels, Panel, Tiles, Values, affine, along, bounds, operand};

//! Pictures as SVG: schedule trees, and iteration domains with order, tiles and dependences.

mod domain;
mod svg;
mod tree;

pub use domain::Domains;

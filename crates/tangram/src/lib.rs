//! Tangram rearranges tensor and loop programs into faster ones that compute the same.
//!
//! This crate is what a Rust program depends on to get the whole pipeline; each engine is also a
//! crate of its own.

pub use tangram_dialects as dialects;
pub use tangram_gsl as gsl;
pub use tangram_ir as ir;
pub use tangram_onnx as onnx;
pub use tangram_presburger as presburger;
pub use tangram_rewrite as rewrite;
pub use tangram_tensor as tensor;

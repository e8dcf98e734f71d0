//! Tangram rearranges tensor and loop programs into faster ones that compute the same.
//!
//! This crate is what a Rust program depends on to get the whole pipeline; each engine is also a
//! crate of its own, re-exported here.
//!
//! ```
//! use tangram::onnx::{ExportOptions, file};
//! use tangram::{Library, Options, pipeline};
//!
//! let path = std::path::Path::new("../../examples/models/cnn.onnx");
//! let mut model = pipeline::import(file::open(path)?)?; // and verified
//! let nodes = model.graph().map(|graph| model.module.ops(graph).count());
//!
//! let report = pipeline::rewrite(&mut model, &Library::shipped()?, &Options::default())?;
//! let fewer = model.graph().map(|graph| model.module.ops(graph).count());
//! assert!(report.rules.iter().any(|rule| rule.fired > 0) && fewer < nodes);
//!
//! let proto = pipeline::export(&model, None)?; // verified, in the model's own operator set
//! assert!(tangram::onnx::schema::violations(&proto).is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apply_rules;
pub mod arrays;
pub mod check;
pub mod choose;
mod code_report;
pub mod diff;
pub mod explain;
pub mod fleet;
mod library;
mod natives;
mod optimise;
mod page;
pub mod picture;
pub mod pipeline;
pub mod progress;
mod ranks;
pub mod report;
pub mod saturation;
mod shown;
pub mod steps;
pub mod summary;
pub mod trace;
mod verdicts;
pub mod view;
mod wholes;

pub use apply_rules::{RuleSetOptions, apply_rules, apply_rules_with_listener};
pub use code_report::code_report;
pub use library::{Library, RulesError, SHIPPED};
pub use natives::natives;
pub use optimise::{ON_REQUEST, OptimiseError, Options, Strategy, optimise};
pub use progress::Progress;
pub use report::Report;
pub use shown::{message, shown};
pub use tangram_affine as affine;
pub use tangram_calc as calc;
pub use tangram_dialects as dialects;
pub use tangram_egraph as egraph;
pub use tangram_gsl as gsl;
pub use tangram_ir as ir;
pub use tangram_lowering as lowering;
pub use tangram_machine as machine;
pub use tangram_machine::Machine;
pub use tangram_native as native;
pub use tangram_native::Session;
pub use tangram_onnx as onnx;
pub use tangram_passes as passes;
pub use tangram_polyhedral as polyhedral;
pub use tangram_presburger as presburger;
pub use tangram_rewrite as rewrite;
pub use tangram_saturate as saturate;
pub use tangram_saturate::cost;
pub use tangram_scop as scop;
pub use tangram_tensor as tensor;
pub use verdicts::verdict_json;
pub use wholes::WHOLE;

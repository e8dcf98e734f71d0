//! ONNX models to and from IR.
//!
//! [`proto`] is the format's message structures and the scan of its wire form; [`mod@file`] opens
//! and saves model files, with the weights left in the memory map; [`schema`] says whether a model
//! keeps to its operator sets.
//!
//! [`edit`](mod@edit) gives inputs sizes and extracts parts; [`declared`] are operators that a
//! caller knows.
//!
//! [`import`] makes a [`Model`] of what [`file::open`] loaded; [`export`] makes an ONNX model of
//! it again. Between the two, rules change [`Model::module`].
//! ```
//! use tangram_onnx::{ExportOptions, Model, export, schema};
//!
//! let model = Model::open("../../examples/models/cnn.onnx", tangram_dialects::context())?;
//! let graph = model.graph().expect("a main graph");
//! assert!(model.module.ops(graph).any(|op| model.module.name_text(op) == "nn.conv2d"));
//! assert_eq!(model.output_names().len(), 1);
//!
//! // What nothing changed comes out as it came in, and keeps to the schemas of its operators.
//! let proto = export(&model, ExportOptions::default())?;
//! let nodes = &proto.graph.as_ref().expect("a graph").node;
//! assert!(nodes.iter().any(|node| node.op_type.as_deref() == Some("Conv")));
//! assert!(schema::violations(&proto).is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(clippy::unwrap_used, clippy::panic)]

pub mod declared;
pub mod edit;
mod error;
mod export;
pub mod file;
mod import;
mod model;
mod operators;
pub mod proto;
pub mod schema;
mod types;

pub use error::{Error, Result};
pub use export::{ExportOptions, export, expressible_since, is_expressible};
pub use import::import;
pub use model::Model;

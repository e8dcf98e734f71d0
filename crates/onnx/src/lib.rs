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
pub use export::{ExportOptions, export, is_expressible};
pub use import::import;
pub use model::Model;

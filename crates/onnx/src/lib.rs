//! ONNX models to and from IR.
//!
//! [`proto`] is the format's message structures and the scan of its wire form; [`mod@file`] opens and
//! saves model files, with the weights left in the memory map.

#![warn(clippy::unwrap_used, clippy::panic)]

pub mod file;
pub mod proto;

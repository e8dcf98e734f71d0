//! Dense tensor values and reference kernels: right first.
//!
//! [`Tensor`] is the value, [`DType`] its element type, [`KernelError`] what a kernel returns
//! instead of panicking. The kernels are plain functions over `&Tensor` with the semantics of the
//! ONNX standard, grouped by kind in the modules.

#![warn(clippy::unwrap_used, clippy::panic)]

pub mod attention;
mod cells;
mod dtype;
mod element;
pub mod elementwise;
mod error;
pub mod image;
pub mod index;
pub mod layout;
mod limit;
pub mod linear;
pub mod loss;
pub mod norm;
pub mod packed;
pub mod quant;
pub mod recurrent;
pub mod reduce;
mod refuse;
pub mod shape;
pub mod signal;
pub mod softmax;
mod tensor;
pub mod text;
mod wide;

pub use dtype::DType;
pub use element::{Element, Float, Int, Number, Real};
pub use error::{KernelError, Result};
pub use half::{bf16, f16};
pub use limit::{MAX_BYTES, within};
pub use tensor::{Data, Shape, Tensor, checked_count, element_count};

//! Dense tensor values and reference kernels: right first.
//!
//! [`Tensor`] is the value, [`DType`] its element type, [`KernelError`] what a kernel returns
//! instead of panicking. The kernels are plain functions over `&Tensor` with the semantics of the
//! ONNX standard, grouped by kind in the modules.
//! ```
//! use tangram_tensor::elementwise::{add, relu};
//! use tangram_tensor::linear::matmul;
//! use tangram_tensor::{DType, KernelError, Tensor};
//!
//! let x = Tensor::from_vec([2, 2], vec![1.0_f32, 2.0, 3.0, 4.0])?;
//! let weights = Tensor::from_vec([2, 3], vec![1.0_f32, 0.0, -1.0, 0.0, 1.0, -1.0])?;
//! let bias = Tensor::vector(vec![0.5_f32, -5.0, 0.0]); // one row, for each row
//! let y = relu(&add(&matmul(&x, &weights)?, &bias)?)?;
//! assert_eq!((y.dtype(), y.shape()), (DType::F32, &[2, 3][..]));
//! assert_eq!(y.to_vec::<f32>()?, [1.5, 0.0, 0.0, 3.5, 0.0, 0.0]);
//!
//! // What does not fit is an error that says so.
//! let error = matmul(&weights, &weights).unwrap_err();
//! assert!(error.to_string().contains("[2, 3]"), "{error}");
//! # Ok::<(), KernelError>(())
//! ```

#![warn(clippy::unwrap_used, clippy::panic)]

pub mod attention;
pub mod budget;
mod cells;
mod dtype;
mod element;
pub mod elementwise;
mod error;
pub mod image;
pub mod index;
pub mod layout;
pub mod learned;
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

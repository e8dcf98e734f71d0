//! Quantisation: real numbers as small integers or floats with a scale and a zero point.
//!
//! `real = (quantised - zero_point) * scale`.

mod affine;
mod granularity;
mod product;

pub use affine::{QuantizeParams, dequantize_linear, dynamic_quantize_linear, quantize_linear};
pub use product::{Quantized, conv_integer, matmul_integer, qlinear_conv, qlinear_matmul};

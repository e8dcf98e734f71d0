//! Signals: ONNX `DFT`, `STFT`, window functions and `MelWeightMatrix`.
//!
//! All compute in `f64` and round once.

mod fourier;
mod mel;
mod transform;
mod window;

pub use mel::{MelParams, mel_weight_matrix};
pub use transform::{DftParams, dft, stft};
pub use window::{WindowFunction, window_function};

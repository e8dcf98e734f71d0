//! Arrays in numpy's files: one in `.npy`, several with names in `.npz`.

mod npy;
mod npz;

pub use npy::{NpyError, read_npy};
pub use npz::{decode_npz, encode_npz};

use tangram_tensor::Tensor;

/// Encodes `tensor` as an `.npy` file.
///
/// # Errors
/// [`NpyError::Type`]: numpy has no such elements.
pub fn encode_npy(tensor: &Tensor) -> Result<Vec<u8>, NpyError> {
    npy::encode(tensor)
}

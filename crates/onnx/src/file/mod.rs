//! Model files: opened through a memory map, saved as a stream.
//!
//! [`open`] maps the file and decodes it; `raw_data` and strings of bytes stay slices of the map.
//! Tensors in other files are read when they are asked for ([`tensor_bytes`]), again as slices of a
//! map. [`save`] writes the slices straight to the file. A model of many gigabytes therefore costs
//! memory for its graph alone, plus what it holds in the typed fields of small tensors.
//!
//! A mapped file must not be cut short by another program while the model is in use: the system
//! then ends the process that reads the lost pages. Replacing a file by renaming, as [`save`] does,
//! is safe.

mod copy;
mod data;
mod error;
mod external;
mod keep;
mod load;
mod outline;
mod save;
mod stream;
mod tensor;
mod unit;
mod walk;

pub use error::{ExternalError, FileError, TensorError};
pub use external::{ExternalData, ExternalFiles};
pub use load::{Loaded, decode, open, open_whole};
pub use outline::{Outline, outline};
pub use tangram_files::Identity;

pub use save::{ExternalPolicy, SaveOptions, SaveProgress, Storage, encode, inline, save};
pub use tensor::{Elements, TensorBytes, byte_len, tensor_bytes};

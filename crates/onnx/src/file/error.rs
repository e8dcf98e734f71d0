//! What can go wrong with model files.

use std::io;
use std::path::PathBuf;

use crate::proto::WireError;

/// Says why a model could not be opened or saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: "open", "map", "write" and so on.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The bytes are not a well-formed message.
    #[error("{}not a well-formed ONNX model: {source}", prefix(path))]
    Malformed {
        /// The file, if there is one.
        path: Option<PathBuf>,
        /// What and where.
        source: WireError,
    },
    /// The decoder refused what the scan let through, such as a packed list that ends early.
    #[error("{}{source}", prefix(path))]
    Decode {
        /// The file, if there is one.
        path: Option<PathBuf>,
        /// The decoder's reason, with the message and field.
        source: prost::DecodeError,
    },
    /// The message is well formed, but has neither a graph nor functions.
    #[error("{}expected an ONNX model, found a message without a graph", prefix(path))]
    NotAModel {
        /// The file, if there is one.
        path: Option<PathBuf>,
    },
    /// A tensor cannot be read or written.
    #[error("{place}: tensor `{tensor}`: {source}")]
    Tensor {
        /// Path of the message, such as `graph.initializer[3]`.
        place: String,
        /// Name of the tensor.
        tensor: String,
        /// Why.
        source: TensorError,
    },
    /// The message is longer than the format allows and external data was ruled out.
    #[error("expected a model of at most {limit} bytes, found {found}; use external data")]
    TooLarge {
        /// The limit of the format.
        limit: u64,
        /// Length of the encoded model.
        found: u64,
    },
    /// External data was to stay where the new model cannot refer to it.
    #[error(
        "the weights in {} cannot be referred to from the folder {}: a model finds them in its own \
         folder and below",
        data.display(),
        folder.display()
    )]
    OtherFolder {
        /// The file with the weights.
        data: PathBuf,
        /// The folder of the new model.
        folder: PathBuf,
    },
    /// A path to save to has no file name.
    #[error("{} is not the name of a file", .0.display())]
    NotAFileName(PathBuf),
}

fn prefix(path: &Option<PathBuf>) -> String {
    path.as_ref().map_or_else(String::new, |path| format!("{}: ", path.display()))
}

/// Says why the elements of a tensor could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// The element type is absent or not known.
    #[error("{0} is not a known element type")]
    DataType(i32),
    /// A dimension is negative.
    #[error("dimension {index} is negative: {found}")]
    Dimension {
        /// Which dimension.
        index: usize,
        /// Its size.
        found: i64,
    },
    /// The tensor is larger than can be addressed.
    #[error("the dimensions multiply to more than can be addressed")]
    TooLarge,
    /// The number of bytes does not agree with the dimensions.
    #[error("expected {expected} bytes by type and dimensions, found {found}")]
    Bytes {
        /// By type and dimensions.
        expected: u64,
        /// Stored.
        found: u64,
    },
    /// The number of entries in a typed field does not agree with the dimensions.
    #[error("expected {expected} entries in {field}, found {found}")]
    Entries {
        /// The field that the type calls for.
        field: &'static str,
        /// By type and dimensions.
        expected: u64,
        /// Stored.
        found: u64,
    },
    /// Two fields hold elements, or a field that does not belong to the type does.
    #[error("expected elements in {expected}, found some in {found} as well or instead")]
    Field {
        /// Where they belong.
        expected: &'static str,
        /// Where there are some.
        found: &'static str,
    },
    /// An entry of a typed field does not fit the element type.
    #[error("{field}[{index}] is {found}, which does not fit the element type")]
    OutOfRange {
        /// The field.
        field: &'static str,
        /// Which entry.
        index: usize,
        /// The entry.
        found: i128,
    },
    /// The tensor is one part of a larger one.
    #[error("segments of tensors are not supported")]
    Segment,
    /// The file with the elements cannot be used.
    #[error(transparent)]
    External(#[from] ExternalError),
}

/// Says why a file with external data could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExternalError {
    /// The model was not opened from a file, so that there is no folder to look in.
    #[error("external data at `{0}`, but the model has no folder")]
    NoFolder(String),
    /// The tensor does not say which file.
    #[error("the external data has no location")]
    NoLocation,
    /// Offset or length is not a number of bytes.
    #[error("expected a number of bytes for `{key}`, found `{found}`")]
    Number {
        /// `offset` or `length`.
        key: &'static str,
        /// Its value.
        found: String,
    },
    /// The location is absolute, or leads out of the model's folder.
    #[error("expected a file in the model's folder, found `{0}`")]
    Outside(String),
    /// The location is not a regular file.
    #[error("{} is not a regular file", .0.display())]
    NotAFile(PathBuf),
    /// The file is shorter than the tensor needs.
    #[error("{}: expected at least {expected} bytes, found {found}", path.display())]
    Short {
        /// The file.
        path: PathBuf,
        /// Offset plus length.
        expected: u64,
        /// Length of the file.
        found: u64,
    },
    /// The system refused.
    #[error("cannot open {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

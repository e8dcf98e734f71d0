//! Why a model could not be imported or exported.

use crate::file::{FileError, TensorError};

/// Why a model could not be imported or exported. Each says where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be read or written.
    #[error(transparent)]
    File(Box<FileError>),
    /// The model could not be encoded.
    #[error("the model cannot be encoded: {source}")]
    Encode {
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The model has no graph.
    #[error("the model has no graph")]
    NoGraph,
    /// The version of the default operator set is below 7 or absent.
    #[error("operator set {found} is not supported: 7 is the first that is")]
    Opset {
        /// The version, 0 if none is given.
        found: i64,
    },
    /// A node uses a name that nothing defines.
    #[error("{node} uses `{name}`, which nothing defines")]
    Undefined {
        /// The node.
        node: String,
        /// The name.
        name: String,
    },
    /// Two things define one name.
    #[error("{node} defines `{name}`, which is defined already")]
    Redefined {
        /// The node.
        node: String,
        /// The name.
        name: String,
    },
    /// Nodes depend on each other in a circle.
    #[error("the graph is cyclic: {node} depends on its own output `{name}`")]
    Cycle {
        /// A node of the cycle.
        node: String,
        /// A value of the cycle.
        name: String,
    },
    /// A tensor does not hold what it says.
    #[error("tensor `{name}`: {source}")]
    Tensor {
        /// The tensor.
        name: String,
        /// What is wrong with it.
        #[source]
        source: Box<TensorError>,
    },
    /// The program has what no node of the operator set can say.
    #[error("operation `{op}` cannot be written in operator set {opset}: {reason}")]
    Inexpressible {
        /// The operation.
        op: String,
        /// The operator set.
        opset: i64,
        /// Why.
        reason: String,
    },
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Error {
        Error::File(Box::new(error))
    }
}

/// The result of import and export.
pub type Result<T> = std::result::Result<T, Error>;

//! Why a model could not be imported or exported.

use crate::edit::EditError;
use crate::file::{FileError, TensorError};
use crate::schema::Violation;

/// Why a model could not be imported or exported. Each says where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be read or written.
    #[error(transparent)]
    File(Box<FileError>),
    /// The model cannot be changed as was asked for.
    #[error(transparent)]
    Edit(Box<EditError>),
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
    /// The result was asked for in a version of the default operator set that is not known.
    #[error(
        "operator set {wanted} cannot be written: {least} to {newest} are known, and the model's \
         own is {own}"
    )]
    WantedOpset {
        /// The version that was asked for.
        wanted: i64,
        /// The first version that is supported.
        least: i64,
        /// The last version that is known.
        newest: i64,
        /// The version of the model.
        own: i64,
    },
    /// What was made of the model does not keep to the schemas of its operator sets, though the
    /// model did: nothing that is written is like this.
    #[error("the result would be no valid model, which is a defect of tangram: {violation}")]
    Invalid {
        /// The first node that is wrong.
        violation: Box<Violation>,
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

impl From<EditError> for Error {
    fn from(error: EditError) -> Error {
        Error::Edit(Box::new(error))
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Error {
        Error::File(Box::new(error))
    }
}

/// The result of import and export.
pub type Result<T> = std::result::Result<T, Error>;

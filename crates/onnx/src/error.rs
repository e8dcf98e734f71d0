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
    /// The result was asked for in a version of the default operator set in which not all of it can
    /// be said.
    #[error("the model cannot be written in operator set {opset}:{unsaid}{}", hint(*first))]
    Unsaid {
        /// The version that was asked for.
        opset: i64,
        /// The first later version in which all of it can be said.
        first: Option<i64>,
        /// What cannot be said, each on a line of its own.
        unsaid: String,
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

fn hint(first: Option<i64>) -> String {
    match first {
        Some(version) => format!("\noperator set {version} is the first that has all of it"),
        None => String::new(),
    }
}

/// What cannot be said in an operator set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unsaid {
    /// Where.
    pub at: String,
    /// What, and why.
    pub reason: String,
}

/// How many reasons a message has.
const SHOWN: usize = 12;

impl Unsaid {
    /// The reasons, each once with the first place and how many there are.
    pub(crate) fn list(all: Vec<Unsaid>) -> String {
        let mut reasons: Vec<(String, String, usize)> = Vec::new();
        for Unsaid { at, reason } in all {
            match reasons.iter_mut().find(|known| known.0 == reason) {
                Some(known) => known.2 += 1,
                None => reasons.push((reason, at, 1)),
            }
        }
        let more = reasons.len().saturating_sub(SHOWN);
        let line = |(reason, at, count): &(String, String, usize)| match count {
            1 => format!("\n  {reason}, at {at}"),
            _ => format!("\n  {reason}, at {at} and {} more", count - 1),
        };
        let mut text: String = reasons.iter().take(SHOWN).map(line).collect();
        if more > 0 {
            text += &format!("\n  and {more} more reasons");
        }
        text
    }
}

impl From<Violation> for Unsaid {
    fn from(found: Violation) -> Unsaid {
        let Violation { node, operator, version, problem } = found;
        Unsaid { at: node, reason: format!("{operator} of operator set {version} {problem}") }
    }
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

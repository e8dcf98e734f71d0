//! Scripts of steps that edit a schedule tree.
//!
//! A script goes from node to node and applies operations of an [`Editor`] there; each step
//! is checked as the operation is. Steps end with `;` or a line, `#` starts a comment:
//!
//! ```text
//! find band               # the first band, from the root on
//! tile 32 8
//! child 0; interchange 0 1
//! root; find leaf; insert_mark kernel
//! ```
//!
//! Operands are integers, names, and sets, maps or trees in isl's notation, between quotes or not.
//! After an operation the script is at the node that it made or changed. [`STEPS`] lists all steps.

mod apply;
mod read;

pub use apply::STEPS;

use super::Editor;
use crate::{Error, Node};
use read::ScriptStep;

/// Steps that were read and not yet applied.
#[derive(Debug, Clone)]
pub struct Script {
    steps: Vec<ScriptStep>,
}

impl Script {
    /// Reads steps; whether they fit a tree is not known before they run.
    ///
    /// # Errors
    /// [`Error::Structure`] with the place of what is no step or operand.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Ok(Self { steps: read::steps(text)? })
    }

    /// Applies the steps, from a node of the editor's tree on; returns the last node.
    ///
    /// # Errors
    /// [`Error::Step`] with the place of the first step that is refused; the tree is then that
    /// of the steps before it.
    pub fn apply(&self, editor: &mut Editor<'_>, from: Node) -> Result<Node, Error> {
        let mut at = from;
        for step in &self.steps {
            at = apply::apply(editor, at, step).map_err(|error| match error {
                Error::Structure { .. } | Error::Key { .. } | Error::Notation { .. } => error,
                error => Error::Step {
                    line: step.line,
                    column: step.column,
                    step: step.name.clone(),
                    error: Box::new(error),
                },
            })?;
        }
        Ok(at)
    }
}

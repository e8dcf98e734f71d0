//! What went wrong with a user's input, where, and what to do about it.
//!
//! The place is a [`Loc`] of a context, which an operation keeps through passes: a line of a text, a
//! node of a model, or several. A diagnostic of GSL (`diagnostic` in `tangram-gsl`) points into the
//! text of rules, with several marked ranges.

use std::fmt;

use crate::location::Loc;

/// How bad a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The input is wrong.
    Error,
    /// The input is right and probably not what was meant.
    Warning,
    /// Said for information.
    Note,
}

/// A message about a user's input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable kebab-case name of this kind of message.
    pub code: &'static str,
    /// What is wrong: lower case, no full stop, with what was expected and found.
    pub message: String,
    /// Where.
    pub loc: Loc,
    /// More about it.
    pub notes: Vec<String>,
    /// The way out.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error at `loc`.
    pub fn error(code: &'static str, loc: Loc, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            loc,
            notes: Vec::new(),
            hint: None,
        }
    }

    /// Adds the way out.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

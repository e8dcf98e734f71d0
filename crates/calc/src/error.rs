//! Errors with a place in the program.
//!
//! A place and a message, as whoever types one line needs; findings with marked ranges, notes and
//! hints are those of rules (`diagnostic` in `tangram-gsl`).

use tangram_presburger::Error;
use thiserror::Error;

/// A program that could not be run to its end; the values computed before stay.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct CalcError {
    /// Line of the place, from 1.
    pub line: usize,
    /// Column of the place, from 1, in characters.
    pub column: usize,
    /// What was expected and found.
    pub message: String,
    /// Whether the program is not in the language, whatever its values are.
    pub is_syntax: bool,
}

/// A failure at a byte offset of the program.
#[derive(Debug)]
pub(crate) struct Fault {
    pub at: usize,
    pub message: String,
    /// More text could mend this.
    pub open: bool,
    /// The text is not in the language.
    pub is_syntax: bool,
}

impl Fault {
    pub fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), open: false, is_syntax: false }
    }

    /// What stands at `at` is not in the language.
    pub fn syntax(at: usize, message: impl Into<String>) -> Self {
        Self { is_syntax: true, ..Self::new(at, message) }
    }

    /// What starts at `at` has no end.
    pub fn open(at: usize, message: &str) -> Self {
        Self { open: true, ..Self::syntax(at, message) }
    }

    /// Places an error of the library; one in a text counts from the start of that text.
    pub fn of(at: usize, text: Option<&str>, error: &Error) -> Self {
        let (Error::Syntax { column, expected, found }, Some(text)) = (error, text) else {
            let way = match error {
                Error::Unbounded { .. } | Error::NoOptimum { .. } => {
                    "; intersect with a set that bounds it"
                }
                Error::UnboundedParameter { .. } => "; intersect with a set that gives it one",
                Error::Steps { .. } => "; a higher limit or smaller sets get further",
                Error::NotSingleValued => "; `lexmin` keeps one",
                _ => "",
            };
            return Self::new(at, format!("{error}{way}"));
        };
        let offset = text.char_indices().nth(column - 1).map_or(text.len(), |(i, _)| i);
        Self::syntax(at + offset, format!("expected {expected}, found `{found}`"))
    }

    pub fn locate(self, program: &str) -> CalcError {
        let before = &program[..self.at.min(program.len())];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let column = before[start..].chars().count() + 1;
        CalcError { line, column, message: self.message, is_syntax: self.is_syntax }
    }
}

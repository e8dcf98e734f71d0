//! What the greedy driver did.

use std::fmt;

use super::history::Cycle;
use crate::set::PatternReport;

/// The limit that ended the work before the fixpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Stop {
    /// This many rewrites.
    Rewrites(u64),
    /// This many rounds.
    Iterations(u32),
    /// This many operations more than at the start.
    Growth(u64),
    /// The time.
    Deadline,
    /// Whoever started it.
    Cancelled,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Rewrites(n) => write!(f, "the limit of {n} rewrites"),
            Stop::Iterations(n) => write!(f, "the limit of {n} iterations"),
            Stop::Growth(n) => write!(f, "the limit of {n} operations more than at the start"),
            Stop::Deadline => write!(f, "the time limit"),
            Stop::Cancelled => write!(f, "cancellation"),
        }
    }
}

/// A pattern that broke its contract.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Breach {
    /// The pattern said that it rewrote, but changed nothing.
    SuccessWithoutChange(String),
    /// The pattern said that it did not match, but changed something.
    ChangeWithoutSuccess(String),
    /// The pattern started to modify an operation in place, and neither finalized nor cancelled
    /// that.
    UnfinishedModification(String),
    /// The pattern erased an operation that is neither its root nor in the regions of it, which
    /// the walk driver does not allow.
    ErasedOutside(String),
    /// The pattern left its root as it was: neither modified, replaced nor erased.
    RootUntouched(String),
    /// The pattern changed an operation without telling anyone.
    UnheardChange(String),
    /// The pattern left a program that does not verify, for this reason.
    InvalidIr(String, String),
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Breach::SuccessWithoutChange(name) => {
                write!(f, "`{name}` reported a rewrite but changed nothing")
            }
            Breach::ChangeWithoutSuccess(name) => {
                write!(f, "`{name}` changed something but reported no rewrite")
            }
            Breach::UnfinishedModification(name) => {
                write!(f, "`{name}` neither finalized nor cancelled a modification that it started")
            }
            Breach::ErasedOutside(name) => {
                write!(f, "`{name}` erased an operation outside of its root")
            }
            Breach::RootUntouched(name) => {
                write!(f, "`{name}` reported a rewrite but left its root as it was")
            }
            Breach::UnheardChange(name) => {
                write!(f, "`{name}` changed an operation without the rewriter")
            }
            Breach::InvalidIr(name, error) => {
                write!(f, "`{name}` left a program that does not verify: {error}")
            }
        }
    }
}

/// What was done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Each pattern, in the order in which they are tried.
    pub patterns: Vec<PatternReport>,
    /// How many rewrites there were, by patterns.
    pub rewrites: u64,
    /// How many operations were erased because nothing used them.
    pub dead: u64,
    /// How many operations were replaced by equal ones.
    pub merged: u64,
    /// How many operations were folded.
    pub folded: u64,
    /// How many blocks and arguments went when regions were simplified.
    pub simplified: u64,
    /// How many operations were looked at.
    pub visits: u64,
    /// How many sweeps over all operations there were, the first one counted.
    pub sweeps: u32,
    /// The limit that ended the work; `None` if nothing matches any more.
    pub stopped_by: Option<Stop>,
    /// What went round in a circle, if the number of rewrites ended the work.
    pub cycle: Option<Cycle>,
    /// Patterns that broke their contract, each once.
    pub breaches: Vec<Breach>,
}

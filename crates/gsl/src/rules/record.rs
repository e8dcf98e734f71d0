//! What rules did and what was refused: provenance beside the program, not in it.

use std::sync::Mutex;

use tangram_ir::{Diagnostic, Op};

/// A rewrite that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// The rule.
    pub rule: String,
    /// Where it was anchored.
    pub root: Op,
    /// The matched operations, some of which are erased now.
    pub matched: Vec<Op>,
    /// The operations that were made.
    pub made: Vec<Op>,
}

/// A match whose rewrite was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule.
    pub rule: String,
    /// Where it was anchored.
    pub root: Op,
    /// Why, with rule, operation and what was expected and found.
    pub diagnostic: Diagnostic,
}

/// Hears what rules do.
pub trait Record: Send + Sync {
    /// A rule was applied.
    fn applied(&self, application: Application);
    /// A rule matched, and its rewrite was refused.
    fn refused(&self, refusal: Refusal);
}

/// Keeps everything.
#[derive(Debug, Default)]
pub struct Log {
    applications: Mutex<Vec<Application>>,
    refusals: Mutex<Vec<Refusal>>,
}

impl Log {
    /// Returns the rewrites so far.
    pub fn applications(&self) -> Vec<Application> {
        self.applications.lock().map(|list| list.clone()).unwrap_or_default()
    }

    /// Returns the refusals so far.
    pub fn refusals(&self) -> Vec<Refusal> {
        self.refusals.lock().map(|list| list.clone()).unwrap_or_default()
    }
}

impl Record for Log {
    fn applied(&self, application: Application) {
        if let Ok(mut list) = self.applications.lock() {
            list.push(application);
        }
    }

    fn refused(&self, refusal: Refusal) {
        if let Ok(mut list) = self.refusals.lock() {
            list.push(refusal);
        }
    }
}

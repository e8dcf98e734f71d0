//! Patterns: what may be rewritten, and how.

use tangram_ir::{Name, Op};

use crate::rewriter::Rewriter;

/// The operations that a pattern may match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Roots {
    /// Operations of these names.
    Names(Vec<Name>),
    /// Any operation.
    Any,
}

/// Why a pattern left an operation alone.
///
/// A reason that costs something to make is made only when [`Rewriter::wants_reasons`] says so.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NoMatch {
    /// What did not hold, if it was asked for.
    pub reason: Option<String>,
}

impl NoMatch {
    /// No match, without a reason.
    pub const SILENT: NoMatch = NoMatch { reason: None };

    /// No match for this reason.
    pub fn because(reason: impl Into<String>) -> NoMatch {
        NoMatch { reason: Some(reason.into()) }
    }
}

/// A rewrite of one place.
///
/// A pattern matches first and changes afterwards: when it returns `Err` the module is as it was,
/// when it returns `Ok` something was changed, and all changes went through the rewriter.
pub trait RewritePattern: Send + Sync {
    /// The kebab-case name, unique in a set; the same in flags, traces and tests.
    fn name(&self) -> &str;

    /// Groups that it can be switched on or off with.
    fn labels(&self) -> &[String] {
        &[]
    }

    /// The operations that it may match.
    fn roots(&self) -> Roots;

    /// Patterns of greater benefit are tried first; equal ones in the order of the set.
    fn benefit(&self) -> u16 {
        1
    }

    /// How many operations the longest chain has that is looked at, from the root through
    /// operands; the root counts. When an operation changes, its users up to this far are tried
    /// again at once; what lies farther is found by the last sweep only.
    fn depth(&self) -> u32 {
        1
    }

    /// Says whether the match goes from the root to other users of its operands.
    fn looks_sideways(&self) -> bool {
        false
    }

    /// Rewrites at `op`, or leaves everything as it is.
    ///
    /// # Errors
    /// [`NoMatch`] if nothing was changed.
    fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch>;
}

//! What a pass is.

use tangram_ir::{Diagnostic, Module, Op};
use tangram_rewrite::PatternReport;

use crate::manager::Observer;

/// Why a pass could not do its work.
pub type PassError = Box<Diagnostic>;

/// What a pass works on.
pub struct PassCx<'a> {
    /// The module.
    pub module: &'a mut Module,
    /// The operation that the pass runs on; what stands outside is left alone.
    pub root: Op,
    /// What was counted so far in this pass, by name; see [`PassCx::count`].
    pub counts: &'a mut Vec<(&'static str, u64)>,
    /// Things to tell the user that are no errors.
    pub warnings: &'a mut Vec<Diagnostic>,
    /// What became of each pattern so far in this pass; see [`PassCx::count_patterns`].
    pub patterns: &'a mut Vec<PatternReport>,
    /// Who hears of changes.
    pub observer: &'a mut dyn Observer,
    /// Whether patterns are held to their contract.
    pub check_patterns: bool,
}

impl PassCx<'_> {
    /// Adds `n` to the statistic `name`.
    pub fn count(&mut self, name: &'static str, n: u64) {
        match self.counts.iter_mut().find(|entry| entry.0 == name) {
            Some(entry) => entry.1 += n,
            None => self.counts.push((name, n)),
        }
    }
}

impl PassCx<'_> {
    /// Adds what became of each pattern of a set, in the order of the set.
    pub fn count_patterns(&mut self, reports: Vec<PatternReport>) {
        if self.patterns.len() != reports.len() {
            self.patterns.extend(reports);
            return;
        }
        for (sum, one) in self.patterns.iter_mut().zip(reports) {
            sum.attempts += one.attempts;
            sum.hits += one.hits;
            sum.time += one.time;
            sum.added += one.added;
            sum.removed += one.removed;
            sum.last_failure = one.last_failure.or(sum.last_failure.take());
        }
    }
}

/// A change of everything below one operation.
pub trait Pass {
    /// Runs on `cx.root`. It may run many times, on one operation after the other.
    ///
    /// # Errors
    /// If the work cannot be done; the module is valid then as well.
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError>;
}

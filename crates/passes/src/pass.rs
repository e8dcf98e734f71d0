//! What a pass is.

use tangram_ir::{Diagnostic, Module, Op};

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

/// A change of everything below one operation.
pub trait Pass {
    /// Runs on `cx.root`. It may run many times, on one operation after the other.
    ///
    /// # Errors
    /// If the work cannot be done; the module is valid then as well.
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError>;
}

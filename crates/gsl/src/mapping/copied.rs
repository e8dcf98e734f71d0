//! Whether a rewrite copies a weight: what others still read stays beside what was made of it.

use rustc_hash::FxHashSet;
use tangram_dialects::constant;
use tangram_ir::{Diagnostic, Op, Value};
use tangram_rewrite::{Exchange, Made};

use super::build::Builder;
use super::worth::{gone, needed};
use crate::matching::Match;

impl Builder<'_, '_> {
    /// Refuses a target whose constants are made of ones that stay, where there is no room for both.
    pub(super) fn copies(&mut self, found: &Match, new: &[Value]) -> Result<(), Diagnostic> {
        if !self.settings.guarded {
            return Ok(());
        }
        let module = self.module();
        let kept = needed(module, self.made(), new);
        let made = Made::of(module, kept.iter().copied());
        if made.bytes == 0 {
            return Ok(());
        }
        let matched = gone(module, found, self.made());
        let is_constant = |value: &Value| constant::constant_attr(module, *value).is_some();
        let ops = matched.iter().chain(found.ops());
        let read = ops.flat_map(|op| module.operands(*op).chain(module.results(*op)));
        let read: FxHashSet<Value> = read.filter(is_constant).collect();
        // What was made on the way and is not needed goes as well.
        let unneeded = self.made().iter().filter(|op| !kept.contains(op));
        let gone: FxHashSet<Op> = matched.iter().chain(unneeded).copied().collect();
        let exchange = Exchange { made, read: &read, gone: &gone };
        if self.rewriter.admits_made(&exchange) {
            Ok(())
        } else {
            let message = "the target has a copy of a constant that others use";
            Err(self.refuse("copies", message))
        }
    }
}

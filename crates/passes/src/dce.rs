//! `dce`: erases operations that nothing uses.

use tangram_ir::{Op, Order, walk};
use tangram_rewrite::{Rewriter, Silent};

use crate::effects::Acting;
use crate::pass::{Pass, PassCx, PassError};
use crate::registry::Entry;

pub(crate) const ENTRY: Entry = Entry {
    name: "dce",
    summary: "erases operations without effect whose results are not used",
    options: &[],
    make: |_| Ok(Box::new(Dce)),
};

struct Dce;

impl Pass for Dce {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let acting = Acting::new(cx.module, cx.root);
        // Users come before definitions, so that one round finds whole chains.
        let mut open: Vec<Op> = walk(cx.module, cx.root, Order::Pre);
        let mut erased = 0;
        let root = cx.root;
        let mut silent = Silent;
        let mut rewriter = Rewriter::new(cx.module, &mut silent);
        while let Some(op) = open.pop() {
            let module = rewriter.module();
            if op == root || !module.is_live(op) || !acting.is_dead(module, op) {
                continue;
            }
            // An operation in a region may be the last user of one that was looked at before.
            for inner in walk(module, op, Order::Pre) {
                open.extend(module.operands(inner).filter_map(|value| module.def_op(value)));
            }
            rewriter.erase(op);
            erased += 1;
        }
        cx.count("erased", erased);
        Ok(())
    }
}

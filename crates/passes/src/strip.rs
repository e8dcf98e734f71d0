//! `strip-debuginfo`: drops where operations come from.

use tangram_ir::{Loc, Order, walk};

use crate::pass::{Pass, PassCx, PassError};
use crate::registry::Entry;

pub(crate) const ENTRY: Entry = Entry {
    name: "strip-debuginfo",
    summary: "drops the locations of operations",
    options: &[],
    make: |_| Ok(Box::new(Strip)),
};

struct Strip;

impl Pass for Strip {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        for op in walk(cx.module, cx.root, Order::Pre) {
            cx.module.set_loc(op, Loc::UNKNOWN);
        }
        Ok(())
    }
}

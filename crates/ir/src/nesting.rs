//! Which operations stand inside which, as it was at one time, with answers in O(1).

use crate::module::{Module, Op, Region};
use crate::op_def::Traits;
use crate::paged::Paged;
use crate::walk::{Order, walk};

/// Not below the root.
const NOWHERE: u32 = u32::MAX;

/// The operations below one, numbered in pre-order.
pub(crate) struct Nesting {
    /// For each operation its number and the last number inside it.
    spans: Paged<(u32, u32)>,
    /// For each region the first and the last number inside it.
    regions: Paged<(u32, u32)>,
    /// For each operation the number of the innermost isolated one around it.
    walls: Paged<u32>,
}

impl Nesting {
    /// Numbers everything below `root`. O(operations).
    pub(crate) fn new(module: &Module, root: Op) -> Nesting {
        let ops = walk(module, root, Order::Pre);
        let mut nesting = Nesting {
            spans: Paged::new((NOWHERE, 0)),
            regions: Paged::new((NOWHERE, 0)),
            walls: Paged::new(NOWHERE),
        };
        for (number, &op) in (0u32..).zip(&ops) {
            nesting.spans.set(op.as_u32(), (number, number));
            let Some(parent) = module.parent(op).filter(|_| op != root) else { continue };
            let isolated = module.has_traits(parent, Traits::ISOLATED);
            let wall = if isolated { nesting.span(parent).0 } else { nesting.wall(parent) };
            nesting.walls.set(op.as_u32(), wall);
        }
        // From the last one on, what an operation holds was seen before it.
        for &op in ops.iter().skip(1).rev() {
            nesting.widen(module, op);
        }
        nesting
    }

    fn widen(&mut self, module: &Module, op: Op) {
        let (first, last) = self.span(op);
        if let Some(parent) = module.parent(op) {
            let (number, end) = self.span(parent);
            self.spans.set(parent.as_u32(), (number, end.max(last)));
        }
        if let Some(region) = module.block(op).and_then(|block| module.block_region(block)) {
            let (from, to) = self.regions.get(region.as_u32());
            self.regions.set(region.as_u32(), (from.min(first), to.max(last)));
        }
    }

    fn span(&self, op: Op) -> (u32, u32) {
        self.spans.get(op.as_u32())
    }

    /// The number of the innermost isolated operation around `op`.
    fn wall(&self, op: Op) -> u32 {
        self.walls.get(op.as_u32())
    }

    /// The number of `op`, which is greater than that of each operation around it.
    pub(crate) fn number(&self, op: Op) -> u32 {
        self.span(op).0
    }

    /// Returns whether `region`, or a region inside it, holds `op`.
    pub(crate) fn is_inside(&self, op: Op, region: Region) -> bool {
        let (from, to) = self.regions.get(region.as_u32());
        let number = self.number(op);
        number != NOWHERE && from <= number && number <= to
    }

    /// Returns whether `op` is `around` or stands in it.
    pub(crate) fn is_within(&self, op: Op, around: Op) -> bool {
        let ((from, to), number) = (self.span(around), self.number(op));
        number != NOWHERE && from <= number && number <= to
    }

    /// Returns whether an isolated operation stands around `op` and inside `outer`.
    pub(crate) fn has_wall_between(&self, outer: Op, op: Op) -> bool {
        let wall = self.wall(op);
        // One around both has a lower number.
        wall != NOWHERE && wall > self.number(outer)
    }

    /// Returns whether an isolated operation other than `holder` stands around `op`.
    pub(crate) fn has_wall_besides(&self, holder: Op, op: Op) -> bool {
        let wall = self.wall(op);
        wall != NOWHERE && wall != self.number(holder)
    }
}

//! The order of operations in a block: who stands before whom, in O(1).
//!
//! Each operation has a label, a number that grows along the block. One that is put between two
//! others gets the number halfway. Where there is none, labels nearby are spread anew: the
//! smallest range of labels around the place whose size is a power of two and that is not too
//! full gives its operations labels at equal distances. What "too full" means falls with the size
//! of the range: one of `2^i` labels may hold at most `(2 / T)^i` operations. So a range that was
//! spread takes in many operations before it has to be spread again, and an insertion costs
//! O(log n) new labels, amortised, in a block of n operations.
//!
//! Both ends are cheap: a block begins in the middle of all labels and grows by a fixed step in
//! either direction.
//!
//! # Source
//! M. Bender, R. Cole, E. Demaine, M. Farach-Colton, J. Zito, "Two simplified algorithms for
//! maintaining order in a list" (ESA 2002), the tag-range algorithm with a fixed `T`. Divergence:
//! labels have 32 bits, so that from ten million operations on a full range may be taken after
//! all.

use super::{Block, Module, Op};

/// The distance between neighbours at either end.
const STEP: u32 = 1 << 4;
/// The label of the first operation of a block.
const MIDDLE: u32 = 1 << 31;
/// How many labels there are, as a power of two; the last one marks erased operations.
const BITS: u32 = 32;
/// `2 / T`: how the most operations of a range grow when its size doubles.
const GROWTH: f64 = 2.0 / 1.2;

impl Module {
    /// Gives `op`, which is linked into `block`, a label between its neighbours'. Returns how
    /// many labels were written.
    pub(super) fn label(&mut self, op: Op, block: Block) -> usize {
        let before = self.prev(op).map(|prev| self.ops[prev].order);
        let after = self.next(op).map(|next| self.ops[next].order);
        let free = match (before, after) {
            (None, None) => Some(MIDDLE),
            // The last label belongs to the erased.
            (Some(before), None) => before.checked_add(STEP).filter(|&label| label < u32::MAX),
            (None, Some(after)) => after.checked_sub(STEP),
            (Some(before), Some(after)) => {
                let label = before + (after - before) / 2;
                (label > before).then_some(label)
            }
        };
        match (free, before, after) {
            (Some(label), ..) => {
                self.ops[op].order = label;
                1
            }
            (None, Some(before), Some(_)) => self.spread_around(op, before),
            (None, ..) => self.centre(block),
        }
    }

    /// Spreads the labels around `op`, which has none yet and stands right after `label`.
    fn spread_around(&mut self, op: Op, label: u32) -> usize {
        let (mut first, mut last) = (op, op);
        let (mut count, mut most) = (1u64, 1.0);
        for bits in 1..=BITS {
            most *= GROWTH;
            let size = 1u64 << bits;
            let base = u64::from(label) & !(size - 1);
            while let Some(prev) = self.prev(first)
                && u64::from(self.ops[prev].order) >= base
            {
                (first, count) = (prev, count + 1);
            }
            while let Some(next) = self.next(last)
                && u64::from(self.ops[next].order) < base + size
            {
                (last, count) = (next, count + 1);
            }
            // A distance of two leaves room on both sides of each label.
            let fits = count as f64 <= most && 2 * count <= size;
            if fits || bits == BITS {
                return self.spread(first, count, base, size);
            }
        }
        unreachable!("the last range holds all labels")
    }

    /// Gives `count` operations from `first` on labels at equal distances in a range.
    fn spread(&mut self, first: Op, count: u64, base: u64, size: u64) -> usize {
        let mut at = Some(first);
        for i in 0..count {
            let Some(op) = at else { break };
            // In the middle of each share. Fewer than 2^31 times at most 2^31: 64 bits are enough.
            let offset = (2 * i + 1) * (size / 2) / count;
            self.ops[op].order = (base + offset) as u32;
            at = self.next(op);
        }
        count as usize
    }

    /// Labels all of `block` anew, around the middle, when an end has run out of labels.
    fn centre(&mut self, block: Block) -> usize {
        let count = self.ops(block).count() as u64;
        // Half of the labels stay free for both ends.
        let most = (1u64 << (BITS - 1)) / count;
        let size = count * most.clamp(2, u64::from(STEP));
        let Some(first) = self.first_op(block) else { return 0 };
        self.spread(first, count, u64::from(MIDDLE) - size / 2, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::location::Loc;
    use crate::module::{OpState, Point};

    /// Makes operations at the places that `place` says, given the module and the last two made;
    /// returns how many labels that took for each, and checks the order.
    fn labels_per_op(n: usize, mut place: impl FnMut(&Module, usize, &[Op]) -> Point) -> f64 {
        let context = Context::new();
        let name = context.name("t.x");
        let mut module = Module::new(context);
        let block = module.body();
        let (mut made, mut labels) = (Vec::new(), 0);
        for i in 0..n {
            let op = module.create(OpState::new(name, Loc::UNKNOWN));
            let point = place(&module, i, &made);
            module.link_op(op, point);
            labels += module.label(op, block);
            made.push(op);
        }
        let ops: Vec<Op> = module.ops(block).collect();
        assert_eq!(ops.len(), n);
        assert!(ops.windows(2).all(|pair| module.is_before(pair[0], pair[1])));
        labels as f64 / n as f64
    }

    #[test]
    fn both_ends_cost_one_label() {
        let end = |module: &Module, _: usize, _: &[Op]| Point::End(module.body());
        assert_eq!(labels_per_op(10_000, end), 1.0);
        let start = |module: &Module, _: usize, _: &[Op]| Point::Start(module.body());
        assert_eq!(labels_per_op(10_000, start), 1.0);
    }

    /// At one place, before or after it, and between the last two: logarithmic, not linear.
    #[test]
    fn a_crowded_place_costs_few_labels() {
        let end = |module: &Module| Point::End(module.body());
        for n in [1_000, 30_000] {
            let most = 8.0 * (n as f64).log2();
            let before = labels_per_op(n, |module, i, made| match i {
                0 => end(module),
                _ => Point::Before(made[0]),
            });
            let after = labels_per_op(n, |module, i, made| match i {
                0 | 1 => end(module),
                _ => Point::After(made[0]),
            });
            let between = labels_per_op(n, |module, i, made| match i {
                0 | 1 => end(module),
                _ if i % 2 == 0 => Point::Before(made[i - 1]),
                _ => Point::After(made[i - 1]),
            });
            let filled = labels_per_op(n, |module, i, made| match i {
                _ if i < n / 2 => end(module),
                _ => Point::Before(made[n / 4]),
            });
            for labels in [before, after, between, filled] {
                assert!(labels <= most, "{labels} labels for each of {n}, at most {most}");
            }
        }
    }

    #[test]
    fn an_end_that_runs_out_of_labels_is_moved_to_the_middle() {
        let context = Context::new();
        let name = context.name("t.x");
        let mut module = Module::new(context);
        let block = module.body();
        let make =
            |module: &mut Module, point| module.create_at(point, OpState::new(name, Loc::UNKNOWN));
        let first = make(&mut module, Point::End(block));
        module.ops[first].order = u32::MAX - STEP;
        let last = make(&mut module, Point::End(block));
        assert!(module.is_live(last) && module.is_before(first, last));
        module.ops[first].order = 3;
        let start = make(&mut module, Point::Start(block));
        assert!(module.is_before(start, first) && module.is_before(first, last));
    }
}

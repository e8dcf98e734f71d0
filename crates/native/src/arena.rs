//! Planning of the arena: where in one block of memory each buffer lies.
//!
//! Two buffers may share bytes if no step needs both. The largest are placed first, each at the
//! lowest offset that is free during its whole life ("greedy by size", Pisarchyk and Lee,
//! "Efficient Memory Management for Deep Neural Net Inference", 2020): within a few percent of
//! the optimum on networks, which is hard to find (dynamic storage allocation, NP-complete).

use crate::memory::ALIGNMENT;

/// A buffer to place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    /// How many bytes it needs.
    pub bytes: usize,
    /// The first step that needs it.
    pub first: usize,
    /// The last one.
    pub last: usize,
}

impl Slot {
    fn meets(&self, other: &Slot) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Returns the offset of each slot, a multiple of [`ALIGNMENT`], and the bytes of the whole;
/// `None` where those are more than addresses.
pub(crate) fn plan(slots: &[Slot]) -> Option<(Vec<usize>, usize)> {
    let mut order: Vec<usize> = (0..slots.len()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(slots[i].bytes), slots[i].first));
    let mut offsets = vec![0; slots.len()];
    // Placed slots by offset.
    let mut placed: Vec<usize> = Vec::with_capacity(slots.len());
    let mut total = 0;
    for i in order {
        let slot = &slots[i];
        let mut start = 0;
        for &other in placed.iter().filter(|&&other| slots[other].meets(slot)) {
            if start + slot.bytes <= offsets[other] {
                break;
            }
            let end = offsets[other].checked_add(slots[other].bytes)?;
            start = start.max(end.checked_next_multiple_of(ALIGNMENT)?);
        }
        offsets[i] = start;
        let at = placed.partition_point(|&other| offsets[other] <= start);
        placed.insert(at, i);
        total = total.max(start.checked_add(slot.bytes)?);
    }
    isize::try_from(total).is_ok().then_some((offsets, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_live_slots_share_a_byte_and_the_whole_is_near_what_is_live_at_once() {
        let mut random = fastrand::Rng::with_seed(5);
        let (mut planned, mut live) = (0, 0);
        for _ in 0..200 {
            let slots: Vec<Slot> = (0..random.usize(0..40))
                .map(|_| {
                    let first = random.usize(0..30);
                    let last = first + random.usize(0..6);
                    Slot { bytes: random.usize(0..2000), first, last }
                })
                .collect();
            let (offsets, total) = plan(&slots).expect("small");
            for (i, a) in slots.iter().enumerate() {
                assert!(offsets[i] % ALIGNMENT == 0 && offsets[i] + a.bytes <= total);
                for (j, b) in slots.iter().enumerate().skip(i + 1) {
                    let apart =
                        offsets[i] + a.bytes <= offsets[j] || offsets[j] + b.bytes <= offsets[i];
                    assert!(apart || !a.meets(b), "{slots:?} {offsets:?}");
                }
            }
            let at = |step: usize| {
                let live = slots.iter().filter(|slot| (slot.first..=slot.last).contains(&step));
                live.map(|slot| slot.bytes).sum::<usize>()
            };
            planned += total;
            live += (0..40).map(at).max().unwrap_or(0);
        }
        assert!(planned < live + live / 4, "{planned} bytes for {live} live at once");
    }

    #[test]
    fn sizes_beyond_memory_are_refused() {
        let huge = Slot { bytes: usize::MAX - 100, first: 0, last: 1 };
        assert_eq!(plan(&[huge, huge]), None);
    }
}

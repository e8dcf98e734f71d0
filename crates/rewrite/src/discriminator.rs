//! One look at an operation for many patterns.

use rustc_hash::FxHashMap;
use tangram_ir::{Module, Op};

use crate::pattern::RewritePattern;

/// Says at once which of many patterns may match at an operation, so that each need not look
/// itself. It only spares attempts: what it admits is tried as ever, in the same order.
pub trait Discriminator: Send + Sync {
    /// The names of the patterns that it knows, numbered by their places.
    fn patterns(&self) -> &[String];

    /// Makes `admitted` the bits of the patterns that may match at `op`: pattern `i` is bit
    /// `i % 64` of word `i / 64`. A pattern whose bit is not set does not match.
    fn admit(&self, module: &Module, op: Op, admitted: &mut Vec<u64>);
}

/// Where a pattern is found: which discriminator, and its number there.
pub(crate) type Covered = Option<(u32, u32)>;

/// Finds the patterns by name; one whose name is not unique is in no discriminator.
pub(crate) fn cover(
    patterns: &[Box<dyn RewritePattern>],
    discriminators: &[Box<dyn Discriminator>],
) -> Box<[Covered]> {
    let mut known: FxHashMap<&str, Covered> = FxHashMap::default();
    for (d, discriminator) in (0u32..).zip(discriminators) {
        for (i, name) in (0u32..).zip(discriminator.patterns()) {
            known.entry(name).and_modify(|place| *place = None).or_insert(Some((d, i)));
        }
    }
    let mut times: FxHashMap<&str, usize> = FxHashMap::default();
    patterns.iter().for_each(|pattern| *times.entry(pattern.name()).or_default() += 1);
    let place = |name: &str| known.get(name).copied().flatten().filter(|_| times[name] == 1);
    patterns.iter().map(|pattern| place(pattern.name())).collect()
}

/// What the discriminators said about one operation, each asked once at most.
#[derive(Default)]
pub(crate) struct Admitted {
    words: Vec<Vec<u64>>,
    asked: Vec<bool>,
}

impl Admitted {
    /// Forgets the last operation.
    pub(crate) fn reset(&mut self, count: usize) {
        self.words.resize(count, Vec::new());
        self.asked.clear();
        self.asked.resize(count, false);
    }

    pub(crate) fn has(
        &mut self,
        discriminators: &[Box<dyn Discriminator>],
        covered: Covered,
        (module, op): (&Module, Op),
    ) -> bool {
        let Some((d, i)) = covered else { return true };
        let (d, i) = (d as usize, i as usize);
        if !std::mem::replace(&mut self.asked[d], true) {
            discriminators[d].admit(module, op, &mut self.words[d]);
        }
        self.words[d].get(i / 64).is_some_and(|word| word >> (i % 64) & 1 == 1)
    }
}

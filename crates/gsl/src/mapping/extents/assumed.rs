//! What is assumed of extents, and what follows.

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_dialects::assume::Assumption;
use tangram_dialects::dims;
use tangram_ir::{Context, Dim};

/// Assumptions that hold together, on extents that no broadcasting made.
#[derive(Default)]
pub(super) struct Assumed {
    /// For an extent another one that equals it, up to the one that stands for all of them.
    equal: FxHashMap<Dim, Dim>,
    /// Pairs that broadcast, as they were given.
    broadcast: FxHashSet<(Dim, Dim)>,
}

impl Assumed {
    pub(super) fn add(&mut self, assumption: Assumption) {
        match assumption {
            Assumption::Equal(a, b) => {
                let (a, b) = (self.find(a), self.find(b));
                if a != b {
                    self.equal.insert(a, b);
                }
            }
            Assumption::Broadcast(a, b) => _ = self.broadcast.insert((a, b)),
        }
    }

    /// The extent that stands for all that are equal to this one.
    pub(super) fn find(&self, mut extent: Dim) -> Dim {
        while let Some(next) = self.equal.get(&extent) {
            extent = *next;
        }
        extent
    }

    /// Whether two extents are taken to broadcast.
    pub(super) fn broadcasts(&self, a: Dim, b: Dim) -> bool {
        let pair = (self.find(a), self.find(b));
        self.broadcast.iter().any(|(x, y)| {
            let known = (self.find(*x), self.find(*y));
            known == pair || (known.1, known.0) == pair
        })
    }
}

/// An assumption in words.
pub(super) fn text(context: &Context, assumption: Assumption) -> String {
    let text = |extent| dims::text(context, extent);
    match assumption {
        Assumption::Equal(a, b) => format!("{} equals {}", text(a), text(b)),
        Assumption::Broadcast(a, b) => format!("{} and {} broadcast", text(a), text(b)),
    }
}

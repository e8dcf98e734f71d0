//! Which operations go away when nothing uses them.

use rustc_hash::FxHashSet;
use tangram_ir::{Module, Name, Op, Traits};

/// Operations that hold one with an effect, as long as none with an effect is erased: looking into
/// the regions of each would be quadratic in their depth.
#[derive(Default)]
pub(super) struct Acting {
    known: FxHashSet<Op>,
    removed: u64,
}

impl Acting {
    /// Returns whether `op` has no effect but its results; those named in `erasable` have none.
    /// `removed` counts the operations with effects that were erased so far.
    pub(super) fn is_erasable(
        &mut self,
        module: &Module,
        op: Op,
        erasable: &[Name],
        removed: u64,
    ) -> bool {
        let alone = |op: Op| module.is_effect_free(op) || erasable.contains(&module.name(op));
        if module.has_traits(op, Traits::TERMINATOR) || !alone(op) {
            return false;
        }
        if module.regions(op).is_empty() {
            return true;
        }
        if self.removed != removed {
            self.known.clear();
            self.removed = removed;
        }
        // Depth first, to the first that acts; those around it are not asked again.
        let mut open = vec![op];
        while let Some(inner) = open.pop() {
            if self.known.contains(&inner) || !alone(inner) {
                self.remember(module, inner, op);
                return false;
            }
            let blocks = module.regions(inner).iter().flat_map(|&r| module.blocks(r));
            open.extend(blocks.flat_map(|block| module.ops(block)));
        }
        true
    }

    /// Everything from `inner` up to `op` acts.
    fn remember(&mut self, module: &Module, inner: Op, op: Op) {
        let mut at = inner;
        while at != op {
            self.known.insert(at);
            let Some(parent) = module.parent(at) else { break };
            at = parent;
        }
        self.known.insert(op);
    }
}

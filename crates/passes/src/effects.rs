//! What operations do besides giving results.

use rustc_hash::FxHashSet;
use tangram_ir::{Module, Op, Order, Traits, walk};

/// What an operation itself does, those in its regions left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// It makes a buffer.
    Allocates,
    /// It reads memory.
    Reads,
    /// It may do anything.
    Any,
}

/// Operations that only read memory.
const READS: &[&str] = &[
    "memref.load",
    "affine.load",
    "affine.vector_load",
    "vector.load",
    "vector.maskedload",
    "vector.expandload",
    "vector.gather",
    "vector.transfer_read",
];
/// Operations that only make a buffer.
const ALLOCATES: &[&str] = &["memref.alloc", "memref.alloca"];

/// What `op` itself does.
pub(crate) fn effect(module: &Module, op: Op) -> Effect {
    if module.is_effect_free(op) {
        return Effect::None;
    }
    match module.def(op) {
        Some(def) if READS.contains(&def.name) => Effect::Reads,
        Some(def) if ALLOCATES.contains(&def.name) => Effect::Allocates,
        _ => Effect::Any,
    }
}

/// The operations that may do anything, or hold one that may.
///
/// Found once, O(operations): asking every operation for what its regions hold would be quadratic
/// in the depth of the regions. Erasing operations that do nothing leaves it right.
pub(crate) struct Acting {
    known: FxHashSet<Op>,
    root: Op,
}

impl Acting {
    /// Looks at everything below `root`.
    pub(crate) fn new(module: &Module, root: Op) -> Acting {
        let mut acting = FxHashSet::default();
        for op in walk(module, root, Order::Pre) {
            if effect(module, op) < Effect::Any {
                continue;
            }
            let mut at = Some(op);
            // What is around one that is known to act is known to act.
            while let Some(here) = at.filter(|&here| acting.insert(here)) {
                at = module.parent(here).filter(|_| here != root);
            }
        }
        Acting { known: acting, root }
    }

    /// Returns whether `op` may do anything, those in its regions included.
    pub(crate) fn acts(&self, op: Op) -> bool {
        self.known.contains(&op)
    }

    /// Returns whether `op` goes away when nothing uses it. Outside of the root nothing does.
    pub(crate) fn is_dead(&self, module: &Module, op: Op) -> bool {
        module.is_unused(op)
            && !module.has_traits(op, Traits::TERMINATOR)
            && !module.has_traits(op, Traits::SYMBOL)
            && !self.acts(op)
            && module.is_proper_ancestor(self.root, op)
    }
}

/// The names of operations that go away when nothing uses them although they are not pure.
pub(crate) fn erasable() -> impl Iterator<Item = &'static str> {
    READS.iter().chain(ALLOCATES).copied()
}

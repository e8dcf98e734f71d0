//! What operations do besides giving results.

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
const READS: &[&str] = &["memref.load", "affine.load", "affine.vector_load"];
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

/// What `op` does, those in its regions included. O(operations inside).
pub(crate) fn effect_inside(module: &Module, op: Op) -> Effect {
    if module.regions(op).is_empty() {
        return effect(module, op);
    }
    let all = walk(module, op, Order::Pre);
    all.into_iter().map(|op| effect(module, op)).max().unwrap_or(Effect::None)
}

/// Says whether `op` goes away when nothing uses it.
pub(crate) fn is_dead(module: &Module, op: Op) -> bool {
    module.is_unused(op)
        && !module.has_traits(op, Traits::TERMINATOR)
        && !module.has_traits(op, Traits::SYMBOL)
        && effect_inside(module, op) <= Effect::Reads
}

/// The names of operations that go away when nothing uses them although they are not pure.
pub(crate) fn erasable() -> impl Iterator<Item = &'static str> {
    READS.iter().chain(ALLOCATES).copied()
}

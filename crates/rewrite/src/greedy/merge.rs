//! Common subexpressions: equal operations of which one is known where the other stands.
//!
//! The table is keyed by a hash of name, attributes, operands and result types. Entries are not
//! removed when an operation changes; a look-up compares what stands there now, and drops what
//! does not belong under its hash any more.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use tangram_ir::{Block, Module, Op, Traits, Value};

/// The operations seen so far.
#[derive(Default)]
pub(super) struct Table {
    buckets: FxHashMap<u64, SmallVec<[Op; 1]>>,
}

/// Of two equal operations, the one that stays and the one that it replaces.
pub(super) struct Merge {
    pub(super) kept: Op,
    pub(super) dropped: Op,
}

impl Table {
    /// Looks for an operation that equals `op`, and remembers `op`, or the one that stays.
    pub(super) fn find(&mut self, module: &Module, op: Op) -> Option<Merge> {
        if !mergeable(module, op) {
            return None;
        }
        let hash = hash(module, op);
        let bucket = self.buckets.entry(hash).or_default();
        bucket.retain(|other| module.is_live(*other) && self::hash(module, *other) == hash);
        for other in bucket.iter_mut() {
            if *other == op {
                return None;
            }
            if !equal(module, *other, op) {
                continue;
            }
            if is_known_at(module, *other, op) {
                return Some(Merge { kept: *other, dropped: op });
            }
            if is_known_at(module, op, *other) {
                let dropped = std::mem::replace(other, op);
                return Some(Merge { kept: op, dropped });
            }
        }
        bucket.push(op);
        None
    }
}

fn mergeable(module: &Module, op: Op) -> bool {
    let barred = Traits::RANDOM | Traits::TERMINATOR | Traits::SYMBOL;
    module
        .def(op)
        .is_some_and(|def| def.traits.contains(Traits::PURE) && !def.traits.intersects(barred))
        && module.result_count(op) > 0
        && module.regions(op).is_empty()
        && module.successors(op).is_empty()
        && module.block(op).is_some()
}

fn hash(module: &Module, op: Op) -> u64 {
    let mut state = FxHasher::default();
    (module.name(op), module.attrs(op)).hash(&mut state);
    for value in module.operands(op) {
        value.hash(&mut state);
    }
    for value in module.results(op) {
        module.value_type(value).hash(&mut state);
    }
    state.finish()
}

fn equal(module: &Module, a: Op, b: Op) -> bool {
    let types = |op: Op| module.results(op).map(|value| module.value_type(value));
    module.name(a) == module.name(b)
        && module.attrs(a) == module.attrs(b)
        && module.operands(a).eq(module.operands(b))
        && types(a).eq(types(b))
}

/// Says whether the results of `def` may be used where `op` stands: they are defined before, and
/// no isolated region lies between.
fn is_known_at(module: &Module, def: Op, op: Op) -> bool {
    let result: Value = module.result(def, 0);
    let Some(home) = module.block(def) else { return false };
    module.is_visible(result, op) && !is_walled(module, home, op)
}

fn is_walled(module: &Module, home: Block, op: Op) -> bool {
    let mut at = op;
    while let Some(block) = module.block(at)
        && block != home
    {
        let Some(parent) = module.block_parent(block) else { return true };
        if module.has_traits(parent, Traits::ISOLATED) {
            return true;
        }
        at = parent;
    }
    false
}

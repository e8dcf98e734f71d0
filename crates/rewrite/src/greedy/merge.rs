//! Common subexpressions: equal operations of which one is known where the other stands.
//!
//! Constants may also be equal by the bytes of their resources, whatever the keys.
//!
//! The table is keyed by a hash of name, attributes, operands and result types. Entries are not
//! removed when an operation changes; a look-up compares what stands there now, and drops what
//! does not belong under its hash any more.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use tangram_ir::{AttrData, Block, Module, Op, Traits, Value};

/// The operations seen so far.
#[derive(Default)]
pub(super) struct Table {
    buckets: FxHashMap<u64, SmallVec<[Op; 1]>>,
    /// How many bytes of resources under different keys may still be compared.
    budget: u64,
    /// Whether there was such a budget at the start: then constants are hashed by their bytes.
    by_bytes: bool,
}

/// Of two equal operations, the one that stays and the one that it replaces.
pub(super) struct Merge {
    pub(super) kept: Op,
    pub(super) dropped: Op,
}

impl Table {
    /// An empty table; see [`super::GreedyConfig::merge_equal_bytes`].
    pub(super) fn new(budget: u64) -> Table {
        Table { buckets: FxHashMap::default(), budget, by_bytes: budget > 0 }
    }

    /// Looks for an operation that equals `op`, and remembers `op`, or the one that stays.
    pub(super) fn find(&mut self, module: &Module, op: Op) -> Option<Merge> {
        if !mergeable(module, op) {
            return None;
        }
        let by_bytes = self.by_bytes;
        let hash = hash(module, op, by_bytes);
        let bucket = self.buckets.entry(hash).or_default();
        bucket
            .retain(|other| module.is_live(*other) && self::hash(module, *other, by_bytes) == hash);
        for other in bucket.iter_mut() {
            if *other == op {
                return None;
            }
            if !equal(module, *other, op, &mut self.budget) {
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

fn hash(module: &Module, op: Op, by_bytes: bool) -> u64 {
    let mut state = FxHasher::default();
    module.name(op).hash(&mut state);
    match by_bytes.then(|| resource(module, op)).flatten() {
        Some(bytes) => sample(bytes, &mut state),
        None => module.attrs(op).hash(&mut state),
    }
    for value in module.operands(op) {
        value.hash(&mut state);
    }
    for value in module.results(op) {
        module.value_type(value).hash(&mut state);
    }
    state.finish()
}

fn equal(module: &Module, a: Op, b: Op, budget: &mut u64) -> bool {
    let types = |op: Op| module.results(op).map(|value| module.value_type(value));
    module.name(a) == module.name(b)
        && module.operands(a).eq(module.operands(b))
        && types(a).eq(types(b))
        && (module.attrs(a) == module.attrs(b) || same_bytes(module, a, b, budget))
}

/// Returns whether two constants hold the same bytes, so far as `budget` allows to look.
fn same_bytes(module: &Module, a: Op, b: Op, budget: &mut u64) -> bool {
    const PIECE: usize = 1 << 16;
    if *budget == 0 {
        return false;
    }
    let (Some(a), Some(b)) = (resource(module, a), resource(module, b)) else { return false };
    let same_place = std::ptr::eq(a.as_ptr(), b.as_ptr());
    a.len() == b.len()
        && (same_place
            || a.chunks(PIECE).zip(b.chunks(PIECE)).all(|(a, b)| {
                let paid = budget.checked_sub(a.len() as u64);
                *budget = paid.unwrap_or(0);
                paid.is_some() && a == b
            }))
}

/// The bytes of a constant whose only attribute is a resource.
fn resource(module: &Module, op: Op) -> Option<&[u8]> {
    let context = module.context();
    let &[(_, attr)] = context.entries(module.attrs(op)) else { return None };
    let AttrData::Resource { key, .. } = context.attr_data(attr) else { return None };
    if !module.has_traits(op, Traits::CONSTANT_LIKE) {
        return None;
    }
    module.resources().find(*key).map(|bytes| &bytes[..])
}

/// Hashes the length and a few windows of `bytes`: big tensors are not read for this. Those that
/// agree here are compared in full.
fn sample(bytes: &[u8], state: &mut FxHasher) {
    const WINDOWS: usize = 16;
    const WIDTH: usize = 64;
    bytes.len().hash(state);
    let stride = (bytes.len() / WINDOWS).max(WIDTH);
    for window in bytes.chunks(stride) {
        window[..window.len().min(WIDTH)].hash(state);
    }
}

/// Returns whether the results of `def` may be used where `op` stands: they are defined before, and
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

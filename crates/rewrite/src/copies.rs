//! What constants may take: a weight is not copied into what each of its users makes of it.
//!
//! ```text
//! a = conv(x, w) * s                     becomes   a = conv(x, w * s)
//! b = conv(y, w) * t                               b = conv(y, w * t)
//! ```
//!
//! Here `w * s` and `w * t` would be stored in place of `w`, and so on for each user. So the
//! constants of a program may not grow beyond a limit by rewrites that leave the constants which they
//! read to others. What grows otherwise, as where a fill becomes a constant, has limits of its own
//! and raises this one. Where several rewrites together let go of a
//! constant they are judged together: each leaves a wish for when it is asked the next time.
//!
//! ```text
//! conv(x, w) * s, conv(y, w) * s         `w * s` takes the place of `w`
//! slice(w, 0, 8), slice(w, 8, 16)        both take what `w` takes
//! ```

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use tangram_ir::{AttrData, Module, Op, Order, Traits, Value, walk};

/// So many bytes may always be copied: about what an operation takes that goes for it.
const FREE: u64 = 256;
/// By so many bytes, and by this part of what there is, the constants of a program may grow.
const ROOM: u64 = 1024;
const SHARE: u64 = 32;

/// What the constants of a program take in one run, and what they may take.
#[derive(Clone, Debug)]
pub struct Copies {
    most: u64,
    now: u64,
    /// Whether refused rewrites are asked for again.
    retries: bool,
    /// For each constant what its users would make of it.
    wishes: FxHashMap<Value, FxHashMap<Op, Made>>,
}

/// New constants of a rewrite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Made {
    /// The bytes of all of them.
    pub bytes: u64,
    /// A hash of what they hold.
    pub contents: u64,
}

/// What a rewrite does to constants.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// The constants that it makes.
    pub made: Made,
    /// The constants that it makes these of, and others that it lets go of.
    pub read: &'a FxHashSet<Value>,
    /// The operations that are no more after it.
    pub gone: &'a FxHashSet<Op>,
}

/// The most bytes that the constants of `module` may take after rewriting: a little more than now.
pub fn most_constant_bytes(module: &Module) -> u64 {
    let bytes = all_bytes(module);
    bytes.saturating_add(bytes / SHARE).saturating_add(ROOM)
}

/// The bytes of all constants of `module`.
pub fn all_bytes(module: &Module) -> u64 {
    let ops = walk(module, module.root(), Order::Pre).into_iter();
    ops.map(|op| constant_bytes(module, op)).sum()
}

/// The bytes that `op` holds if it is a constant.
pub fn constant_bytes(module: &Module, op: Op) -> u64 {
    held(module, op).map_or(0, |bytes| bytes.len() as u64)
}

/// The bytes of a constant.
fn held(module: &Module, op: Op) -> Option<&[u8]> {
    if !module.has_traits(op, Traits::CONSTANT_LIKE) {
        return None;
    }
    let context = module.context();
    let attrs = context.entries(module.attrs(op)).iter();
    attrs.map(|(_, attr)| context.attr_data(*attr)).find_map(|data| match data {
        AttrData::Resource { key, .. } => module.resources().find(*key).map(|bytes| &bytes[..]),
        AttrData::Dense { bytes, .. } => Some(&bytes[..]),
        _ => None,
    })
}

impl Made {
    /// Those among `ops` that are constants.
    pub fn of(module: &Module, ops: impl IntoIterator<Item = Op>) -> Made {
        let (mut bytes, mut hasher) = (0, FxHasher::default());
        for held in ops.into_iter().filter_map(|op| held(module, op)) {
            bytes += held.len() as u64;
            held.hash(&mut hasher);
        }
        Made { bytes, contents: hasher.finish() }
    }
}

impl Copies {
    /// What the constants of `module` take, which may be up to `most`. `retries` says whether
    /// rewrites that were refused are tried again.
    pub(crate) fn new(module: &Module, most: u64, retries: bool) -> Copies {
        Copies { most, now: all_bytes(module), retries, wishes: FxHashMap::default() }
    }

    pub(crate) fn created(&mut self, module: &Module, op: Op) {
        self.now += constant_bytes(module, op);
    }

    pub(crate) fn erased(&mut self, module: &Module, op: Op) {
        self.now = self.now.saturating_sub(constant_bytes(module, op));
    }

    /// Lets constants take so many bytes more.
    pub(crate) fn allow(&mut self, bytes: u64) {
        self.most = self.most.saturating_add(bytes);
    }

    /// Returns by how much constants grow in a rewrite without being copies; `None` if it may not be
    /// made. Its constants exist already if `are_made`.
    pub(crate) fn admits(
        &mut self,
        module: &Module,
        exchange: &Exchange<'_>,
        are_made: bool,
    ) -> Option<u64> {
        let bytes = |value: Value| module.def_op(value).map_or(0, |op| constant_bytes(module, op));
        let goes = |value: &Value| module.uses(*value).all(|u| exchange.gone.contains(&u.op));
        let (dying, staying): (Vec<Value>, Vec<Value>) =
            exchange.read.iter().copied().partition(goes);
        let mut freed: u64 = dying.into_iter().map(bytes).sum();
        let left: u64 = staying.iter().copied().map(bytes).sum();
        let mut made = vec![exchange.made];
        let grown = exchange.made.bytes.saturating_sub(freed);
        if grown.min(left) <= FREE {
            return Some(grown);
        }
        let shared = if self.retries { staying } else { Vec::new() };
        for value in shared {
            let Some(wishes) = self.wish(module, exchange, value) else { continue };
            freed += bytes(value);
            for wish in wishes {
                if !made.contains(&wish) {
                    made.push(wish);
                }
            }
        }
        let total: u64 = made.into_iter().map(|one| one.bytes).sum();
        let there = if are_made { self.now - exchange.made.bytes.min(self.now) } else { self.now };
        let admitted =
            total.saturating_sub(freed).min(left) <= FREE || there + total <= self.most + freed;
        admitted.then_some(0)
    }

    /// Notes what a rewrite would make of `value`. Returns what all users together would make of
    /// it, if that is known of each.
    fn wish(
        &mut self,
        module: &Module,
        exchange: &Exchange<'_>,
        value: Value,
    ) -> Option<Vec<Made>> {
        let users: FxHashSet<Op> = module.uses(value).map(|used| used.op).collect();
        let wishes = self.wishes.entry(value).or_default();
        for &op in users.iter().filter(|op| exchange.gone.contains(op)) {
            wishes.insert(op, exchange.made);
        }
        let mut all: Vec<Made> =
            users.iter().map(|op| wishes.get(op).copied()).collect::<Option<_>>()?;
        all.sort_unstable_by_key(|one| (one.contents, one.bytes));
        all.dedup();
        Some(all)
    }
}

//! Whether a pattern keeps its contract: what operations were like before it was tried.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use tangram_ir::{Module, Op, Order, Value, verify_op, walk};

use super::report::Breach;
use crate::listener::Listener;

/// Every operation of a scope, as it was before a pattern was tried.
pub(crate) struct Fingerprints {
    ops: FxHashMap<Op, u64>,
}

impl Fingerprints {
    pub(crate) fn of(module: &Module, root: Op) -> Fingerprints {
        let ops = walk(module, root, Order::Pre);
        Fingerprints { ops: ops.into_iter().map(|op| (op, fingerprint(module, op))).collect() }
    }

    /// The operations that differ now, those that are gone, and those that are new.
    fn changed(&self, module: &Module, root: Op) -> Vec<Op> {
        let now = walk(module, root, Order::Pre);
        let present: FxHashSet<Op> = now.iter().copied().collect();
        let differs = |op: &Op| self.ops.get(op) != Some(&fingerprint(module, *op));
        let mut changed: Vec<Op> = now.into_iter().filter(differs).collect();
        let mut gone: Vec<Op> =
            self.ops.keys().copied().filter(|op| !present.contains(op)).collect();
        gone.sort_unstable();
        changed.extend(gone);
        changed
    }

    /// What `pattern` did wrong at `op`, which it said it rewrote if `success`; `heard` are the
    /// operations whose change was told.
    pub(crate) fn judge(
        &self,
        module: &Module,
        root: Op,
        op: Op,
        (pattern, success): (&str, bool),
        heard: &Heard,
    ) -> Option<Breach> {
        let changed = self.changed(module, root);
        let name = || pattern.to_owned();
        if success && changed.is_empty() {
            return Some(Breach::SuccessWithoutChange(name()));
        }
        if !success && !changed.is_empty() {
            return Some(Breach::ChangeWithoutSuccess(name()));
        }
        if let Some(_unheard) = changed.iter().find(|op| !heard.ops.contains(op)) {
            return Some(Breach::UnheardChange(name()));
        }
        if success && !changed.contains(&op) && !heard.ops.contains(&op) {
            return Some(Breach::RootUntouched(name()));
        }
        match verify_op(module, root) {
            Err(errors) if success => {
                let first = errors.first().map(|error| error.message.clone()).unwrap_or_default();
                Some(Breach::InvalidIr(name(), first))
            }
            _ => None,
        }
    }
}

/// What an operation is made of, and where it stands.
fn fingerprint(module: &Module, op: Op) -> u64 {
    let mut state = FxHasher::default();
    (module.name(op), module.attrs(op), module.loc(op), module.block(op)).hash(&mut state);
    for value in module.operands(op) {
        value.hash(&mut state);
    }
    for value in module.results(op) {
        (value, module.value_type(value), module.contents(value)).hash(&mut state);
    }
    module.successors(op).hash(&mut state);
    for &region in module.regions(op) {
        for block in module.blocks(region) {
            (block, module.args(block)).hash(&mut state);
            for &arg in module.args(block) {
                module.value_type(arg).hash(&mut state);
            }
            // The order of operations is part of the block.
            for op in module.ops(block) {
                op.hash(&mut state);
            }
        }
    }
    state.finish()
}

/// The operations of whose change a listener heard.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) ops: FxHashSet<Op>,
}

impl Heard {
    /// Something happened to `op`, which also changes what its parent holds.
    fn with_parent(&mut self, module: &Module, op: Op) {
        self.ops.insert(op);
        self.ops.extend(module.parent(op));
    }
}

impl Listener for Heard {
    fn inserted(&mut self, module: &Module, op: Op) {
        self.with_parent(module, op);
    }

    fn moved(&mut self, module: &Module, op: Op) {
        self.with_parent(module, op);
        // Where it came from is not told; its old neighbours' parent hears of it as a block.
    }

    fn modified(&mut self, _: &Module, op: Op) {
        self.ops.insert(op);
    }

    fn refined(&mut self, module: &Module, value: Value) {
        self.ops.extend(module.def_op(value));
        self.ops.extend(module.def_block(value).and_then(|block| module.block_parent(block)));
    }

    fn erased(&mut self, module: &Module, op: Op) {
        self.with_parent(module, op);
    }

    fn block_inserted(&mut self, module: &Module, block: tangram_ir::Block) {
        self.ops.extend(module.block_parent(block));
        for op in module.ops(block) {
            self.ops.insert(op);
        }
    }

    fn block_erased(&mut self, module: &Module, block: tangram_ir::Block) {
        self.ops.extend(module.block_parent(block));
    }

    fn arguments_changed(&mut self, module: &Module, block: tangram_ir::Block) {
        self.ops.extend(module.block_parent(block));
    }
}

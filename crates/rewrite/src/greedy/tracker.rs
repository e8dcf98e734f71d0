//! Hears of changes and decides which operations have to be looked at again.
//!
//! Rules match from a root through operands. So when an operation changes, matches may appear at
//! itself and at its users, as far up as the longest rule reaches; when a value loses uses, at
//! the operation that defines it (it may be dead now) and at its last users (a rule may ask for a
//! value that nobody else uses). Each event costs O(1): at most [`REACH`] operations are put on
//! the list; what lies beyond is left to the last sweep.

use rustc_hash::FxHashSet;
use tangram_ir::{Block, Module, Op, Traits, Value};

use super::Strictness;
use super::worklist::Worklist;
use crate::listener::{Listener, Outcome};
use crate::pattern::{NoMatch, RewritePattern};
use crate::set::FrozenPatternSet;

/// The most operations around one change that are looked at again at once.
const REACH: usize = 64;

/// The listener of the driver, which passes everything on to the user's.
pub(super) struct Tracker<'a> {
    pub(super) list: Worklist,
    set: &'a FrozenPatternSet,
    next: Option<&'a mut dyn Listener>,
    root: Op,
    /// What may come onto the list; see [`super::Strictness`].
    strictness: Strictness,
    /// Where it is not any: the operations that may.
    allowed: FxHashSet<Op>,
    touched: Vec<Op>,
    released: Vec<Value>,
    /// Operations from this number on are new in this rewrite.
    old_below: u32,
    pub(super) added: u64,
    pub(super) removed: u64,
    /// How many operations with effects were erased in all.
    pub(super) acting_removed: u64,
    /// How many changes were heard of.
    events: u64,
    /// How many operations were made and erased again.
    transient: u64,
    around: Vec<Op>,
}

impl<'a> Tracker<'a> {
    pub(super) fn new(
        set: &'a FrozenPatternSet,
        root: Op,
        strictness: Strictness,
        next: Option<&'a mut dyn Listener>,
    ) -> Self {
        Self {
            list: Worklist::default(),
            set,
            next,
            root,
            strictness,
            allowed: FxHashSet::default(),
            touched: Vec::new(),
            released: Vec::new(),
            old_below: 0,
            added: 0,
            removed: 0,
            acting_removed: 0,
            events: 0,
            transient: 0,
            around: Vec::new(),
        }
    }

    /// Puts `op` on the list at the start.
    pub(super) fn seed(&mut self, op: Op) {
        if self.strictness != Strictness::AnyOp {
            self.allowed.insert(op);
        }
        self.list.push(op);
    }

    /// Puts `op` on the list, if it may come there.
    pub(super) fn push(&mut self, op: Op) {
        if self.strictness == Strictness::AnyOp || self.allowed.contains(&op) {
            self.list.push(op);
        }
    }

    /// Returns whether `op` may be changed on the driver's own account.
    pub(super) fn allows(&self, op: Op) -> bool {
        self.strictness == Strictness::AnyOp || self.allowed.contains(&op)
    }

    /// Starts to count a rewrite.
    pub(super) fn begin(&mut self, module: &Module) {
        self.old_below = module.op_capacity() as u32;
        (self.added, self.removed, self.events, self.transient) = (0, 0, 0, 0);
    }

    /// Returns whether anything is other than it was at [`Tracker::begin`]: a rewrite that is refused
    /// may have built its target, and taken it away again.
    pub(super) fn has_changed(&self) -> bool {
        self.events > 2 * self.transient
    }

    /// Puts what the last rewrite touched on the list.
    pub(super) fn flush(&mut self, module: &Module) {
        let released = std::mem::take(&mut self.released);
        for &value in &released {
            self.revisit_released(module, value);
        }
        let touched = std::mem::take(&mut self.touched);
        // The last pushed comes first: what was made first is on top.
        for &op in touched.iter().rev() {
            self.revisit(module, op);
        }
        (self.released, self.touched) = (released, touched);
        self.released.clear();
        self.touched.clear();
    }

    /// Forgets what was touched since [`Tracker::begin`].
    pub(super) fn forget(&mut self) {
        self.touched.clear();
        self.released.clear();
    }

    fn revisit(&mut self, module: &Module, op: Op) {
        if !module.is_live(op) || op == self.root {
            return;
        }
        if self.set.looks_sideways() {
            self.push_siblings(module, op);
        }
        if let Some(parent) = module.parent(op)
            && parent != self.root
            && !self.set.candidates(module.name(parent)).is_empty()
        {
            self.push(parent);
        }
        self.push_around(module, op);
    }

    /// Other users of the operands of `op`, where they are few.
    fn push_siblings(&mut self, module: &Module, op: Op) {
        for value in module.operands(op) {
            let constant =
                module.def_op(value).is_some_and(|d| module.has_traits(d, Traits::CONSTANT_LIKE));
            if !constant && module.uses(value).nth(REACH / 4).is_none() {
                for user in module.uses(value) {
                    self.push(user.op);
                }
            }
        }
    }

    /// `op` and its users up to the depth of the rules, nearest on top.
    fn push_around(&mut self, module: &Module, op: Op) {
        let mut around = std::mem::take(&mut self.around);
        around.push(op);
        let mut from = 0;
        for _ in 0..self.set.depth() {
            let to = around.len();
            for i in from..to {
                for value in module.results(around[i]) {
                    let room = REACH.saturating_sub(around.len());
                    around.extend(module.uses(value).take(room).map(|u| u.op));
                }
            }
            from = to;
        }
        for &near in around.iter().rev() {
            self.push(near);
        }
        around.clear();
        self.around = around;
    }

    /// The definition of a value that lost uses, if at most one use is left, and that user.
    fn revisit_released(&mut self, module: &Module, value: Value) {
        let Some(def) = module.def_op(value) else { return };
        if !module.is_live(def) || module.uses(value).nth(1).is_some() {
            return;
        }
        match module.uses(value).next() {
            None => {
                self.push(def);
            }
            Some(_) => self.push_around(module, def),
        }
    }
}

impl Listener for Tracker<'_> {
    fn inserted(&mut self, module: &Module, op: Op) {
        self.events += 1;
        self.added += u64::from(op.as_u32() >= self.old_below);
        if self.strictness == Strictness::ExistingAndNewOps {
            self.allowed.insert(op);
        }
        self.touched.push(op);
        if let Some(next) = &mut self.next {
            next.inserted(module, op);
        }
    }

    fn modified(&mut self, module: &Module, op: Op) {
        self.events += 1;
        self.touched.push(op);
        if let Some(next) = &mut self.next {
            next.modified(module, op);
        }
    }

    fn refined(&mut self, module: &Module, value: Value) {
        self.events += 1;
        match module.def_op(value) {
            Some(op) => self.touched.push(op),
            None => self.touched.extend(module.uses(value).take(REACH).map(|u| u.op)),
        }
        if let Some(next) = &mut self.next {
            next.refined(module, value);
        }
    }

    fn released(&mut self, module: &Module, value: Value) {
        self.released.push(value);
        if let Some(next) = &mut self.next {
            next.released(module, value);
        }
    }

    fn replaced(&mut self, module: &Module, op: Op, values: &[Value]) {
        self.events += 1;
        if let Some(next) = &mut self.next {
            next.replaced(module, op, values);
        }
    }

    fn erased(&mut self, module: &Module, op: Op) {
        self.events += 1;
        self.removed += 1;
        self.acting_removed += u64::from(!module.is_effect_free(op));
        self.transient += u64::from(op.as_u32() >= self.old_below);
        self.list.remove(op);
        self.allowed.remove(&op);
        self.released.extend(module.operands(op));
        if let Some(next) = &mut self.next {
            next.erased(module, op);
        }
    }
    fn moved(&mut self, module: &Module, op: Op) {
        self.events += 1;
        self.touched.push(op);
        if let Some(next) = &mut self.next {
            next.moved(module, op);
        }
    }

    fn block_inserted(&mut self, module: &Module, block: Block) {
        self.events += 1;
        if let Some(next) = &mut self.next {
            next.block_inserted(module, block);
        }
    }

    fn block_moved(&mut self, module: &Module, block: Block) {
        self.events += 1;
        self.touched.extend(module.block_parent(block));
        if let Some(next) = &mut self.next {
            next.block_moved(module, block);
        }
    }

    fn block_erased(&mut self, module: &Module, block: Block) {
        self.events += 1;
        self.touched.extend(module.block_parent(block));
        if let Some(next) = &mut self.next {
            next.block_erased(module, block);
        }
    }

    fn arguments_changed(&mut self, module: &Module, block: Block) {
        self.events += 1;
        self.touched.extend(module.block_parent(block));
        if let Some(next) = &mut self.next {
            next.arguments_changed(module, block);
        }
    }

    fn visit_begin(&mut self, module: &Module, op: Op) {
        if let Some(next) = &mut self.next {
            next.visit_begin(module, op);
        }
    }

    fn visit_end(&mut self, module: &Module, outcome: Outcome) {
        if let Some(next) = &mut self.next {
            next.visit_end(module, outcome);
        }
    }

    fn pattern_begin(&mut self, module: &Module, pattern: &dyn RewritePattern, op: Op) {
        if let Some(next) = &mut self.next {
            next.pattern_begin(module, pattern, op);
        }
    }

    fn matched(&mut self, module: &Module, ops: &[Op]) {
        if let Some(next) = &mut self.next {
            next.matched(module, ops);
        }
    }

    fn pattern_end(
        &mut self,
        module: &Module,
        pattern: &dyn RewritePattern,
        outcome: &Result<(), NoMatch>,
    ) {
        if let Some(next) = &mut self.next {
            next.pattern_end(module, pattern, outcome);
        }
    }

    fn wants_reasons(&self) -> bool {
        self.next.as_ref().is_some_and(|next| next.wants_reasons())
    }
}

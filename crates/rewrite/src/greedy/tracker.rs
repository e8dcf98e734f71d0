//! Hears of changes and decides which operations have to be looked at again.
//!
//! Rules match from a root through operands. So when an operation changes, matches may appear at
//! itself and at its users, as far up as the longest rule reaches; when a value loses uses, at
//! the operation that defines it (it may be dead now) and at its last users (a rule may ask for a
//! value that nobody else uses); when something in a region changes, at the operations around it.
//! Each event costs O(1): at most [`REACH`] operations are put on the list; what lies beyond, and
//! what is around by more than one step, is left to the last sweep.
//!
//! Nothing comes onto the list that stands outside of the scope ([`Scope`]) or that the strictness
//! keeps out.

use rustc_hash::FxHashSet;
use tangram_ir::{Block, Module, Op, Traits, Value};

use super::Strictness;
use super::scope::Scope;
use super::tally::Tally;
use super::worklist::Worklist;
use crate::listener::{Listener, Outcome};
use crate::pattern::{NoMatch, RewritePattern};
use crate::set::FrozenPatternSet;

/// The most operations around one change that are looked at again at once.
const REACH: usize = 64;

#[cfg(test)]
thread_local! {
    /// How often something was put on a list by this thread.
    pub(super) static PUSHES: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// The listener of the driver, which passes everything on to the user's.
pub(super) struct Tracker<'a> {
    pub(super) list: Worklist,
    set: &'a FrozenPatternSet,
    next: Option<&'a mut dyn Listener>,
    pub(super) scope: Scope,
    /// What may come onto the list; see [`super::Strictness`].
    strictness: Strictness,
    /// Where it is not any: the operations that may.
    allowed: FxHashSet<Op>,
    /// Where sweeps do not go through everything in the scope: what was or should have been on the
    /// list, which is what they go through.
    listed: Option<Listed>,
    touched: Vec<Op>,
    /// Operations in whose regions something was, and is no more.
    vacated: Vec<Op>,
    released: Vec<Value>,
    pub(super) tally: Tally,
    /// How many operations with effects were erased in all.
    pub(super) acting_removed: u64,
    around: Vec<Op>,
}

/// Operations in the order in which they were first met, each once.
#[derive(Clone, Default)]
struct Listed {
    order: Vec<Op>,
    known: FxHashSet<Op>,
    /// Those of which all that is around is here as well.
    climbed: FxHashSet<Op>,
}

impl Listed {
    fn add(&mut self, op: Op) {
        if self.known.insert(op) {
            self.order.push(op);
        }
    }
}

impl<'a> Tracker<'a> {
    pub(super) fn new(
        set: &'a FrozenPatternSet,
        scope: Op,
        strictness: Strictness,
        next: Option<&'a mut dyn Listener>,
    ) -> Self {
        Self {
            list: Worklist::default(),
            set,
            next,
            scope: Scope::new(scope),
            strictness,
            allowed: FxHashSet::default(),
            listed: None,
            touched: Vec::new(),
            vacated: Vec::new(),
            released: Vec::new(),
            tally: Tally::default(),
            acting_removed: 0,
            around: Vec::new(),
        }
    }

    /// Remembers what comes onto the list, for [`Tracker::listed`].
    pub(super) fn remember(&mut self) {
        self.listed = Some(Listed::default());
    }

    /// Goes on where `other` is, with an empty list.
    pub(super) fn take_over(&mut self, other: &Tracker<'_>) {
        self.allowed.clone_from(&other.allowed);
        self.listed.clone_from(&other.listed);
    }

    /// What was on the list and is still in the scope, in the order in which it first came there.
    pub(super) fn listed(&mut self, module: &Module) -> Vec<Op> {
        let Some(listed) = &mut self.listed else { return Vec::new() };
        listed.order.retain(|&op| module.is_live(op));
        let order = listed.order.clone();
        order.into_iter().filter(|&op| self.scope.holds(module, op)).collect()
    }

    /// Puts `op` on the list at the start, if it is in the scope.
    pub(super) fn seed(&mut self, module: &Module, op: Op) {
        if self.strictness != Strictness::AnyOp {
            self.allowed.insert(op);
        }
        self.push(module, op);
    }

    /// Puts `op` on the list, if it may come there.
    pub(super) fn push(&mut self, module: &Module, op: Op) {
        #[cfg(test)]
        PUSHES.set(PUSHES.get() + 1);
        if !self.allows(op) || !self.scope.holds(module, op) {
            return;
        }
        self.list.push(op);
        if let Some(listed) = &mut self.listed {
            listed.add(op);
        }
    }

    /// Returns whether the strictness lets `op` be changed on the driver's own account.
    pub(super) fn allows(&self, op: Op) -> bool {
        self.strictness == Strictness::AnyOp || self.allowed.contains(&op)
    }

    /// Starts to count a rewrite.
    pub(super) fn begin(&mut self, module: &Module) {
        self.tally.begin(module);
    }

    /// Returns whether anything is other than it was at [`Tracker::begin`].
    pub(super) fn has_changed(&self) -> bool {
        self.tally.has_changed()
    }

    /// Puts what the last rewrite touched on the list.
    pub(super) fn flush(&mut self, module: &Module) {
        let released = std::mem::take(&mut self.released);
        for &value in &released {
            self.revisit_released(module, value);
        }
        let vacated = std::mem::take(&mut self.vacated);
        for &op in vacated.iter().rev() {
            self.revisit_around(module, Some(op));
        }
        let touched = std::mem::take(&mut self.touched);
        // The last pushed comes first: what was made first is on top.
        for &op in touched.iter().rev() {
            self.revisit(module, op);
        }
        (self.released, self.touched, self.vacated) = (released, touched, vacated);
        self.forget();
    }

    /// Forgets what was touched since [`Tracker::begin`].
    pub(super) fn forget(&mut self) {
        self.touched.clear();
        self.released.clear();
        self.vacated.clear();
    }

    fn revisit(&mut self, module: &Module, op: Op) {
        if !module.is_live(op) {
            return;
        }
        if self.set.looks_sideways() {
            self.push_siblings(module, op);
        }
        self.revisit_around(module, self.scope.parent(module, op));
        self.push_around(module, op);
    }

    /// The operation `around` something that changed, and those around it: a sweep goes through
    /// them, and the nearest one comes before if a pattern may start there.
    fn revisit_around(&mut self, module: &Module, around: Option<Op>) {
        let Some(op) = around.filter(|&op| module.is_live(op)) else { return };
        if !self.set.candidates(module.name(op)).is_empty() {
            self.push(module, op);
        }
        let Some(mut listed) = self.listed.take() else { return };
        let mut at = self.scope.holds(module, op).then_some(op);
        while let Some(op) = at.filter(|&op| listed.climbed.insert(op)) {
            if self.allows(op) {
                listed.add(op);
            }
            at = self.scope.parent(module, op);
        }
        self.listed = Some(listed);
    }

    /// Operations with regions stand elsewhere now.
    fn forget_nesting(&mut self) {
        self.scope.forget();
        if let Some(listed) = &mut self.listed {
            listed.climbed.clear();
        }
    }

    /// Other users of the operands of `op`, where they are few: of the first operands, if there are
    /// thousands, each of which may change in turn.
    fn push_siblings(&mut self, module: &Module, op: Op) {
        let mut room = REACH;
        for value in module.operands(op).take(REACH) {
            let constant =
                module.def_op(value).is_some_and(|d| module.has_traits(d, Traits::CONSTANT_LIKE));
            if !constant && module.uses(value).nth(REACH / 4).is_none() {
                for user in module.uses(value).take(room) {
                    self.push(module, user.op);
                    room -= 1;
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
                for value in module.results(around[i]).take(REACH) {
                    let room = REACH.saturating_sub(around.len());
                    around.extend(module.uses(value).take(room).map(|u| u.op));
                }
            }
            from = to;
        }
        for &near in around.iter().rev() {
            self.push(module, near);
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
            None => self.push(module, def),
            Some(_) => self.push_around(module, def),
        }
    }
}

impl Listener for Tracker<'_> {
    fn inserted(&mut self, module: &Module, op: Op) {
        self.tally.inserted(module, op);
        if self.strictness == Strictness::ExistingAndNewOps {
            self.allowed.insert(op);
        }
        self.touched.push(op);
        if let Some(next) = &mut self.next {
            next.inserted(module, op);
        }
    }

    fn modified(&mut self, module: &Module, op: Op) {
        self.tally.modified(module, op);
        self.touched.push(op);
        if let Some(next) = &mut self.next {
            next.modified(module, op);
        }
    }

    fn refined(&mut self, module: &Module, value: Value) {
        self.tally.refined(module, value);
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
        self.tally.replaced(module, op, values);
        if let Some(next) = &mut self.next {
            next.replaced(module, op, values);
        }
    }

    fn erased(&mut self, module: &Module, op: Op) {
        self.tally.erased(module, op);
        self.acting_removed += u64::from(!module.is_effect_free(op));
        self.list.remove(op);
        self.allowed.remove(&op);
        self.released.extend(module.operands(op));
        self.vacated.extend(module.parent(op));
        if let Some(next) = &mut self.next {
            next.erased(module, op);
        }
    }

    fn vacated(&mut self, module: &Module, op: Op) {
        self.vacated.push(op);
        if let Some(next) = &mut self.next {
            next.vacated(module, op);
        }
    }

    fn moved(&mut self, module: &Module, op: Op) {
        self.tally.moved(module, op);
        self.touched.push(op);
        if !module.regions(op).is_empty() {
            self.forget_nesting();
        }
        if let Some(next) = &mut self.next {
            next.moved(module, op);
        }
    }

    fn block_inserted(&mut self, module: &Module, block: Block) {
        self.tally.block_inserted(module, block);
        if let Some(next) = &mut self.next {
            next.block_inserted(module, block);
        }
    }

    fn block_moved(&mut self, module: &Module, block: Block) {
        self.tally.block_moved(module, block);
        self.forget_nesting();
        self.touched.extend(module.block_parent(block));
        if let Some(next) = &mut self.next {
            next.block_moved(module, block);
        }
    }

    fn block_erased(&mut self, module: &Module, block: Block) {
        self.tally.block_erased(module, block);
        self.touched.extend(module.block_parent(block));
        if let Some(next) = &mut self.next {
            next.block_erased(module, block);
        }
    }

    fn arguments_changed(&mut self, module: &Module, block: Block) {
        self.tally.arguments_changed(module, block);
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

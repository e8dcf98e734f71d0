//! A slow driver beside the greedy one: it tries every operation that may be rewritten, from the
//! first, until nothing matches.

use std::collections::HashSet;

use tangram_ir::{Module, Op, Order, Traits, walk};
use tangram_rewrite::greedy::Strictness;
use tangram_rewrite::{FrozenPatternSet, GreedyConfig, Listener, RewritePattern, Rewriter, Silent};

use crate::nests::Case;

/// Returns whether `op` stands in the regions of `around`.
pub fn inside(module: &Module, op: Op, around: Op) -> bool {
    let mut at = op;
    while module.is_live(at)
        && let Some(parent) = module.parent(at)
    {
        if parent == around {
            return true;
        }
        at = parent;
    }
    false
}

/// What is around everything that may be rewritten.
pub fn scope(case: &Case) -> Op {
    let whole = if case.ops.is_some() { case.module.root() } else { case.root };
    case.config.scope.unwrap_or(whole)
}

/// The operations to start with.
pub fn initial(case: &Case) -> Vec<Op> {
    let (module, scope) = (&case.module, scope(case));
    let given = case.ops.clone().unwrap_or_else(|| {
        let mut below = walk(module, case.root, Order::Pre);
        below.retain(|&op| op != case.root);
        below
    });
    given.into_iter().filter(|&op| inside(module, op, scope)).collect()
}

/// Hears which operations are new, and which are reached by a change.
#[derive(Default)]
pub struct Reached {
    pub new: HashSet<Op>,
    pub reached: HashSet<Op>,
    /// Those that lost a use.
    pub released: HashSet<Op>,
}

impl Reached {
    fn reach(&mut self, module: &Module, op: Op) {
        let mut at = Some(op);
        while let Some(op) = at {
            self.reached.insert(op);
            at = module.parent(op);
        }
    }
}

impl Listener for Reached {
    fn inserted(&mut self, module: &Module, op: Op) {
        self.new.insert(op);
        self.reach(module, op);
    }
    fn vacated(&mut self, module: &Module, op: Op) {
        self.reach(module, op);
    }
    fn moved(&mut self, module: &Module, op: Op) {
        self.reach(module, op);
    }
    fn modified(&mut self, module: &Module, op: Op) {
        self.reach(module, op);
    }
    fn erased(&mut self, module: &Module, op: Op) {
        if let Some(parent) = module.parent(op) {
            self.reach(module, parent);
        }
        self.released.extend(module.operands(op).filter_map(|value| module.def_op(value)));
    }
}

/// Returns whether nothing needs `op`.
pub fn is_dead(module: &Module, op: Op) -> bool {
    module.is_unused(op) && module.has_traits(op, Traits::PURE)
}

/// Changes something at `op`, if there is something to change.
pub fn step(
    module: &mut Module,
    op: Op,
    set: &FrozenPatternSet,
    config: &GreedyConfig,
    listener: &mut dyn Listener,
) -> bool {
    let dead = config.erase_dead && is_dead(module, op);
    let mut rewriter = Rewriter::new(module, listener);
    if dead {
        rewriter.erase(op);
        return true;
    }
    let name = rewriter.module().name(op);
    let roots = |pattern: &&dyn RewritePattern| pattern.roots().accept(rewriter.module(), op);
    assert_eq!(set.iter().filter(roots).count(), set.candidates(name).len());
    set.candidates(name).iter().any(|&i| rewriter.attempt(set.pattern(i), op).is_ok())
}

/// Rewrites until nothing matches at the operations to start with, nor at new ones where those may
/// be rewritten.
pub fn run(case: &Case, set: &FrozenPatternSet) -> Module {
    let mut module = case.module.clone();
    let scope = scope(case);
    let start: HashSet<Op> = initial(case).into_iter().collect();
    let mut heard = Reached::default();
    loop {
        let all = walk(&module, module.root(), Order::Pre);
        let allowed = |op: &Op| {
            let new = heard.new.contains(op) && case.config.strictness != Strictness::ExistingOps;
            inside(&module, *op, scope) && (start.contains(op) || new)
        };
        let allowed: Vec<Op> = all.into_iter().filter(allowed).collect();
        let hit = |op: Op| step(&mut module, op, set, &case.config, &mut heard);
        if !allowed.into_iter().any(hit) {
            return module;
        }
    }
}

/// The first of `ops` at which something would change.
pub fn would_change(
    module: &Module,
    ops: impl IntoIterator<Item = Op>,
    set: &FrozenPatternSet,
    config: &GreedyConfig,
) -> Option<Op> {
    let mut copy = module.clone();
    ops.into_iter()
        .filter(|&op| module.is_live(op))
        .find(|&op| step(&mut copy, op, set, config, &mut Silent))
}

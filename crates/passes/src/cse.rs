//! `cse`: of equal operations one stays.
//!
//! The blocks of a region are gone through so that those that dominate come first; what an
//! operation in a region finds is what stands around it, up to the next isolated operation. Reads
//! of memory are merged within a block as long as nothing was written between. Operands of
//! commutative operations are compared in any order, regions of one block operation by operation.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use tangram_ir::{Block, Dominance, Module, Op, Order, Region, Traits, Type, Value, walk};
use tangram_rewrite::{Rewriter, Silent};

use crate::effects::{Acting, Effect, effect};
use crate::pass::{Pass, PassCx, PassError};
use crate::registry::Entry;

pub(crate) const ENTRY: Entry = Entry {
    name: "cse",
    summary: "replaces operations by equal ones that come before",
    options: &[],
    make: |_| Ok(Box::new(Cse)),
};

struct Cse;

impl Pass for Cse {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let dominance = Dominance::new(cx.module, cx.root);
        let acting = Acting::new(cx.module, cx.root);
        let mut silent = Silent;
        let mut scan = Scan {
            rewriter: Rewriter::new(cx.module, &mut silent),
            dominance,
            acting: &acting,
            table: FxHashMap::default(),
            log: Vec::new(),
            writes: 0,
            merged: 0,
            dead: Vec::new(),
        };
        scan.run(cx.root);
        let (merged, mut dead) = (scan.merged, scan.dead);
        let mut silent = Silent;
        let mut rewriter = Rewriter::new(cx.module, &mut silent);
        let mut erased = 0;
        while let Some(op) = dead.pop() {
            let module = rewriter.module();
            if !module.is_live(op) || !acting.is_dead(module, op) {
                continue;
            }
            dead.extend(module.operands(op).filter_map(|value| module.def_op(value)));
            rewriter.erase(op);
            erased += 1;
        }
        cx.count("merged", merged);
        cx.count("dead", erased);
        Ok(())
    }
}

/// What is left to do.
enum Task {
    /// The blocks of a region.
    Region(Region),
    /// An operation and those after it in its block.
    From(Op),
    /// An operation whose regions are done.
    Visit(Op),
    /// Forget what was entered since.
    Forget(usize),
}

/// An operation that others may be equal to.
#[derive(Clone, Copy)]
struct Entered {
    op: Op,
    /// The number of writes before it, where it reads memory.
    writes: Option<u64>,
    /// How many isolated operations stand around it: those outside are not seen.
    wall: u32,
}

struct Scan<'a> {
    rewriter: Rewriter<'a>,
    dominance: Dominance,
    acting: &'a Acting,
    table: FxHashMap<u64, SmallVec<[Entered; 1]>>,
    /// The keys of what was entered, in order.
    log: Vec<u64>,
    writes: u64,
    merged: u64,
    /// Operations that may be dead.
    dead: Vec<Op>,
}

impl Scan<'_> {
    fn run(&mut self, root: Op) {
        let mut wall = 0u32;
        let mut tasks: Vec<(Task, u32)> = Vec::new();
        let regions: Vec<Region> = self.rewriter.module().regions(root).to_vec();
        tasks.extend(regions.into_iter().rev().map(|region| (Task::Region(region), wall)));
        while let Some((task, at_wall)) = tasks.pop() {
            match task {
                Task::Forget(length) => self.forget(length),
                Task::Region(region) => {
                    tasks.push((Task::Forget(self.log.len()), at_wall));
                    let module = self.rewriter.module();
                    let blocks = dominators_first(module, region);
                    let firsts = blocks.iter().rev().filter_map(|&block| module.first_op(block));
                    tasks.extend(firsts.map(|op| (Task::From(op), at_wall)));
                }
                Task::From(op) => {
                    let module = self.rewriter.module();
                    if let Some(next) = module.next(op) {
                        tasks.push((Task::From(next), at_wall));
                    }
                    let regions: SmallVec<[Region; 2]> = module.regions(op).into();
                    if regions.is_empty() {
                        self.visit(op, at_wall);
                        continue;
                    }
                    tasks.push((Task::Visit(op), at_wall));
                    let isolated = module.may_have_traits(op, Traits::ISOLATED);
                    wall += u32::from(isolated);
                    let inside = if isolated { wall } else { at_wall };
                    let inside = regions.into_iter().rev().map(|r| (Task::Region(r), inside));
                    tasks.extend(inside);
                }
                Task::Visit(op) => self.visit(op, at_wall),
            }
        }
    }

    fn forget(&mut self, length: usize) {
        for key in self.log.drain(length..).rev() {
            if let Some(bucket) = self.table.get_mut(&key) {
                bucket.pop();
                if bucket.is_empty() {
                    self.table.remove(&key);
                }
            }
        }
    }

    fn visit(&mut self, op: Op, wall: u32) {
        let module = self.rewriter.module();
        let effect = effect(module, op);
        if effect == Effect::Any {
            self.writes += 1;
            return;
        }
        if self.acting.is_dead(module, op) {
            self.dead.push(op);
            return;
        }
        if !mergeable(module, op, effect) || self.acting.acts(op) {
            return;
        }
        let writes = (effect == Effect::Reads).then_some(self.writes);
        let key = hash(module, op);
        let bucket = self.table.entry(key).or_default();
        let found = bucket.iter().rev().find(|entered| {
            entered.wall == wall
                && entered.writes == writes
                && (writes.is_none() || module.block(entered.op) == module.block(op))
                && equal(module, entered.op, op)
                && self.dominance.is_available(module, module.result(entered.op, 0), op)
        });
        match found {
            Some(&Entered { op: kept, .. }) => self.merge(op, kept),
            None => {
                bucket.push(Entered { op, writes, wall });
                self.log.push(key);
            }
        }
    }

    fn merge(&mut self, op: Op, kept: Op) {
        let values: SmallVec<[Value; 2]> = self.rewriter.module().results(kept).collect();
        if self.rewriter.replace(op, &values).is_ok() {
            self.merged += 1;
        }
    }
}

fn mergeable(module: &Module, op: Op, effect: Effect) -> bool {
    let barred = Traits::RANDOM | Traits::TERMINATOR | Traits::SYMBOL;
    let one_block = |&region: &Region| module.first_block(region) == module.last_block(region);
    effect != Effect::Allocates
        && module.result_count(op) > 0
        && module.regions(op).iter().all(one_block)
        && module.successors(op).is_empty()
        && module.def(op).is_some_and(|def| !def.traits.intersects(barred))
        && (module.regions(op).is_empty() || is_steady(module, op))
}

/// Returns whether what the regions of `op` hold computes the same each time.
fn is_steady(module: &Module, op: Op) -> bool {
    let all = walk(module, op, Order::Pre);
    all[1..].iter().all(|&inner| {
        let one_block = |&region: &Region| module.first_block(region) == module.last_block(region);
        effect(module, inner) == Effect::None
            && !module.has_traits(inner, Traits::RANDOM)
            && module.successors(inner).is_empty()
            && module.regions(inner).iter().all(one_block)
    })
}

/// The operands of `op`; those of a commutative one in an order of their own.
fn operands(module: &Module, op: Op, value: impl Fn(Value) -> Value) -> SmallVec<[Value; 4]> {
    let mut operands: SmallVec<[Value; 4]> = module.operands(op).map(value).collect();
    if module.has_traits(op, Traits::COMMUTATIVE) {
        operands.sort_unstable();
    }
    operands
}

fn hash(module: &Module, op: Op) -> u64 {
    let mut state = FxHasher::default();
    (module.name(op), module.attrs(op)).hash(&mut state);
    operands(module, op, |value| value).hash(&mut state);
    state.finish()
}

/// Returns whether `a` and `b` give the same: they are alike, and so is all that they hold.
/// O(operations that `a` holds).
fn equal(module: &Module, a: Op, b: Op) -> bool {
    if module.regions(a).is_empty() && module.regions(b).is_empty() {
        return alike(module, a, b, &FxHashMap::default());
    }
    let (of_a, of_b) = (walk(module, a, Order::Pre), walk(module, b, Order::Pre));
    // What is defined inside of `b`, and what stands for it in `a`.
    let mut same: FxHashMap<Value, Value> = FxHashMap::default();
    let both = || of_a.iter().copied().zip(of_b.iter().copied());
    let pair = |(a, b): (Op, Op)| {
        let counts = |op: Op| (module.result_count(op), module.regions(op).len());
        if counts(a) != counts(b) {
            return false;
        }
        same.extend(module.results(b).zip(module.results(a)));
        module.regions(a).iter().zip(module.regions(b)).all(|(&a, &b)| {
            pair_arguments(module, module.first_block(a), module.first_block(b), &mut same)
        })
    };
    of_a.len() == of_b.len() && both().all(pair) && both().all(|(a, b)| alike(module, a, b, &same))
}

/// Makes the arguments of `b` stand for those of `a`, if the blocks have the same ones and as many
/// operations.
fn pair_arguments(
    module: &Module,
    a: Option<Block>,
    b: Option<Block>,
    same: &mut FxHashMap<Value, Value>,
) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return a == b };
    let (of_a, of_b) = (module.args(a), module.args(b));
    let types = |values: &[Value]| -> SmallVec<[Type; 4]> {
        values.iter().map(|&value| module.value_type(value)).collect()
    };
    same.extend(of_b.iter().copied().zip(of_a.iter().copied()));
    types(of_a) == types(of_b) && module.ops(a).count() == module.ops(b).count()
}

/// Returns whether `a` and `b` are the same but for what they hold, where values of `b` are what
/// `same` says.
fn alike(module: &Module, a: Op, b: Op, same: &FxHashMap<Value, Value>) -> bool {
    let types = |op: Op| module.results(op).map(|value| module.value_type(value));
    let known = |value: Value| same.get(&value).copied().unwrap_or(value);
    module.name(a) == module.name(b)
        && module.attrs(a) == module.attrs(b)
        && operands(module, a, |value| value) == operands(module, b, known)
        && types(a).eq(types(b))
}

/// The blocks that the entry reaches, so that those that dominate come first; then the others.
fn dominators_first(module: &Module, region: Region) -> Vec<Block> {
    let Some(entry) = module.first_block(region) else { return Vec::new() };
    if module.next_block(entry).is_none() {
        return vec![entry];
    }
    let mut seen: FxHashSet<Block> = FxHashSet::default();
    let mut order = Vec::new();
    seen.insert(entry);
    let mut stack = vec![(entry, 0usize)];
    while let Some((block, next)) = stack.pop() {
        let targets = module.last_op(block).map_or(&[][..], |op| module.successors(op));
        match targets.get(next) {
            None => order.push(block),
            Some(&target) => {
                stack.push((block, next + 1));
                if seen.insert(target) {
                    stack.push((target, 0));
                }
            }
        }
    }
    order.reverse();
    order
}

//! `sccp`: constants along the paths that can be taken.
//!
//! After Wegman and Zadeck (*Constant Propagation with Conditional Branches*, 1991): every value
//! starts out as not yet known, blocks as not reached; what is reached is computed, and a branch
//! on a constant reaches one target only. Loops and conditions pass values into their regions and
//! out of them ([`regions`]), calls of private functions into these and back ([`calls`]); arguments
//! of other functions and of regions of other operations may be anything. What a constant takes the place of goes away if nothing else needs it.

mod calls;
mod regions;
mod replace;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tangram_dialects::mlir::integers;
use tangram_ir::{
    Attr, Block, Fold, Folded, Module, Op, Order, Paged, Region, Traits, Value, walk,
};

use crate::effects::Acting;
use crate::pass::{Pass, PassCx, PassError};
use crate::registry::Entry;
use calls::Calls;
use replace::replace;

pub(crate) const ENTRY: Entry = Entry {
    name: "sccp",
    summary: "propagates constants along the paths that can be taken",
    options: &[],
    make: |_| Ok(Box::new(Sccp)),
};

struct Sccp;

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fact {
    /// It is not reached yet.
    Nothing,
    /// It is this constant on all paths so far.
    Constant(Attr),
    /// It may be anything.
    Anything,
}

impl Fact {
    fn join(self, other: Fact) -> Fact {
        match (self, other) {
            (Fact::Nothing, fact) | (fact, Fact::Nothing) => fact,
            (a, b) if a == b => a,
            _ => Fact::Anything,
        }
    }
}

impl Pass for Sccp {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let mut flow = Flow::new(cx.module, Calls::new(cx.module, cx.root));
        flow.come_in(cx.root);
        for &region in cx.module.regions(cx.root) {
            flow.enter(region);
        }
        flow.solve();
        let facts = flow.constants();
        let acting = Acting::new(cx.module, cx.root);
        let (replaced, erased) = replace(cx.module, cx.root, facts, &acting);
        cx.count("replaced", replaced);
        cx.count("erased", erased);
        Ok(())
    }
}

struct Flow<'a> {
    module: &'a Module,
    facts: Paged<Fact>,
    reached: FxHashSet<Block>,
    /// Operations whose results depend on values that are not their operands.
    listeners: FxHashMap<Value, SmallVec<[Op; 1]>>,
    ops: Vec<Op>,
    blocks: Vec<Block>,
    calls: Calls,
}

impl<'a> Flow<'a> {
    fn new(module: &'a Module, calls: Calls) -> Flow<'a> {
        let facts = Paged::new(Fact::Nothing);
        Flow {
            module,
            facts,
            reached: FxHashSet::default(),
            listeners: FxHashMap::default(),
            ops: Vec::new(),
            blocks: Vec::new(),
            calls,
        }
    }

    /// Values from outside of `root` may be anything, but for constants.
    fn come_in(&mut self, root: Op) {
        let module = self.module;
        if module.has_traits(root, Traits::ISOLATED) {
            return;
        }
        for op in walk(module, root, Order::Pre).into_iter().skip(1) {
            for value in module.operands(op) {
                let home = module.def_block(value).and_then(|block| module.block_parent(block));
                if home.is_none_or(|at| at != root && !module.is_proper_ancestor(root, at)) {
                    let constant = module.constant_value(value);
                    self.raise(value, constant.map_or(Fact::Anything, Fact::Constant));
                }
            }
        }
    }

    fn fact(&self, value: Value) -> Fact {
        self.facts.get(value.as_u32())
    }

    fn raise(&mut self, value: Value, fact: Fact) {
        let known = self.fact(value);
        let joined = known.join(fact);
        if joined != known {
            self.facts.set(value.as_u32(), joined);
            self.ops.extend(self.module.uses(value).map(|user| user.op));
            self.ops.extend(self.listeners.get(&value).into_iter().flatten());
        }
    }

    /// Control enters `region` from outside, with arguments of which nothing is known.
    fn enter(&mut self, region: Region) {
        let Some(entry) = self.module.first_block(region) else { return };
        for &arg in self.module.args(entry) {
            self.raise(arg, Fact::Anything);
        }
        self.reach(entry);
    }

    fn reach(&mut self, block: Block) {
        if self.reached.insert(block) {
            self.blocks.push(block);
        }
    }

    fn solve(&mut self) {
        loop {
            if let Some(op) = self.ops.pop() {
                let home = self.module.block(op);
                if home.is_some_and(|block| self.reached.contains(&block)) {
                    self.visit(op);
                }
            } else if let Some(block) = self.blocks.pop() {
                for op in self.module.ops(block) {
                    self.visit(op);
                }
            } else {
                return;
            }
        }
    }

    fn visit(&mut self, op: Op) {
        let module = self.module;
        if !module.successors(op).is_empty() {
            return self.branch(op);
        }
        if self.calls.is_called_only(op) {
            return;
        }
        if !module.regions(op).is_empty() {
            return self.enter_regions(op);
        }
        if let Some(callee) = self.calls.callee(op) {
            return self.call(op, callee);
        }
        if module.has_traits(op, Traits::TERMINATOR) {
            self.leave_region(op);
            self.leave_function(op);
        }
        match module.result_count(op) {
            0 => {}
            1 => {
                let result = module.result(op, 0);
                let fact = self.compute(op);
                self.raise(result, fact);
            }
            _ => self.compute_all(op),
        }
    }

    /// As [`Flow::compute`], of an operation with several results.
    fn compute_all(&mut self, op: Op) {
        let module = self.module;
        let facts: Option<Vec<Fact>> = match self.known_operands(op) {
            None => return,
            Some(constants) => match module.fold_with(op, &constants) {
                Some(Fold::Results(results)) => {
                    Some(results.into_iter().map(|result| self.folded(op, result)).collect())
                }
                _ => None,
            },
        };
        for (i, result) in module.results(op).enumerate() {
            let fact = facts.as_ref().and_then(|facts| facts.get(i).copied());
            self.raise(result, fact.unwrap_or(Fact::Anything));
        }
    }

    /// The constants among the operands of `op`; `None` if one is not reached yet.
    fn known_operands(&self, op: Op) -> Option<SmallVec<[Option<Attr>; 4]>> {
        let known = |value| match self.fact(value) {
            Fact::Nothing => None,
            Fact::Constant(attr) => Some(Some(attr)),
            Fact::Anything => Some(None),
        };
        self.module.operands(op).map(known).collect()
    }

    fn folded(&mut self, op: Op, folded: Folded) -> Fact {
        match folded {
            Folded::Attr(attr) => Fact::Constant(attr),
            Folded::Value(value) => {
                // A change of a value that is no operand is told on request.
                if !self.module.operands(op).any(|v| v == value) {
                    let listeners = self.listeners.entry(value).or_default();
                    if !listeners.contains(&op) {
                        listeners.push(op);
                    }
                }
                self.fact(value)
            }
        }
    }

    /// What the one result of `op` is, from what is known of its operands.
    fn compute(&mut self, op: Op) -> Fact {
        let module = self.module;
        if module.name_text(op) == "arith.constant" {
            return module.attr(op, "value").map_or(Fact::Anything, Fact::Constant);
        }
        let Some(constants) = self.known_operands(op) else { return Fact::Nothing };
        match module.fold_with(op, &constants) {
            Some(Fold::Results(results)) => self.folded(op, results[0]),
            _ => Fact::Anything,
        }
    }

    fn branch(&mut self, op: Op) {
        let module = self.module;
        let operands: SmallVec<[Value; 4]> = module.operands(op).collect();
        let Some(ranges) = module.successor_operands(op) else { return self.anywhere(op) };
        let flag = operands.first().copied();
        let taken = match (module.name_text(op), flag.map(|value| self.fact(value))) {
            ("cf.cond_br" | "cf.switch", Some(Fact::Nothing)) => return,
            ("cf.cond_br", Some(Fact::Constant(attr))) => {
                module.context().as_bool(attr).map(|holds| usize::from(!holds))
            }
            ("cf.switch", Some(Fact::Constant(attr))) => case_of_switch(module, op, attr),
            _ => None,
        };
        for (i, (&target, range)) in module.successors(op).iter().zip(ranges).enumerate() {
            if taken.is_none_or(|taken| taken == i) {
                self.pass(target, &operands[range]);
            }
        }
    }

    /// Control goes to `target` with `values`.
    fn pass(&mut self, target: Block, values: &[Value]) {
        for (&arg, &value) in self.module.args(target).iter().zip(values) {
            let fact = self.fact(value);
            self.raise(arg, fact);
        }
        self.reach(target);
    }

    /// A branch that is not understood.
    fn anywhere(&mut self, op: Op) {
        for &target in self.module.successors(op) {
            for &arg in self.module.args(target) {
                self.raise(arg, Fact::Anything);
            }
            self.reach(target);
        }
    }

    /// The values that are constants, where control comes.
    fn constants(&self) -> Vec<(Value, Attr)> {
        let mut out = Vec::new();
        let mut blocks: Vec<Block> = self.reached.iter().copied().collect();
        blocks.sort_unstable();
        for block in blocks {
            let results = self.module.ops(block).flat_map(|op| self.module.results(op));
            for value in self.module.args(block).iter().copied().chain(results) {
                if let Fact::Constant(attr) = self.fact(value) {
                    out.push((value, attr));
                }
            }
        }
        out
    }
}

/// The successor of a `cf.switch` on a constant.
fn case_of_switch(module: &Module, op: Op, flag: Attr) -> Option<usize> {
    let context = module.context();
    let Some(cases) = module.attr(op, "case_values") else { return Some(0) };
    let count = module.successors(op).len().checked_sub(1)?;
    let cases = integers(context, cases, count)?;
    let flag = *integers(context, flag, 1)?.first()?;
    Some(cases.iter().position(|&case| case == flag).map_or(0, |i| i + 1))
}

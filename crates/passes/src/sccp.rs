//! `sccp`: constants along the paths that can be taken.
//!
//! After Wegman and Zadeck (*Constant Propagation with Conditional Branches*, 1991): every value
//! starts out as not yet known, blocks as not reached; what is reached is computed, and a branch
//! on a constant reaches one target only. Arguments of functions and of blocks of other
//! operations' regions may be anything.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use tangram_ir::{
    Attr, Block, Fold, Folded, Module, Op, OpState, Paged, Point, Region, Type, Value,
};
use tangram_rewrite::{Rewriter, Silent};

use crate::pass::{Pass, PassCx, PassError};
use crate::registry::Entry;

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
        let mut flow = Flow::new(cx.module);
        for &region in cx.module.regions(cx.root) {
            flow.enter(region);
        }
        flow.solve();
        let facts = flow.constants();
        let replaced = replace(cx.module, facts);
        cx.count("replaced", replaced);
        Ok(())
    }
}

struct Flow<'a> {
    module: &'a Module,
    facts: Paged<Fact>,
    reached: FxHashSet<Block>,
    ops: Vec<Op>,
    blocks: Vec<Block>,
}

impl<'a> Flow<'a> {
    fn new(module: &'a Module) -> Flow<'a> {
        let facts = Paged::new(Fact::Nothing);
        Flow { module, facts, reached: FxHashSet::default(), ops: Vec::new(), blocks: Vec::new() }
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
        for &region in module.regions(op) {
            self.enter(region);
        }
        if module.result_count(op) == 0 {
            return;
        }
        if module.result_count(op) == 1 && module.regions(op).is_empty() {
            let result = module.result(op, 0);
            let fact = self.compute(op);
            return self.raise(result, fact);
        }
        for result in module.results(op) {
            self.raise(result, Fact::Anything);
        }
    }

    /// What the one result of `op` is, from what is known of its operands.
    fn compute(&self, op: Op) -> Fact {
        let module = self.module;
        if module.name_text(op) == "arith.constant" {
            return module.attr(op, "value").map_or(Fact::Anything, Fact::Constant);
        }
        let mut constants: SmallVec<[Option<Attr>; 4]> = SmallVec::new();
        for value in module.operands(op) {
            match self.fact(value) {
                Fact::Nothing => return Fact::Nothing,
                Fact::Constant(attr) => constants.push(Some(attr)),
                Fact::Anything => constants.push(None),
            }
        }
        let Some(Fold::Results(results)) = module.fold_with(op, &constants) else {
            return Fact::Anything;
        };
        match results[0] {
            Folded::Attr(attr) => Fact::Constant(attr),
            // Of a value that is no operand, changes would not be heard.
            Folded::Value(value) if module.operands(op).any(|v| v == value) => self.fact(value),
            Folded::Value(_) => Fact::Anything,
        }
    }

    fn branch(&mut self, op: Op) {
        let module = self.module;
        let operands: SmallVec<[Value; 4]> = module.operands(op).collect();
        let targets = module.successors(op);
        match (module.name_text(op), targets) {
            ("cf.br", &[target]) => self.pass(target, &operands),
            ("cf.cond_br", &[yes, no]) if !operands.is_empty() => {
                let count = module.args(yes).len();
                let (condition, rest) = (operands[0], &operands[1..]);
                if count > rest.len() {
                    return self.anywhere(op);
                }
                let (to_yes, to_no) = rest.split_at(count);
                let known = match self.fact(condition) {
                    Fact::Nothing => return,
                    Fact::Constant(attr) => module.context().as_bool(attr),
                    Fact::Anything => None,
                };
                if known != Some(false) {
                    self.pass(yes, to_yes);
                }
                if known != Some(true) {
                    self.pass(no, to_no);
                }
            }
            _ => self.anywhere(op),
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

    /// The values that are constants and are used, where control comes.
    fn constants(&self) -> Vec<(Value, Attr)> {
        let mut out = Vec::new();
        let mut blocks: Vec<Block> = self.reached.iter().copied().collect();
        blocks.sort_unstable();
        for block in blocks {
            let results = self.module.ops(block).flat_map(|op| self.module.results(op));
            for value in self.module.args(block).iter().copied().chain(results) {
                if let Fact::Constant(attr) = self.fact(value)
                    && self.module.has_uses(value)
                {
                    out.push((value, attr));
                }
            }
        }
        out
    }
}

/// Makes users of the values use constants. Returns how many values that were none.
fn replace(module: &mut Module, facts: Vec<(Value, Attr)>) -> u64 {
    let mut silent = Silent;
    let mut rewriter = Rewriter::new(module, &mut silent);
    let mut replaced = 0;
    for (value, attr) in facts {
        let module = rewriter.module();
        let def = module.def_op(value);
        if def.is_some_and(|op| module.name_text(op) == "arith.constant") {
            continue;
        }
        let Some(block) = module.def_block(value) else { continue };
        let point = def.map_or(Point::Start(block), Point::After);
        let ty: Type = module.value_type(value);
        let context = module.context();
        let loc = def.map_or(tangram_ir::Loc::UNKNOWN, |op| module.loc(op));
        let mut state = OpState::new(context.name("arith.constant"), loc);
        state.attrs = context.dict([(context.str("value"), attr)]);
        state.results.push(ty);
        let made = rewriter.create(point, state);
        let constant = rewriter.module().result(made, 0);
        rewriter.replace_uses(value, constant);
        replaced += 1;
    }
    replaced
}

//! Where control and values go between an operation and its regions.

use smallvec::SmallVec;
use tangram_ir::{Block, Module, Op, Value};

use super::{Fact, Flow};

impl Flow<'_> {
    /// Control comes to `op`, which has regions: it goes on into those that may run.
    pub(super) fn enter_regions(&mut self, op: Op) {
        let module = self.module;
        let operands: SmallVec<[Value; 4]> = module.operands(op).collect();
        match module.name_text(op) {
            "scf.for" | "affine.for" => {
                let first = operands.len().saturating_sub(module.result_count(op));
                self.enter_loop(op, &operands[first..]);
            }
            "scf.while" => {
                if let Some(before) = self.entry(op, 0) {
                    self.give(module.args(before), &operands);
                    self.reach(before);
                }
            }
            "scf.if" => {
                let condition = operands.first().map_or(Fact::Anything, |&value| self.fact(value));
                let holds = match condition {
                    Fact::Nothing => return,
                    Fact::Constant(attr) => module.context().as_bool(attr),
                    Fact::Anything => None,
                };
                let runs = |region: usize| holds.is_none_or(|holds| holds == (region == 0));
                self.reach_some(op, runs);
            }
            "scf.index_switch" => {
                let index = operands.first().map_or(Fact::Anything, |&value| self.fact(value));
                let index = match index {
                    Fact::Nothing => return,
                    Fact::Constant(attr) => module.context().as_i64(attr),
                    Fact::Anything => None,
                };
                let taken = index.map(|index| case(module, op, index));
                self.reach_some(op, |region| taken.is_none_or(|taken| taken == region));
            }
            "affine.if" | "scf.execute_region" => self.reach_some(op, |_| true),
            _ => self.enter_unknown(op),
        }
    }

    /// Nothing is known of what goes in, nor of what comes out.
    fn enter_unknown(&mut self, op: Op) {
        let module = self.module;
        for &region in module.regions(op) {
            self.enter(region);
        }
        for result in module.results(op) {
            self.raise(result, Fact::Anything);
        }
    }

    /// A loop with a counter: it may end at once, unless its bounds are constants.
    fn enter_loop(&mut self, op: Op, inits: &[Value]) {
        let module = self.module;
        let results: SmallVec<[Value; 4]> = module.results(op).collect();
        if !runs(module, op) {
            self.give(&results, inits);
        }
        let Some(body) = self.entry(op, 0) else { return };
        if let Some((&counter, carried)) = module.args(body).split_first() {
            self.raise(counter, Fact::Anything);
            self.give(carried, inits);
        }
        self.reach(body);
    }

    fn reach_some(&mut self, op: Op, runs: impl Fn(usize) -> bool) {
        for i in (0..self.module.regions(op).len()).filter(|&i| runs(i)) {
            if let Some(entry) = self.entry(op, i) {
                self.reach(entry);
            }
        }
    }

    /// Control comes to the end of a region: says where it goes, with what.
    pub(super) fn leave_region(&mut self, end: Op) {
        let module = self.module;
        let Some(parent) = module.parent(end) else { return };
        let operands: SmallVec<[Value; 4]> = module.operands(end).collect();
        let results: SmallVec<[Value; 4]> = module.results(parent).collect();
        match (module.name_text(parent), module.name_text(end)) {
            ("scf.for", "scf.yield") | ("affine.for", "affine.yield") => {
                self.give(&results, &operands);
                if let Some(body) = self.entry(parent, 0) {
                    self.give(module.args(body).get(1..).unwrap_or_default(), &operands);
                }
            }
            ("scf.while", "scf.yield") => {
                if let Some(before) = self.entry(parent, 0) {
                    self.give(module.args(before), &operands);
                }
            }
            ("scf.while", "scf.condition") => {
                let Some((&flag, passed)) = operands.split_first() else { return };
                let holds = match self.fact(flag) {
                    Fact::Nothing => return,
                    Fact::Constant(attr) => module.context().as_bool(attr),
                    Fact::Anything => None,
                };
                if let Some(after) = self.entry(parent, 1).filter(|_| holds != Some(false)) {
                    self.give(module.args(after), passed);
                    self.reach(after);
                }
                if holds != Some(true) {
                    self.give(&results, passed);
                }
            }
            ("scf.if" | "scf.execute_region" | "scf.index_switch", "scf.yield")
            | ("affine.if", "affine.yield") => self.give(&results, &operands),
            // Of what others do with it nothing was assumed.
            _ => {}
        }
    }

    fn entry(&self, op: Op, region: usize) -> Option<Block> {
        self.module.first_block(*self.module.regions(op).get(region)?)
    }

    /// `to` may become `from`. What has no counterpart may be anything.
    pub(super) fn give(&mut self, to: &[Value], from: &[Value]) {
        for (i, &value) in to.iter().enumerate() {
            let fact = from.get(i).map_or(Fact::Anything, |&given| self.fact(given));
            self.raise(value, fact);
        }
    }
}

/// The region of an `scf.index_switch` that runs for `index`.
fn case(module: &Module, op: Op, index: i64) -> usize {
    let cases = module.attr(op, "cases").and_then(|attr| module.context().as_i64s(attr));
    let at = cases.unwrap_or_default().iter().position(|&case| case == index);
    at.map_or(0, |at| at + 1)
}

/// Returns whether the bounds of an `affine.for` are constants between which there is an iteration.
fn runs(module: &Module, op: Op) -> bool {
    let bound = |name: &str| {
        let map = module.context().as_affine_map(module.attr(op, name)?)?;
        match map.results() {
            &[result] => map.as_constant(result),
            _ => None,
        }
    };
    bound("lowerBoundMap").zip(bound("upperBoundMap")).is_some_and(|(low, high)| low < high)
}

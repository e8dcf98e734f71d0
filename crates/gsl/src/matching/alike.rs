//! Candidates for a further output that are alike: where one leads nowhere, the others need no try.
//!
//! A model with hundreds of products of one value has as many candidates for each output of a rule,
//! and a rule of three outputs as many triples as their cube. Most of them differ in nothing that the
//! rule reads: the same operation, the same attributes, operands of the same types. If a rule reads
//! types and attributes only, and its outputs are not made of each other, exchanging two such
//! candidates changes no match. So after one has failed with all that comes behind it, those like it
//! are left out; after one that belongs to a match they are not.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};
use tangram_dialects::constant;
use tangram_ir::{Op, Value};

use super::bindings::Target;
use super::solver::Solver;

/// What of candidates for one output a rule can tell apart, and what has failed of that.
#[derive(Clone, Debug, Default)]
pub(super) struct Alike {
    /// For each candidate; none where all can be told apart.
    looks: Vec<u64>,
    failed: FxHashSet<u64>,
    /// How many matches there were when the last one was taken.
    matches: usize,
}

impl Alike {
    /// Notes that the first candidate is taken.
    pub(super) fn start(&mut self, matches: usize) {
        self.matches = matches;
    }

    /// Notes that candidate `last` led to no more matches than `matches`, and returns the next one
    /// after it that is worth a try.
    pub(super) fn next(&mut self, last: usize, matches: usize) -> usize {
        let Some(look) = self.looks.get(last) else { return last + 1 };
        if self.matches == matches {
            self.failed.insert(*look);
        }
        self.matches = matches;
        let rest = self.looks.iter().enumerate().skip(last + 1);
        let mut untried = rest.filter(|(_, look)| !self.failed.contains(look));
        untried.next().map_or(self.looks.len(), |(i, _)| i)
    }
}

impl Solver<'_> {
    /// Compares candidates for an output.
    pub(super) fn alike(&self, candidates: &[Target]) -> Alike {
        let looks = if self.plan.reads_looks() && self.classes.is_none() {
            candidates.iter().map(|target| self.look(*target)).collect()
        } else {
            Vec::new()
        };
        Alike { looks, failed: FxHashSet::default(), matches: self.matches }
    }

    /// What a rule reads of an operation: its name, attributes and types, and those of what makes the
    /// operands that it alone uses, as far down as the rule reaches. What others use as well is
    /// itself.
    fn look(&self, target: Target) -> u64 {
        let mut hasher = FxHasher::default();
        let Some(root) = target.op(self.module) else { return 0 };
        // What a pattern has already is like nothing else.
        if self.is_held(target) {
            target.hash(&mut hasher);
        }
        let mut stack = vec![(root, 0)];
        let position = |value: &Value| Target::Value(*value) == target;
        self.module.results(root).position(|value| position(&value)).hash(&mut hasher);
        while let Some((op, depth)) = stack.pop() {
            self.look_at(op, &mut hasher);
            for value in self.module.operands(op) {
                self.module.value_type(value).hash(&mut hasher);
                let constant = constant::constant_attr(self.module, value).is_some();
                constant.hash(&mut hasher);
                let shared = self.module.uses(value).nth(1).is_some();
                match self.module.def_op(value) {
                    // A constant is its type: nobody reads its elements.
                    Some(_) if constant && !shared => {}
                    Some(def) if !shared && depth < self.plan.depth_of_looks() => {
                        stack.push((def, depth + 1));
                    }
                    _ => value.hash(&mut hasher),
                }
            }
        }
        hasher.finish()
    }

    fn look_at(&self, op: Op, hasher: &mut FxHasher) {
        self.module.name(op).hash(hasher);
        self.module.attrs(op).hash(hasher);
        self.module.operand_count(op).hash(hasher);
        for value in self.module.results(op) {
            self.module.value_type(value).hash(hasher);
        }
    }
}

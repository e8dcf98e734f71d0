//! One instance of one rule, and what the other rules make of it.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use tangram_ir::{Module, Op};
use tangram_rewrite::{Rewriter, Silent};

use super::program::{fingerprint, lines};
use super::{Finding, Known, Seen};
use crate::matching::Match;
use crate::plan::SharedPlan;
use crate::rules::CompiledRule;

/// How many rewrites of an instance are enough to say that they do not end.
const MAX_STEPS: usize = 60;
/// How many of the last rules are named then.
const NAMED: usize = 4;

/// Rule `number` among `rules`, which are in the order in which they are tried.
pub(super) struct Trial<'a> {
    pub(super) rules: &'a [&'a CompiledRule],
    pub(super) plan: &'a SharedPlan,
    pub(super) number: usize,
}

impl Trial<'_> {
    /// Tries the rules on a program that may be an instance of the rule; it comes twice because
    /// rewriting changes it.
    pub(super) fn run(
        &self,
        (mut first, mut second): (Module, Module),
        seen: &mut Seen,
        known: &mut Known,
    ) {
        let ops: Vec<Op> = first.ops(first.body()).collect();
        let rule = self.rules[self.number];
        let Some((root, found)) = ops.iter().find_map(|op| Some((*op, rule.find(&first, *op)?)))
        else {
            return;
        };
        let program = lines(&first);
        let matching = self.overlaps(&first, (root, &found), &program, known);
        if !apply(rule, &mut first, root, &found) {
            return;
        }
        let made = fingerprint(&first);
        self.follow(first, fingerprint(&second), &program, known);
        // Only the one that is tried first can be compared on what is left of the program.
        let rival = matching.first().copied();
        let alike = rival.filter(|rival| {
            let rival = self.rules[*rival];
            let found = rival.find(&second, root);
            found.is_some_and(|found| apply(rival, &mut second, root, &found))
                && fingerprint(&second) == made
        });
        seen.add(matching, alike.into_iter().collect());
    }

    /// Notes the rules that share an operation with the match; returns those of the same root.
    fn overlaps(
        &self,
        module: &Module,
        (root, found): (Op, &Match),
        program: &[String],
        known: &mut Known,
    ) -> BTreeSet<usize> {
        let mut at_root = BTreeSet::new();
        let mut admitted = Vec::new();
        for op in module.ops(module.body()) {
            self.plan.admit(module, op, &mut admitted);
            for (other, rule) in self.rules.iter().enumerate() {
                if other == self.number || admitted[other / 64] >> (other % 64) & 1 == 0 {
                    continue;
                }
                let Some(rival) = rule.find(module, op) else { continue };
                if op == root {
                    at_root.insert(other);
                }
                let pair = (other.min(self.number), other.max(self.number));
                let shares = rival.ops().iter().any(|op| found.ops().contains(op));
                if shares && known.overlaps.insert(pair) {
                    let name = |number: usize| self.rules[number].rule().name().to_owned();
                    let (first, second, program) = (name(pair.0), name(pair.1), program.to_vec());
                    known.findings.push(Finding::Overlap { first, second, program });
                }
            }
        }
        at_root
    }

    /// Rewrites on by all rules, and notes when a program comes again.
    fn follow(&self, mut module: Module, start: String, program: &[String], known: &mut Known) {
        let mut steps = vec![self.number];
        let mut states: FxHashMap<String, usize> = FxHashMap::default();
        states.insert(start, 0);
        let name = |number: &usize| self.rules[*number].rule().name().to_owned();
        loop {
            let state = fingerprint(&module);
            if let Some(since) = states.get(&state) {
                let round = &steps[*since..];
                let mut key = round.to_vec();
                key.sort_unstable();
                key.dedup();
                if known.loops.insert(key) {
                    let rules = round.iter().map(name).collect();
                    known.findings.push(Finding::Loop { rules, program: program.to_vec() });
                }
                return;
            }
            if steps.len() > MAX_STEPS {
                let mut key = steps[steps.len() - NAMED..].to_vec();
                key.sort_unstable();
                key.dedup();
                if known.loops.insert(key.clone()) {
                    let rules = key.iter().map(name).collect();
                    known.findings.push(Finding::Endless { rules, program: program.to_vec() });
                }
                return;
            }
            states.insert(state, steps.len());
            match self.step(&mut module) {
                Some(rule) => steps.push(rule),
                None => return,
            }
        }
    }

    /// Applies the first rule that can be.
    fn step(&self, module: &mut Module) -> Option<usize> {
        let mut admitted = Vec::new();
        let ops: Vec<Op> = module.ops(module.body()).collect();
        for op in ops {
            self.plan.admit(module, op, &mut admitted);
            for (number, rule) in self.rules.iter().enumerate() {
                if admitted[number / 64] >> (number % 64) & 1 == 1
                    && let Some(found) = rule.find(module, op)
                    && apply(rule, module, op, &found)
                {
                    return Some(number);
                }
            }
        }
        None
    }
}

/// Returns whether the rewrite was made; a refused one changes nothing.
fn apply(rule: &CompiledRule, module: &mut Module, root: Op, found: &Match) -> bool {
    let mut listener = Silent;
    let mut rewriter = Rewriter::new(module, &mut listener);
    rule.apply(&mut rewriter, root, found).is_ok()
}

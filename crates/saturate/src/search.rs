//! Rounds of search and application, within limits.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::sync::atomic::Ordering;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use tangram_dialects::constant;
use tangram_egraph::Symbol;
use tangram_gsl::matching::{Classes, Match};
use tangram_gsl::rules::CompiledRule;
use tangram_ir::{Module, Name, Op, Point};
use tangram_rewrite::{RewritePattern, Rewriter, Roots, Silent};
use tangram_tensor::budget;

use crate::Config;
use crate::graph::Graph;
use crate::report::{Report, RuleReport, Stop};

/// The most matches of a rule at one root and in one round.
const MATCHES_AT_ROOT: usize = 32;
/// The most steps of a search at one root and in one round.
const STEPS_AT_ROOT: usize = 1 << 17;
/// How often a limit is asked for until memory is looked at once.
const MEMORY_EVERY: u32 = 1 << 10;
/// What is left of the process's memory for choosing and writing.
const LEAST_LEFT: u64 = 64 << 20;

/// Applies the rules until nothing is new or a limit is reached.
pub(crate) fn run(graph: &mut Graph, rules: &[CompiledRule], config: &Config) -> Report {
    let named =
        |rule: &CompiledRule| RuleReport { name: rule.name().to_owned(), ..RuleReport::default() };
    let mut report = Report { rules: rules.iter().map(named).collect(), ..Report::default() };
    let turns = vec![Turn { steps: config.max_steps, next: 0 }; rules.len()];
    let (done, asked) = (FxHashSet::default(), Cell::new(0));
    let mut search = Search { graph, rules, config, turns, done, folded: 0, asked };
    report.stop = search.rounds(&mut report);
    report.nodes = graph.witnesses.len();
    report.classes = graph.egraph.number_of_classes();
    report
}

struct Search<'a> {
    graph: &'a mut Graph,
    rules: &'a [CompiledRule],
    config: &'a Config,
    /// For each rule what the next round is to do.
    turns: Vec<Turn>,
    /// Hashes of the matches that were applied.
    done: FxHashSet<u64>,
    /// Bytes of the constants that were made.
    folded: usize,
    /// How often it was asked whether a limit is reached.
    asked: Cell<u32>,
}

/// What one rule may do in a round.
#[derive(Clone, Copy)]
struct Turn {
    /// How many steps it may take.
    steps: usize,
    /// How many roots an earlier round has gone through that was cut off: those come last.
    next: usize,
}

/// A match to be applied.
struct Found {
    rule: usize,
    root: Op,
    matched: Match,
}

impl Search<'_> {
    fn rounds(&mut self, report: &mut Report) -> Stop {
        for round in 0..self.config.max_rounds {
            let (found, cut) = self.search(round, report);
            report.rounds = round + 1;
            let before = self.graph.witnesses.len();
            let mut changed = false;
            let mut stop = None;
            for found in found {
                self.config.progress.tell(round + 1, self.graph.witnesses.len());
                stop = self.limit();
                if stop.is_some() {
                    break;
                }
                changed |= self.apply(&found, report);
            }
            self.graph.refresh();
            changed |= self.graph.witnesses.len() != before;
            self.asked.set(0);
            if let Some(stop) = stop.or_else(|| self.limit()) {
                return stop;
            }
            let waiting = round < self.config.multi_output_rounds;
            if !changed && !cut && !waiting {
                return Stop::Saturated;
            }
        }
        Stop::Rounds
    }

    fn limit(&self) -> Option<Stop> {
        let past = |deadline: Instant| Instant::now() >= deadline;
        if self.graph.witnesses.len() >= self.config.max_nodes {
            Some(Stop::Nodes)
        } else if self.is_out_of_memory() {
            Some(Stop::Memory)
        } else if self.config.deadline.is_some_and(past) {
            Some(Stop::Time)
        } else if self.config.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            Some(Stop::Cancelled)
        } else {
            None
        }
    }

    /// Whether there is no memory left, which is looked at now and then: it takes a look at all
    /// operators.
    fn is_out_of_memory(&self) -> bool {
        let asked = self.asked.get();
        let is_out = asked.is_multiple_of(MEMORY_EVERY)
            && (self.graph.egraph.core().bytes() + self.folded > self.config.max_bytes
                || budget::left().is_some_and(|left| left < LEAST_LEFT));
        // Who is out of memory is so the next time as well.
        self.asked.set(if is_out { asked } else { asked.wrapping_add(1) });
        is_out
    }

    /// Finds the new matches of all rules, and whether some were left for the next round.
    fn search(&mut self, round: usize, report: &mut Report) -> (Vec<Found>, bool) {
        let mut by_name: FxHashMap<Name, Vec<Op>> = FxHashMap::default();
        let all: Vec<Op> = self.graph.witnesses.iter().filter(|w| !w.fixed).map(|w| w.op).collect();
        for &op in &all {
            by_name.entry(self.graph.module.name(op)).or_default().push(op);
        }
        let (mut found, mut cut) = (Vec::new(), false);
        for (number, rule) in self.rules.iter().enumerate() {
            let several = rule.plan().looks_sideways() && is_several(rule);
            if several && round >= self.config.multi_output_rounds {
                continue;
            }
            let started = Instant::now();
            let roots: Vec<Op> = match rule.roots() {
                Roots::Names(names) => {
                    names.iter().filter_map(|name| by_name.get(name)).flatten().copied().collect()
                }
                // The matcher asks for the rest.
                _ => all.clone(),
            };
            let before = found.len();
            cut |= self.matches_of(number, &roots, &mut found);
            report.rules[number].matches += found.len() - before;
            report.rules[number].seconds += started.elapsed().as_secs_f64();
        }
        (found, cut)
    }

    /// Finds the new matches of a rule, and whether some are left for the next round.
    fn matches_of(&mut self, number: usize, roots: &[Op], found: &mut Vec<Found>) -> bool {
        let Turn { steps, next } = self.turns[number];
        let next = if next < roots.len() { next } else { 0 };
        let (before, mut left) = (found.len(), steps);
        let (late, early) = roots.split_at(next);
        for (i, &root) in early.iter().chain(late).enumerate() {
            let taken = found.len() - before;
            if taken >= self.config.max_matches || left == 0 || self.limit().is_some() {
                let steps = if taken == 0 { steps / 2 } else { steps };
                self.turns[number] = Turn { steps, next: (next + i) % roots.len() };
                // What has found nothing for so long is not waited for.
                return taken > 0;
            }
            left -= self.matches_at(number, root, left, found);
        }
        self.turns[number].next = 0;
        false
    }

    /// Finds the new matches at a root; returns how many steps that took, of at most `most`.
    fn matches_at(
        &mut self,
        number: usize,
        root: Op,
        most: usize,
        found: &mut Vec<Found>,
    ) -> usize {
        let rule = &self.rules[number];
        let solver = rule.matches_among(&self.graph.module, &*self.graph, root);
        let mut solver = solver.with_max_steps(most.min(STEPS_AT_ROOT));
        for _ in 0..MATCHES_AT_ROOT {
            let Some(matched) = solver.next_match() else { break };
            if self.done.insert(fingerprint(number, rule, self.graph, &matched)) {
                found.push(Found { rule: number, root, matched });
            }
        }
        solver.steps()
    }

    /// Builds the target of a match and unites it with the source; returns whether that is news.
    fn apply(&mut self, found: &Found, report: &mut Report) -> bool {
        let rule = &self.rules[found.rule];
        let report = &mut report.rules[found.rule];
        let started = Instant::now();
        let point = Point::Before(self.graph.terminator);
        let left = self.config.max_folded_bytes.saturating_sub(self.folded).max(4096);
        let mut silent = Silent;
        let mut rewriter = Rewriter::new(&mut self.graph.module, &mut silent);
        let built = rule.instantiate(&mut rewriter, (found.root, point), &found.matched, left);
        let Ok((values, made)) = built else {
            report.refused += 1;
            return false;
        };
        for op in made {
            self.folded += constant_bytes(&self.graph.module, op);
            self.graph.register(op);
        }
        let mut changed = false;
        let name = Symbol::from(rule.name());
        for (&old, &new) in found.matched.outputs().iter().zip(&values) {
            if let (Some(old), Some(new)) = (self.graph.id(old), self.graph.id(new)) {
                let united = self.graph.egraph.union_trusted(old, new, name);
                report.unions += usize::from(united);
                changed |= united;
            }
        }
        report.applied += 1;
        report.seconds += started.elapsed().as_secs_f64();
        changed
    }
}

/// Returns whether a rule has several outputs.
fn is_several(rule: &CompiledRule) -> bool {
    let sources = rule.rule().sources();
    sources.len() > 1 || sources.iter().any(|id| rule.plan().branch_root(*id) != *id)
}

fn constant_bytes(module: &Module, op: Op) -> usize {
    if !constant::is_constant(module, op) {
        return 0;
    }
    let bytes = |value| {
        let (dtype, shape) = constant::static_tensor(module.context(), module.value_type(value))?;
        dtype.byte_len(shape.iter().product())
    };
    module.results(op).filter_map(bytes).sum()
}

/// What tells a match from others: the rule, the operations, and the classes of single patterns.
fn fingerprint(number: usize, rule: &CompiledRule, graph: &Graph, found: &Match) -> u64 {
    let mut hasher = FxHasher::default();
    (number, found.ops(), found.outputs()).hash(&mut hasher);
    for (id, _) in rule.rule().patterns() {
        let value = found.value(rule.plan(), &graph.module, id);
        value.map(|value| graph.representative(value)).hash(&mut hasher);
    }
    hasher.finish()
}

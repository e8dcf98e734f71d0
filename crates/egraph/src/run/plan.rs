//! How an iteration searches and applies: all patterns in one walk, then rule by rule.

use super::{RuleStatistics, RunnerLimits, RunnerResult, StopReason};
use crate::code::LeftCode;
use crate::core::{Found, Job, Link, Machine, Query, RuleSet, Template};
use crate::rewrite::Limits;
use crate::schedule::Gate;
use crate::{
    Analysis, Batch, EGraph, Language, PatternAst, Rewrite, RewriteScheduler, SearchMatches, Symbol,
};
use indexmap::IndexMap;
use std::sync::OnceLock;
use std::time::Instant;

/// From how many ids on rules are matched in one walk.
///
/// Making the trie of all rules costs more than small e-graphs have to search.
const SHARED_FROM: usize = 1_000;

/// The rules of a run as they fit its e-graph.
pub(crate) struct Plan<'a, L: Language> {
    set: RuleSet,
    rules: Vec<Compiled<'a, L>>,
    statistics: Vec<RuleStatistics>,
    machine: Machine,
    /// How many operators there were when rules were last linked.
    linked_ops: Option<usize>,
    witness: bool,
    applied: IndexMap<Symbol, usize>,
    search_time: f64,
    apply_time: f64,
}

/// A rule of the plan.
struct Compiled<'a, L: Language> {
    /// The left side; `None` for a searcher that is code.
    left: Option<&'a LeftCode<L>>,
    /// The operators of the left side, once the e-graph has them all.
    link: Option<Link>,
    /// The pattern's place in the rule set, if it is matched there.
    slot: Option<usize>,
    ast: Option<&'a PatternAst<L>>,
    right: OnceLock<Option<(Template, Option<u32>)>>,
    /// Whether applying depends on the match only, so that old matches need no second look.
    pure: bool,
    /// The generation up to which all matches were applied.
    since: u32,
}

/// What a rule found in this iteration.
enum Matches<'a, L: Language> {
    Rows(Found),
    Listed(Vec<SearchMatches<'a, L>>),
    Nothing,
}

impl<L: Language> Matches<'_, L> {
    /// Tells whether there is nothing to apply.
    fn is_empty(&self) -> bool {
        match self {
            Matches::Rows(rows) => rows.rows.is_empty(),
            Matches::Listed(listed) => listed.is_empty(),
            Matches::Nothing => true,
        }
    }

    /// Counts the matches, those without a row included.
    fn count(&self) -> usize {
        match self {
            Matches::Rows(rows) => rows.count,
            Matches::Listed(listed) => listed.iter().map(|found| found.substs.len()).sum(),
            Matches::Nothing => 0,
        }
    }
}

impl<'a, L: Language> Plan<'a, L> {
    pub(crate) fn new<N: Analysis<L>>(egraph: &EGraph<L, N>, rules: &[&'a Rewrite<L, N>]) -> Self {
        let compiled = |rule: &&'a Rewrite<L, N>| Compiled {
            left: rule.searcher.__left(),
            link: None,
            slot: None,
            ast: rule.searcher.get_pattern_ast(),
            right: OnceLock::new(),
            pure: rule.applier.__is_pure(),
            since: 0,
        };
        let named = |rule: &&Rewrite<L, N>| RuleStatistics {
            name: Some(rule.name),
            ..RuleStatistics::default()
        };
        let witness = egraph.are_explanations_enabled();
        Plan {
            set: RuleSet::new(witness),
            rules: rules.iter().map(compiled).collect(),
            statistics: rules.iter().map(named).collect(),
            machine: Machine::default(),
            linked_ops: None,
            witness,
            applied: IndexMap::default(),
            search_time: 0.0,
            apply_time: 0.0,
        }
    }

    /// Finds the operators of rules that the e-graph lacked so far, and moves rules to the common
    /// walk once that pays.
    fn link<N: Analysis<L>>(&mut self, egraph: &EGraph<L, N>) {
        let ops = egraph.core().number_of_ops();
        if self.linked_ops != Some(ops) {
            self.linked_ops = Some(ops);
            for rule in &mut self.rules {
                if rule.slot.is_none() && (rule.link.is_none() || !L::__matches_equal()) {
                    let link = rule.left.and_then(|left| egraph.link(left));
                    if link != rule.link {
                        // What an operator matches is more than before.
                        (rule.link, rule.since) = (link, 0);
                    }
                }
            }
        }
        if egraph.core().number_of_ids() < SHARED_FROM || !L::__matches_equal() {
            return;
        }
        for rule in &mut self.rules {
            if let (None, Some(left), Some(link)) = (rule.slot, rule.left, &rule.link) {
                rule.slot = Some(self.set.push_program(left.program(link).with_ops(&link.ops)));
            }
        }
    }

    /// Searches and applies all rules, asking the scheduler only for counts.
    pub(crate) fn iterate<N: Analysis<L>>(
        &mut self,
        number: usize,
        egraph: &mut EGraph<L, N>,
        rules: &[&'a Rewrite<L, N>],
        scheduler: &mut dyn RewriteScheduler<L, N>,
        limits: &RunnerLimits,
    ) -> RunnerResult<()> {
        let start = Instant::now();
        let Some(gate) = scheduler.__gate() else {
            return Ok(());
        };
        let found = self.search(number, egraph, rules, gate, limits);
        self.search_time = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let result = found.and_then(|found| self.apply(egraph, rules, found, limits));
        self.apply_time = start.elapsed().as_secs_f64();
        result
    }

    fn search<N: Analysis<L>>(
        &mut self,
        number: usize,
        egraph: &EGraph<L, N>,
        rules: &[&'a Rewrite<L, N>],
        gate: &mut dyn Gate,
        limits: &RunnerLimits,
    ) -> RunnerResult<Vec<Matches<'a, L>>> {
        self.link(egraph);
        let allowances: Vec<Option<usize>> =
            rules.iter().map(|rule| gate.allowance(number, rule.name)).collect();
        let deadline = limits.deadline();
        let late = || deadline.is_some_and(|deadline| Instant::now() > deadline);
        let too_late = || StopReason::TimeLimit(limits.time.as_secs_f64());
        let mut shared: Vec<Option<Found>> = Vec::new();
        if !self.set.is_empty() {
            let queries = self.queries(&allowances);
            let found = self.set.search(egraph.core(), &queries, late).ok_or_else(too_late)?;
            shared.extend(found.into_iter().map(Some));
        }
        let now = egraph.core().generation();
        let mut all = Vec::with_capacity(rules.len());
        for (at, (rule, allowance)) in rules.iter().zip(allowances).enumerate() {
            let Some(limit) = allowance else {
                all.push(Matches::Nothing);
                continue;
            };
            let compiled = &self.rules[at];
            let matches = match (compiled.slot, compiled.left) {
                (Some(slot), _) => shared[slot].take().map_or(Matches::Nothing, Matches::Rows),
                (None, Some(_)) => self.search_one(at, egraph, limit, late).ok_or_else(too_late)?,
                (None, None) => {
                    Matches::Listed(rule.search_with_limit(egraph, limit.saturating_add(1)))
                }
            };
            let count = matches.count();
            let admitted = gate.admit(number, rule.name, count);
            self.statistics[at].matches += count;
            self.statistics[at].held_back += usize::from(!admitted);
            if admitted {
                self.rules[at].since = now;
            }
            all.push(if admitted { matches } else { Matches::Nothing });
        }
        limits.check_limits(number, egraph)?;
        Ok(all)
    }

    /// Searches a rule by itself; `None` if that took too long.
    fn search_one<N: Analysis<L>>(
        &mut self,
        at: usize,
        egraph: &EGraph<L, N>,
        limit: usize,
        late: impl FnMut() -> bool,
    ) -> Option<Matches<'a, L>> {
        let rule = &self.rules[at];
        let (Some(left), Some(link)) = (rule.left, &rule.link) else {
            return Some(Matches::Nothing);
        };
        let job = Job {
            core: egraph.core(),
            program: left.program(link),
            link,
            query: rule.query(Some(limit)),
            only: None,
            witness: self.witness,
        };
        let mut found = job.found();
        self.machine.run(&job, &mut found, late).then_some(Matches::Rows(found))
    }

    /// Asks for what each rule of the common walk may have.
    fn queries(&self, allowances: &[Option<usize>]) -> Vec<Query> {
        let mut queries = vec![Query::ALL; self.set.len()];
        for (rule, &allowance) in self.rules.iter().zip(allowances) {
            if let Some(slot) = rule.slot {
                queries[slot] = rule.query(allowance);
            }
        }
        queries
    }

    fn apply<N: Analysis<L>>(
        &mut self,
        egraph: &mut EGraph<L, N>,
        rules: &[&'a Rewrite<L, N>],
        found: Vec<Matches<'a, L>>,
        limits: &RunnerLimits,
    ) -> RunnerResult<()> {
        let inner = Limits { nodes: limits.nodes, deadline: limits.deadline() };
        for (at, (rule, matches)) in rules.iter().zip(found).enumerate() {
            if matches.is_empty() {
                continue;
            }
            let compiled = &self.rules[at];
            let statistics = &mut self.statistics[at];
            let start = Instant::now();
            let nodes = egraph.core().number_of_ids();
            let changed = match matches {
                Matches::Nothing => continue,
                Matches::Listed(listed) => rule.apply(egraph, &listed).len(),
                Matches::Rows(rows) => {
                    statistics.applied += rows.iter().len();
                    rule.applier.__apply_rows(egraph, &compiled.batch(inner), &rows, rule.name)
                }
            };
            statistics.changed += changed;
            statistics.nodes += egraph.core().number_of_ids() - nodes;
            statistics.apply_time += start.elapsed().as_secs_f64();
            if changed > 0 {
                *self.applied.entry(rule.name).or_default() += changed;
            }
            limits.check_limits(0, egraph)?;
        }
        Ok(())
    }

    /// Lets a scheduler of the user's search and apply.
    pub(crate) fn delegate<N: Analysis<L>>(
        &mut self,
        number: usize,
        egraph: &mut EGraph<L, N>,
        rules: &[&'a Rewrite<L, N>],
        scheduler: &mut dyn RewriteScheduler<L, N>,
        limits: &RunnerLimits,
    ) -> RunnerResult<()> {
        let start = Instant::now();
        let found = scheduler.search_rewrites(number, egraph, rules, limits);
        self.search_time = start.elapsed().as_secs_f64();
        let start = Instant::now();
        for (rule, matches) in rules.iter().zip(found?) {
            let changed = scheduler.apply_rewrite(number, egraph, rule, matches);
            if changed > 0 {
                *self.applied.entry(rule.name).or_default() += changed;
            }
            limits.check_limits(number, egraph)?;
        }
        self.apply_time = start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Hands over what the iteration applied, and its times to search and to apply.
    pub(crate) fn take_outcome(&mut self) -> (IndexMap<Symbol, usize>, f64, f64) {
        let times = (self.search_time, self.apply_time);
        (self.search_time, self.apply_time) = (0.0, 0.0);
        (std::mem::take(&mut self.applied), times.0, times.1)
    }

    pub(crate) fn statistics(self) -> Vec<RuleStatistics> {
        self.statistics
    }
}

impl<'a, L: Language> Compiled<'a, L> {
    /// Asks for what the rule may have, and for new matches only where old ones say nothing new.
    fn query(&self, allowance: Option<usize>) -> Query {
        let limit = allowance.unwrap_or(0).saturating_add(1);
        Query {
            active: allowance.is_some(),
            since: if self.pure { self.since } else { 0 },
            count_all: limit != usize::MAX,
            limit,
        }
    }

    /// Returns what an applier needs to read the rule's matches.
    fn batch(&self, limits: Limits) -> Batch<'_, L> {
        Batch {
            vars: self.left.map_or(&[], |left| &left.vars),
            ast: self.ast,
            left: self.left.zip(self.link.as_ref()),
            right: &self.right,
            limits,
        }
    }
}

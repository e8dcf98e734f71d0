//! How an iteration searches and applies: all patterns in one walk, then rule by rule.

use super::{RuleStatistics, RunnerLimits, RunnerResult, StopReason};
use crate::core::{Found, Query, RuleSet, Template, Term};
use crate::multipattern::number_of;
use crate::rewrite::Limits;
use crate::schedule::Gate;
use crate::{
    Analysis, Batch, EGraph, Language, PatternAst, Rewrite, RewriteScheduler, SearchMatches,
    Symbol, Var,
};
use indexmap::IndexMap;
use std::sync::OnceLock;
use std::time::Instant;

/// The compiled rules of a run.
pub(crate) struct Plan<'a, L: Language> {
    set: RuleSet,
    rules: Vec<Compiled<'a, L>>,
    applied: IndexMap<Symbol, usize>,
    search_time: f64,
    apply_time: f64,
}

/// A rule of the plan.
struct Compiled<'a, L: Language> {
    /// The pattern's place in the rule set; `None` for a searcher that is code.
    slot: Option<usize>,
    vars: Vec<Var>,
    ast: Option<&'a PatternAst<L>>,
    left: Option<Term>,
    right: OnceLock<Option<(Template, Option<u32>)>>,
    /// Whether applying depends on the match only, so that old matches need no second look.
    pure: bool,
    /// The generation up to which all matches were applied.
    since: u32,
    statistics: RuleStatistics,
}

/// What a rule found in this iteration.
enum Matches<'a, L: Language> {
    Rows(Found),
    Listed(Vec<SearchMatches<'a, L>>),
    Nothing,
}

impl<L: Language> Matches<'_, L> {
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
    pub(crate) fn new<N: Analysis<L>>(
        egraph: &mut EGraph<L, N>,
        rules: &[&'a Rewrite<L, N>],
    ) -> Self {
        let mut plan = Plan {
            set: RuleSet::new(egraph.are_explanations_enabled()),
            rules: Vec::with_capacity(rules.len()),
            applied: IndexMap::default(),
            search_time: 0.0,
            apply_time: 0.0,
        };
        for rule in rules {
            let compiled = plan.compile(egraph, rule);
            plan.rules.push(compiled);
        }
        plan
    }

    fn compile<N: Analysis<L>>(
        &mut self,
        egraph: &mut EGraph<L, N>,
        rule: &'a Rewrite<L, N>,
    ) -> Compiled<'a, L> {
        let mut compiled = Compiled {
            slot: None,
            vars: Vec::new(),
            ast: rule.searcher.get_pattern_ast(),
            left: None,
            right: OnceLock::new(),
            pure: rule.applier.__is_pure(),
            since: 0,
            statistics: RuleStatistics { name: Some(rule.name), ..RuleStatistics::default() },
        };
        let Some(clauses) = rule.searcher.__clauses() else {
            return compiled;
        };
        let mut terms = Vec::with_capacity(clauses.len());
        for (var, ast) in clauses {
            let var = var.map(|var| number_of(var, &mut compiled.vars));
            terms.push((var, egraph.term(ast, &mut compiled.vars)));
        }
        let borrowed: Vec<_> = terms.iter().map(|(var, term)| (*var, term)).collect();
        compiled.slot = Some(self.set.push_all(&borrowed));
        if let [(None, _)] = terms.as_slice() {
            compiled.left = terms.pop().map(|(_, term)| term);
        }
        compiled
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
        let allowances: Vec<Option<usize>> =
            rules.iter().map(|rule| gate.allowance(number, rule.name)).collect();
        let queries = self.queries(&allowances);
        let deadline = limits.deadline();
        let late = || deadline.is_some_and(|deadline| Instant::now() > deadline);
        let Some(found) = self.set.search(egraph.core(), &queries, late) else {
            limits.check_limits(number, egraph)?;
            return Err(StopReason::TimeLimit(limits.time.as_secs_f64()));
        };
        let mut found: Vec<Option<Found>> = found.into_iter().map(Some).collect();
        let now = egraph.core().generation();
        let mut all = Vec::with_capacity(rules.len());
        for ((compiled, rule), allowance) in self.rules.iter_mut().zip(rules).zip(allowances) {
            let rows = compiled.slot.and_then(|slot| found[slot].take());
            let matches = match (allowance, rows) {
                (None, _) => Matches::Nothing,
                (Some(_), Some(rows)) => Matches::Rows(rows),
                (Some(limit), None) => {
                    Matches::Listed(rule.search_with_limit(egraph, limit.saturating_add(1)))
                }
            };
            let count = matches.count();
            compiled.statistics.matches += count;
            let admitted = allowance.is_some() && gate.admit(number, rule.name, count);
            if admitted {
                compiled.since = now;
            }
            compiled.statistics.held_back += usize::from(allowance.is_some() && !admitted);
            all.push(if admitted { matches } else { Matches::Nothing });
        }
        limits.check_limits(number, egraph)?;
        Ok(all)
    }

    /// Asks for what each rule may have, and for new matches only where old ones say nothing new.
    fn queries(&self, allowances: &[Option<usize>]) -> Vec<Query> {
        let mut queries = vec![Query::ALL; self.set.len()];
        for (compiled, &allowance) in self.rules.iter().zip(allowances) {
            if let Some(slot) = compiled.slot {
                let limit = allowance.unwrap_or(0).saturating_add(1);
                queries[slot] = Query {
                    active: allowance.is_some(),
                    since: if compiled.pure { compiled.since } else { 0 },
                    count_all: limit != usize::MAX,
                    limit,
                };
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
        for ((compiled, rule), matches) in self.rules.iter_mut().zip(rules).zip(found) {
            let start = Instant::now();
            let nodes = egraph.core().number_of_ids();
            let changed = match matches {
                Matches::Nothing => continue,
                Matches::Listed(listed) => rule.apply(egraph, &listed).len(),
                Matches::Rows(rows) => {
                    compiled.statistics.applied += rows.iter().len();
                    let batch = Batch {
                        vars: &compiled.vars,
                        ast: compiled.ast,
                        left: compiled.left.as_ref(),
                        right: &compiled.right,
                        limits: inner,
                    };
                    rule.applier.__apply_rows(egraph, &batch, &rows, rule.name)
                }
            };
            compiled.statistics.changed += changed;
            compiled.statistics.nodes += egraph.core().number_of_ids() - nodes;
            compiled.statistics.apply_time += start.elapsed().as_secs_f64();
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
        self.rules.into_iter().map(|rule| rule.statistics).collect()
    }
}

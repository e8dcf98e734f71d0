//! How an iteration searches and applies: all patterns in one walk, then rule by rule.

use super::limits::Laps;
use super::{RuleStatistics, RunnerLimits, RunnerResult, StopReason};
use crate::code::LeftCode;
use crate::core::{Found, Job, Link, Lists, Machine, Query, RuleSet, Template};
use crate::rewrite::Limits;
use crate::schedule::Gate;
use crate::{
    Analysis, Batch, EGraph, Language, PatternAst, Rewrite, RewriteScheduler, SearchMatches, Symbol,
};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::cell::{Cell, OnceCell};
use std::time::Instant;

/// From how many ids on rules are matched in one walk.
///
/// Making the trie of all rules costs more than small e-graphs have to search.
const SHARED_FROM: usize = 1_000;

/// From how many matches on the time to apply a pattern is measured.
///
/// Reading the clock costs more than to apply a few.
const TIMED_FROM: usize = 64;

/// Up to how many ids an iteration is timed as a whole: its phases take less than to read the clock.
const BRIEF_UPTO: usize = 32;

/// Up to how many words lists of rows have together that are kept to be filled again.
const SPARE_WORDS: usize = 1 << 20;

/// Up to how many words those have that a thread keeps from run to run.
const KEPT_WORDS: usize = 1 << 18;

thread_local! {
    static SPARE: Cell<Option<Lists>> = const { Cell::new(None) };
}

/// The rules of a run as they fit its e-graph.
pub(crate) struct CompiledRules<'a, L: Language> {
    set: RuleSet,
    rules: Vec<Compiled<'a, L>>,
    statistics: Vec<RuleStatistics>,
    machine: Machine,
    /// The e-graph that the rules were linked for.
    egraph: u64,
    /// How many operators there were when rules were last linked.
    linked_ops: Option<usize>,
    /// The rules that can match: all but those whose operators the e-graph lacks.
    live: Vec<u32>,
    witness: bool,
    /// Lists of rows that were applied, to be filled again.
    spare: Lists,
    /// The list of what rules found, empty between iterations.
    found: All<'a, L>,
    applied: IndexMap<Symbol, usize, FxBuildHasher>,
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
    right: OnceCell<Option<(Template, Option<u32>)>>,
    /// Whether applying depends on the match only, so that old matches need no second look.
    pure: bool,
    /// The generation up to which all matches were applied.
    since: u32,
    /// No fewer than the matches that there were at that generation.
    bound: usize,
    /// How many new matches there were the last time.
    fresh: usize,
}

/// What a rule found in this iteration.
enum Matches<'a, L: Language> {
    Rows(Found),
    Listed(Vec<SearchMatches<'a, L>>),
}

/// What rules found that have something to apply, by their numbers.
type All<'a, L> = Vec<(usize, Matches<'a, L>)>;

impl<L: Language> Matches<'_, L> {
    /// Tells whether there is nothing to apply.
    fn is_empty(&self) -> bool {
        match self {
            Matches::Rows(rows) => rows.rows.is_empty(),
            Matches::Listed(listed) => listed.is_empty(),
        }
    }

    /// Counts the matches, those without a row included.
    fn count(&self) -> usize {
        match self {
            Matches::Rows(rows) => rows.count,
            Matches::Listed(listed) => listed.iter().map(|found| found.substs.len()).sum(),
        }
    }
}

impl<'a, L: Language> CompiledRules<'a, L> {
    pub(crate) fn new<N: Analysis<L>>(egraph: &EGraph<L, N>, rules: &[&'a Rewrite<L, N>]) -> Self {
        let compiled = |rule: &&'a Rewrite<L, N>| Compiled {
            left: rule.searcher.__left(),
            link: None,
            slot: None,
            ast: rule.searcher.get_pattern_ast(),
            right: OnceCell::new(),
            pure: rule.applier.__is_pure(),
            since: 0,
            bound: 0,
            fresh: 0,
        };
        let named = |rule: &&Rewrite<L, N>| RuleStatistics {
            name: Some(rule.name),
            ..RuleStatistics::default()
        };
        let witness = egraph.are_explanations_enabled();
        CompiledRules {
            set: RuleSet::new(witness),
            rules: rules.iter().map(compiled).collect(),
            statistics: rules.iter().map(named).collect(),
            machine: Machine::default(),
            egraph: egraph.serial,
            linked_ops: None,
            live: Vec::with_capacity(rules.len()),
            witness,
            spare: SPARE.try_with(Cell::take).ok().flatten().unwrap_or_default(),
            found: Vec::with_capacity(rules.len()),
            applied: IndexMap::default(),
            search_time: 0.0,
            apply_time: 0.0,
        }
    }

    /// Finds the operators of rules that the e-graph lacked so far, and moves rules to the common
    /// walk once that pays.
    fn link<N: Analysis<L>>(&mut self, egraph: &EGraph<L, N>) {
        if self.egraph != egraph.serial {
            self.start_over(egraph);
        }
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
            let can_match = |rule: &Compiled<'_, L>| rule.left.is_none() || rule.link.is_some();
            self.live.clear();
            self.live
                .extend((0..).zip(&self.rules).filter(|(_, rule)| can_match(rule)).map(|at| at.0));
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

    /// Forgets what is known of an e-graph that a hook has put another one in the place of.
    fn start_over<N: Analysis<L>>(&mut self, egraph: &EGraph<L, N>) {
        (self.egraph, self.linked_ops) = (egraph.serial, None);
        self.witness = egraph.are_explanations_enabled();
        self.set = RuleSet::new(self.witness);
        for rule in &mut self.rules {
            (rule.link, rule.slot, rule.right) = (None, None, OnceCell::new());
            (rule.since, rule.bound, rule.fresh) = (0, 0, 0);
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
        laps: &mut Laps,
    ) -> RunnerResult<()> {
        let Some(gate) = scheduler.__gate() else {
            return Ok(());
        };
        let is_brief = egraph.core().number_of_ids() <= BRIEF_UPTO;
        let found = self.search(number, egraph, rules, gate, limits);
        if !is_brief {
            self.search_time = laps.lap();
        }
        limits.check_at(laps.last, number, egraph)?;
        let searched = *laps;
        let result = found.and_then(|found| self.apply(egraph, rules, found, limits, laps));
        if !is_brief {
            laps.lap();
            self.apply_time = laps.total() - searched.total();
        }
        result
    }

    fn search<N: Analysis<L>>(
        &mut self,
        number: usize,
        egraph: &EGraph<L, N>,
        rules: &[&'a Rewrite<L, N>],
        gate: &mut dyn Gate,
        limits: &RunnerLimits,
    ) -> RunnerResult<All<'a, L>> {
        self.link(egraph);
        let deadline = limits.deadline();
        let late = || deadline.is_some_and(|deadline| Instant::now() > deadline);
        let too_late = || StopReason::TimeLimit(limits.time.as_secs_f64());
        let allowance = |rule: &&Rewrite<L, N>| gate.allowance(number, rule.name);
        let allowances = rules.iter().map(allowance);
        let mut shared = self.search_shared(egraph, allowances, late).ok_or_else(too_late)?;
        let now = egraph.core().generation();
        let mut all = std::mem::take(&mut self.found);
        for place in 0..self.live.len() {
            let at = self.live[place] as usize;
            let name = rules[at].name;
            let Some(limit) = gate.allowance(number, name) else {
                continue;
            };
            let matches = match (shared.get_mut(at).and_then(Option::take), self.rules[at].left) {
                (Some(found), _) => Matches::Rows(found),
                (None, Some(left)) => {
                    self.search_one(at, left, egraph, limit, late).ok_or_else(too_late)?
                }
                (None, None) => {
                    Matches::Listed(rules[at].search_with_limit(egraph, limit.saturating_add(1)))
                }
            };
            let count = matches.count();
            let admitted = count <= limit || gate.admit(number, name, count);
            self.statistics[at].matches += count;
            if !admitted {
                self.statistics[at].held_back += 1;
                // The search ended at the limit, so the next one has to count.
                self.rules[at].bound = usize::MAX;
                continue;
            }
            self.rules[at].take_in(now, limit, &matches);
            match matches.is_empty() {
                true => self.give_back(matches),
                false => all.push((at, matches)),
            }
        }
        Ok(all)
    }

    /// Searches the rules of the common walk; those that may have too many matches a second time,
    /// to count them. Nothing is listed without a common walk. `None` if that took too long.
    fn search_shared<N: Analysis<L>>(
        &mut self,
        egraph: &EGraph<L, N>,
        allowances: impl Iterator<Item = Option<usize>>,
        late: impl Fn() -> bool,
    ) -> Option<Vec<Option<Found>>> {
        let mut shared: Vec<Option<Found>> = Vec::new();
        if self.set.is_empty() {
            return Some(shared);
        }
        let allowances: &[Option<usize>] = &allowances.collect::<Vec<_>>();
        shared.resize_with(self.rules.len(), || None);
        let mut queries = self.queries(allowances);
        let mut found = self.set.search_into(egraph.core(), &queries, &mut self.spare, &late)?;
        let mut uncertain = false;
        for (rule, allowance) in self.rules.iter_mut().zip(allowances) {
            let Some(slot) = rule.slot else { continue };
            let query = &mut queries[slot];
            query.active &= rule.may_exceed(*allowance, query, found[slot].count);
            if query.active {
                query.count_all = true;
                rule.bound = 0;
                uncertain = true;
            }
        }
        if uncertain {
            let counted = self.set.search(egraph.core(), &queries, &late)?;
            for ((query, found), counted) in queries.iter().zip(&mut found).zip(counted) {
                if query.active {
                    *found = counted;
                }
            }
        }
        for (rule, shared) in self.rules.iter().zip(&mut shared) {
            *shared = rule.slot.map(|slot| std::mem::take(&mut found[slot]));
        }
        Some(shared)
    }

    /// Searches a rule by itself; `None` if that took too long.
    fn search_one<N: Analysis<L>>(
        &mut self,
        at: usize,
        left: &'a LeftCode<L>,
        egraph: &EGraph<L, N>,
        limit: usize,
        mut late: impl FnMut() -> bool,
    ) -> Option<Matches<'a, L>> {
        let rule = &self.rules[at];
        let Some(link) = &rule.link else {
            return Some(Matches::Listed(Vec::new()));
        };
        let mut job = Job {
            core: egraph.core(),
            program: left.program(link),
            link,
            query: rule.query(Some(limit)),
            only: None,
            listed: None,
            witness: self.witness,
        };
        let mut found = job.found();
        found.rows = self.spare.take();
        if !self.machine.run(&job, &mut found, &mut late) {
            return None;
        }
        if rule.may_exceed(Some(limit), &job.query, found.count) {
            job.query.count_all = true;
            found.count = 0;
            found.rows.clear();
            if !self.machine.run(&job, &mut found, &mut late) {
                return None;
            }
            self.rules[at].bound = 0;
        }
        Some(Matches::Rows(found))
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
        mut found: All<'a, L>,
        limits: &RunnerLimits,
        laps: &mut Laps,
    ) -> RunnerResult<()> {
        let inner = Limits { nodes: limits.nodes, deadline: limits.deadline() };
        for (at, matches) in found.drain(..) {
            let (rule, compiled) = (rules[at], &self.rules[at]);
            let statistics = &mut self.statistics[at];
            let timed = !compiled.pure || matches.count() >= TIMED_FROM;
            if timed {
                laps.lap();
            }
            let nodes = egraph.core().number_of_ids();
            let changed = match &matches {
                Matches::Listed(listed) => rule.apply(egraph, listed).len(),
                Matches::Rows(rows) => {
                    statistics.applied += rows.len();
                    rule.applier.__apply_rows(egraph, &compiled.batch(inner), rows, rule.name)
                }
            };
            statistics.changed += changed;
            statistics.nodes += egraph.core().number_of_ids() - nodes;
            if changed > 0 {
                *self.applied.entry(rule.name).or_default() += changed;
            }
            if timed {
                statistics.apply_time += laps.lap();
                limits.check_at(laps.last, 0, egraph)?;
            } else {
                limits.check_size(egraph)?;
            }
            self.give_back(matches);
        }
        self.found = found;
        Ok(())
    }

    /// Keeps a small list of rows for a later search.
    fn give_back(&mut self, matches: Matches<'_, L>) {
        if let Matches::Rows(Found { rows, .. }) = matches {
            self.spare.keep(rows, SPARE_WORDS);
        }
    }

    /// Lets a scheduler of the user's search and apply.
    pub(crate) fn delegate<N: Analysis<L>>(
        &mut self,
        number: usize,
        egraph: &mut EGraph<L, N>,
        rules: &[&'a Rewrite<L, N>],
        scheduler: &mut dyn RewriteScheduler<L, N>,
        limits: &RunnerLimits,
        laps: &mut Laps,
    ) -> RunnerResult<()> {
        egraph.watch(rules);
        let found = scheduler.search_rewrites(number, egraph, rules, limits);
        self.search_time = laps.lap();
        for (rule, matches) in rules.iter().zip(found?) {
            let changed = scheduler.apply_rewrite(number, egraph, rule, matches);
            if changed > 0 {
                *self.applied.entry(rule.name).or_default() += changed;
            }
            limits.check_limits(number, egraph)?;
        }
        self.apply_time = laps.lap();
        Ok(())
    }

    /// Hands over what the iteration applied, and its times to search and to apply.
    pub(crate) fn take_outcome(&mut self) -> (IndexMap<Symbol, usize, FxBuildHasher>, f64, f64) {
        let times = (self.search_time, self.apply_time);
        (self.search_time, self.apply_time) = (0.0, 0.0);
        (std::mem::take(&mut self.applied), times.0, times.1)
    }

    /// Ends the run, and says what each rule did.
    pub(crate) fn statistics(self) -> Vec<RuleStatistics> {
        let mut spare = self.spare;
        spare.shrink(KEPT_WORDS);
        // A thread that is ending keeps nothing.
        _ = SPARE.try_with(|kept| kept.set(Some(spare)));
        self.statistics
    }
}

impl<'a, L: Language> Compiled<'a, L> {
    /// Asks for what the rule may have, and for new matches only where old ones say nothing new.
    ///
    /// A match that is not new was one at the time of the last search. So all are counted only
    /// where those and the new ones may be too many together.
    fn query(&self, allowance: Option<usize>) -> Query {
        let limit = allowance.unwrap_or(0);
        Query {
            active: allowance.is_some(),
            since: if self.pure { self.since } else { 0 },
            count_all: limit != usize::MAX && self.bound.saturating_add(self.fresh) > limit,
            limit: limit.saturating_add(1),
        }
    }

    /// Tells whether there may be more matches than allowed although only new ones were counted.
    fn may_exceed(&self, allowance: Option<usize>, query: &Query, fresh: usize) -> bool {
        let old = if query.since == 0 { 0 } else { self.bound };
        allowance.is_some_and(|limit| !query.count_all && old.saturating_add(fresh) > limit)
    }

    /// Remembers how many matches there are, now that they are to be applied.
    fn take_in(&mut self, now: u32, limit: usize, matches: &Matches<'_, L>) {
        if let Matches::Rows(found) = matches {
            let query = self.query(Some(limit));
            let counted = query.count_all || query.since == 0;
            let old = if counted { 0 } else { self.bound };
            self.bound = old.saturating_add(found.count);
            self.fresh = found.len();
        }
        self.since = now;
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

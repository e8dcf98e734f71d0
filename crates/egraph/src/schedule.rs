//! Schedulers: which rules run when.

use crate::{
    Analysis, EGraph, Language, Rewrite, RunnerLimits, RunnerResult, SearchMatches, Symbol,
};
use rustc_hash::FxHashMap;

/// Decides which rules a [`Runner`](crate::Runner) searches and applies in an iteration.
#[allow(unused_variables)]
pub trait RewriteScheduler<L: Language, N: Analysis<L>> {
    /// Tells whether the runner may call itself saturated; asked when nothing changed.
    fn can_stop(&mut self, iteration: usize) -> bool {
        true
    }

    /// Searches one rule.
    fn search_rewrite<'a>(
        &mut self,
        iteration: usize,
        egraph: &EGraph<L, N>,
        rewrite: &'a Rewrite<L, N>,
    ) -> Vec<SearchMatches<'a, L>> {
        rewrite.search(egraph)
    }

    /// Searches all rules.
    ///
    /// # Errors
    /// With the reason to stop the run.
    fn search_rewrites<'a>(
        &mut self,
        iteration: usize,
        egraph: &EGraph<L, N>,
        rewrites: &[&'a Rewrite<L, N>],
        limits: &RunnerLimits,
    ) -> RunnerResult<Vec<Vec<SearchMatches<'a, L>>>> {
        let mut all = Vec::with_capacity(rewrites.len());
        for rewrite in rewrites {
            all.push(self.search_rewrite(iteration, egraph, rewrite));
            limits.check_limits(iteration, egraph)?;
        }
        Ok(all)
    }

    /// Applies one rule to what was found, and returns the number of changes.
    fn apply_rewrite(
        &mut self,
        iteration: usize,
        egraph: &mut EGraph<L, N>,
        rewrite: &Rewrite<L, N>,
        matches: Vec<SearchMatches<'_, L>>,
    ) -> usize {
        let changed = rewrite.apply(egraph, &matches).len();
        egraph.recycle(matches);
        changed
    }

    #[doc(hidden)]
    fn __gate(&mut self) -> Option<&mut dyn Gate> {
        None
    }
}

/// What the built-in schedulers decide by: names and counts of matches.
///
/// A scheduler that needs no more lets the runner search all rules in one walk.
#[doc(hidden)]
pub trait Gate {
    /// Returns how many matches the rule may have in this iteration; `None` if it has to pause.
    fn allowance(&mut self, iteration: usize, rule: Symbol) -> Option<usize>;

    /// Learns that a rule had more matches than it may, or any number, and tells whether they are
    /// to be applied.
    fn admit(&mut self, iteration: usize, rule: Symbol, count: usize) -> bool;
}

/// Runs every rule in every iteration.
#[derive(Clone, Copy, Debug)]
pub struct SimpleScheduler;

impl Gate for SimpleScheduler {
    fn allowance(&mut self, _: usize, _: Symbol) -> Option<usize> {
        Some(usize::MAX)
    }

    fn admit(&mut self, _: usize, _: Symbol, _: usize) -> bool {
        true
    }
}

impl<L: Language, N: Analysis<L>> RewriteScheduler<L, N> for SimpleScheduler {
    fn __gate(&mut self) -> Option<&mut dyn Gate> {
        Some(self)
    }
}

/// Bans rules with too many matches for a while, each time with a higher limit and for longer.
#[derive(Clone, Debug)]
pub struct BackoffScheduler {
    match_limit: usize,
    ban_length: usize,
    stats: FxHashMap<Symbol, RuleStats>,
}

#[derive(Clone, Debug)]
struct RuleStats {
    banned_until: usize,
    bans: u32,
    match_limit: usize,
    ban_length: usize,
}

impl RuleStats {
    fn threshold(&self) -> usize {
        let limit = u128::from(self.match_limit as u64) << self.bans.min(63);
        usize::try_from(limit).unwrap_or(usize::MAX)
    }
}

impl Default for BackoffScheduler {
    fn default() -> Self {
        BackoffScheduler { match_limit: 1000, ban_length: 5, stats: FxHashMap::default() }
    }
}

impl BackoffScheduler {
    /// Sets the number of matches above which a rule is banned the first time; 1000 if not set.
    pub fn with_initial_match_limit(mut self, limit: usize) -> Self {
        self.match_limit = limit;
        self
    }

    /// Sets the number of iterations of a first ban; 5 if not set.
    pub fn with_ban_length(mut self, ban_length: usize) -> Self {
        self.ban_length = ban_length;
        self
    }

    /// Never bans the named rule.
    pub fn do_not_ban(mut self, name: impl Into<Symbol>) -> Self {
        self.stats_of(name.into()).match_limit = usize::MAX;
        self
    }

    /// Sets the first limit of the named rule.
    pub fn rule_match_limit(mut self, name: impl Into<Symbol>, limit: usize) -> Self {
        self.stats_of(name.into()).match_limit = limit;
        self
    }

    /// Sets the length of a first ban of the named rule.
    pub fn rule_ban_length(mut self, name: impl Into<Symbol>, length: usize) -> Self {
        self.stats_of(name.into()).ban_length = length;
        self
    }

    fn stats_of(&mut self, name: Symbol) -> &mut RuleStats {
        let fresh = RuleStats {
            banned_until: 0,
            bans: 0,
            match_limit: self.match_limit,
            ban_length: self.ban_length,
        };
        self.stats.entry(name).or_insert(fresh)
    }
}

impl Gate for BackoffScheduler {
    fn allowance(&mut self, iteration: usize, rule: Symbol) -> Option<usize> {
        // Only a rule with limits of its own, or one that was banned, has an entry.
        match self.stats.get(&rule) {
            Some(stats) => (iteration >= stats.banned_until).then(|| stats.threshold()),
            None => Some(self.match_limit),
        }
    }

    fn admit(&mut self, iteration: usize, rule: Symbol, count: usize) -> bool {
        let stats = self.stats_of(rule);
        if iteration < stats.banned_until {
            return false;
        }
        if count <= stats.threshold() {
            return true;
        }
        let length = u128::from(stats.ban_length as u64) << stats.bans.min(63);
        stats.bans += 1;
        stats.banned_until =
            iteration.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        false
    }
}

impl<L: Language, N: Analysis<L>> RewriteScheduler<L, N> for BackoffScheduler {
    /// If rules are banned, brings the end of the next ban forward instead of stopping.
    fn can_stop(&mut self, iteration: usize) -> bool {
        let banned = self.stats.values_mut().filter(|stats| stats.banned_until > iteration);
        let banned: Vec<&mut RuleStats> = banned.collect();
        let Some(first) = banned.iter().map(|stats| stats.banned_until).min() else {
            return true;
        };
        for stats in banned {
            stats.banned_until -= first - iteration;
        }
        false
    }

    fn search_rewrite<'a>(
        &mut self,
        iteration: usize,
        egraph: &EGraph<L, N>,
        rewrite: &'a Rewrite<L, N>,
    ) -> Vec<SearchMatches<'a, L>> {
        let Some(limit) = self.allowance(iteration, rewrite.name) else {
            return Vec::new();
        };
        let matches = rewrite.search_with_limit(egraph, limit.saturating_add(1));
        let count = matches.iter().map(|found| found.substs.len()).sum();
        match self.admit(iteration, rewrite.name, count) {
            true => matches,
            false => Vec::new(),
        }
    }

    fn __gate(&mut self) -> Option<&mut dyn Gate> {
        Some(self)
    }
}

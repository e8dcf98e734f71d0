//! The runner: rules to saturation, or to a limit.

mod compiled_rules;
mod limits;
mod report;

pub use limits::{RunnerLimits, RunnerResult, StopReason};
pub use report::{Iteration, Report, RuleStatistics};

use crate::{
    Analysis, BackoffScheduler, EGraph, Explanation, Id, Language, PatternAst, RecExpr, Rewrite,
    RewriteScheduler, Subst,
};
use compiled_rules::CompiledRules;
use indexmap::IndexMap;
use limits::Laps;
use std::fmt::{self, Debug};
use std::time::{Duration, Instant};

/// A function that runs before each iteration; an error stops the run.
type Hook<R> = Box<dyn FnMut(&mut R) -> Result<(), String>>;

/// Runs rules over an e-graph.
///
/// ```
/// use tangram_egraph::{rewrite, AstSize, Extractor, Runner, StopReason, SymbolLang};
/// let rules = [
///     rewrite!("commute"; "(+ ?a ?b)" => "(+ ?b ?a)"),
///     rewrite!("zero"; "(+ ?a 0)" => "?a"),
/// ];
/// let runner = Runner::<SymbolLang, ()>::default()
///     .with_expr(&"(+ 0 (+ 0 x))".parse().unwrap())
///     .run(&rules);
/// assert!(matches!(runner.stop_reason, Some(StopReason::Saturated)));
/// let (cost, best) = Extractor::new(&runner.egraph, AstSize).find_best(runner.roots[0]);
/// assert_eq!((cost, best.to_string()), (1, "x".to_string()));
/// ```
#[non_exhaustive]
pub struct Runner<L: Language, N: Analysis<L>, IterData = ()> {
    /// The e-graph.
    pub egraph: EGraph<L, N>,
    /// What happened in each iteration.
    pub iterations: Vec<Iteration<IterData>>,
    /// The ids of the expressions that were added with [`with_expr`](Runner::with_expr).
    pub roots: Vec<Id>,
    /// Why the run stopped.
    pub stop_reason: Option<StopReason>,
    /// Functions that run before each iteration.
    pub hooks: Vec<Hook<Self>>,
    /// What each rule did, over all iterations.
    pub statistics: Vec<RuleStatistics>,
    limits: RunnerLimits,
    scheduler: Box<dyn RewriteScheduler<L, N>>,
}

/// Data that a user wants to keep about each iteration.
pub trait IterationData<L: Language, N: Analysis<L>>: Sized {
    /// Makes the data at the end of an iteration.
    fn make(runner: &Runner<L, N, Self>) -> Self;
}

impl<L: Language, N: Analysis<L>> IterationData<L, N> for () {
    fn make(_: &Runner<L, N, Self>) -> Self {}
}

impl<L: Language, N: Analysis<L> + Default> Default for Runner<L, N, ()> {
    fn default() -> Self {
        Runner::new(N::default())
    }
}

impl<L: Language, N: Analysis<L>, IterData: Debug> Debug for Runner<L, N, IterData> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner")
            .field("egraph", &self.egraph)
            .field("iterations", &self.iterations)
            .field("roots", &self.roots)
            .field("stop_reason", &self.stop_reason)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl<L, N, IterData> Runner<L, N, IterData>
where
    L: Language,
    N: Analysis<L>,
    IterData: IterationData<L, N>,
{
    /// Makes a runner: 30 iterations, 10,000 nodes, 5 seconds, backing off from rules that match
    /// too often.
    pub fn new(analysis: N) -> Self {
        Runner {
            egraph: EGraph::new(analysis),
            iterations: Vec::new(),
            roots: Vec::new(),
            stop_reason: None,
            hooks: Vec::new(),
            statistics: Vec::new(),
            limits: RunnerLimits::default(),
            scheduler: Box::new(BackoffScheduler::default()),
        }
    }

    /// Sets the number of iterations after which the run stops.
    pub fn with_iter_limit(mut self, iter_limit: usize) -> Self {
        self.limits.iterations = iter_limit;
        self
    }

    /// Sets the number of nodes above which the run stops, also within an iteration.
    pub fn with_node_limit(mut self, node_limit: usize) -> Self {
        self.limits.nodes = node_limit;
        self
    }

    /// Sets the time after which the run stops, also within an iteration.
    pub fn with_time_limit(mut self, time_limit: Duration) -> Self {
        self.limits.time = time_limit;
        self
    }

    /// Sets the number of bytes that the e-graph may hold.
    pub fn with_memory_limit(mut self, bytes: usize) -> Self {
        self.limits.bytes = bytes;
        self
    }

    /// Adds a function that runs before each iteration. If it changes the e-graph, it has to
    /// rebuild it.
    pub fn with_hook<F>(mut self, hook: F) -> Self
    where
        F: FnMut(&mut Self) -> Result<(), String> + 'static,
    {
        self.hooks.push(Box::new(hook));
        self
    }

    /// Sets the scheduler.
    pub fn with_scheduler(mut self, scheduler: impl RewriteScheduler<L, N> + 'static) -> Self {
        self.scheduler = Box::new(scheduler);
        self
    }

    /// Adds an expression; its class becomes one of the roots.
    pub fn with_expr(mut self, expr: &RecExpr<L>) -> Self {
        let root = self.egraph.add_expr(expr);
        self.roots.push(root);
        self
    }

    /// Replaces the e-graph.
    pub fn with_egraph(mut self, egraph: EGraph<L, N>) -> Self {
        self.egraph = egraph;
        self
    }

    /// Makes the e-graph remember why things are equal.
    ///
    /// # Panics
    /// If there were unions before.
    pub fn with_explanations_enabled(mut self) -> Self {
        self.egraph = self.egraph.with_explanations_enabled();
        self
    }

    /// Makes the e-graph forget why things are equal.
    pub fn with_explanations_disabled(mut self) -> Self {
        self.egraph = self.egraph.with_explanations_disabled();
        self
    }

    /// Makes explanations shorter where that is cheap; the default.
    pub fn with_explanation_length_optimization(mut self) -> Self {
        self.egraph = self.egraph.with_explanation_length_optimization();
        self
    }

    /// Leaves explanations as long as they were found.
    pub fn without_explanation_length_optimization(mut self) -> Self {
        self.egraph = self.egraph.without_explanation_length_optimization();
        self
    }

    /// Explains why two expressions are equal; see [`EGraph::explain_equivalence`].
    pub fn explain_equivalence(&mut self, left: &RecExpr<L>, right: &RecExpr<L>) -> Explanation<L> {
        self.egraph.explain_equivalence(left, right)
    }

    /// Explains why an expression matches a pattern; see [`EGraph::explain_matches`].
    pub fn explain_matches(
        &mut self,
        left: &RecExpr<L>,
        right: &PatternAst<L>,
        subst: &Subst,
    ) -> Explanation<L> {
        self.egraph.explain_matches(left, right, subst)
    }

    /// Runs rules until nothing changes or a limit is reached; then `stop_reason` says which.
    pub fn run<'a, R>(mut self, rules: R) -> Self
    where
        R: IntoIterator<Item = &'a Rewrite<L, N>>,
        L: 'a,
        N: 'a,
    {
        let rules: Vec<&Rewrite<L, N>> = rules.into_iter().collect();
        self.stop_reason = None;
        let mut start = Instant::now();
        self.limits.start.get_or_insert(start);
        self.egraph.rebuild();
        let mut plan = CompiledRules::new(&self.egraph, &rules);
        loop {
            let (iteration, end) = self.iterate(&rules, &mut plan, start);
            start = end;
            let stop = iteration.stop_reason.clone();
            self.iterations.push(iteration);
            let limits = || self.limits.check_at(end, self.iterations.len(), &self.egraph);
            if let Some(reason) = stop.or_else(|| limits().err()) {
                self.stop_reason = Some(reason);
                break;
            }
        }
        self.egraph.unwatch();
        self.statistics = plan.statistics();
        self
    }

    fn iterate<'a>(
        &mut self,
        rules: &[&'a Rewrite<L, N>],
        plan: &mut CompiledRules<'a, L>,
        start: Instant,
    ) -> (Iteration<IterData>, Instant) {
        let mut laps = Laps::from(start);
        let number = self.iterations.len();
        let before = self.size();
        let mut result = self.limits.check_at(laps.start, number, &self.egraph);
        let mut hook_time = 0.0;
        if !self.hooks.is_empty() {
            result = result.and_then(|()| self.run_hooks());
            hook_time = laps.lap();
        }
        let hooked = self.size();

        let (mut applied, mut search_time, mut apply_time) = (IndexMap::default(), 0.0, 0.0);
        if result.is_ok() {
            let scheduler = self.scheduler.as_mut();
            let egraph = &mut self.egraph;
            result = match scheduler.__gate().is_some() {
                true => plan.iterate(number, egraph, rules, scheduler, &self.limits, &mut laps),
                false => plan.delegate(number, egraph, rules, scheduler, &self.limits, &mut laps),
            };
            (applied, search_time, apply_time) = plan.take_outcome();
        }

        let n_rebuilds = self.egraph.rebuild();
        let rebuild_time = laps.lap();
        // The scheduler may shorten bans as soon as no rule changed anything, even if hooks or
        // conditions did.
        let quiet = applied.is_empty() && self.scheduler.can_stop(number);
        if result.is_ok() && quiet && before == hooked && before == self.size() {
            result = Err(StopReason::Saturated);
        }
        let iteration = Iteration {
            egraph_nodes: before.0,
            egraph_classes: before.1,
            applied,
            hook_time,
            search_time,
            apply_time,
            rebuild_time,
            total_time: laps.total(),
            data: IterData::make(self),
            n_rebuilds,
            stop_reason: result.err(),
        };
        (iteration, laps.last)
    }

    fn size(&self) -> (usize, usize) {
        (self.egraph.total_size(), self.egraph.number_of_classes())
    }

    fn run_hooks(&mut self) -> RunnerResult<()> {
        let mut hooks = std::mem::take(&mut self.hooks);
        let mut run = |hook: &mut Hook<Self>| hook(self).map_err(StopReason::Other);
        let result = hooks.iter_mut().try_for_each(&mut run);
        hooks.append(&mut self.hooks);
        self.hooks = hooks;
        result
    }

    /// Summarises the run.
    ///
    /// # Panics
    /// If nothing was run yet.
    pub fn report(&self) -> Report {
        let sum = |time: fn(&Iteration<IterData>) -> f64| self.iterations.iter().map(time).sum();
        Report {
            iterations: self.iterations.len(),
            stop_reason: self.stop_reason.clone().expect("a run has to come before its report"),
            egraph_nodes: self.egraph.total_number_of_nodes(),
            egraph_classes: self.egraph.number_of_classes(),
            memo_size: self.egraph.total_size(),
            rebuilds: self.iterations.iter().map(|iteration| iteration.n_rebuilds).sum(),
            total_time: sum(|iteration| iteration.total_time),
            search_time: sum(|iteration| iteration.search_time),
            apply_time: sum(|iteration| iteration.apply_time),
            rebuild_time: sum(|iteration| iteration.rebuild_time),
        }
    }

    /// Prints the summary.
    pub fn print_report(&self) {
        println!("{}", self.report());
    }
}

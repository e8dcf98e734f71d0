//! Extraction by integer programming, with the names of egg's `lp` feature.

use crate::choices::{EGraphChoices, Exact};
use crate::{Analysis, AstSize, EGraph, Id, Language, RecExpr};
use std::time::Duration;

/// A cost of each node on its own.
pub trait LpCostFunction<L: Language, N: Analysis<L>> {
    /// Returns the cost of a node, at least 0.
    fn node_cost(&mut self, egraph: &EGraph<L, N>, eclass: Id, enode: &L) -> f64;
}

impl<L: Language, N: Analysis<L>> LpCostFunction<L, N> for AstSize {
    fn node_cost(&mut self, _: &EGraph<L, N>, _: Id, _: &L) -> f64 {
        1.0
    }
}

/// Reads a number of seconds: what is too long for a clock is as long as can be.
fn duration(seconds: f64) -> Duration {
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) => duration,
        Err(_) if seconds > 0.0 => Duration::MAX,
        Err(_) => Duration::ZERO,
    }
}

/// Extracts the expression whose nodes, each counted once, cost least.
///
/// ```
/// use tangram_egraph::{AstSize, EGraph, LpExtractor, SymbolLang};
/// let mut egraph = EGraph::<SymbolLang, ()>::default();
/// let f = egraph.add_expr(&"(f x x x)".parse().unwrap());
/// let g = egraph.add_expr(&"(f (g y) (g y) (g y))".parse().unwrap());
/// egraph.union(f, g);
/// egraph.rebuild();
/// let mut extractor = LpExtractor::new(&egraph, AstSize);
/// let best = extractor.solve(f);
/// assert_eq!(best.to_string(), "(f x x x)");
/// assert_eq!(best.len(), 2);
/// assert!(extractor.outcome().unwrap().optimal);
/// ```
#[derive(Debug)]
pub struct LpExtractor<'a, L: Language, N: Analysis<L>> {
    egraph: &'a EGraph<L, N>,
    choices: EGraphChoices,
    timeout: Option<Duration>,
    outcome: Option<Exact>,
}

impl<'a, L: Language, N: Analysis<L>> LpExtractor<'a, L, N> {
    /// Reads the costs of all nodes of a rebuilt e-graph.
    pub fn new<CF: LpCostFunction<L, N>>(egraph: &'a EGraph<L, N>, mut cost_function: CF) -> Self {
        let cost = |class, node: &L| cost_function.node_cost(egraph, class, node);
        let choices = EGraphChoices::new(egraph, cost);
        LpExtractor { egraph, choices, timeout: None, outcome: None }
    }

    /// Sets the time for each solution from here on, in seconds; none is set at first.
    ///
    /// Infinity, and what no clock reaches, is no limit. What is negative or no number leaves no
    /// time: then the answer is that of local search.
    pub fn timeout(&mut self, seconds: f64) -> &mut Self {
        self.timeout = Some(duration(seconds));
        self
    }

    /// Returns how good the last solution is, or `None` if there was none yet.
    ///
    /// [`Exact::optimal`] says whether it is proved to be the cheapest, and [`Exact::bound`] what
    /// nothing costs less than. An answer that came for want of time is not marked otherwise.
    pub fn outcome(&self) -> Option<&Exact> {
        self.outcome.as_ref()
    }

    /// Extracts the best expression of a class.
    ///
    /// # Panics
    /// If the class has no finite expression.
    pub fn solve(&mut self, root: Id) -> RecExpr<L> {
        self.solve_multiple(&[root]).0
    }

    /// Extracts the best expression of a class found within some seconds.
    ///
    /// # Panics
    /// If the class has no finite expression.
    pub fn solve_with_timeout(&mut self, root: Id, seconds: f64) -> RecExpr<L> {
        self.solve_multiple_with_timeout(&[root], seconds).0
    }

    /// Extracts the best expressions of some classes, parts that they share counted once.
    ///
    /// # Panics
    /// If a class has no finite expression.
    pub fn solve_multiple(&mut self, roots: &[Id]) -> (RecExpr<L>, Vec<Id>) {
        self.solve_within(roots, self.timeout.unwrap_or(Duration::MAX))
    }

    /// Does what [`solve_multiple`](LpExtractor::solve_multiple) does within some seconds.
    ///
    /// # Panics
    /// If a class has no finite expression.
    pub fn solve_multiple_with_timeout(
        &mut self,
        roots: &[Id],
        seconds: f64,
    ) -> (RecExpr<L>, Vec<Id>) {
        self.solve_within(roots, duration(seconds))
    }

    fn solve_within(&mut self, roots: &[Id], limit: Duration) -> (RecExpr<L>, Vec<Id>) {
        self.outcome = self.run(roots, limit);
        let classes = self.classes(roots);
        let solved = self.outcome.as_ref();
        let built = solved
            .and_then(|exact| self.choices.expression(self.egraph, &exact.selection, &classes?));
        match built {
            Some(built) => built,
            None => panic!("one of the classes {roots:?} has no finite expression"),
        }
    }

    /// Runs the integer program and tells how good its outcome is.
    ///
    /// `None` if a class has no finite expression.
    pub fn run(&self, roots: &[Id], limit: Duration) -> Option<Exact> {
        let roots = self.classes(roots)?;
        self.choices.choices.best(&roots, limit)
    }

    fn classes(&self, roots: &[Id]) -> Option<Vec<usize>> {
        let class = |&root: &Id| self.choices.class(self.egraph, root);
        roots.iter().map(class).collect()
    }
}

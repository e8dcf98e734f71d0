//! Rules: a searcher on the left, an applier on the right, conditions between.

use crate::code::{LeftCode, RightCode};
use crate::core::{Core, Found, Link, Template};
use crate::pattern::row_subst;
use crate::{
    Analysis, EGraph, FromOp, Id, Language, Pattern, PatternAst, SearchMatches, Subst, Symbol, Var,
};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt::{self, Debug, Display};
use std::sync::Arc;
use std::time::Instant;

/// A rule: what its searcher finds, its applier rewrites.
///
/// Usually made by [`rewrite!`](crate::rewrite).
#[non_exhaustive]
pub struct Rewrite<L, N> {
    /// The name, which schedulers, reports and proofs use.
    pub name: Symbol,
    /// The left-hand side.
    pub searcher: Arc<dyn Searcher<L, N> + Sync + Send>,
    /// The right-hand side.
    pub applier: Arc<dyn Applier<L, N> + Sync + Send>,
}

impl<L, N> Clone for Rewrite<L, N> {
    fn clone(&self) -> Self {
        Rewrite {
            name: self.name,
            searcher: Arc::clone(&self.searcher),
            applier: Arc::clone(&self.applier),
        }
    }
}

impl<L: Language + Display, N: Analysis<L>> Debug for Rewrite<L, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |ast: Option<&PatternAst<L>>| match ast {
            Some(ast) => ast.to_string(),
            None => "<code>".into(),
        };
        f.debug_struct("Rewrite")
            .field("name", &self.name)
            .field("searcher", &show(self.searcher.get_pattern_ast()))
            .field("applier", &show(self.applier.get_pattern_ast()))
            .finish()
    }
}

impl<L: Language, N: Analysis<L>> Rewrite<L, N> {
    /// Makes a rule.
    ///
    /// # Errors
    /// If the applier has a variable that the searcher does not bind.
    pub fn new(
        name: impl Into<Symbol>,
        searcher: impl Searcher<L, N> + Send + Sync + 'static,
        applier: impl Applier<L, N> + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let name = name.into();
        let bound = searcher.vars();
        match applier.vars().into_iter().find(|var| !bound.contains(var)) {
            Some(var) => Err(format!("Rewrite {name} refers to unbound var {var}")),
            None => Ok(Rewrite { name, searcher: Arc::new(searcher), applier: Arc::new(applier) }),
        }
    }

    /// Searches the e-graph.
    pub fn search(&self, egraph: &EGraph<L, N>) -> Vec<SearchMatches<'_, L>> {
        self.searcher.search(egraph)
    }

    /// Searches the e-graph for at most `limit` matches.
    pub fn search_with_limit(
        &self,
        egraph: &EGraph<L, N>,
        limit: usize,
    ) -> Vec<SearchMatches<'_, L>> {
        self.searcher.search_with_limit(egraph, limit)
    }

    /// Applies the rule to matches; returns the classes that changed.
    pub fn apply(&self, egraph: &mut EGraph<L, N>, matches: &[SearchMatches<'_, L>]) -> Vec<Id> {
        self.applier.apply_matches(egraph, matches, self.name)
    }
}

/// A left-hand side: finds substitutions. [`Pattern`] is the usual one.
pub trait Searcher<L: Language, N: Analysis<L>> {
    /// Searches one class; `None` if it does not match.
    fn search_eclass(&self, egraph: &EGraph<L, N>, eclass: Id) -> Option<SearchMatches<'_, L>> {
        self.search_eclass_with_limit(egraph, eclass, usize::MAX)
    }

    /// Searches one class for at most `limit` matches.
    fn search_eclass_with_limit(
        &self,
        egraph: &EGraph<L, N>,
        eclass: Id,
        limit: usize,
    ) -> Option<SearchMatches<'_, L>>;

    /// Searches the e-graph.
    fn search(&self, egraph: &EGraph<L, N>) -> Vec<SearchMatches<'_, L>> {
        self.search_with_limit(egraph, usize::MAX)
    }

    /// Searches the e-graph for at most `limit` matches.
    fn search_with_limit(&self, egraph: &EGraph<L, N>, limit: usize) -> Vec<SearchMatches<'_, L>> {
        let mut left = limit;
        let mut found = Vec::new();
        for class in egraph.core().class_ids() {
            if left == 0 {
                break;
            }
            if let Some(matches) = self.search_eclass_with_limit(egraph, class, left) {
                left = left.saturating_sub(matches.substs.len());
                found.push(matches);
            }
        }
        found
    }

    /// Counts the matches in the e-graph.
    fn n_matches(&self, egraph: &EGraph<L, N>) -> usize {
        let matches = self.search(egraph);
        matches.iter().map(|found| found.substs.len()).sum()
    }

    /// Returns the term, if this is a pattern.
    fn get_pattern_ast(&self) -> Option<&PatternAst<L>> {
        None
    }

    /// Lists the variables that matches bind.
    fn vars(&self) -> Vec<Var>;

    #[doc(hidden)]
    fn __left(&self) -> Option<&LeftCode<L>> {
        None
    }
}

/// A right-hand side: changes the e-graph for a match. [`Pattern`] is the usual one.
pub trait Applier<L: Language, N: Analysis<L>> {
    /// Applies to many matches; returns the classes that changed.
    fn apply_matches(
        &self,
        egraph: &mut EGraph<L, N>,
        matches: &[SearchMatches<'_, L>],
        rule_name: Symbol,
    ) -> Vec<Id> {
        let mut changed = Vec::new();
        for found in matches {
            let ast = match egraph.are_explanations_enabled() {
                true => found.ast.as_deref(),
                false => None,
            };
            for subst in &found.substs {
                changed.extend(self.apply_one(egraph, found.eclass, subst, ast, rule_name));
            }
        }
        changed
    }

    /// Returns the term, if this is a pattern.
    fn get_pattern_ast(&self) -> Option<&PatternAst<L>> {
        None
    }

    /// Applies to one match and unites what it made with the class; returns what changed.
    fn apply_one(
        &self,
        egraph: &mut EGraph<L, N>,
        eclass: Id,
        subst: &Subst,
        searcher_ast: Option<&PatternAst<L>>,
        rule_name: Symbol,
    ) -> Vec<Id>;

    /// Lists the variables that have to be bound.
    fn vars(&self) -> Vec<Var> {
        Vec::new()
    }

    #[doc(hidden)]
    fn __is_pure(&self) -> bool {
        false
    }

    #[doc(hidden)]
    fn __apply_rows(
        &self,
        egraph: &mut EGraph<L, N>,
        batch: &Batch<'_, L>,
        rows: &Found,
        rule_name: Symbol,
    ) -> usize {
        let matches: Vec<SearchMatches<'_, L>> =
            rows.iter().map(|row| batch.matches(egraph, row)).collect();
        self.apply_matches(egraph, &matches, rule_name).len()
    }

    #[doc(hidden)]
    fn __apply_row(
        &self,
        egraph: &mut EGraph<L, N>,
        batch: &Batch<'_, L>,
        row: &[u32],
        subst: &Subst,
        rule_name: Symbol,
    ) -> usize {
        let ast = batch.ast.filter(|_| egraph.are_explanations_enabled());
        self.apply_one(egraph, Id(row[0]), subst, ast, rule_name).len()
    }
}

/// A rule's left-hand side as the runner keeps it: what an applier needs to read match rows.
#[doc(hidden)]
pub struct Batch<'a, L> {
    pub(crate) vars: &'a [Var],
    pub(crate) ast: Option<&'a PatternAst<L>>,
    /// The left side compiled, with the e-graph's operators.
    pub(crate) left: Option<(&'a LeftCode<L>, &'a Link)>,
    pub(crate) right: &'a OnceCell<Option<(Template, Option<u32>)>>,
    pub(crate) limits: Limits,
}

/// What applying asks between matches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) nodes: usize,
    pub(crate) deadline: Option<Instant>,
}

impl Limits {
    pub(crate) fn exceeded(&self, core: &Core) -> bool {
        core.number_of_nodes() > self.nodes
            || self.deadline.is_some_and(|deadline| Instant::now() > deadline)
    }
}

impl<'a, L: Language> Batch<'a, L> {
    fn matches<N: Analysis<L>>(&self, egraph: &EGraph<L, N>, row: &[u32]) -> SearchMatches<'a, L> {
        SearchMatches {
            eclass: egraph.find(Id(row[0])),
            substs: vec![row_subst(self.vars, row)],
            ast: self.ast.map(Cow::Borrowed),
        }
    }

    /// Fits the right-hand side to the rows and the e-graph at its first use.
    pub(crate) fn template<N: Analysis<L>>(
        &self,
        egraph: &mut EGraph<L, N>,
        right: &RightCode<L>,
        name: Symbol,
    ) -> Option<&'a (Template, Option<u32>)> {
        let make = || {
            let place = |var| self.vars.iter().position(|known| known == var);
            let vars = right.vars.iter().map(|var| place(var).map(|at| at as u32));
            let vars: SmallVec<[u32; 8]> = vars.collect::<Option<_>>()?;
            let ops = egraph.link_right(right);
            let number = match egraph.are_explanations_enabled() {
                true => self.log_rule(egraph, right, (&ops, &vars), name),
                false => None,
            };
            Some((right.template.linked(&ops, &vars), number))
        };
        self.right.get_or_init(make).as_ref()
    }

    /// Tells the log of proofs what the rule is; only rules of one pattern on the left have a form.
    fn log_rule<N: Analysis<L>>(
        &self,
        egraph: &mut EGraph<L, N>,
        right: &RightCode<L>,
        (ops, vars): (&[u32], &[u32]),
        name: Symbol,
    ) -> Option<u32> {
        let (code, link) = self.left?;
        let [(None, left)] = code.clauses.as_slice() else {
            return None;
        };
        let (mut left, mut right) = (left.clone(), right.term.clone());
        left.replace_ops(&link.ops);
        right.replace_ops(ops);
        right.replace_vars(vars);
        egraph.store.core.log_rule(name, left, right)
    }
}

/// An applier behind a condition.
#[derive(Clone, Debug)]
pub struct ConditionalApplier<C, A> {
    /// What has to hold for a match.
    pub condition: C,
    /// What is applied then.
    pub applier: A,
}

impl<C, A, N, L> Applier<L, N> for ConditionalApplier<C, A>
where
    L: Language,
    C: Condition<L, N>,
    A: Applier<L, N>,
    N: Analysis<L>,
{
    fn get_pattern_ast(&self) -> Option<&PatternAst<L>> {
        self.applier.get_pattern_ast()
    }

    fn apply_one(
        &self,
        egraph: &mut EGraph<L, N>,
        eclass: Id,
        subst: &Subst,
        searcher_ast: Option<&PatternAst<L>>,
        rule_name: Symbol,
    ) -> Vec<Id> {
        match self.condition.check(egraph, eclass, subst) {
            true => self.applier.apply_one(egraph, eclass, subst, searcher_ast, rule_name),
            false => Vec::new(),
        }
    }

    fn vars(&self) -> Vec<Var> {
        let mut vars = self.applier.vars();
        vars.extend(self.condition.vars());
        vars
    }

    fn __apply_rows(
        &self,
        egraph: &mut EGraph<L, N>,
        batch: &Batch<'_, L>,
        rows: &Found,
        rule_name: Symbol,
    ) -> usize {
        let mut changed = 0;
        for (at, row) in rows.iter().enumerate() {
            if at > 0 && at % 64 == 0 && batch.limits.exceeded(&egraph.store.core) {
                break;
            }
            let subst = row_subst(batch.vars, row);
            changed += self.__apply_row(egraph, batch, row, &subst, rule_name);
        }
        changed
    }

    fn __apply_row(
        &self,
        egraph: &mut EGraph<L, N>,
        batch: &Batch<'_, L>,
        row: &[u32],
        subst: &Subst,
        rule_name: Symbol,
    ) -> usize {
        match self.condition.check(egraph, Id(row[0]), subst) {
            true => self.applier.__apply_row(egraph, batch, row, subst, rule_name),
            false => 0,
        }
    }
}

/// A condition on a match; any function of the same shape is one.
pub trait Condition<L: Language, N: Analysis<L>> {
    /// Tells whether the match may be rewritten.
    fn check(&self, egraph: &mut EGraph<L, N>, eclass: Id, subst: &Subst) -> bool;

    /// Lists the variables that have to be bound.
    fn vars(&self) -> Vec<Var> {
        Vec::new()
    }
}

impl<L, F, N> Condition<L, N> for F
where
    L: Language,
    N: Analysis<L>,
    F: Fn(&mut EGraph<L, N>, Id, &Subst) -> bool,
{
    fn check(&self, egraph: &mut EGraph<L, N>, eclass: Id, subst: &Subst) -> bool {
        self(egraph, eclass, subst)
    }
}

/// The condition that two patterns are equal once instantiated.
#[derive(Clone, Debug)]
pub struct ConditionEqual<L> {
    left: Pattern<L>,
    right: Pattern<L>,
}

impl<L: Language> ConditionEqual<L> {
    /// Makes the condition that `left` equals `right`.
    pub fn new(left: Pattern<L>, right: Pattern<L>) -> Self {
        ConditionEqual { left, right }
    }
}

impl<L: FromOp> ConditionEqual<L> {
    /// Makes the condition from the texts of two patterns.
    ///
    /// # Panics
    /// If one of them does not parse.
    pub fn parse(left: &str, right: &str) -> Self {
        let pattern = |text: &str| match text.parse() {
            Ok(pattern) => pattern,
            Err(error) => panic!("cannot parse the pattern `{text}`: {error:?}"),
        };
        ConditionEqual::new(pattern(left), pattern(right))
    }
}

impl<L: Language, N: Analysis<L>> Condition<L, N> for ConditionEqual<L> {
    /// Adds both terms and compares their classes.
    fn check(&self, egraph: &mut EGraph<L, N>, _eclass: Id, subst: &Subst) -> bool {
        let left = egraph.add_instantiation(&self.left.ast, subst);
        let right = egraph.add_instantiation(&self.right.ast, subst);
        left == right
    }

    fn vars(&self) -> Vec<Var> {
        let mut vars = self.left.vars();
        vars.extend(self.right.vars());
        vars.sort();
        vars.dedup();
        vars
    }
}

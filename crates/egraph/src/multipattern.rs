//! Patterns that hold at the same time and share variables.

use crate::code::LeftCode;
use crate::pattern::vars_of;
use crate::search::{search_all, search_one};
use crate::{
    Analysis, Applier, EGraph, FromOp, Id, Language, PatternAst, SearchMatches, Searcher, Subst,
    Symbol, Var,
};
use std::fmt::{self, Debug};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// Several patterns at once, each with a variable for the class that it matches.
///
/// The text form is `?x = pattern = pattern, ?y = pattern`. As a searcher all clauses have to
/// match; the first one starts and cannot be a bare variable. As an applier each clause is built,
/// and united with its variable if that is bound already.
///
/// ```
/// use tangram_egraph::{EGraph, MultiPattern, Searcher, SymbolLang};
/// let mut egraph = EGraph::<SymbolLang, ()>::default();
/// for product in ["(* a b)", "(* a c)", "(* b c)"] {
///     egraph.add_expr(&product.parse().unwrap());
/// }
/// egraph.rebuild();
/// let shared: MultiPattern<SymbolLang> = "?p = (* ?x ?y), ?q = (* ?x ?z)".parse().unwrap();
/// assert_eq!(shared.n_matches(&egraph), 5);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct MultiPattern<L> {
    asts: Vec<(Var, PatternAst<L>)>,
    left: OnceLock<Arc<LeftCode<L>>>,
}

impl<L: PartialEq> PartialEq for MultiPattern<L> {
    fn eq(&self, other: &Self) -> bool {
        self.asts == other.asts
    }
}

impl<L: Debug> Debug for MultiPattern<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultiPattern").field("asts", &self.asts).finish_non_exhaustive()
    }
}

/// What is wrong with the text of a multi-pattern.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MultiPatternParseError<E> {
    /// A pattern does not parse.
    #[error(transparent)]
    PatternParseError(E),
    /// A clause is not of the form `?x = pattern`.
    #[error("expected `?variable = pattern`, found `{0}`")]
    PatternAssignmentError(String),
    /// A clause does not start with a variable.
    #[error(transparent)]
    VariableError(<Var as FromStr>::Err),
}

impl<L: Language> MultiPattern<L> {
    /// Makes a multi-pattern of clauses.
    pub fn new(asts: Vec<(Var, PatternAst<L>)>) -> Self {
        MultiPattern { asts, left: OnceLock::new() }
    }

    /// Returns the clauses.
    pub fn clauses(&self) -> &[(Var, PatternAst<L>)] {
        &self.asts
    }

    fn left(&self) -> &LeftCode<L> {
        self.left.get_or_init(|| {
            let clauses = self.asts.iter().map(|(var, ast)| (Some(*var), ast));
            Arc::new(LeftCode::new(clauses))
        })
    }
}

impl<L: Language + FromOp> FromStr for MultiPattern<L> {
    type Err = MultiPatternParseError<<PatternAst<L> as FromStr>::Err>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut asts = Vec::new();
        let clauses = text.split(',').map(str::trim);
        for clause in clauses.filter(|clause| !clause.is_empty()) {
            let mut parts = clause.split('=').map(str::trim);
            let var = parts.next().unwrap_or_default();
            let var: Var = var.parse().map_err(MultiPatternParseError::VariableError)?;
            let before = asts.len();
            for part in parts {
                let ast = part.parse().map_err(MultiPatternParseError::PatternParseError)?;
                asts.push((var, ast));
            }
            if asts.len() == before {
                return Err(MultiPatternParseError::PatternAssignmentError(clause.into()));
            }
        }
        Ok(MultiPattern::new(asts))
    }
}

impl<L: Language, N: Analysis<L>> Searcher<L, N> for MultiPattern<L> {
    fn search_with_limit(&self, egraph: &EGraph<L, N>, limit: usize) -> Vec<SearchMatches<'_, L>> {
        search_all(self.left(), egraph, limit, None)
    }

    fn search_eclass_with_limit(
        &self,
        egraph: &EGraph<L, N>,
        eclass: Id,
        limit: usize,
    ) -> Option<SearchMatches<'_, L>> {
        search_one(self.left(), egraph, eclass, limit, None)
    }

    fn vars(&self) -> Vec<Var> {
        let mut vars: Vec<Var> = Vec::new();
        for (var, ast) in &self.asts {
            vars.push(*var);
            vars.extend(vars_of(ast));
        }
        vars.sort();
        vars.dedup();
        vars
    }

    fn __left(&self) -> Option<&LeftCode<L>> {
        Some(self.left())
    }
}

impl<L: Language, N: Analysis<L>> Applier<L, N> for MultiPattern<L> {
    /// Builds all clauses; returns the class of the first if a class changed.
    fn apply_one(
        &self,
        egraph: &mut EGraph<L, N>,
        _eclass: Id,
        subst: &Subst,
        _searcher_ast: Option<&PatternAst<L>>,
        rule_name: Symbol,
    ) -> Vec<Id> {
        let mut subst = subst.clone();
        let nodes = egraph.total_number_of_nodes();
        let mut first = None;
        let mut changed = false;
        for (var, ast) in &self.asts {
            let built = egraph.add_instantiation_spelled(ast, &subst);
            first = first.or(Some(built));
            match subst.get(*var).copied() {
                Some(bound) => changed |= egraph.union_trusted(bound, built, rule_name),
                None => _ = subst.insert(*var, built),
            }
        }
        changed |= egraph.total_number_of_nodes() != nodes;
        first.filter(|_| changed).into_iter().collect()
    }

    fn vars(&self) -> Vec<Var> {
        let mut made: Vec<Var> = Vec::new();
        let mut vars: Vec<Var> = Vec::new();
        for (var, ast) in &self.asts {
            vars.extend(vars_of(ast).into_iter().filter(|used| !made.contains(used)));
            made.push(*var);
        }
        vars.sort();
        vars.dedup();
        vars
    }
}

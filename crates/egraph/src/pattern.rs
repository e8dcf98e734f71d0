//! Patterns: terms with variables.

use crate::code::{LeftCode, RightCode};
use crate::core::{Found, Host, Why};
use crate::search::{search_all, search_one};
use crate::{
    Analysis, Applier, Batch, EGraph, FromOp, Id, Language, RecExpr, RecExprParseError, Searcher,
    Subst, Symbol, Var, VarParseError,
};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::fmt::{self, Display};
use std::mem::Discriminant;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// A term with variables, which can be searched for and instantiated.
///
/// ```
/// use tangram_egraph::{EGraph, Pattern, Searcher, SymbolLang};
/// let mut egraph = EGraph::<SymbolLang, ()>::default();
/// let sum = egraph.add_expr(&"(+ a (* b c))".parse().unwrap());
/// egraph.rebuild();
/// let pattern: Pattern<SymbolLang> = "(+ ?x (* ?y ?z))".parse().unwrap();
/// let matches = pattern.search(&egraph);
/// assert_eq!(matches[0].eclass, sum);
/// assert_eq!(matches[0].substs.len(), 1);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Pattern<L> {
    /// The term; it is compiled at its first use, and not to be changed after that.
    pub ast: PatternAst<L>,
    left: OnceLock<Arc<LeftCode<L>>>,
    right: OnceLock<Arc<RightCode<L>>>,
}

impl<L: PartialEq> PartialEq for Pattern<L> {
    fn eq(&self, other: &Self) -> bool {
        self.ast == other.ast
    }
}

impl<L: fmt::Debug> fmt::Debug for Pattern<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pattern").field("ast", &self.ast).finish_non_exhaustive()
    }
}

/// The term of a [`Pattern`].
pub type PatternAst<L> = RecExpr<ENodeOrVar<L>>;

/// A node of a pattern: one of the language, or a variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ENodeOrVar<L> {
    /// A node of the language.
    ENode(L),
    /// A variable.
    Var(Var),
}

/// The discriminant of an [`ENodeOrVar`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ENodeOrVarDiscriminant<L: Language> {
    /// That of a node.
    ENode(L::Discriminant),
    /// That of a variable.
    Var(Discriminant<Option<Var>>, Var),
}

impl<L: Language> Language for ENodeOrVar<L> {
    type Discriminant = ENodeOrVarDiscriminant<L>;

    fn discriminant(&self) -> Self::Discriminant {
        match self {
            ENodeOrVar::ENode(node) => ENodeOrVarDiscriminant::ENode(node.discriminant()),
            ENodeOrVar::Var(var) => {
                ENodeOrVarDiscriminant::Var(std::mem::discriminant(&Some(*var)), *var)
            }
        }
    }

    fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (ENodeOrVar::ENode(left), ENodeOrVar::ENode(right)) => left.matches(right),
            (ENodeOrVar::Var(left), ENodeOrVar::Var(right)) => left == right,
            _ => false,
        }
    }

    fn children(&self) -> &[Id] {
        match self {
            ENodeOrVar::ENode(node) => node.children(),
            ENodeOrVar::Var(_) => &[],
        }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        match self {
            ENodeOrVar::ENode(node) => node.children_mut(),
            ENodeOrVar::Var(_) => &mut [],
        }
    }
}

impl<L: Display> Display for ENodeOrVar<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ENodeOrVar::ENode(node) => node.fmt(f),
            ENodeOrVar::Var(var) => var.fmt(f),
        }
    }
}

/// What is wrong with the text of a pattern's operator.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ENodeOrVarParseError<E> {
    /// It starts like a variable but is none.
    #[error(transparent)]
    BadVar(VarParseError),
    /// It is a variable at the head of a list.
    #[error("expected an operator, found the variable `{0}` at the head of a list")]
    UnexpectedVar(Var),
    /// The language lacks the operator.
    #[error("{0}")]
    BadOp(E),
}

impl<L: FromOp> FromOp for ENodeOrVar<L> {
    type Error = ENodeOrVarParseError<L::Error>;

    fn from_op(op: &str, children: Vec<Id>) -> Result<Self, Self::Error> {
        if op.len() < 2 || !op.starts_with('?') {
            let node = L::from_op(op, children).map_err(ENodeOrVarParseError::BadOp);
            return node.map(ENodeOrVar::ENode);
        }
        let var = op.parse().map_err(ENodeOrVarParseError::BadVar)?;
        match children.is_empty() {
            true => Ok(ENodeOrVar::Var(var)),
            false => Err(ENodeOrVarParseError::UnexpectedVar(var)),
        }
    }
}

impl<L: Language> PatternAst<L> {
    /// Renames the variables to `?a`, `?b`, ... in the order of their first use.
    pub fn alpha_rename(&self) -> Self {
        let mut vars: Vec<Var> = Vec::new();
        let rename = |atom: &ENodeOrVar<L>| match atom {
            ENodeOrVar::ENode(_) => atom.clone(),
            ENodeOrVar::Var(var) => {
                let known = vars.iter().position(|other| other == var);
                let number = known.unwrap_or_else(|| {
                    vars.push(*var);
                    vars.len() - 1
                });
                ENodeOrVar::Var(nth_var(number))
            }
        };
        self.iter().map(rename).collect()
    }
}

/// Returns `?a` to `?z` for the first 26 numbers, then numbered variables.
fn nth_var(number: usize) -> Var {
    match u8::try_from(number) {
        Ok(letter @ 0..26) => Symbol::from(format!("?{}", char::from(b'a' + letter))).into(),
        _ => Var::from_u32(number as u32),
    }
}

/// Lists the variables of a term in the order of their first use.
pub(crate) fn vars_of<L>(ast: &PatternAst<L>) -> Vec<Var> {
    let mut vars = Vec::new();
    for atom in ast {
        if let ENodeOrVar::Var(var) = atom
            && !vars.contains(var)
        {
            vars.push(*var);
        }
    }
    vars
}

impl<L: Language> Pattern<L> {
    /// Makes a pattern from its term.
    ///
    /// Equal parts of the term become one, as each stands for the same class.
    pub fn new(ast: PatternAst<L>) -> Self {
        Pattern { ast: ast.compact(), left: OnceLock::new(), right: OnceLock::new() }
    }

    /// Lists the variables in the order of their first use.
    pub fn vars(&self) -> Vec<Var> {
        vars_of(&self.ast)
    }

    /// Returns the pattern compiled to be found.
    pub(crate) fn left(&self) -> &LeftCode<L> {
        self.left.get_or_init(|| Arc::new(LeftCode::new([(None, &self.ast)])))
    }

    /// Returns the pattern compiled to be built.
    pub(crate) fn right(&self) -> &RightCode<L> {
        self.right.get_or_init(|| Arc::new(RightCode::new(&self.ast)))
    }
}

/// Makes the substitution of a match row.
pub(crate) fn row_subst(vars: &[Var], row: &[u32]) -> Subst {
    let mut subst = Subst::with_capacity(vars.len());
    for (&var, &id) in vars.iter().zip(&row[1..]) {
        subst.push(var, Id(id));
    }
    subst
}

impl<L: Language + Display> Pattern<L> {
    /// Writes the pattern with line breaks where it would be wider than `width` columns.
    pub fn pretty(&self, width: usize) -> String {
        self.ast.pretty(width)
    }
}

impl<L: FromOp> FromStr for Pattern<L> {
    type Err = RecExprParseError<ENodeOrVarParseError<L::Error>>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        PatternAst::from_str(text).map(Pattern::new)
    }
}

impl<'a, L: Language> From<&'a [L]> for Pattern<L> {
    fn from(expr: &'a [L]) -> Self {
        let atoms = expr.iter().cloned().map(ENodeOrVar::ENode);
        Pattern::new(atoms.collect())
    }
}

impl<L: Language> From<&RecExpr<L>> for Pattern<L> {
    fn from(expr: &RecExpr<L>) -> Self {
        Self::from(expr.as_ref())
    }
}

impl<L: Language> From<RecExpr<L>> for Pattern<L> {
    fn from(expr: RecExpr<L>) -> Self {
        Self::from(expr.as_ref())
    }
}

impl<L: Language> From<PatternAst<L>> for Pattern<L> {
    fn from(ast: PatternAst<L>) -> Self {
        Pattern::new(ast)
    }
}

impl<L: Language> TryFrom<PatternAst<L>> for RecExpr<L> {
    type Error = Var;

    /// Fails with the first variable.
    fn try_from(ast: PatternAst<L>) -> Result<Self, Var> {
        let node = |atom| match atom {
            ENodeOrVar::ENode(node) => Ok(node),
            ENodeOrVar::Var(var) => Err(var),
        };
        ast.into_iter().map(node).collect()
    }
}

impl<L: Language> TryFrom<Pattern<L>> for RecExpr<L> {
    type Error = Var;

    fn try_from(pattern: Pattern<L>) -> Result<Self, Var> {
        pattern.ast.try_into()
    }
}

impl<L: Language + Display> Display for Pattern<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ast.fmt(f)
    }
}

/// How many matches are turned into rows before they are applied.
const ROWS_AT_ONCE: usize = 64;

/// Reads variables from substitutions of one rule, which have them at the same places.
struct Reader<'a> {
    vars: &'a [Var],
    places: SmallVec<[usize; 8]>,
}

impl<'a> Reader<'a> {
    fn new(vars: &'a [Var]) -> Self {
        Reader { vars, places: SmallVec::from_elem(0, vars.len()) }
    }

    /// Appends what the variables are bound to.
    fn read(&mut self, subst: &Subst, row: &mut Vec<u32>) {
        for (&var, place) in self.vars.iter().zip(&mut self.places) {
            row.push(subst.at(var, place).0);
        }
    }
}

/// What a search found in one class.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchMatches<'a, L: Language> {
    /// The class.
    pub eclass: Id,
    /// The ways in which it matches, at least one.
    pub substs: Vec<Subst>,
    /// The pattern, if it was one, for proofs.
    pub ast: Option<Cow<'a, PatternAst<L>>>,
}

impl<L: Language, N: Analysis<L>> Searcher<L, N> for Pattern<L> {
    fn get_pattern_ast(&self) -> Option<&PatternAst<L>> {
        Some(&self.ast)
    }

    fn search_with_limit(&self, egraph: &EGraph<L, N>, limit: usize) -> Vec<SearchMatches<'_, L>> {
        search_all(self.left(), egraph, limit, Some(&self.ast))
    }

    fn search_eclass_with_limit(
        &self,
        egraph: &EGraph<L, N>,
        eclass: Id,
        limit: usize,
    ) -> Option<SearchMatches<'_, L>> {
        search_one(self.left(), egraph, eclass, limit, Some(&self.ast))
    }

    fn vars(&self) -> Vec<Var> {
        Pattern::vars(self)
    }

    fn __left(&self) -> Option<&LeftCode<L>> {
        Some(self.left())
    }
}

impl<L: Language, N: Analysis<L>> Applier<L, N> for Pattern<L> {
    fn get_pattern_ast(&self) -> Option<&PatternAst<L>> {
        Some(&self.ast)
    }

    fn apply_matches(
        &self,
        egraph: &mut EGraph<L, N>,
        matches: &[SearchMatches<'_, L>],
        rule_name: Symbol,
    ) -> Vec<Id> {
        let mut changed = Vec::new();
        if egraph.are_explanations_enabled() {
            for found in matches {
                let ast = found.ast.as_deref();
                for subst in &found.substs {
                    changed.extend(self.apply_one(egraph, found.eclass, subst, ast, rule_name));
                }
            }
            return changed;
        }
        let right = self.right();
        let own: SmallVec<[u32; 8]> = (0..right.vars.len() as u32).collect();
        let template = right.template.linked(&egraph.link_right(right), &own);
        let mut rows = Found { width: 1 + own.len(), vars: own.len(), ..Found::default() };
        let mut reader = Reader::new(&right.vars);
        let mut known = egraph.known(self, matches);
        let all =
            matches.iter().flat_map(|found| found.substs.iter().map(move |s| (found.eclass, s)));
        let mut all = all.filter(|&(class, subst)| {
            !known.as_mut().is_some_and(|known| known.was_applied(class, subst))
        });
        // A few rows at a time, so that they stay where they were written.
        loop {
            rows.rows.clear();
            for (class, subst) in all.by_ref().take(ROWS_AT_ONCE) {
                rows.rows.push(class.0);
                reader.read(subst, &mut rows.rows);
            }
            if rows.rows.is_empty() {
                break;
            }
            template.build_each(egraph, &rows, |egraph, at, made| {
                let id = egraph.find(made);
                if egraph.unite(id, Id(rows.rows[at * rows.width]), Why::Congruence) {
                    changed.push(id);
                }
            });
        }
        drop(all);
        if let Some(known) = known {
            egraph.applied(known);
        }
        changed
    }

    fn apply_one(
        &self,
        egraph: &mut EGraph<L, N>,
        eclass: Id,
        subst: &Subst,
        searcher_ast: Option<&PatternAst<L>>,
        rule_name: Symbol,
    ) -> Vec<Id> {
        let (id, united) = match searcher_ast.filter(|_| egraph.are_explanations_enabled()) {
            Some(left) => egraph.union_instantiations(left, &self.ast, subst, rule_name),
            None => {
                let id = egraph.add_instantiation(&self.ast, subst);
                let united = egraph.union_trusted(eclass, id, rule_name);
                (id, united)
            }
        };
        if united { vec![id] } else { Vec::new() }
    }

    fn vars(&self) -> Vec<Var> {
        Pattern::vars(self)
    }

    fn __is_pure(&self) -> bool {
        true
    }

    fn __apply_rows(
        &self,
        egraph: &mut EGraph<L, N>,
        batch: &Batch<'_, L>,
        rows: &Found,
        rule_name: Symbol,
    ) -> usize {
        match batch.template(egraph, self.right(), rule_name) {
            Some((template, number)) => {
                template.apply(egraph, rows, *number, |core| batch.limits.exceeded(core))
            }
            None => 0,
        }
    }

    fn __apply_row(
        &self,
        egraph: &mut EGraph<L, N>,
        batch: &Batch<'_, L>,
        row: &[u32],
        _subst: &Subst,
        rule_name: Symbol,
    ) -> usize {
        match batch.template(egraph, self.right(), rule_name) {
            Some((template, number)) => usize::from(template.apply_row(egraph, row, *number)),
            None => 0,
        }
    }
}

//! Proofs as lists of terms.

use crate::{ENodeOrVar, FromOp, Id, Language, PatternAst, RecExpr, Symbol, Var};
use rustc_hash::FxHashMap;
use std::fmt::{self, Display};

/// A list of terms, each but the first with one rule in it that leads there from the one before.
pub type FlatExplanation<L> = Vec<FlatTerm<L>>;

/// A term with the rules that lead to it.
#[derive(Clone, Debug, Eq)]
#[non_exhaustive]
pub struct FlatTerm<L: Language> {
    /// The operator; its children mean nothing.
    pub node: L,
    /// The rule that rewrites this term to the one before.
    pub backward_rule: Option<Symbol>,
    /// The rule that rewrites the term before to this one.
    pub forward_rule: Option<Symbol>,
    /// The children.
    pub children: FlatExplanation<L>,
}

impl<L: Language> PartialEq for FlatTerm<L> {
    /// Compares the terms, whatever the rules are.
    fn eq(&self, other: &Self) -> bool {
        self.node.matches(&other.node) && self.children == other.children
    }
}

impl<L: Language> FlatTerm<L> {
    /// Makes a term without rules.
    pub fn new(node: L, children: FlatExplanation<L>) -> Self {
        FlatTerm { node, backward_rule: None, forward_rule: None, children }
    }

    /// Returns the term without rules.
    pub fn remove_rewrites(&self) -> Self {
        let children = self.children.iter().map(FlatTerm::remove_rewrites);
        FlatTerm::new(self.node.clone(), children.collect())
    }

    /// Tells whether there is a rule read forward in the term.
    pub fn has_rewrite_forward(&self) -> bool {
        self.forward_rule.is_some() || self.children.iter().any(FlatTerm::has_rewrite_forward)
    }

    /// Tells whether there is a rule read backward in the term.
    pub fn has_rewrite_backward(&self) -> bool {
        self.backward_rule.is_some() || self.children.iter().any(FlatTerm::has_rewrite_backward)
    }

    pub(crate) fn has_rewrite(&self) -> bool {
        self.has_rewrite_forward() || self.has_rewrite_backward()
    }

    /// Rewrites the term with a rule; `None` if the left side does not match.
    pub fn try_rewrite(&self, lhs: &PatternAst<L>, rhs: &PatternAst<L>) -> Option<Self> {
        let mut bindings: FxHashMap<Var, &FlatTerm<L>> = FxHashMap::default();
        self.bind(lhs, lhs.root(), &mut bindings)?;
        let mut made: Vec<FlatTerm<L>> = Vec::with_capacity(rhs.len());
        for atom in rhs {
            made.push(match atom {
                ENodeOrVar::Var(var) => bindings.get(var)?.remove_rewrites(),
                ENodeOrVar::ENode(node) => {
                    let children = node.children().iter();
                    let children = children.map(|&child| made[usize::from(child)].clone());
                    FlatTerm::new(node.clone(), children.collect())
                }
            });
        }
        made.pop()
    }

    /// Rewrites the term with a rule.
    ///
    /// # Panics
    /// If the left side does not match.
    pub fn rewrite(&self, lhs: &PatternAst<L>, rhs: &PatternAst<L>) -> Self {
        match self.try_rewrite(lhs, rhs) {
            Some(term) => term,
            None => panic!("the rule's left side does not match the term"),
        }
    }

    fn bind<'a>(
        &'a self,
        lhs: &PatternAst<L>,
        at: Id,
        bindings: &mut FxHashMap<Var, &'a Self>,
    ) -> Option<()> {
        match &lhs[at] {
            ENodeOrVar::Var(var) => {
                let bound = *bindings.entry(*var).or_insert(self);
                (bound == self).then_some(())
            }
            ENodeOrVar::ENode(node) => {
                if !node.matches(&self.node) {
                    return None;
                }
                let mut pairs = node.children().iter().zip(&self.children);
                pairs.try_for_each(|(&child, term)| term.bind(lhs, child, bindings))
            }
        }
    }
}

impl<L: Language + Display + FromOp> FlatTerm<L> {
    /// Writes the term with its rules.
    pub fn get_string(&self) -> String {
        let mut text = self.node.to_string();
        if !self.children.is_empty() {
            let children: Vec<String> = self.children.iter().map(FlatTerm::get_string).collect();
            text = format!("({text} {})", children.join(" "));
        }
        if let Some(rule) = self.backward_rule {
            text = format!("(Rewrite<= {rule} {text})");
        }
        if let Some(rule) = self.forward_rule {
            text = format!("(Rewrite=> {rule} {text})");
        }
        text
    }

    /// Returns the term as an expression.
    pub fn get_recexpr(&self) -> RecExpr<L> {
        let mut expr = RecExpr::default();
        self.push_to(&mut expr);
        expr
    }

    fn push_to(&self, expr: &mut RecExpr<L>) -> Id {
        let ids: Vec<Id> = self.children.iter().map(|child| child.push_to(expr)).collect();
        let mut ids = ids.into_iter();
        expr.add(self.node.clone().map_children(|id| ids.next().unwrap_or(id)))
    }
}

impl<L: Language + Display + FromOp> Display for FlatTerm<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.get_string())
    }
}

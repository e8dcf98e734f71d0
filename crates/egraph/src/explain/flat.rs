//! Proofs as lists of terms.

use crate::{ENodeOrVar, FromOp, Id, Language, PatternAst, RecExpr, Symbol, Var};
use rustc_hash::FxHashMap;
use std::fmt::{self, Display};

/// A list of terms, each but the first with one rule in it that leads there from the one before.
pub type FlatExplanation<L> = Vec<FlatTerm<L>>;

/// A term with the rules that lead to it.
#[derive(Debug, Eq)]
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
        let mut todo = vec![(self, other)];
        while let Some((left, right)) = todo.pop() {
            if !left.node.matches(&right.node) || left.children.len() != right.children.len() {
                return false;
            }
            todo.extend(left.children.iter().zip(&right.children));
        }
        true
    }
}

impl<L: Language> Clone for FlatTerm<L> {
    fn clone(&self) -> Self {
        self.fold(|term, children| FlatTerm {
            node: term.node.clone(),
            backward_rule: term.backward_rule,
            forward_rule: term.forward_rule,
            children,
        })
    }
}

impl<L: Language> Drop for FlatTerm<L> {
    /// Takes deep terms apart without recursion.
    fn drop(&mut self) {
        if self.children.iter().all(|child| child.children.is_empty()) {
            return;
        }
        let mut todo = std::mem::take(&mut self.children);
        while let Some(mut term) = todo.pop() {
            todo.append(&mut term.children);
        }
    }
}

impl<L: Language> FlatTerm<L> {
    /// Makes a term without rules.
    pub fn new(node: L, children: FlatExplanation<L>) -> Self {
        FlatTerm { node, backward_rule: None, forward_rule: None, children }
    }

    /// Makes a value of a term from those of its children.
    fn fold<T>(&self, mut make: impl FnMut(&Self, Vec<T>) -> T) -> T {
        let mut stack = vec![(self, Vec::with_capacity(self.children.len()))];
        loop {
            let (term, done) = stack.last_mut().expect("the loop ends with the root");
            if let Some(child) = term.children.get(done.len()) {
                stack.push((child, Vec::with_capacity(child.children.len())));
                continue;
            }
            let value = make(term, std::mem::take(done));
            stack.pop();
            match stack.last_mut() {
                Some((_, done)) => done.push(value),
                None => return value,
            }
        }
    }

    /// Tells whether something holds anywhere in the term.
    fn any(&self, holds: impl Fn(&Self) -> bool) -> bool {
        let mut todo = vec![self];
        while let Some(term) = todo.pop() {
            if holds(term) {
                return true;
            }
            todo.extend(&term.children);
        }
        false
    }

    /// Returns the term without rules.
    pub fn remove_rewrites(&self) -> Self {
        self.fold(|term, children| FlatTerm::new(term.node.clone(), children))
    }

    /// Tells whether there is a rule read forward in the term.
    pub fn has_rewrite_forward(&self) -> bool {
        self.any(|term| term.forward_rule.is_some())
    }

    /// Tells whether there is a rule read backward in the term.
    pub fn has_rewrite_backward(&self) -> bool {
        self.any(|term| term.backward_rule.is_some())
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
        let mut text = String::new();
        let mut todo = vec![Ok(self)];
        while let Some(piece) = todo.pop() {
            let term = match piece {
                Ok(term) => term,
                Err(close) => {
                    text += close;
                    continue;
                }
            };
            for (arrow, rule) in [("=>", term.forward_rule), ("<=", term.backward_rule)] {
                if let Some(rule) = rule {
                    text += &format!("(Rewrite{arrow} {rule} ");
                    todo.push(Err(")"));
                }
            }
            if term.children.is_empty() {
                text += &term.node.to_string();
                continue;
            }
            text += &format!("({}", term.node);
            todo.push(Err(")"));
            for child in term.children.iter().rev() {
                todo.extend([Ok(child), Err(" ")]);
            }
        }
        text
    }

    /// Returns the term as an expression.
    pub fn get_recexpr(&self) -> RecExpr<L> {
        let mut expr = RecExpr::default();
        self.fold(|term, kids: Vec<Id>| {
            let mut kids = kids.into_iter();
            expr.add(term.node.clone().map_children(|id| kids.next().unwrap_or(id)))
        });
        expr
    }
}

impl<L: Language + Display + FromOp> Display for FlatTerm<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.get_string())
    }
}

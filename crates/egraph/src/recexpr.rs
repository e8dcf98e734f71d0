//! Expressions: nodes whose children are earlier nodes.

use crate::serialize::SharedTerms;
use crate::sexp::{Layout, SexpError, Token, tokens};
use crate::{FromOp, Id, Language};
use std::borrow::{Borrow, BorrowMut};
use std::fmt::{self, Display};
use std::ops::{Deref, DerefMut, Index, IndexMut};
use std::str::FromStr;
use thiserror::Error;

/// An expression over a language: a list of nodes whose children come before them.
///
/// The last node is the root. Reads and writes s-expressions:
///
/// ```
/// use tangram_egraph::{RecExpr, SymbolLang};
/// let expr: RecExpr<SymbolLang> = "(+ x (* 2 y))".parse().unwrap();
/// assert_eq!(expr.len(), 5);
/// assert_eq!(expr.to_string(), "(+ x (* 2 y))");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecExpr<L> {
    nodes: Vec<L>,
}

impl<L> Default for RecExpr<L> {
    fn default() -> Self {
        RecExpr { nodes: Vec::new() }
    }
}

impl<L> Borrow<[L]> for RecExpr<L> {
    fn borrow(&self) -> &[L] {
        &self.nodes
    }
}

impl<L> BorrowMut<[L]> for RecExpr<L> {
    fn borrow_mut(&mut self) -> &mut [L] {
        &mut self.nodes
    }
}

impl<L> Deref for RecExpr<L> {
    type Target = [L];

    fn deref(&self) -> &[L] {
        &self.nodes
    }
}

impl<L> DerefMut for RecExpr<L> {
    fn deref_mut(&mut self) -> &mut [L] {
        &mut self.nodes
    }
}

impl<L> AsRef<[L]> for RecExpr<L> {
    fn as_ref(&self) -> &[L] {
        &self.nodes
    }
}

impl<L> AsMut<[L]> for RecExpr<L> {
    fn as_mut(&mut self) -> &mut [L] {
        &mut self.nodes
    }
}

impl<L> From<Vec<L>> for RecExpr<L> {
    fn from(nodes: Vec<L>) -> Self {
        RecExpr { nodes }
    }
}

impl<L> From<RecExpr<L>> for Vec<L> {
    fn from(expr: RecExpr<L>) -> Self {
        expr.nodes
    }
}

impl<L> FromIterator<L> for RecExpr<L> {
    fn from_iter<T: IntoIterator<Item = L>>(iter: T) -> Self {
        RecExpr { nodes: iter.into_iter().collect() }
    }
}

impl<L> IntoIterator for RecExpr<L> {
    type Item = L;
    type IntoIter = std::vec::IntoIter<L>;

    fn into_iter(self) -> Self::IntoIter {
        self.nodes.into_iter()
    }
}

impl<'a, L> IntoIterator for &'a RecExpr<L> {
    type Item = &'a L;
    type IntoIter = std::slice::Iter<'a, L>;

    fn into_iter(self) -> Self::IntoIter {
        self.nodes.iter()
    }
}

impl<'a, L> IntoIterator for &'a mut RecExpr<L> {
    type Item = &'a mut L;
    type IntoIter = std::slice::IterMut<'a, L>;

    fn into_iter(self) -> Self::IntoIter {
        self.nodes.iter_mut()
    }
}

impl<L: Language> RecExpr<L> {
    /// Appends a node whose children are in the expression, and returns its id.
    ///
    /// # Panics
    /// In debug builds, if a child is not.
    pub fn add(&mut self, node: L) -> Id {
        debug_assert!(
            node.all(|child| usize::from(child) < self.nodes.len()),
            "node {node:?} has children outside of the expression",
        );
        self.nodes.push(node);
        Id::from(self.nodes.len() - 1)
    }

    /// Makes equal parts one, in the order of their first places.
    pub(crate) fn compact(self) -> Self {
        let mut places: Vec<Id> = Vec::with_capacity(self.nodes.len());
        let mut distinct = indexmap::IndexSet::with_capacity_and_hasher(
            self.nodes.len(),
            rustc_hash::FxBuildHasher,
        );
        for node in self.nodes {
            let node = node.map_children(|child| places[usize::from(child)]);
            places.push(Id::from(distinct.insert_full(node).0));
        }
        RecExpr { nodes: distinct.into_iter().collect() }
    }

    /// Iterates over the ids of the nodes.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = Id> + DoubleEndedIterator + use<L> {
        (0..self.nodes.len()).map(Id::from)
    }

    /// Iterates over the nodes with their ids.
    pub fn items(&self) -> impl ExactSizeIterator<Item = (Id, &L)> + DoubleEndedIterator {
        let with_id = |(index, node)| (Id::from(index), node);
        self.nodes.iter().enumerate().map(with_id)
    }

    /// Iterates over the nodes with their ids, for changes.
    pub fn items_mut(
        &mut self,
    ) -> impl ExactSizeIterator<Item = (Id, &mut L)> + DoubleEndedIterator {
        let with_id = |(index, node)| (Id::from(index), node);
        self.nodes.iter_mut().enumerate().map(with_id)
    }

    /// Tells whether each node comes after its children.
    pub fn is_dag(&self) -> bool {
        let ordered = |(id, node): (Id, &L)| node.all(|child| child < id);
        self.items().all(ordered)
    }

    /// Returns the id of the root, the last node.
    pub fn root(&self) -> Id {
        Id::from(self.nodes.len().saturating_sub(1))
    }
}

impl<L: Language> Index<Id> for RecExpr<L> {
    type Output = L;

    fn index(&self, id: Id) -> &L {
        &self.nodes[usize::from(id)]
    }
}

impl<L: Language> IndexMut<Id> for RecExpr<L> {
    fn index_mut(&mut self, id: Id) -> &mut L {
        &mut self.nodes[usize::from(id)]
    }
}

impl<L: Language + Display> RecExpr<L> {
    fn layout(&self) -> Layout {
        let node = |node: &L| {
            let kids = node.children().iter().map(|&kid| kid.into()).collect();
            (node.to_string(), kids)
        };
        Layout { nodes: self.nodes.iter().map(node).collect() }
    }

    /// How many bytes the expression has as text on one line, where each part is written as often as
    /// it is used: more than memory holds for some expressions of a few dozen nodes.
    pub fn text_length(&self) -> usize {
        self.layout().lengths().last().copied().unwrap_or(2)
    }

    /// Writes the expression with names for the parts that are used more than once.
    ///
    /// ```
    /// # use tangram_egraph::{Id, RecExpr, SymbolLang};
    /// let mut doubled = RecExpr::default();
    /// let mut last = doubled.add(SymbolLang::leaf("x"));
    /// for _ in 0..3 {
    ///     last = doubled.add(SymbolLang::new("+", vec![last, last]));
    /// }
    /// let shared = doubled.shared();
    /// assert_eq!(shared.bindings, ["%0 = (+ x x)", "%1 = (+ %0 %0)"]);
    /// assert_eq!(shared.roots, ["(+ %1 %1)"]);
    /// ```
    pub fn shared(&self) -> SharedTerms {
        match self.nodes.len().checked_sub(1) {
            None => SharedTerms { bindings: Vec::new(), roots: vec!["()".into()] },
            Some(root) => {
                let (bindings, roots) = self.layout().shared(&[root]);
                SharedTerms { bindings, roots }
            }
        }
    }

    /// Writes the expression with line breaks where it would be wider than `width` columns.
    pub fn pretty(&self, width: usize) -> String {
        match self.nodes.is_empty() {
            true => "()".into(),
            false => self.layout().pretty(self.nodes.len() - 1, width),
        }
    }
}

impl<L: Language + Display> Display for RecExpr<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nodes.is_empty() {
            true => f.write_str("()"),
            false => f.write_str(&self.layout().line(self.nodes.len() - 1)),
        }
    }
}

/// What is wrong with the text of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecExprParseError<E> {
    /// A list without an operator, or no text at all.
    #[error("expected an operator, found an empty list")]
    EmptySexp,
    /// A list in the place of an operator.
    #[error("expected an operator, found a list at its place")]
    HeadList,
    /// An operator that the language lacks.
    #[error("{0}")]
    BadOp(E),
    /// Text that is no s-expression.
    #[error(transparent)]
    BadSexp(#[from] SexpError),
}

impl<L: FromOp> FromStr for RecExpr<L> {
    type Err = RecExprParseError<L::Error>;

    /// Reads one s-expression; closing brackets after it are ignored.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut expr = RecExpr::default();
        let mut lists: Vec<(Option<String>, Vec<Id>)> = Vec::new();
        let mut tokens = tokens(text)?.into_iter();
        loop {
            let node = match tokens.next() {
                None if lists.is_empty() => return Err(RecExprParseError::EmptySexp),
                None => return Err(SexpError::Unclosed.into()),
                Some(Token::Open) => {
                    if let Some((None, _)) = lists.last() {
                        return Err(RecExprParseError::HeadList);
                    }
                    lists.push((None, Vec::new()));
                    continue;
                }
                Some(Token::Close) => match lists.pop() {
                    Some((Some(op), children)) => L::from_op(&op, children),
                    _ => return Err(RecExprParseError::EmptySexp),
                },
                Some(Token::Atom(atom)) => match lists.last_mut() {
                    Some((head @ None, _)) => {
                        *head = Some(atom);
                        continue;
                    }
                    _ => L::from_op(&atom, Vec::new()),
                },
            };
            let id = expr.add(node.map_err(RecExprParseError::BadOp)?);
            match lists.last_mut() {
                Some((_, children)) => children.push(id),
                None => break,
            }
        }
        match tokens.find(|token| *token != Token::Close) {
            Some(Token::Atom(atom)) => Err(SexpError::Trailing(atom).into()),
            Some(_) => Err(SexpError::Trailing("(".into()).into()),
            None => Ok(expr),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SymbolLang;

    fn error(text: &str) -> String {
        text.parse::<RecExpr<SymbolLang>>().unwrap_err().to_string()
    }

    #[test]
    fn errors_say_what_was_expected() {
        assert_eq!(error(""), "expected an operator, found an empty list");
        assert_eq!(error("(a ())"), "expected an operator, found an empty list");
        assert_eq!(error("((a) b)"), "expected an operator, found a list at its place");
        assert_eq!(error("(a b"), "expected `)`, found the end of the text");
        assert_eq!(error("(a \"b)"), "expected a closing quote, found the end of the text");
        assert_eq!(error("a b"), "expected the end of the text, found `b`");
    }

    #[test]
    fn deep_expressions_need_no_stack() {
        let depth = if cfg!(miri) { 1_000 } else { 200_000 };
        let text = "(f ".repeat(depth) + "x" + &")".repeat(depth);
        let expr: RecExpr<SymbolLang> = text.parse().unwrap();
        assert_eq!(expr.to_string(), text);
    }

    #[test]
    fn pretty_breaks_wide_lists() {
        let expr: RecExpr<SymbolLang> = "(foo (bar a b) (baz c))".parse().unwrap();
        assert_eq!(expr.pretty(80), "(foo (bar a b) (baz c))");
        assert_eq!(expr.pretty(12), "(foo\n  (bar a b)\n  (baz c))");
    }
}

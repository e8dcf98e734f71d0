//! Languages: what the nodes of an e-graph are.

use crate::{Id, RecExpr};
use std::collections::hash_map::Entry;
use std::fmt::Debug;
use std::hash::Hash;
use thiserror::Error;

/// A type of e-nodes: an operator with its data, and children.
///
/// Usually made by [`define_language!`](crate::define_language), where nodes match if their data is
/// equal. A language made by hand decides itself what [`matches`](Language::matches): a node of a
/// pattern finds all nodes that it matches and that have the same discriminant and as many
/// children. Data that equality leaves out is kept with each node that is added; of equal nodes
/// the first one stays, and what a rule builds has the data of the first node with that operator.
#[allow(clippy::len_without_is_empty)]
pub trait Language: Debug + Clone + Eq + Ord + Hash {
    /// The part of an operator that nodes are indexed by.
    type Discriminant: Debug + Clone + Eq + Hash;

    /// Returns the index key of this node's operator.
    fn discriminant(&self) -> Self::Discriminant;

    /// Tells whether the operators are equal, with data and arity, whatever the children are.
    fn matches(&self, other: &Self) -> bool;

    #[doc(hidden)]
    fn __matches_equal() -> bool {
        false
    }

    /// Returns the children.
    fn children(&self) -> &[Id];

    /// Returns the children for changes.
    fn children_mut(&mut self) -> &mut [Id];

    /// Runs a function on each child.
    fn for_each<F: FnMut(Id)>(&self, f: F) {
        self.children().iter().copied().for_each(f);
    }

    /// Runs a function on each child that may replace it.
    fn for_each_mut<F: FnMut(&mut Id)>(&mut self, f: F) {
        self.children_mut().iter_mut().for_each(f);
    }

    /// Runs a function on each child up to the first error.
    fn try_for_each<E, F>(&self, mut f: F) -> Result<(), E>
    where
        F: FnMut(Id) -> Result<(), E>,
    {
        self.children().iter().try_for_each(|&child| f(child))
    }

    /// Returns the number of children.
    fn len(&self) -> usize {
        self.children().len()
    }

    /// Tells whether there are no children.
    fn is_leaf(&self) -> bool {
        self.children().is_empty()
    }

    /// Replaces each child by what a function makes of it.
    fn update_children<F: FnMut(Id) -> Id>(&mut self, mut f: F) {
        self.for_each_mut(|child| *child = f(*child));
    }

    /// Returns this node with each child replaced.
    fn map_children<F: FnMut(Id) -> Id>(mut self, f: F) -> Self {
        self.update_children(f);
        self
    }

    /// Folds over the children.
    fn fold<F, T>(&self, init: T, f: F) -> T
    where
        F: FnMut(T, Id) -> T,
        T: Clone,
    {
        self.children().iter().copied().fold(init, f)
    }

    /// Tells whether a predicate holds for all children.
    fn all<F: FnMut(Id) -> bool>(&self, f: F) -> bool {
        self.children().iter().copied().all(f)
    }

    /// Tells whether a predicate holds for a child.
    fn any<F: FnMut(Id) -> bool>(&self, f: F) -> bool {
        self.children().iter().copied().any(f)
    }

    /// Builds the expression with this node at its root over the expressions of its children.
    fn join_recexprs<F, Expr>(&self, mut child_recexpr: F) -> RecExpr<Self>
    where
        F: FnMut(Id) -> Expr,
        Expr: AsRef<[Self]>,
    {
        let mut joined = RecExpr::default();
        let mut roots = Vec::with_capacity(self.len());
        for &child in self.children() {
            let part = child_recexpr(child);
            let offset = joined.len();
            let mut root = None;
            for node in part.as_ref() {
                let shift = |id| Id::from(usize::from(id) + offset);
                root = Some(joined.add(node.clone().map_children(shift)));
            }
            roots.extend(root);
        }
        let mut roots = roots.into_iter();
        joined.add(self.clone().map_children(|id| roots.next().unwrap_or(id)));
        joined
    }

    /// Builds the expression below this node, asking `get_node` for the node of each class.
    ///
    /// Each class is asked for once, so shared parts stay shared. The nodes must not form a cycle.
    fn build_recexpr<F>(&self, mut get_node: F) -> RecExpr<Self>
    where
        F: FnMut(Id) -> Self,
    {
        let infallible = |id| Ok::<_, std::convert::Infallible>(get_node(id));
        match self.try_build_recexpr(infallible) {
            Ok(expr) => expr,
            Err(never) => match never {},
        }
    }

    /// Does what [`build_recexpr`](Language::build_recexpr) does with nodes that may be missing.
    fn try_build_recexpr<F, Err>(&self, mut get_node: F) -> Result<RecExpr<Self>, Err>
    where
        F: FnMut(Id) -> Result<Self, Err>,
    {
        let mut nodes = rustc_hash::FxHashMap::default();
        let mut done: rustc_hash::FxHashMap<Id, Id> = rustc_hash::FxHashMap::default();
        let mut expr = RecExpr::default();
        let mut todo: Vec<Id> = self.children().to_vec();
        while let Some(&id) = todo.last() {
            if done.contains_key(&id) {
                todo.pop();
                continue;
            }
            let node: &Self = match nodes.entry(id) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(get_node(id)?),
            };
            let missing = |child: &Id| !done.contains_key(child);
            let before = todo.len();
            todo.extend(node.children().iter().copied().filter(missing));
            if todo.len() == before {
                let place = expr.add(node.clone().map_children(|child| done[&child]));
                done.insert(id, place);
                todo.pop();
            }
        }
        expr.add(self.clone().map_children(|child| done[&child]));
        Ok(expr)
    }
}

/// A language whose nodes can be made from the text of an operator.
pub trait FromOp: Language + Sized {
    /// What goes wrong.
    type Error: Debug;

    /// Makes the node with operator `op` over `children`.
    ///
    /// # Errors
    /// If the language has no such operator with so many children.
    fn from_op(op: &str, children: Vec<Id>) -> Result<Self, Self::Error>;
}

/// An operator that a language lacks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no operator `{op}` with {} children", children.len())]
pub struct FromOpError {
    op: String,
    children: Vec<Id>,
}

impl FromOpError {
    /// Says that there is no operator `op` over `children`.
    pub fn new(op: &str, children: Vec<Id>) -> Self {
        FromOpError { op: op.to_owned(), children }
    }
}

/// A type that can hold the children of a node: an array, a boxed slice, a vector, one [`Id`].
pub trait LanguageChildren {
    /// Tells whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns their number.
    fn len(&self) -> usize;

    /// Tells whether there can be `n` of them.
    fn can_be_length(n: usize) -> bool;

    /// Makes the children from a vector of a possible length.
    fn from_vec(v: Vec<Id>) -> Self;

    /// Returns them as a slice.
    fn as_slice(&self) -> &[Id];

    /// Returns them as a slice for changes.
    fn as_mut_slice(&mut self) -> &mut [Id];
}

impl<const N: usize> LanguageChildren for [Id; N] {
    fn len(&self) -> usize {
        N
    }

    fn can_be_length(n: usize) -> bool {
        n == N
    }

    fn from_vec(v: Vec<Id>) -> Self {
        let count = v.len();
        let Ok(children) = v.try_into() else {
            panic!("expected {N} children, found {count}");
        };
        children
    }

    fn as_slice(&self) -> &[Id] {
        self
    }

    fn as_mut_slice(&mut self) -> &mut [Id] {
        self
    }
}

impl LanguageChildren for Box<[Id]> {
    fn len(&self) -> usize {
        self.as_ref().len()
    }

    fn can_be_length(_: usize) -> bool {
        true
    }

    fn from_vec(v: Vec<Id>) -> Self {
        v.into()
    }

    fn as_slice(&self) -> &[Id] {
        self
    }

    fn as_mut_slice(&mut self) -> &mut [Id] {
        self
    }
}

impl LanguageChildren for Vec<Id> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn can_be_length(_: usize) -> bool {
        true
    }

    fn from_vec(v: Vec<Id>) -> Self {
        v
    }

    fn as_slice(&self) -> &[Id] {
        self
    }

    fn as_mut_slice(&mut self) -> &mut [Id] {
        self
    }
}

impl LanguageChildren for Id {
    fn len(&self) -> usize {
        1
    }

    fn can_be_length(n: usize) -> bool {
        n == 1
    }

    fn from_vec(v: Vec<Id>) -> Self {
        match v.as_slice() {
            [child] => *child,
            other => panic!("expected 1 child, found {}", other.len()),
        }
    }

    fn as_slice(&self) -> &[Id] {
        std::slice::from_ref(self)
    }

    fn as_mut_slice(&mut self) -> &mut [Id] {
        std::slice::from_mut(self)
    }
}

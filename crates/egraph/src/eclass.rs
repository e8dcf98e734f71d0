//! Classes as the typed front end shows them.

use crate::{Id, Language};
use std::fmt::{self, Debug};
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

/// A class: its id, its nodes and its data.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EClass<L, D> {
    /// The canonical id.
    pub id: Id,
    /// The nodes, sorted; edit them to prune the class.
    pub nodes: ENodes<L>,
    /// The data of the analysis.
    pub data: D,
    pub(crate) parents: OnceLock<Box<[Id]>>,
}

/// The nodes of a class: a `Vec<L>` that is made when it is asked for.
///
/// The e-graph keeps nodes flat and untyped. What is removed here disappears from the class for
/// matching and extraction when the e-graph is next rebuilt.
#[derive(Clone)]
pub struct ENodes<L> {
    list: OnceLock<Vec<L>>,
    pub(crate) edited: bool,
}

impl<L> ENodes<L> {
    pub(crate) fn new() -> Self {
        ENodes { list: OnceLock::new(), edited: false }
    }

    #[inline]
    pub(crate) fn fill(&self, make: impl FnOnce() -> Vec<L>) {
        self.list.get_or_init(make);
    }

    /// Returns the list, if it was made.
    pub(crate) fn made(&mut self) -> Option<&mut Vec<L>> {
        self.list.get_mut()
    }

    /// Forgets the list, unless it was edited.
    #[inline]
    pub(crate) fn forget(&mut self) {
        if !self.edited {
            self.list = OnceLock::new();
        }
    }

    /// Returns the list as it was edited.
    pub(crate) fn written(&mut self) -> Vec<L>
    where
        L: Clone,
    {
        self.edited = false;
        self.list.get().cloned().unwrap_or_default()
    }
}

impl<L> Deref for ENodes<L> {
    type Target = Vec<L>;

    fn deref(&self) -> &Vec<L> {
        self.list.get_or_init(Vec::new)
    }
}

impl<L> DerefMut for ENodes<L> {
    fn deref_mut(&mut self) -> &mut Vec<L> {
        self.edited = true;
        self.list.get_or_init(Vec::new);
        self.list.get_mut().expect("the list was made just now")
    }
}

impl<L: Debug> Debug for ENodes<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

impl<L: PartialEq> PartialEq<Vec<L>> for ENodes<L> {
    fn eq(&self, other: &Vec<L>) -> bool {
        **self == *other
    }
}

impl<'a, L> IntoIterator for &'a ENodes<L> {
    type Item = &'a L;
    type IntoIter = std::slice::Iter<'a, L>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, L> IntoIterator for &'a mut ENodes<L> {
    type Item = &'a mut L;
    type IntoIter = std::slice::IterMut<'a, L>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<L, D> EClass<L, D> {
    /// Tells whether all nodes were pruned.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Iterates over the ids of the nodes above the class, as they were added; some may be copies.
    ///
    /// # Panics
    /// If the e-graph was changed since its last rebuild;
    /// [`EGraph::parents`](crate::EGraph::parents) lists them at any time.
    pub fn parents(&self) -> impl ExactSizeIterator<Item = Id> + '_ {
        let parents = self.parents.get();
        let listed =
            parents.expect("the nodes above a class are listed once the e-graph is rebuilt");
        listed.iter().copied()
    }

    /// Iterates over the nodes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &L> {
        self.nodes.iter()
    }
}

impl<L: Language, D> EClass<L, D> {
    /// Iterates over the nodes without children.
    pub fn leaves(&self) -> impl Iterator<Item = &L> {
        self.nodes.iter().filter(|node| node.is_leaf())
    }

    /// Checks that the class has no two different leaves.
    ///
    /// # Panics
    /// If it has.
    pub fn assert_unique_leaves(&self) {
        let mut leaves = self.leaves();
        if let Some(first) = leaves.next() {
            assert!(
                leaves.all(|leaf| leaf == first),
                "class {} has different leaves: {:?}",
                self.id,
                self.leaves().collect::<Vec<_>>(),
            );
        }
    }

    /// Runs a function on each node that matches `node`, up to the first error.
    pub fn for_each_matching_node<Err>(
        &self,
        node: &L,
        f: impl FnMut(&L) -> Result<(), Err>,
    ) -> Result<(), Err> {
        let matching = self.nodes.iter().filter(|other| node.matches(other));
        matching.into_iter().try_for_each(f)
    }
}

//! Classes as the typed front end shows them.

use crate::egraph::Store;
use crate::{Id, Language};
use std::fmt::{self, Debug};
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// A class: its id, its nodes and its data.
#[non_exhaustive]
pub struct EClass<L, D> {
    /// The canonical id.
    pub id: Id,
    /// The nodes, sorted; edit them to prune the class.
    pub nodes: ENodes<L>,
    /// The data of the analysis.
    pub data: D,
}

/// The nodes of a class: a `Vec<L>` that is made when it is asked for.
///
/// The e-graph keeps nodes flat and untyped. What is removed here disappears from the class for
/// matching and extraction when the e-graph is next rebuilt.
pub struct ENodes<L> {
    list: Listed<L>,
    class: AtomicU32,
    /// Where nodes are, while the class is borrowed for reading; null while it is borrowed for
    /// changes, when it may be moved to another place.
    store: AtomicPtr<()>,
    pub(crate) edited: bool,
}

/// A list that may be made later; behind a box, so that classes whose nodes nobody reads are small.
type Listed<L> = OnceLock<Box<Vec<L>>>;

/// A list that is there or not, as it lies in a class.
pub(crate) type Boxed<L> = Option<Box<Vec<L>>>;

impl<L> ENodes<L> {
    pub(crate) fn new() -> Self {
        Self::holding(OnceLock::new(), false)
    }

    fn holding(list: Listed<L>, edited: bool) -> Self {
        ENodes { list, class: AtomicU32::new(0), store: AtomicPtr::default(), edited }
    }

    /// Returns the list, if it was made.
    pub(crate) fn made(&mut self) -> Option<&mut Vec<L>> {
        self.list.get_mut().map(|list| &mut **list)
    }

    /// Forgets the list, unless it was edited.
    #[inline]
    pub(crate) fn forget(&mut self) {
        if !self.edited {
            self.list = OnceLock::new();
        }
    }
}

impl<L: Language> ENodes<L> {
    /// Remembers where to read the nodes of a class.
    ///
    /// The caller hands the class out behind a borrow that keeps `store` as long: see `store`.
    #[inline]
    pub(crate) fn lend(&self, class: Id, store: &Store<L>) {
        // Most classes are lent again and again, from the same place: reading is cheaper.
        let store = std::ptr::from_ref(store).cast_mut().cast();
        if self.store.load(Ordering::Relaxed) != store {
            self.store.store(store, Ordering::Relaxed);
        }
        if self.class.load(Ordering::Relaxed) != class.0 {
            self.class.store(class.0, Ordering::Relaxed);
        }
    }

    /// Makes the list, a spare one if there is any, and forgets where it came from.
    pub(crate) fn detach(&mut self, class: Id, store: &Store<L>, spare: &mut Boxed<L>) {
        if self.list.get().is_none() {
            let mut list = spare.take().unwrap_or_default();
            store.list(class, &mut list);
            self.list = OnceLock::from(list);
        }
        *self.store.get_mut() = std::ptr::null_mut();
    }

    /// Returns a copy that reads from nowhere, whether the list was made or not.
    pub(crate) fn detached(&self) -> Self {
        Self::holding(self.list.clone(), self.edited)
    }

    /// Returns where nodes are, if the class is borrowed for reading.
    fn store(&self) -> Option<(Id, &Store<L>)> {
        let store = self.store.load(Ordering::Relaxed).cast::<Store<L>>();
        let class = Id(self.class.load(Ordering::Relaxed));
        // SAFETY: A class leaves its e-graph by reference only. Each shared reference comes from
        // a borrow of the whole e-graph, and on its way `lend` has set the pointer to the store
        // inside, which that borrow keeps where it is and unchanged. Each unique one comes through
        // `detach`, so a value that is moved out through it holds no pointer, and copies never do.
        unsafe { store.as_ref() }.map(|store| (class, store))
    }

    /// Hands over the list, if it was edited.
    pub(crate) fn written(&mut self) -> Boxed<L> {
        std::mem::take(&mut self.edited).then(|| self.list.take().unwrap_or_default())
    }
}

impl<L: Language, D: Clone> Clone for EClass<L, D> {
    fn clone(&self) -> Self {
        EClass { id: self.id, nodes: self.nodes.clone(), data: self.data.clone() }
    }
}

impl<L: Language, D: Debug> Debug for EClass<L, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("EClass");
        shown.field("id", &self.id).field("nodes", &self.nodes).field("data", &self.data);
        shown.finish()
    }
}

impl<L: Language> Clone for ENodes<L> {
    fn clone(&self) -> Self {
        Self::holding(OnceLock::from(Box::new(self.deref().clone())), self.edited)
    }
}

impl<L: Language> Deref for ENodes<L> {
    type Target = Vec<L>;

    #[inline]
    fn deref(&self) -> &Vec<L> {
        self.list.get_or_init(|| match self.store() {
            Some((class, store)) => {
                let mut list = Box::default();
                store.list(class, &mut list);
                list
            }
            None => Box::default(),
        })
    }
}

impl<L: Language> DerefMut for ENodes<L> {
    fn deref_mut(&mut self) -> &mut Vec<L> {
        self.edited = true;
        self.list.get_or_init(Box::default);
        self.list.get_mut().expect("the list was made just now")
    }
}

impl<L: Language> Debug for ENodes<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

impl<L: Language> PartialEq<Vec<L>> for ENodes<L> {
    fn eq(&self, other: &Vec<L>) -> bool {
        **self == *other
    }
}

impl<'a, L: Language> IntoIterator for &'a ENodes<L> {
    type Item = &'a L;
    type IntoIter = std::slice::Iter<'a, L>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, L: Language> IntoIterator for &'a mut ENodes<L> {
    type Item = &'a mut L;
    type IntoIter = std::slice::IterMut<'a, L>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<L: Language, D> EClass<L, D> {
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
    /// If the class is a copy, or borrowed for changes;
    /// [`EGraph::parents`](crate::EGraph::parents) lists them then.
    pub fn parents(&self) -> impl ExactSizeIterator<Item = Id> + '_ {
        let (class, store) = self.nodes.store().expect("the class has to be borrowed for reading");
        store.core.uses_of(class).collect::<Vec<Id>>().into_iter()
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

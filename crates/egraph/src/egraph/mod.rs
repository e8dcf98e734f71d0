//! The typed e-graph.

mod build;
mod congruence;
mod equalities;
mod ops;
mod pool;
mod seen;
mod show;
mod store;

pub(crate) use ops::{OpTable, Words, words};
pub(crate) use seen::FoundRows;

pub(crate) use store::Store;

use crate::core::Core;
use crate::eclass::{Boxed, ENodes};
use crate::id::to_u32;
use crate::{Analysis, Dot, EClass, Id, Language};
use pool::Pool;
use rustc_hash::FxHashMap;
use seen::Seen;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Up to how many nodes a class is compared with its edited list one by one.
const FEW: usize = 8;

/// An e-graph over a language, with an analysis.
///
/// Keeps nodes in classes of equal ones, closed under congruence after a
/// [`rebuild`](EGraph::rebuild).
///
/// ```
/// use tangram_egraph::{EGraph, SymbolLang};
/// let mut egraph = EGraph::<SymbolLang, ()>::default();
/// let [x, y] = ["x", "y"].map(|leaf| egraph.add(SymbolLang::leaf(leaf)));
/// let fx = egraph.add_expr(&"(f x)".parse().unwrap());
/// let fy = egraph.add_expr(&"(f y)".parse().unwrap());
/// egraph.union(x, y);
/// egraph.rebuild();
/// assert_eq!(egraph.find(fx), egraph.find(fy));
/// ```
pub struct EGraph<L: Language, N: Analysis<L>> {
    /// What tells it apart from all others, its copies included.
    pub(crate) serial: u64,
    /// The analysis.
    pub analysis: N,
    /// Whether the e-graph was rebuilt, and not changed since; a new one was not.
    pub clean: bool,
    pub(crate) store: Store<L>,
    /// The typed classes; without an analysis they are made when first asked for.
    pub(crate) pool: OnceLock<Pool<L, N::Data>>,
    /// Nodes whose children's data changed.
    pub(crate) stale: VecDeque<u32>,
    /// Classes that were handed out for changes.
    touched: Vec<Id>,
    /// A list that an edited class gave back, empty.
    spare: Boxed<L>,
    /// All nodes as they were added, made when asked for.
    spelled: OnceLock<Vec<L>>,
    /// Exact spellings, for proofs, and how many ids they cover.
    pub(crate) exact: FxHashMap<Words, u32>,
    pub(crate) exact_upto: usize,
    pub(crate) shorten: bool,
    /// What rules found and applied, while a scheduler of the client's own decides.
    seen: Mutex<Option<Box<Seen<L, N>>>>,
}

impl<L: Language, N: Analysis<L>> EGraph<L, N> {
    /// Makes an empty e-graph.
    pub fn new(analysis: N) -> Self {
        EGraph {
            serial: next_serial(),
            analysis,
            clean: false,
            store: Store::new(),
            pool: OnceLock::new(),
            stale: VecDeque::new(),
            touched: Vec::new(),
            spare: None,
            spelled: OnceLock::new(),
            exact: FxHashMap::default(),
            exact_upto: 0,
            shorten: true,
            seen: Mutex::new(None),
        }
    }

    /// Returns the untyped core.
    pub fn core(&self) -> &Core {
        &self.store.core
    }

    /// Iterates over the classes.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = &EClass<L, N::Data>> {
        self.pool().classes.iter().map(|class| self.lend(class))
    }

    /// Iterates over the classes for changes.
    pub fn classes_mut(&mut self) -> impl ExactSizeIterator<Item = &mut EClass<L, N::Data>> {
        self.touched = self.pool().classes.iter().map(|class| class.id).collect();
        let classes = self.pool.get_mut().map_or(&mut [][..], |pool| &mut pool.classes);
        for class in &mut *classes {
            class.nodes.detach(class.id, &self.store, &mut None);
        }
        classes.iter_mut()
    }

    /// Iterates over the classes that have a node with the given discriminant.
    pub fn classes_for_op(
        &self,
        op: &L::Discriminant,
    ) -> Option<impl ExactSizeIterator<Item = Id> + use<L, N>> {
        let mut classes: Vec<Id> = Vec::new();
        for &op in self.store.core.ops_of_code(self.store.ops.code(op)?) {
            let nodes = self.store.core.nodes_of_op(op).iter();
            classes.extend(nodes.map(|&node| self.store.core.find(Id(node))));
        }
        classes.sort_unstable();
        classes.dedup();
        (!classes.is_empty()).then(|| classes.into_iter())
    }

    /// Returns the nodes above a class; some may be copies of others.
    pub fn parents(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        self.store.core.uses_of(id)
    }

    /// Returns a node for each id ever made, as it was added.
    ///
    /// Without explanations children are canonical instead.
    pub fn nodes(&self) -> &[L] {
        let node = |id| self.store.node_of(Id(id), self.store.core.spelling(id));
        let make = || (0..to_u32(self.store.core.number_of_ids(), "ids")).map(node).collect();
        self.spelled.get_or_init(make)
    }

    /// Tells whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.store.core.number_of_ids() == 0
    }

    /// Returns the number of entries in the hashcons.
    ///
    /// After a rebuild that is the number of different nodes, pruned ones included.
    pub fn total_size(&self) -> usize {
        self.store.core.hashcons_len()
    }

    /// Returns the number of nodes in all classes.
    pub fn total_number_of_nodes(&self) -> usize {
        self.store.core.number_of_nodes()
    }

    /// Returns the number of classes.
    pub fn number_of_classes(&self) -> usize {
        self.store.core.number_of_classes()
    }

    /// Returns the canonical id of the class that holds `id`.
    #[inline]
    pub fn find(&self, id: Id) -> Id {
        self.store.core.find(id)
    }

    /// Returns the data of a class without looking at its nodes.
    ///
    /// `egraph[id].data` makes the list of nodes ready first.
    ///
    /// # Panics
    /// If there is no such id.
    pub fn data(&self, id: Id) -> &N::Data {
        &self.class(id).data
    }

    /// Draws the e-graph for Graphviz.
    pub fn dot(&self) -> Dot<'_, L, N> {
        Dot::new(self)
    }

    /// Returns the typed classes, which are all there from now on.
    pub(crate) fn pool(&self) -> &Pool<L, N::Data> {
        self.pool.get_or_init(|| {
            let mut pool = Pool::new();
            if N::__nothing_to_do().is_some() {
                for id in self.store.core.class_ids() {
                    N::__nothing_to_do()
                        .into_iter()
                        .for_each(|data| pool.insert(new_class(id, data)));
                }
            }
            pool
        })
    }

    /// Adds a typed class whose nodes the core has already.
    pub(crate) fn put_class(&mut self, class: EClass<L, N::Data>) {
        if let Some(pool) = self.pool.get_mut() {
            pool.insert(class);
        } else {
            let mut pool = Pool::new();
            pool.insert(class);
            self.pool = OnceLock::from(pool);
        }
    }

    fn class(&self, id: Id) -> &EClass<L, N::Data> {
        match self.pool().get(self.find(id)) {
            Some(class) => class,
            None => panic!("there is no class {id}"),
        }
    }

    /// Lets a class read its nodes from here for as long as it is borrowed.
    #[inline]
    fn lend<'a>(&'a self, class: &'a EClass<L, N::Data>) -> &'a EClass<L, N::Data> {
        class.nodes.lend(class.id, &self.store);
        class
    }

    /// Makes the node with a given id, children canonical as of the last rebuild.
    pub(crate) fn enode(&self, node: Id) -> L {
        self.store.enode(node)
    }

    /// Writes classes that were edited back to the core.
    fn write_back(&mut self) {
        let mut touched = std::mem::take(&mut self.touched);
        for id in touched.drain(..) {
            let id = self.store.core.find(id);
            let Some(class) = class_mut(&mut self.pool, id) else {
                continue;
            };
            let Some(mut kept) = class.nodes.written() else {
                continue;
            };
            self.keep_only(id, &mut kept);
            kept.clear();
            self.spare = Some(kept);
        }
        if self.touched.is_empty() {
            self.touched = touched;
        }
    }

    /// Hides the nodes of a class that are not in `kept`, and adds those that it lacks.
    fn keep_only(&mut self, id: Id, kept: &mut Vec<L>) {
        let visible: SmallVec<[Id; FEW]> = self.store.core.nodes_of(id).collect();
        if visible.len().max(kept.len()) <= FEW {
            let nodes: SmallVec<[L; FEW]> = visible.iter().map(|&node| self.enode(node)).collect();
            for (&id, node) in visible.iter().zip(&nodes) {
                if !kept.contains(node) {
                    self.store.core.hide(id);
                }
            }
            if kept.iter().all(|node| nodes.contains(node)) {
                return;
            }
        }
        let mut kept: FxHashMap<L, bool> = kept.drain(..).map(|node| (node, false)).collect();
        for node in visible {
            match kept.get_mut(&self.enode(node)) {
                Some(seen) => *seen = true,
                None => self.store.core.hide(node),
            }
        }
        let mut fresh: Vec<L> =
            kept.into_iter().filter(|(_, seen)| !seen).map(|(node, _)| node).collect();
        fresh.sort_unstable();
        for node in fresh {
            let node = self.add(node);
            self.union(id, node);
        }
    }
}

impl<L: Language, N: Analysis<L> + Default> Default for EGraph<L, N> {
    fn default() -> Self {
        EGraph::new(N::default())
    }
}

impl<L: Language, N: Analysis<L> + Clone> Clone for EGraph<L, N>
where
    N::Data: Clone,
{
    fn clone(&self) -> Self {
        EGraph {
            serial: next_serial(),
            analysis: self.analysis.clone(),
            clean: self.clean,
            store: self.store.clone(),
            pool: self
                .pool
                .get()
                .map_or_else(OnceLock::new, |pool| OnceLock::from(pool.detached())),
            stale: self.stale.clone(),
            touched: self.touched.clone(),
            spare: None,
            spelled: self.spelled.clone(),
            exact: self.exact.clone(),
            exact_upto: self.exact_upto,
            shorten: self.shorten,
            seen: Mutex::new(None),
        }
    }
}

impl<L: Language, N: Analysis<L>> Index<Id> for EGraph<L, N> {
    type Output = EClass<L, N::Data>;

    fn index(&self, id: Id) -> &EClass<L, N::Data> {
        self.lend(self.class(id))
    }
}

impl<L: Language, N: Analysis<L>> IndexMut<Id> for EGraph<L, N> {
    fn index_mut(&mut self, id: Id) -> &mut EClass<L, N::Data> {
        let id = self.find(id);
        self.pool();
        if self.touched.last() != Some(&id) {
            self.touched.push(id);
        }
        let Some(class) = class_mut(&mut self.pool, id) else { panic!("there is no class {id}") };
        class.nodes.detach(id, &self.store, &mut self.spare);
        class
    }
}

fn next_serial() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Finds a typed class for changes, if the typed classes were made.
#[inline]
pub(crate) fn class_mut<L: Language, D>(
    pool: &mut OnceLock<Pool<L, D>>,
    id: Id,
) -> Option<&mut EClass<L, D>> {
    pool.get_mut()?.get_mut(id)
}

/// Makes the typed class of a new node.
pub(crate) fn new_class<L, D>(id: Id, data: D) -> EClass<L, D> {
    EClass { id, nodes: ENodes::new(), data }
}

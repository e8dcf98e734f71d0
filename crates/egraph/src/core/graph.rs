//! An e-graph over interned operators with one fact per class.

use super::apply::Host;
use super::log::Why;
use super::nodes::{Core, DEAD, Op, STALE_FACT};
use crate::Id;
use std::collections::VecDeque;

/// An analysis over a [`Graph`]: one fact per class, joined from its nodes.
pub trait Facts: Sized {
    /// What is known of a class.
    type Fact;

    /// Derives the fact of a node from those of its children.
    fn make(graph: &Graph<Self>, op: Op, kids: &[Id]) -> Self::Fact;

    /// Joins `from` into `into`; returns whether the result differs from either.
    fn join(&mut self, into: &mut Self::Fact, from: Self::Fact) -> (bool, bool);

    /// May add nodes and unions when the fact of `class` is new.
    fn on_change(graph: &mut Graph<Self>, class: Id) {
        let _ = (graph, class);
    }
}

impl Facts for () {
    type Fact = ();

    fn make(_: &Graph<Self>, _: Op, _: &[Id]) {}

    fn join(&mut self, _: &mut (), (): ()) -> (bool, bool) {
        (false, false)
    }
}

/// An untyped e-graph with an analysis: what other crates build their own e-graphs on.
///
/// ```
/// use tangram_egraph::core::{Graph, Why};
///
/// let mut graph = Graph::new(());
/// let [plus, a, b] = [2, 0, 0].map(|arity| graph.new_op(0, arity));
/// let (a, b) = (graph.add(a, &[]), graph.add(b, &[]));
/// let (ab, ba) = (graph.add(plus, &[a, b]), graph.add(plus, &[b, a]));
/// graph.union(a, b, Why::Congruence);
/// assert_ne!(graph.core().find(ab), graph.core().find(ba));
/// graph.rebuild();
/// assert_eq!(graph.core().find(ab), graph.core().find(ba));
/// ```
#[derive(Clone, Debug)]
pub struct Graph<F: Facts> {
    core: Core,
    facts: Vec<Option<F::Fact>>,
    stale: VecDeque<u32>,
    /// The analysis itself.
    pub analysis: F,
}

impl<F: Facts> Graph<F> {
    /// Makes an empty e-graph.
    pub fn new(analysis: F) -> Self {
        Graph { core: Core::new(), facts: Vec::new(), stale: VecDeque::new(), analysis }
    }

    /// Returns the core.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// Registers an operator; see [`Core::new_op`].
    pub fn new_op(&mut self, code: u32, arity: usize) -> Op {
        self.core.new_op(code, arity)
    }

    /// Returns the fact of the class of `id`, or `None` while it is being made.
    pub fn fact(&self, id: Id) -> Option<&F::Fact> {
        self.facts[self.core.root(id.0) as usize].as_ref()
    }

    /// Adds a node.
    pub fn add(&mut self, op: Op, kids: &[Id]) -> Id {
        let (id, new) = self.core.add(op, kids);
        if new {
            self.learn(id);
        }
        id
    }

    fn learn(&mut self, id: Id) {
        self.facts.resize_with(self.core.number_of_ids(), || None);
        let kids: Vec<Id> = self.core.kids(id).iter().map(|&kid| Id(kid)).collect();
        self.facts[id.0 as usize] = Some(F::make(self, self.core.op(id), &kids));
        F::on_change(self, id);
    }

    /// Unites two classes and says whether they were two.
    pub fn union(&mut self, left: Id, right: Id, why: Why) -> bool {
        let Some(merge) = self.core.union(left, right, why) else {
            return false;
        };
        let (into, from) = (merge.into.0 as usize, merge.from.0 as usize);
        if let (Some(fact), Some(other)) = (self.facts[from].take(), self.facts[into].take()) {
            let mut other = other;
            let (changed, differs) = self.analysis.join(&mut other, fact);
            self.facts[into] = Some(other);
            if changed || differs {
                self.spread(merge.into);
            }
            if changed {
                F::on_change(self, merge.into);
            }
        }
        true
    }

    /// Queues the nodes above a class whose fact changed.
    fn spread(&mut self, class: Id) {
        self.core.mark_above(class, |node| self.stale.push_back(node));
    }

    /// Restores congruence and brings all facts up to date.
    pub fn rebuild(&mut self) {
        loop {
            while let Some((left, right)) = self.core.next_congruence() {
                self.union(left, right, Why::Congruence);
            }
            let Some(node) = self.stale.pop_front() else {
                break;
            };
            self.refresh(node);
        }
        self.core.settle();
    }

    fn refresh(&mut self, node: u32) {
        self.core.flags[node as usize] &= !STALE_FACT;
        if self.core.flags[node as usize] & DEAD != 0 {
            return;
        }
        let kids: Vec<Id> = self.core.kids(Id(node)).iter().map(|&kid| Id(kid)).collect();
        let fact = F::make(self, self.core.op(Id(node)), &kids);
        let class = self.core.find(Id(node));
        let Some(mut old) = self.facts[class.0 as usize].take() else {
            return;
        };
        let (changed, _) = self.analysis.join(&mut old, fact);
        self.facts[class.0 as usize] = Some(old);
        if changed {
            self.spread(class);
            F::on_change(self, class);
        }
    }
}

impl<F: Facts> Host for Graph<F> {
    fn core(&self) -> &Core {
        &self.core
    }

    fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    fn add_words(&mut self, words: &[u32]) -> Id {
        let (id, new) = self.core.add_key(words);
        if new {
            self.learn(Id(id));
        }
        Id(id)
    }

    fn unite(&mut self, left: Id, right: Id, why: Why) -> bool {
        self.union(left, right, why)
    }
}

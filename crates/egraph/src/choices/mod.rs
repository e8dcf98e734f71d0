//! Extraction where shared parts count once.
//!
//! An e-graph is seen as *choices*: classes, for each the nodes to choose from, for each node a
//! cost and the classes below. A [`Selection`] chooses a node for some classes; its cost from
//! given roots is the sum over all classes that these reach, each once. Finding the cheapest is
//! NP-hard, so there are three ways, each no worse than the one before: a greedy one
//! ([`Choices::greedy`]), local search from there ([`Choices::improve`]), and a bound and an integer
//! program that prove the optimum or say how far from it the selection may be
//! ([`Choices::exact`]).

mod best;
mod bound;
mod exact;
mod greedy;
#[cfg(feature = "lp")]
mod integer;
mod local;
mod useful;

pub use best::Tree;
pub use exact::Exact;

use crate::{Analysis, EGraph, Id, Language, RecExpr};
use rustc_hash::FxHashMap;
use std::time::Duration;

/// How many changes local search tries before the integer program starts.
const LOCAL_CHANGES: usize = 4_000;

/// A node to choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What the node itself costs; at least 0.
    pub cost: f64,
    /// Its class.
    pub class: usize,
    /// The class of each child, in order; one that occurs twice is paid twice in a tree.
    pub kids: Vec<usize>,
}

/// Classes and the nodes to choose from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// The nodes.
    pub nodes: Vec<Choice>,
    /// For each class its nodes.
    pub classes: Vec<Vec<usize>>,
}

/// For each class the node chosen for it, if any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The chosen node by class.
    pub chosen: Vec<Option<usize>>,
}

/// Choices with the nodes and classes of the e-graph that they stand for.
#[derive(Clone, Debug)]
pub struct EGraphChoices {
    /// The choices.
    pub choices: Choices,
    /// For each choice its node.
    nodes: Vec<Id>,
    classes: FxHashMap<Id, usize>,
}

impl Choice {
    /// Returns the classes below in ascending order, each once: what a shared cost depends on.
    pub(crate) fn distinct_kids(&self) -> Vec<usize> {
        let mut kids = self.kids.clone();
        kids.sort_unstable();
        kids.dedup();
        kids
    }
}

impl Choices {
    /// Makes choices over `classes` classes without nodes.
    pub fn new(classes: usize) -> Self {
        Choices { nodes: Vec::new(), classes: vec![Vec::new(); classes] }
    }

    /// Adds a node. A negative cost counts as 0; a node whose cost is not finite is left out.
    pub fn push(
        &mut self,
        class: usize,
        cost: f64,
        kids: impl IntoIterator<Item = usize>,
    ) -> Option<usize> {
        if !cost.is_finite() {
            return None;
        }
        let kids = kids.into_iter().collect();
        self.classes[class].push(self.nodes.len());
        self.nodes.push(Choice { cost: cost.max(0.0), class, kids });
        Some(self.nodes.len() - 1)
    }

    /// Returns for each class the nodes above it.
    pub(crate) fn parents(&self) -> Vec<Vec<usize>> {
        let mut parents = vec![Vec::new(); self.classes.len()];
        for (number, node) in self.nodes.iter().enumerate() {
            for &kid in &node.kids {
                if parents[kid].last() != Some(&number) {
                    parents[kid].push(number);
                }
            }
        }
        parents
    }

    /// Lists the classes that a selection reaches from the roots, children first.
    ///
    /// `None` if a class has no node chosen, or if the chosen nodes form a cycle.
    pub fn reach(&self, selection: &Selection, roots: &[usize]) -> Option<Vec<usize>> {
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let mut state = vec![0u8; self.classes.len()];
        let mut order = Vec::new();
        let mut stack: Vec<(usize, usize)> = Vec::new();
        for &root in roots {
            if state[root] == DONE {
                continue;
            }
            state[root] = OPEN;
            stack.push((root, 0));
            while let Some((class, next)) = stack.last_mut() {
                let node = &self.nodes[(*selection.chosen.get(*class)?)?];
                match node.kids.get(*next) {
                    None => {
                        state[*class] = DONE;
                        order.push(*class);
                        stack.pop();
                    }
                    Some(&kid) => {
                        *next += 1;
                        match state[kid] {
                            DONE => {}
                            OPEN => return None,
                            _ => {
                                state[kid] = OPEN;
                                stack.push((kid, 0));
                            }
                        }
                    }
                }
            }
        }
        Some(order)
    }

    /// Tells for each class whether a selection makes a finite term of it: it reaches no cycle, and
    /// nothing that has no node chosen.
    pub(crate) fn finite(&self, selection: &Selection) -> Vec<bool> {
        let mut is_finite = vec![false; self.classes.len()];
        let mut seen = vec![false; self.classes.len()];
        for root in 0..self.classes.len() {
            let mut stack: Vec<(usize, usize)> = Vec::new();
            if !std::mem::replace(&mut seen[root], true) {
                stack.push((root, 0));
            }
            while let Some((class, next)) = stack.last_mut() {
                let kids = selection.chosen[*class].map(|node| &self.nodes[node].kids);
                match kids.and_then(|kids| kids.get(*next)) {
                    Some(&kid) => {
                        *next += 1;
                        if !std::mem::replace(&mut seen[kid], true) {
                            stack.push((kid, 0));
                        }
                    }
                    // What is still open below itself is not finite, nor is what reaches it.
                    None => {
                        is_finite[*class] =
                            kids.is_some_and(|kids| kids.iter().all(|&kid| is_finite[kid]));
                        stack.pop();
                    }
                }
            }
        }
        is_finite
    }

    /// Finds the cheapest selection for some roots by all ways together, within a time limit.
    ///
    /// With a limit of zero the integer program is left out, as it is without the feature `lp`; a
    /// limit that no clock reaches is none. `None` if a root has no finite term.
    pub fn best(&self, roots: &[usize], limit: Duration) -> Option<Exact> {
        let starts = [self.greedy(), self.cheapest_trees()];
        let improved = starts.into_iter().filter_map(|start| {
            let found = self.improve(&start, roots, LOCAL_CHANGES);
            Some((self.dag_cost(&found, roots)?, found))
        });
        let (_, best) = improved.min_by(|left, right| left.0.total_cmp(&right.0))?;
        self.exact(&best, roots, limit)
    }

    /// Returns the cost of a selection from the roots; `None` if it is no finite term.
    pub fn dag_cost(&self, selection: &Selection, roots: &[usize]) -> Option<f64> {
        let reached = self.reach(selection, roots)?;
        let cost = |class: usize| selection.chosen[class].map_or(0.0, |node| self.nodes[node].cost);
        Some(reached.into_iter().map(cost).sum())
    }
}

impl EGraphChoices {
    /// Reads the choices of a rebuilt e-graph; `cost` is asked for class and node.
    pub fn new<L, N>(egraph: &EGraph<L, N>, mut cost: impl FnMut(Id, &L) -> f64) -> Self
    where
        L: Language,
        N: Analysis<L>,
    {
        let core = egraph.core();
        let ids: Vec<Id> = core.class_ids().collect();
        let classes: FxHashMap<Id, usize> =
            ids.iter().enumerate().map(|(at, &id)| (id, at)).collect();
        let mut read =
            EGraphChoices { choices: Choices::new(ids.len()), nodes: Vec::new(), classes };
        for &class in &ids {
            for node in core.rows(class) {
                let node = Id(node.node);
                let cost = cost(class, &egraph.enode(node));
                let kids = core.kids(node).iter().map(|&kid| read.classes[&core.find(Id(kid))]);
                if read.choices.push(read.classes[&class], cost, kids).is_some() {
                    read.nodes.push(node);
                }
            }
        }
        read
    }

    /// Returns the number of a class.
    pub fn class<L: Language, N: Analysis<L>>(
        &self,
        egraph: &EGraph<L, N>,
        id: Id,
    ) -> Option<usize> {
        self.classes.get(&egraph.find(id)).copied()
    }

    /// Builds the expression of a selection from some roots, with the place of each root in it.
    ///
    /// `None` if the selection is no finite term from there.
    pub fn expression<L: Language, N: Analysis<L>>(
        &self,
        egraph: &EGraph<L, N>,
        selection: &Selection,
        roots: &[usize],
    ) -> Option<(RecExpr<L>, Vec<Id>)> {
        let order = self.choices.reach(selection, roots)?;
        let mut places: FxHashMap<usize, Id> = FxHashMap::default();
        let mut expr = RecExpr::default();
        for class in order {
            let node = egraph.enode(self.nodes[selection.chosen[class]?]);
            let node = node.map_children(|kid| {
                let class = self.class(egraph, kid);
                class.and_then(|class| places.get(&class)).copied().unwrap_or(kid)
            });
            places.insert(class, expr.add(node));
        }
        let roots = roots.iter().map(|root| places[root]).collect();
        Some((expr, roots))
    }
}

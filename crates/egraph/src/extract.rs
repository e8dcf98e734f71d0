//! Extraction by tree cost.

use crate::id::to_u32;
use crate::{Analysis, EGraph, Id, Language, RecExpr};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::fmt::Debug;

/// A cost of expressions that adds up from the costs of children.
///
/// It has to be monotonic: a node costs no less than any of its children.
pub trait CostFunction<L: Language> {
    /// The type of costs.
    type Cost: PartialOrd + Debug + Clone;

    /// Computes the cost of a node, given that of each class below it.
    fn cost<C>(&mut self, enode: &L, costs: C) -> Self::Cost
    where
        C: FnMut(Id) -> Self::Cost;

    /// Computes the cost of an expression.
    ///
    /// # Panics
    /// If the expression is empty.
    fn cost_rec(&mut self, expr: &RecExpr<L>) -> Self::Cost {
        let mut costs: Vec<Self::Cost> = Vec::with_capacity(expr.len());
        for node in expr {
            let cost = self.cost(node, |child| costs[usize::from(child)].clone());
            costs.push(cost);
        }
        costs.pop().expect("an empty expression has no cost")
    }
}

/// Counts nodes, shared ones as often as they are used.
#[derive(Clone, Copy, Debug)]
pub struct AstSize;

impl<L: Language> CostFunction<L> for AstSize {
    type Cost = usize;

    fn cost<C: FnMut(Id) -> usize>(&mut self, enode: &L, mut costs: C) -> usize {
        enode.fold(1, |sum, child| sum.saturating_add(costs(child)))
    }
}

/// Measures the longest path to a leaf.
#[derive(Clone, Copy, Debug)]
pub struct AstDepth;

impl<L: Language> CostFunction<L> for AstDepth {
    type Cost = usize;

    fn cost<C: FnMut(Id) -> usize>(&mut self, enode: &L, mut costs: C) -> usize {
        1 + enode.fold(0, |deepest, child| deepest.max(costs(child)))
    }
}

/// Extracts the cheapest expression of each class, where shared parts count each time.
///
/// A worklist visits a node again only when a class below it got cheaper, so this takes
/// O(nodes) for most e-graphs.
#[derive(Debug)]
pub struct Extractor<'a, CF: CostFunction<L>, L: Language, N: Analysis<L>> {
    cost_function: CF,
    /// The best cost and node of each class, by canonical id.
    best: Vec<Option<(CF::Cost, L)>>,
    egraph: &'a EGraph<L, N>,
}

impl<'a, CF, L, N> Extractor<'a, CF, L, N>
where
    CF: CostFunction<L>,
    L: Language,
    N: Analysis<L>,
{
    /// Computes the costs of all classes of a rebuilt e-graph.
    pub fn new(egraph: &'a EGraph<L, N>, cost_function: CF) -> Self {
        let mut extractor =
            Extractor { cost_function, best: vec![None; egraph.core().number_of_ids()], egraph };
        extractor.run();
        extractor
    }

    fn run(&mut self) {
        let core = self.egraph.core();
        let mut queued = vec![true; core.number_of_ids()];
        let visible = (0..to_u32(core.number_of_ids(), "ids")).filter(|&id| core.is_visible(id));
        let mut todo: VecDeque<u32> = visible.collect();
        while let Some(node) = todo.pop_front() {
            queued[node as usize] = false;
            let Some(class) = self.improve(Id(node)) else {
                continue;
            };
            for above in core.uses_of(class) {
                let at = above.0 as usize;
                if !queued[at] && core.is_visible(above.0) {
                    queued[at] = true;
                    todo.push_back(above.0);
                }
            }
        }
    }

    /// Computes the cost of a node; returns its class if that got cheaper.
    fn improve(&mut self, node: Id) -> Option<Id> {
        let core = self.egraph.core();
        let known = |&kid: &u32| self.best[core.root(kid) as usize].is_some();
        if !core.kids(node).iter().all(known) {
            return None;
        }
        let enode = self.egraph.enode(node);
        let best = &self.best;
        let child = |id: Id| match &best[core.find(id).0 as usize] {
            Some((cost, _)) => cost.clone(),
            None => unreachable!("all children were found to have a cost"),
        };
        let cost = self.cost_function.cost(&enode, child);
        let class = core.find(node);
        let place = &mut self.best[class.0 as usize];
        let better = match place {
            None => true,
            Some((old, _)) => cost.partial_cmp(old) == Some(Ordering::Less),
        };
        if better {
            *place = Some((cost, enode));
        }
        better.then_some(class)
    }

    fn entry(&self, eclass: Id) -> &(CF::Cost, L) {
        match &self.best[usize::from(self.egraph.find(eclass))] {
            Some(entry) => entry,
            None => panic!("class {eclass} has no finite expression"),
        }
    }

    /// Returns the cheapest expression of a class with its cost.
    ///
    /// # Panics
    /// If the class has no finite expression, which only pruning can bring about.
    pub fn find_best(&self, eclass: Id) -> (CF::Cost, RecExpr<L>) {
        let (cost, root) = self.entry(eclass);
        let node = |id: Id| self.canonical(&self.entry(id).1);
        (cost.clone(), self.canonical(root).build_recexpr(node))
    }

    fn canonical(&self, node: &L) -> L {
        node.clone().map_children(|child| self.egraph.find(child))
    }

    /// Returns the cheapest node of a class.
    pub fn find_best_node(&self, eclass: Id) -> &L {
        &self.entry(eclass).1
    }

    /// Returns the cost of the cheapest expression of a class.
    pub fn find_best_cost(&self, eclass: Id) -> CF::Cost {
        self.entry(eclass).0.clone()
    }
}

//! What is equal in an e-graph, seen from outside: representatives, unions and intersections of
//! whole e-graphs.

use super::EGraph;
use crate::{
    Analysis, AstSize, ENodeOrVar, Extractor, Id, Language, Pattern, PatternAst, RecExpr, Searcher,
    Subst, UnionEqualities, Var,
};
use rustc_hash::FxHashMap;

/// What has to be true before anything is added.
const NO_PROOFS: &str = "explanations have to be enabled before anything is added to the e-graph";

impl<L: Language, N: Analysis<L>> EGraph<L, N> {
    /// Makes the e-graph remember why things are equal.
    ///
    /// # Panics
    /// If there were unions before.
    pub fn with_explanations_enabled(mut self) -> Self {
        assert!(self.store.core.keep_proofs(), "{NO_PROOFS}");
        self
    }

    /// Forgets why things are equal, and stops remembering.
    pub fn with_explanations_disabled(mut self) -> Self {
        self.store.core.forget_proofs();
        self
    }

    /// Tells whether the e-graph remembers why things are equal.
    pub fn are_explanations_enabled(&self) -> bool {
        self.store.core.keeps_proofs()
    }

    /// Leaves explanations as long as they were found.
    pub fn without_explanation_length_optimization(mut self) -> Self {
        self.shorten = false;
        self
    }

    /// Makes explanations shorter where that is cheap; the default.
    pub fn with_explanation_length_optimization(mut self) -> Self {
        self.shorten = true;
        self
    }

    /// Returns a node with the operator that a [proof](EGraph::prove) speaks of; its children mean
    /// nothing.
    pub fn operator(&self, op: crate::core::Op) -> &L {
        &self.store.ops.templates[op.0 as usize]
    }

    /// Returns the node with the given id, as it was added.
    pub fn id_to_node(&self, id: Id) -> &L {
        &self.nodes()[usize::from(id)]
    }

    /// Returns an expression of the class of `id`.
    ///
    /// With explanations, it is the one that the id was made for; without, a smallest one.
    pub fn id_to_expr(&self, id: Id) -> RecExpr<L> {
        if !self.are_explanations_enabled() {
            return Extractor::new(self, AstSize).find_best(id).1;
        }
        let node = |id: Id| self.store.node_of(id, self.store.core.spelling(id.0));
        node(id).build_recexpr(node)
    }

    /// Does what [`id_to_expr`](EGraph::id_to_expr) does with variables in place of some ids.
    ///
    /// An id that `substitutions` has becomes the variable of its name, bound to the id's value.
    pub fn id_to_pattern<S>(
        &self,
        id: Id,
        substitutions: &std::collections::HashMap<Id, Id, S>,
    ) -> (Pattern<L>, Subst)
    where
        S: std::hash::BuildHasher,
    {
        let mut subst = Subst::default();
        let node = |id: Id| match substitutions.get(&id) {
            None => ENodeOrVar::ENode(self.store.node_of(id, self.store.core.spelling(id.0))),
            Some(&value) => {
                let var: Var = crate::Symbol::from(format!("?{id}")).into();
                subst.insert(var, value);
                ENodeOrVar::Var(var)
            }
        };
        let mut node = node;
        let ast: PatternAst<L> = node(id).build_recexpr(node);
        (Pattern::new(ast), subst)
    }

    /// Lists the classes in which both expressions are.
    pub fn equivs(&self, expr1: &RecExpr<L>, expr2: &RecExpr<L>) -> Vec<Id> {
        let (left, right) = (Pattern::from(expr1), Pattern::from(expr2));
        let (left, right) = (left.search(self), right.search(self));
        let same = |id: &Id| right.iter().any(|found| found.eclass == *id);
        left.iter().map(|found| found.eclass).filter(same).collect()
    }

    /// Lists all unions with their reasons; needs explanations.
    ///
    /// # Panics
    /// If explanations are not enabled.
    pub fn get_union_equalities(&self) -> UnionEqualities {
        let log = self.store.core.log.as_ref();
        let edges = log.map(|log| log.edges.iter()).expect(NO_PROOFS);
        let named = edges.filter_map(|edge| {
            let name = self.store.core.rule_name(edge.why)?;
            Some((Id(edge.left), Id(edge.right), name))
        });
        named.collect()
    }

    /// Makes an e-graph with all nodes ever added, but none of the unions; needs explanations.
    ///
    /// # Panics
    /// If explanations are not enabled.
    pub fn copy_without_unions(&self, analysis: N) -> Self {
        assert!(self.are_explanations_enabled(), "{NO_PROOFS}");
        let mut copy = EGraph::new(analysis);
        let mut ids: Vec<Id> = Vec::with_capacity(self.nodes().len());
        for node in self.nodes() {
            let node = node.clone().map_children(|child| ids[usize::from(child)]);
            ids.push(copy.add(node));
        }
        copy
    }

    /// Takes all nodes and equalities of `other`, which needs explanations, into this e-graph.
    ///
    /// # Panics
    /// If `other` has no explanations.
    pub fn egraph_union(&mut self, other: &EGraph<L, N>) {
        let mut ids: Vec<Id> = Vec::with_capacity(other.nodes().len());
        for node in other.nodes() {
            let node = node.clone().map_children(|child| ids[usize::from(child)]);
            ids.push(self.add_uncanonical(node));
        }
        for (left, right, why) in other.get_union_equalities() {
            self.union_trusted(ids[usize::from(left)], ids[usize::from(right)], why);
        }
        self.rebuild();
    }

    /// Makes the e-graph of the terms and equalities that both have.
    ///
    /// O(nodes of one times nodes of the other) in the worst case; only pairs with the same
    /// operator are looked at.
    pub fn egraph_intersect(&self, other: &EGraph<L, N>, analysis: N) -> EGraph<L, N> {
        let mut pairs: FxHashMap<(Id, Id), usize> = FxHashMap::default();
        let mut number = |left: Id, right: Id| {
            let next = pairs.len();
            *pairs.entry((self.find(left), other.find(right))).or_insert(next)
        };
        let mut nodes: Vec<(L, Vec<usize>, usize)> = Vec::new();
        for template in &self.store.ops.templates {
            let (Some(op), Some(twin)) =
                (self.store.ops.lookup(template), other.store.ops.lookup(template))
            else {
                continue;
            };
            for &left in self.store.core.nodes_of_op(op) {
                for &right in other.store.core.nodes_of_op(twin) {
                    let class = number(Id(left), Id(right));
                    let kids = self.store.core.kids(Id(left)).iter();
                    let kids = kids.zip(other.store.core.kids(Id(right)));
                    let kids = kids.map(|(&left, &right)| number(Id(left), Id(right)));
                    nodes.push((template.clone(), kids.collect(), class));
                }
            }
        }
        let count = pairs.len();
        Self::from_pairs(nodes, count, analysis)
    }

    /// Adds nodes over numbered classes from the leaves up, as far as they are founded.
    fn from_pairs(nodes: Vec<(L, Vec<usize>, usize)>, count: usize, analysis: N) -> Self {
        let mut egraph = EGraph::new(analysis);
        let mut ids: Vec<Option<Id>> = vec![None; count];
        let mut todo = nodes;
        loop {
            let before = todo.len();
            let mut later = Vec::new();
            for (template, kids, class) in todo {
                let Some(kids) = kids.iter().map(|&kid| ids[kid]).collect::<Option<Vec<Id>>>()
                else {
                    later.push((template, kids, class));
                    continue;
                };
                let mut kids = kids.into_iter();
                let added = egraph.add(template.map_children(|id| kids.next().unwrap_or(id)));
                match ids[class] {
                    Some(known) => _ = egraph.union(known, added),
                    None => ids[class] = Some(added),
                }
            }
            egraph.rebuild();
            if later.len() == before {
                return egraph;
            }
            todo = later;
        }
    }
}

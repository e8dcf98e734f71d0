//! E-graphs as JSON, in the format of the `egraph-serialize` crate.
//!
//! ```json
//! { "nodes": { "0": { "op": "f", "children": ["1"], "eclass": "0", "cost": 1.0 } },
//!   "root_eclasses": ["0"], "class_data": {} }
//! ```
//!
//! A child is named by any node of its class. The order of nodes is kept in both directions, so
//! the same e-graph always gives the same text.

use crate::choices::{Choices, Selection};
use crate::sexp::Layout;
use crate::{Analysis, EGraph, Id, Language, SymbolLang};
use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt::Display;
use thiserror::Error;

/// A node of a serialized e-graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SerializedNode {
    /// The operator.
    pub op: String,
    /// For each child the name of a node of its class.
    #[serde(default)]
    pub children: Vec<String>,
    /// The name of its class.
    pub eclass: String,
    /// What it costs.
    #[serde(default = "one")]
    pub cost: f64,
    /// Whether it stands for more nodes that were left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub subsumed: bool,
}

fn one() -> f64 {
    1.0
}

/// An e-graph apart from any language.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SerializedEGraph {
    /// The nodes by name.
    pub nodes: IndexMap<String, SerializedNode>,
    /// The names of the classes that matter.
    #[serde(default)]
    pub root_eclasses: Vec<String>,
    /// What else is known of classes, by name.
    #[serde(default)]
    pub class_data: IndexMap<String, serde_json::Value>,
}

/// Terms that share parts, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedTerms {
    /// Lines `name = term`, each after those that it names.
    pub bindings: Vec<String>,
    /// The term of each root.
    pub roots: Vec<String>,
}

/// What is wrong with a serialized e-graph.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SerializeError {
    /// The text is no JSON of the expected form.
    #[error("expected an e-graph in JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A child is named that no node has.
    #[error("node `{node}` has the child `{child}`, but there is no node of that name")]
    MissingNode {
        /// The node.
        node: String,
        /// The name of its child.
        child: String,
    },
    /// A root is named that no node has for its class.
    #[error("there is no node of the root class `{0}`")]
    MissingClass(String),
    /// Classes that no finite term leads to.
    #[error("{0} nodes have no finite term")]
    Unfounded(usize),
}

impl SerializedEGraph {
    /// Takes an e-graph apart; `cost` is asked for class and node.
    pub fn new<L, N>(
        egraph: &EGraph<L, N>,
        roots: &[Id],
        mut cost: impl FnMut(Id, &L) -> f64,
    ) -> Self
    where
        L: Language + Display,
        N: Analysis<L>,
    {
        let core = egraph.core();
        // A class without nodes cannot be named by one; its nodes were all pruned.
        let name = |class: Id| core.rows(class).first().map(|row| row.node.to_string());
        let mut serialized = SerializedEGraph::default();
        for class in core.class_ids() {
            for row in core.rows(class) {
                let node = egraph.enode(Id(row.node));
                let children = node.children().iter();
                let children =
                    children.map(|&kid| name(egraph.find(kid)).unwrap_or_else(|| kid.to_string()));
                let entry = SerializedNode {
                    op: node.to_string(),
                    children: children.collect(),
                    eclass: class.to_string(),
                    cost: cost(class, &node),
                    subsumed: false,
                };
                serialized.nodes.insert(row.node.to_string(), entry);
            }
        }
        let root = |&root: &Id| egraph.find(root).to_string();
        serialized.root_eclasses = roots.iter().map(root).collect();
        serialized
    }

    /// Reads JSON.
    ///
    /// # Errors
    /// If the text has another form, or names nodes or classes that are not there.
    pub fn from_json(text: &str) -> Result<Self, SerializeError> {
        let egraph: SerializedEGraph = serde_json::from_str(text)?;
        egraph.complete()?;
        let classes: FxHashSet<&str> =
            egraph.nodes.values().map(|node| node.eclass.as_str()).collect();
        match egraph.root_eclasses.iter().find(|class| !classes.contains(class.as_str())) {
            Some(class) => Err(SerializeError::MissingClass(class.clone())),
            None => Ok(egraph),
        }
    }

    /// Checks that every child is a node.
    fn complete(&self) -> Result<(), SerializeError> {
        for (name, node) in &self.nodes {
            if let Some(child) = node.children.iter().find(|child| !self.nodes.contains_key(*child))
            {
                let (node, child) = (name.clone(), child.clone());
                return Err(SerializeError::MissingNode { node, child });
            }
        }
        Ok(())
    }

    /// Writes JSON.
    ///
    /// # Errors
    /// If a cost is not finite.
    pub fn to_json(&self) -> Result<String, SerializeError> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// Numbers the classes in the order of their first nodes.
    fn classes(&self) -> IndexMap<&str, usize> {
        let mut classes = IndexMap::new();
        for node in self.nodes.values() {
            let next = classes.len();
            classes.entry(node.eclass.as_str()).or_insert(next);
        }
        classes
    }

    /// Returns the choices for extraction, and the roots among the classes.
    pub fn choices(&self) -> (Choices, Vec<usize>) {
        let classes = self.classes();
        let mut choices = Choices::new(classes.len());
        for node in self.nodes.values() {
            let kids = node.children.iter().filter_map(|child| self.nodes.get(child));
            let kids = kids.map(|kid| classes[kid.eclass.as_str()]);
            choices.push(classes[node.eclass.as_str()], node.cost, kids);
        }
        let roots = self.root_eclasses.iter();
        let roots = roots.filter_map(|root| classes.get(root.as_str()).copied());
        (choices, roots.collect())
    }

    /// Writes the terms that a selection of [`choices`](SerializedEGraph::choices) stands for; parts
    /// that are used more than once get names, `%0`, `%1`, ..., unless they are leaves.
    ///
    /// `None` if the selection is no finite term from the roots.
    pub fn terms(
        &self,
        choices: &Choices,
        selection: &Selection,
        roots: &[usize],
    ) -> Option<SharedTerms> {
        let order = choices.reach(selection, roots)?;
        // A node whose cost is not finite is no choice.
        let nodes = self.nodes.values().filter(|node| node.cost.is_finite());
        let ops: Vec<&str> = nodes.map(|node| node.op.as_str()).collect();
        let mut places = vec![0usize; choices.classes.len()];
        let mut layout = Layout { nodes: Vec::with_capacity(order.len()) };
        for class in order {
            let node = selection.chosen[class]?;
            let kids = choices.nodes[node].kids.iter().map(|&kid| places[kid]).collect();
            places[class] = layout.nodes.len();
            layout.nodes.push(((*ops.get(node)?).to_owned(), kids));
        }
        let roots: Vec<usize> = roots.iter().map(|&root| places[root]).collect();
        let (bindings, roots) = layout.shared(&roots);
        Some(SharedTerms { bindings, roots })
    }

    /// Builds an e-graph, and returns the ids of the roots.
    ///
    /// A node is added when all classes below it are known, in time near linear in the nodes and their
    /// children, in whatever order they are listed.
    ///
    /// # Errors
    /// If a child is no node, or classes have no finite term.
    pub fn build(&self) -> Result<(EGraph<SymbolLang, ()>, Vec<Id>), SerializeError> {
        self.complete()?;
        let classes = self.classes();
        let class = |node: &SerializedNode| classes[node.eclass.as_str()];
        let below = |node: &SerializedNode| -> Vec<usize> {
            node.children.iter().map(|child| class(&self.nodes[child])).collect()
        };
        let nodes: Vec<&SerializedNode> = self.nodes.values().collect();
        // Which nodes wait for a class, once for each child that is of it.
        let mut waiting = vec![Vec::new(); classes.len()];
        for (number, node) in nodes.iter().enumerate() {
            below(node).into_iter().for_each(|class| waiting[class].push(number));
        }
        let mut missing: Vec<usize> = nodes.iter().map(|node| node.children.len()).collect();
        let mut ready: VecDeque<usize> = (0..nodes.len()).filter(|&at| missing[at] == 0).collect();
        let mut ids: Vec<Option<Id>> = vec![None; classes.len()];
        let (mut egraph, mut built) = (EGraph::default(), 0);
        while let Some(number) = ready.pop_front() {
            built += 1;
            let node = nodes[number];
            let kids = below(node).into_iter().filter_map(|class| ids[class]).collect();
            let id = egraph.add(SymbolLang::new(node.op.as_str(), kids));
            let own = class(node);
            if let Some(known) = ids[own] {
                egraph.union(known, id);
                continue;
            }
            ids[own] = Some(id);
            for &user in &waiting[own] {
                missing[user] -= 1;
                if missing[user] == 0 {
                    ready.push_back(user);
                }
            }
        }
        if built < nodes.len() {
            return Err(SerializeError::Unfounded(nodes.len() - built));
        }
        egraph.rebuild();
        let root = |root: &String| ids[*classes.get(root.as_str())?].map(|id| egraph.find(id));
        let roots = self.root_eclasses.iter().filter_map(root).collect();
        Ok((egraph, roots))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Runner;

    #[test]
    fn an_e_graph_survives_the_trip() {
        let rules =
            [rewrite!("comm"; "(+ ?a ?b)" => "(+ ?b ?a)"), rewrite!("zero"; "(+ ?a 0)" => "?a")];
        let start = "(f (+ x 0) (+ 0 y))".parse().unwrap();
        let runner = Runner::<SymbolLang, ()>::default().with_expr(&start).run(&rules);
        let serialized = SerializedEGraph::new(&runner.egraph, &runner.roots, |_, _| 1.0);
        let text = serialized.to_json().unwrap();
        let read = SerializedEGraph::from_json(&text).unwrap();
        assert_eq!(read, serialized);
        let (built, roots) = read.build().unwrap();
        assert_eq!(built.total_number_of_nodes(), runner.egraph.total_number_of_nodes());
        assert_eq!(built.number_of_classes(), runner.egraph.number_of_classes());
        assert_eq!(built.lookup_expr(&"(f x y)".parse().unwrap()), Some(roots[0]));
        let (choices, roots) = read.choices();
        assert_eq!(choices.dag_cost(&choices.greedy(), &roots), Some(3.0));
    }

    #[test]
    fn errors_name_what_is_missing() {
        let bad = r#"{"nodes": {"a": {"op": "f", "children": ["b"], "eclass": "0"}}}"#;
        let error = SerializedEGraph::from_json(bad).unwrap_err().to_string();
        assert_eq!(error, "node `a` has the child `b`, but there is no node of that name");
        let circle = r#"{"nodes": {"a": {"op": "f", "children": ["a"], "eclass": "0"}}}"#;
        let error = SerializedEGraph::from_json(circle).unwrap().build().unwrap_err();
        assert_eq!(error.to_string(), "1 nodes have no finite term");
        let root = r#"{"nodes": {}, "root_eclasses": ["7"]}"#;
        let error = SerializedEGraph::from_json(root).unwrap_err();
        assert_eq!(error.to_string(), "there is no node of the root class `7`");
    }
}

//! Why the result equals the function.

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::FxHashMap;
use serde::Serialize;
use tangram_egraph::{Id, SymbolLang};

use crate::choose::{Chosen, Node, Problem};
use crate::graph::Graph;

/// Steps from the function to the result: each rewrites one term into an equal one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Proof {
    /// The steps.
    pub steps: Vec<Step>,
}

/// One step of a proof.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Step {
    /// The rule.
    pub rule: String,
    /// Whether it was read from source to target.
    pub forward: bool,
    /// The operation at the root before the step.
    pub from: String,
    /// The operation at the root after the step.
    pub to: String,
}

impl Proof {
    /// Counts the steps of each rule.
    pub fn rules(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for step in &self.steps {
            *counts.entry(step.rule.as_str()).or_default() += 1;
        }
        counts
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            let (rule, from, to) = (&step.rule, &step.from, &step.to);
            let back = if step.forward { "" } else { " (backwards)" };
            writeln!(f, "{from} = {to} by {rule}{back}")?;
        }
        Ok(())
    }
}

/// Proves that the chosen term equals the function.
pub(crate) fn of(graph: &mut Graph, problem: &Problem, chosen: &Chosen) -> Option<Proof> {
    let terminator = graph.witnesses.iter().find(|w| w.op == graph.terminator)?.id;
    let mut ids: FxHashMap<usize, Id> = FxHashMap::default();
    for &class in &chosen.order {
        let choice = chosen.selection.chosen[class]?;
        let id = match problem.nodes[choice] {
            Node::Operation(number) => {
                let witness = graph.witnesses[number].clone();
                let child = |id: &Id| ids.get(&problem.class(graph, *id)?).copied();
                let children = witness.children.iter().map(child).collect::<Option<Vec<_>>>()?;
                graph.egraph.add_uncanonical(SymbolLang::new(witness.symbol, children))
            }
            Node::Value(value) => {
                let id = graph.id(value)?;
                let node = graph.egraph.id_to_node(id).clone();
                let mut children = Vec::new();
                for child in &node.children {
                    children.push(*ids.get(&problem.class(graph, *child)?)?);
                }
                graph.egraph.add_uncanonical(SymbolLang { op: node.op, children })
            }
        };
        ids.insert(class, id);
    }
    let root = *ids.get(&problem.class(graph, terminator)?)?;
    let proof = graph.egraph.prove(terminator, root)?;
    let name = |op| graph.egraph.operator(op).op.to_string();
    let mut steps = Vec::new();
    for chain in &proof.chains {
        for pair in chain.windows(2) {
            let Some((rule, forward)) = &pair[1].rule else { continue };
            let (from, to) = (name(pair[0].op), name(pair[1].op));
            steps.push(Step { rule: rule.to_string(), forward: *forward, from, to });
        }
    }
    Some(Proof { steps })
}

//! Why the result equals the function.

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::FxHashMap;
use serde::Serialize;
use tangram_egraph::{Id, SymbolLang};
use tangram_ir::Module;

use crate::choose::{Chosen, Node, Problem};
use crate::graph::Graph;

/// Steps from the function to the result: each rewrites one term into an equal one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Proof {
    /// The steps of the whole function, each once.
    pub steps: Vec<ProofStep>,
    /// The steps that concern each output.
    pub outputs: Vec<OutputProof>,
}

/// Why one output of the result equals that of the function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct OutputProof {
    /// The name of the output, or its number from 0 where it has none.
    pub output: String,
    /// The steps.
    pub steps: Vec<ProofStep>,
}

/// One step of a proof.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ProofStep {
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
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

impl fmt::Display for OutputProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

impl fmt::Display for ProofStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let back = if self.forward { "" } else { " (backwards)" };
        write!(f, "{} = {} by {}{back}", self.from, self.to, self.rule)
    }
}

/// Proves that the chosen term equals the function; `module` is the function as it was.
pub(crate) fn of(
    module: &Module,
    graph: &mut Graph,
    problem: &Problem,
    chosen: &Chosen,
) -> Option<Proof> {
    let terminator = graph.witnesses.iter().find(|w| w.op == graph.terminator)?.id;
    let ids = spell(graph, problem, chosen)?;
    let end = |graph: &Graph, id: Id| ids.get(&problem.class(graph, id)?).copied();
    let root = end(graph, terminator)?;
    let mut proof = Proof { steps: steps(graph, terminator, root)?, outputs: Vec::new() };
    let values = graph.egraph.id_to_node(terminator).children.clone();
    for (number, value) in module.operands(graph.terminator).enumerate() {
        let start = *values.get(number)?;
        let goal = end(graph, start)?;
        let name = module.value_name(value).map(|name| module.context().text(name).to_owned());
        let name = name.unwrap_or_else(|| number.to_string());
        proof.outputs.push(OutputProof { output: name, steps: steps(graph, start, goal)? });
    }
    Some(proof)
}

/// Adds the chosen term as it is spelled; returns the id of each class.
fn spell(graph: &mut Graph, problem: &Problem, chosen: &Chosen) -> Option<FxHashMap<usize, Id>> {
    let mut ids: FxHashMap<usize, Id> = FxHashMap::default();
    for &class in &chosen.order {
        let choice = chosen.selection.chosen[class]?;
        let (op, children) = match problem.nodes[choice] {
            Node::Operation(number) | Node::Biased(_, number) => {
                let witness = &graph.witnesses[number];
                (witness.symbol, witness.children.to_vec())
            }
            Node::Value(value) => {
                let node = graph.egraph.id_to_node(graph.id(value)?);
                (node.op, node.children.clone())
            }
        };
        let spelled = |graph: &Graph, id: &Id| ids.get(&problem.class(graph, *id)?).copied();
        let children = match problem.nodes[choice] {
            Node::Biased(product, _) => {
                let product = graph.witnesses[product].clone();
                let below = product.children.iter().map(|id| spelled(graph, id));
                let below = SymbolLang::new(product.symbol, below.collect::<Option<Vec<_>>>()?);
                let mut spelt = vec![graph.egraph.add_uncanonical(below)];
                for id in children.get(1..)? {
                    spelt.push(spelled(graph, id)?);
                }
                spelt
            }
            _ => children.iter().map(|id| spelled(graph, id)).collect::<Option<Vec<_>>>()?,
        };
        ids.insert(class, graph.egraph.add_uncanonical(SymbolLang { op, children }));
    }
    Some(ids)
}

/// Lists the uses of rules between two terms.
fn steps(graph: &Graph, from: Id, to: Id) -> Option<Vec<ProofStep>> {
    let proof = graph.egraph.prove(from, to)?;
    let name = |op| graph.egraph.operator(op).op.to_string();
    let mut steps = Vec::new();
    for chain in &proof.chains {
        for pair in chain.windows(2) {
            let Some((rule, forward)) = &pair[1].rule else { continue };
            let (from, to) = (name(pair[0].op), name(pair[1].op));
            steps.push(ProofStep { rule: rule.to_string(), forward: *forward, from, to });
        }
    }
    Some(steps)
}

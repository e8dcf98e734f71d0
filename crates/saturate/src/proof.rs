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
        let known = |id: &Id| ids.get(&problem.class(graph, *id)?).copied();
        let term = match &problem.nodes[choice] {
            Node::Operation(number) => {
                let witness = &graph.witnesses[*number];
                let children = witness.children.iter().map(known).collect::<Option<Vec<_>>>()?;
                SymbolLang { op: witness.symbol, children }
            }
            Node::Value(value) => {
                let node = graph.egraph.id_to_node(graph.id(*value)?);
                let children = node.children.iter().map(known).collect::<Option<Vec<_>>>()?;
                SymbolLang { op: node.op, children }
            }
            Node::Joined(witnesses) => {
                let read = witnesses.iter().enumerate().map(|(i, number)| {
                    let children = &graph.witnesses[*number].children[usize::from(i > 0)..];
                    children.iter().map(known).collect::<Option<Vec<_>>>()
                });
                let read = read.collect::<Option<Vec<_>>>()?;
                spell_joined(graph, witnesses, read)?
            }
        };
        ids.insert(class, graph.egraph.add_uncanonical(term));
    }
    Some(ids)
}

/// The last of several operations, of which all before it are added: each is the first operand of the
/// next, and has `read` for the others.
fn spell_joined(graph: &mut Graph, witnesses: &[usize], read: Vec<Vec<Id>>) -> Option<SymbolLang> {
    let mut term: Option<SymbolLang> = None;
    for (&number, rest) in witnesses.iter().zip(read) {
        let below = term.map(|below| graph.egraph.add_uncanonical(below));
        let children = below.into_iter().chain(rest).collect();
        term = Some(SymbolLang { op: graph.witnesses[number].symbol, children });
    }
    term
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

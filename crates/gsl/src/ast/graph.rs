//! Expression sequence to pattern graph and back: 𝒢 and its inverse in the GSL thesis.
//!
//! A sequence of pattern expressions names its shared parts; the graph has one vertex for each, with
//! edges to operands and back to users, which is what bidirectional matching walks. Both hold the
//! same information: [`expression_sequence`] of [`pattern_graph`] is the sequence again.

use rustc_hash::FxHashMap;

use super::{PatId, Rule, subexpressions};

/// A vertex of a pattern graph: a position in its list of vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VertexId(pub usize);

/// A pattern with its neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vertex {
    /// The pattern expression whose root it is.
    pub pattern: PatId,
    /// Its operands, fields or branches in order, each as often as it occurs.
    pub operands: Vec<VertexId>,
    /// Who has it as an operand, and in which position.
    pub users: Vec<(VertexId, usize)>,
}

/// The graph of a sequence of pattern expressions; operands come before users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternGraph {
    /// Its vertices in topological order.
    pub vertices: Vec<Vertex>,
    /// The vertex of each expression of the sequence.
    pub outputs: Vec<VertexId>,
}

/// Turns a sequence of pattern expressions into its graph: 𝒢. Linear in the graph.
pub fn pattern_graph(rule: &Rule, sequence: &[PatId]) -> PatternGraph {
    let order = subexpressions(rule, sequence);
    let place: FxHashMap<PatId, VertexId> =
        order.iter().enumerate().map(|(i, id)| (*id, VertexId(i))).collect();
    let mut vertices: Vec<Vertex> = order
        .iter()
        .map(|&pattern| {
            let operands = rule.pattern(pattern).parts().iter().map(|part| place[part]).collect();
            Vertex { pattern, operands, users: Vec::new() }
        })
        .collect();
    for user in 0..vertices.len() {
        for (position, operand) in vertices[user].operands.clone().into_iter().enumerate() {
            vertices[operand.0].users.push((VertexId(user), position));
        }
    }
    PatternGraph { vertices, outputs: sequence.iter().map(|id| place[id]).collect() }
}

/// Turns a graph back into the sequence of pattern expressions of its outputs: 𝒢⁻¹.
pub fn expression_sequence(graph: &PatternGraph) -> Vec<PatId> {
    graph.outputs.iter().map(|vertex| graph.vertices[vertex.0].pattern).collect()
}

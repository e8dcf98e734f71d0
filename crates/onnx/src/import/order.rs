//! Putting nodes in an order in which each follows what it uses.

use rustc_hash::FxHashMap;

use super::describe;
use crate::error::{Error, Result};
use crate::proto::{GraphProto, NodeProto};

/// Sorts `nodes` so that each comes after the nodes whose outputs it uses. Stable: a list that is
/// in order stays as it is. O(nodes + uses).
///
/// # Errors
/// [`Error::Cycle`] if there is no such order.
pub(super) fn sort(nodes: Vec<NodeProto>) -> Result<Vec<NodeProto>> {
    let mut producer: FxHashMap<&str, usize> = FxHashMap::default();
    for (i, node) in nodes.iter().enumerate() {
        for output in node.output.iter().filter(|name| !name.is_empty()) {
            producer.entry(output).or_insert(i);
        }
    }
    let needs: Vec<Vec<usize>> = nodes.iter().map(|node| needed(node, &producer)).collect();
    if needs.iter().enumerate().all(|(i, list)| list.iter().all(|&j| j < i)) {
        return Ok(nodes);
    }
    let order = kahn(&needs).map_err(|i| {
        let name = nodes[i].output.first().cloned().unwrap_or_default();
        Error::Cycle { node: describe(&nodes[i]), name }
    })?;
    let mut slots: Vec<Option<NodeProto>> = nodes.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|i| slots[i].take()).collect())
}

/// The nodes that `node` needs, itself included if it does.
fn needed(node: &NodeProto, producer: &FxHashMap<&str, usize>) -> Vec<usize> {
    let made = |name: &str| producer.get(name).copied();
    let mut list: Vec<usize> = node.input.iter().filter_map(|name| made(name)).collect();
    // What a subgraph uses and neither it nor one around it defines comes from outside.
    let mut hidden: FxHashMap<&str, usize> = FxHashMap::default();
    let mut stack: Vec<Visit> = subgraphs(node).map(Visit::Enter).collect();
    while let Some(visit) = stack.pop() {
        let graph = match visit {
            Visit::Enter(graph) => graph,
            Visit::Leave(graph) => {
                for name in defined(graph) {
                    hidden.entry(name).and_modify(|count| *count -= 1);
                }
                continue;
            }
        };
        for name in defined(graph) {
            *hidden.entry(name).or_default() += 1;
        }
        let outside = |name: &str| made(name).filter(|_| hidden.get(name).is_none_or(|&n| n == 0));
        stack.push(Visit::Leave(graph));
        for inner in &graph.node {
            list.extend(inner.input.iter().filter_map(|name| outside(name)));
            stack.extend(subgraphs(inner).map(Visit::Enter));
        }
        list.extend(graph.output.iter().filter_map(|output| outside(output.name())));
    }
    list
}

/// A step of a walk through nested graphs.
enum Visit<'a> {
    Enter(&'a GraphProto),
    Leave(&'a GraphProto),
}

/// The names that a graph defines.
fn defined(graph: &GraphProto) -> impl Iterator<Item = &str> {
    let inputs = graph.input.iter().map(|input| input.name());
    let weights = graph.initializer.iter().map(|tensor| tensor.name());
    let sparse = graph.sparse_initializer.iter().filter_map(|s| Some(s.values.as_ref()?.name()));
    let outputs = graph.node.iter().flat_map(|node| node.output.iter().map(String::as_str));
    inputs.chain(weights).chain(sparse).chain(outputs)
}

fn subgraphs(node: &NodeProto) -> impl Iterator<Item = &GraphProto> {
    node.attribute.iter().flat_map(|a| a.g.as_deref().into_iter().chain(a.graphs.iter()))
}

/// Kahn's algorithm, the least index first; `Err` holds a node of a cycle.
fn kahn(needs: &[Vec<usize>]) -> std::result::Result<Vec<usize>, usize> {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    let mut open: Vec<usize> = needs.iter().map(Vec::len).collect();
    for (i, list) in needs.iter().enumerate() {
        for &j in list {
            users[j].push(i);
        }
    }
    let mut ready: BinaryHeap<_> =
        (0..needs.len()).filter(|&i| open[i] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(needs.len());
    while let Some(Reverse(i)) = ready.pop() {
        order.push(i);
        for &user in &users[i] {
            open[user] -= 1;
            if open[user] == 0 {
                ready.push(Reverse(user));
            }
        }
    }
    match (0..needs.len()).find(|&i| open[i] > 0) {
        Some(i) => Err(i),
        None => Ok(order),
    }
}

//! The algorithm that extraction-gym calls faster-greedy-dag, written from its description: what
//! extraction with shared costs has to reach at least.
//!
//! Each class keeps the set of classes that its best term uses, with what each costs there. A node
//! is visited once its children have sets, and again whenever one of them got cheaper; its own set
//! is the union of theirs, and wins if its sum is less than that of the class so far.

use std::collections::{BTreeMap, VecDeque};
use tangram_egraph::choices::{Choices, Selection};

struct CostSet {
    costs: BTreeMap<usize, f64>,
    total: f64,
    choice: usize,
}

/// Chooses a node for every class that has a finite term.
pub fn faster_greedy_dag(choices: &Choices) -> Selection {
    let mut parents: Vec<Vec<usize>> = vec![Vec::new(); choices.classes.len()];
    for (number, node) in choices.nodes.iter().enumerate() {
        node.kids.iter().for_each(|&kid| parents[kid].push(number));
    }
    let leaves = (0..choices.nodes.len()).filter(|&node| choices.nodes[node].kids.is_empty());
    let mut pending: VecDeque<usize> = leaves.collect();
    let mut queued = vec![false; choices.nodes.len()];
    pending.iter().for_each(|&node| queued[node] = true);
    let mut best: Vec<Option<CostSet>> = (0..choices.classes.len()).map(|_| None).collect();
    while let Some(node) = pending.pop_front() {
        queued[node] = false;
        let class = choices.nodes[node].class;
        if let Some(found) = cost_set(choices, node, &best)
            && best[class].as_ref().is_none_or(|known| found.total < known.total)
        {
            best[class] = Some(found);
            for &above in &parents[class] {
                if !std::mem::replace(&mut queued[above], true) {
                    pending.push_back(above);
                }
            }
        }
    }
    Selection { chosen: best.into_iter().map(|best| best.map(|best| best.choice)).collect() }
}

/// Unites the sets of the children, the largest first; none if the node would be below itself.
fn cost_set(choices: &Choices, node: usize, best: &[Option<CostSet>]) -> Option<CostSet> {
    let choice = &choices.nodes[node];
    let mut sets = Vec::with_capacity(choice.kids.len());
    for &kid in &choice.kids {
        sets.push(best[kid].as_ref()?);
    }
    sets.sort_by_key(|set| std::cmp::Reverse(set.costs.len()));
    let mut costs = sets.first().map_or(BTreeMap::new(), |set| set.costs.clone());
    for set in sets.iter().skip(1) {
        costs.extend(&set.costs);
    }
    if costs.insert(choice.class, choice.cost).is_some() {
        return None;
    }
    let total = costs.values().sum();
    Some(CostSet { costs, total, choice: node })
}

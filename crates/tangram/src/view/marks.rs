//! How the items of two models stand to each other.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::items::Item;
use crate::diff::{Diff, Node};

/// How an item stands to the other model.
#[derive(Clone, Serialize)]
pub(super) struct Mark {
    kind: Kind,
    /// The item of the other model that stands in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<usize>,
    /// What differs and both do not show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hidden: Vec<String>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Same,
    Removed,
    Added,
    Changed,
}

/// Marks the items of two models; an item is found by the values that it makes.
pub(super) fn mark(diff: &Diff, before: &mut [Item], after: &mut [Item]) {
    let (first, second) = (Makers::of(before), Makers::of(after));
    for pair in &diff.changed {
        let (a, b) = (first.of_node(&pair.before), second.of_node(&pair.after));
        let mark = |other| Mark { kind: Kind::Changed, other, hidden: pair.hidden.clone() };
        a.into_iter().for_each(|at| before[at].mark = Some(mark(b)));
        b.into_iter().for_each(|at| after[at].mark = Some(mark(a)));
    }
    let alone = |kind| Some(Mark { kind, other: None, hidden: Vec::new() });
    for at in diff.removed.iter().filter_map(|node| first.of_node(node)) {
        before[at].mark = alone(Kind::Removed);
    }
    for at in diff.added.iter().filter_map(|node| second.of_node(node)) {
        after[at].mark = alone(Kind::Added);
    }
    same(before, &second);
    same(after, &first);
}

/// What is left is in both; where the names stayed, each leads to the other.
fn same(items: &mut [Item], others: &Makers) {
    for item in items.iter_mut().filter(|item| item.mark.is_none()) {
        let other = item.makes.iter().find_map(|made| others.0.get(&made.0).copied());
        item.mark = Some(Mark { kind: Kind::Same, other, hidden: Vec::new() });
    }
}

/// The items by the names of what they make.
struct Makers(FxHashMap<String, usize>);

impl Makers {
    fn of(items: &[Item]) -> Makers {
        let named = items.iter().enumerate().flat_map(|(at, item)| {
            let names = item.makes.iter().filter(|made| !made.0.is_empty());
            names.map(move |made| (made.0.clone(), at))
        });
        Makers(named.collect())
    }

    fn of_node(&self, node: &Node) -> Option<usize> {
        node.outputs.iter().find_map(|name| self.0.get(name).copied())
    }
}

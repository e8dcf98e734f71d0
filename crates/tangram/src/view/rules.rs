//! What rules did at the operations of a model.

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::report::Report;

/// What rules did at one operation.
#[derive(Clone, Default, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Fate {
    /// The rules that matched or erased it, or what was made in its place, in order.
    pub(super) changed: Vec<String>,
    /// The rules that matched it and were not applied, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) refused: Vec<(String, String)>,
}

impl Fate {
    /// Adds what was done at another operation that is drawn in the same box.
    pub(super) fn extend(&mut self, other: &Fate) {
        for rule in &other.changed {
            self.note(rule);
        }
        self.refused.extend(other.refused.iter().cloned());
    }

    fn note(&mut self, rule: &str) {
        if !self.changed.iter().any(|known| known == rule) {
            self.changed.push(rule.to_owned());
        }
    }
}

/// The fates of operations, by their numbers in the program as it was.
pub(super) fn fates(report: &Report) -> FxHashMap<u32, Fate> {
    let mut fates: FxHashMap<u32, Fate> = FxHashMap::default();
    // Of what was made: the operation in whose place it stands.
    let mut places: FxHashMap<u32, u32> = FxHashMap::default();
    let place = |places: &FxHashMap<u32, u32>, id: u32| places.get(&id).copied().unwrap_or(id);
    for step in &report.steps {
        let root = place(&places, step.root.id);
        for node in [&step.root].into_iter().chain(&step.matched).chain(&step.removed) {
            fates.entry(place(&places, node.id)).or_default().note(&step.rule);
        }
        places.extend(step.made.iter().map(|node| (node.id, root)));
    }
    for refused in &report.refused {
        let fate = fates.entry(place(&places, refused.root.id)).or_default();
        fate.refused.push((refused.rule.clone(), refused.reason.clone()));
    }
    fates
}

//! Names of values that no graph of a model has yet.

use rustc_hash::FxHashSet;

use crate::proto::GraphProto;

/// The names that are taken.
#[derive(Default)]
pub(super) struct Names(FxHashSet<String>);

impl Names {
    /// Notes the names of all values of a graph and of those inside it.
    pub(super) fn take(&mut self, graph: &GraphProto) {
        let mut open = vec![graph];
        while let Some(graph) = open.pop() {
            let infos = graph.input.iter().chain(&graph.output);
            self.0.extend(infos.map(|info| info.name().to_owned()));
            self.0.extend(graph.initializer.iter().map(|tensor| tensor.name().to_owned()));
            for node in &graph.node {
                self.0.extend(node.output.iter().cloned());
                for attribute in &node.attribute {
                    open.extend(attribute.g.as_deref());
                    open.extend(&attribute.graphs);
                }
            }
        }
    }

    /// Takes `stem`, or `stem` with a number behind it.
    pub(super) fn fresh(&mut self, stem: String) -> String {
        let mut name = stem.clone();
        let mut number = 0;
        while !self.0.insert(name.clone()) {
            number += 1;
            name = format!("{stem}_{number}");
        }
        name
    }
}

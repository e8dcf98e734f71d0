//! What nodes are made from: the core, its operators, and data of single nodes.

use super::OpTable;
use crate::core::Core;
use crate::{Id, Language};
use rustc_hash::FxHashMap;

/// The part of an e-graph that knows its nodes, whatever the analysis.
#[derive(Clone, Debug)]
pub(crate) struct Store<L: Language> {
    pub(crate) core: Core,
    pub(crate) ops: OpTable<L>,
    /// Nodes whose data differs from that of the first node with their operator, for languages
    /// whose equality leaves data out.
    pub(crate) own_data: FxHashMap<u32, L>,
}

impl<L: Language> Store<L> {
    pub(crate) fn new() -> Self {
        Store { core: Core::new(), ops: OpTable::new(), own_data: FxHashMap::default() }
    }

    /// Makes the node with a given id, children canonical as of the last rebuild.
    pub(crate) fn enode(&self, node: Id) -> L {
        self.node_of(node, self.core.key(node.0))
    }

    /// Makes the node that words stand for, with the data that the node of an id was added with.
    pub(crate) fn node_of(&self, id: Id, words: &[u32]) -> L {
        if L::__matches_equal() {
            return self.ops.node(words);
        }
        match self.own_data.get(&id.0) {
            None => self.ops.node(words),
            Some(node) => {
                let mut kids = words[1..].iter().map(|&kid| Id(kid));
                node.clone().map_children(|child| kids.next().unwrap_or(child))
            }
        }
    }

    /// Keeps the data of a new node, if equality leaves some out that differs here.
    pub(crate) fn keep_data(&mut self, id: Id, node: &L) {
        if L::__matches_equal() {
            return;
        }
        let text = |node: &L| format!("{:?}", node.clone().map_children(|_| Id(0)));
        let first = &self.ops.templates[self.core.op(id).0 as usize];
        if text(first) != text(node) {
            self.own_data.insert(id.0, node.clone());
        }
    }

    /// Lists the visible nodes of a class in order.
    pub(crate) fn list(&self, class: Id, nodes: &mut Vec<L>) {
        nodes.clear();
        nodes.extend(self.core.nodes_of(class).map(|node| self.enode(node)));
        nodes.sort_unstable();
    }
}

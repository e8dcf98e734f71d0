//! Copies of trees in which one node gives way to others.

use std::collections::BTreeMap;

use crate::{Node, NodeKind, ScheduleTree};

/// What takes the place of a node.
pub(crate) enum Piece {
    /// A new node over others.
    New(NodeKind, Vec<Piece>),
    /// The old node and everything below it.
    Old(Node),
}

impl Piece {
    /// A chain of new nodes over `inner`.
    pub fn chain(kinds: Vec<NodeKind>, inner: Vec<Self>) -> Vec<Self> {
        kinds.into_iter().rev().fold(inner, |below, kind| vec![Self::New(kind, below)])
    }

    /// A node of another tree with everything below it, as new nodes. O(nodes of that tree).
    pub fn of_tree(tree: &ScheduleTree, node: Node) -> Self {
        let mut pieces: BTreeMap<Node, Self> = BTreeMap::new();
        // Parents come before their children, so backwards all children are there already.
        let nodes: Vec<Node> = tree.nodes().collect();
        for at in nodes.into_iter().rev() {
            let below = tree.children(at).filter_map(|child| pieces.remove(&child)).collect();
            let piece = Self::New(tree.kind(at).clone(), below);
            if at == node {
                return piece;
            }
            pieces.insert(at, piece);
        }
        Self::New(NodeKind::Leaf, Vec::new())
    }
}

/// Adds new nodes below a node, behind its other children; old nodes have no place there. O(nodes).
pub(crate) fn append(tree: &mut ScheduleTree, parent: Node, pieces: Vec<Piece>) {
    let mut open: Vec<_> = pieces.into_iter().rev().map(|piece| (parent, piece)).collect();
    while let Some((parent, piece)) = open.pop() {
        let Piece::New(kind, below) = piece else { continue };
        let node = tree.add(parent, kind);
        open.extend(below.into_iter().rev().map(|piece| (node, piece)));
    }
}

/// Copies a tree with `pieces` in the place of a node; returns the first new node as well.
///
/// Children keep their order and parents come before their children. O(nodes).
pub(crate) fn replaced(tree: &ScheduleTree, at: Node, pieces: Vec<Piece>) -> (ScheduleTree, Node) {
    let mut pieces = Some(pieces);
    let mut copy: Option<ScheduleTree> = None;
    let mut first = None;
    let mut open = vec![(None, Piece::Old(tree.root()))];
    while let Some((parent, piece)) = open.pop() {
        let (kind, below, new) = match piece {
            Piece::Old(node) if node == at && pieces.is_some() => {
                let pieces = pieces.take().unwrap_or_default();
                open.extend(pieces.into_iter().rev().map(|piece| (parent, piece)));
                continue;
            }
            Piece::Old(node) => {
                let children = tree.children(node).map(Piece::Old).collect::<Vec<_>>();
                (tree.kind(node).clone(), children, false)
            }
            Piece::New(kind, below) => (kind, below, true),
        };
        let node = match (&mut copy, parent) {
            (Some(copy), Some(parent)) => copy.add(parent, kind),
            _ => copy.insert(ScheduleTree::new(kind)).root(),
        };
        if new && first.is_none() {
            first = Some(node);
        }
        open.extend(below.into_iter().rev().map(|piece| (Some(node), piece)));
    }
    let copy = copy.unwrap_or_else(|| tree.clone());
    let first = first.unwrap_or_else(|| copy.root());
    (copy, first)
}

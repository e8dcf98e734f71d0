//! Schedule trees: the order of statement instances as a tree of nodes.
//!
//! The root holds the instances. A band orders those that reach it by the values of its
//! members, a sequence by the first child that takes them, a set leaves the order of its
//! children open, and a filter passes on some of them. For
//!
//! ```text
//! for i: S(i); for i: T(i)
//! ```
//!
//! the tree is a domain `{ S[i]; T[i] }` over a sequence of two filters, `{ S[i] }` and
//! `{ T[i] }`, each over a band `[{ S[i] -> [i] }]` and a leaf.
//!
//! # Source
//! Verdoolaege, Guelton, Grosser, Cohen: Schedule Trees (IMPACT 2014); isl's manual.
//! Divergence: leaves are nodes of the tree, not the absence of one.

pub(crate) mod affine;
mod check;
mod combine;
pub(crate) mod from_map;
mod map;
mod print;
pub(crate) mod read;

pub(crate) use map::members_of;
use tangram_presburger::{Budget, Relation, Union};

use crate::Error;

/// A handle of a node; valid for the tree that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(u32);

impl Node {
    /// Returns the position in the order in which nodes were added.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One dimension of a band.
#[derive(Debug, Clone)]
pub struct Member {
    /// Maps each instance to its value, a nameless tuple of one dimension.
    pub schedule: Union,
    /// Whether iterations may run at the same time once outer bands are fixed.
    pub coincident: bool,
}

/// A partial schedule of one or more members.
#[derive(Debug, Clone)]
pub struct Band {
    /// Outermost first.
    pub members: Vec<Member>,
    /// Whether members may be interchanged.
    pub permutable: bool,
    /// Options of code generation, as isl writes them: `{ separate[0]; unroll[1] }`.
    pub options: Union,
}

/// What a node of a schedule tree is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum NodeKind {
    /// The instances that are ordered; only as root.
    Domain(Union),
    /// Facts on parameters and outer schedule dimensions; may introduce parameters.
    Context(Relation),
    /// Orders instances by the values of its members.
    Band(Band),
    /// Runs its children, all filters, one after the other.
    Sequence,
    /// Runs its children, all filters, in any order.
    Set,
    /// Passes on the instances in the set.
    Filter(Union),
    /// Carries a name to code generation.
    Mark(String),
    /// Adds instances for each point of the outer schedule dimensions.
    Extension(Union),
    /// Replaces each instance by the instances grouped in it.
    Expansion {
        /// Maps each new instance to the one it replaces.
        contraction: Union,
        /// Maps each instance to the new ones; part of the contraction's inverse.
        expansion: Union,
    },
    /// Conditions on parameters and outer schedule dimensions for the subtree to run.
    Guard(Relation),
    /// The end of a branch.
    Leaf,
}

impl NodeKind {
    /// Returns the name of the kind.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Domain(_) => "domain",
            Self::Context(_) => "context",
            Self::Band(_) => "band",
            Self::Sequence => "sequence",
            Self::Set => "set",
            Self::Filter(_) => "filter",
            Self::Mark(_) => "mark",
            Self::Extension(_) => "extension",
            Self::Expansion { .. } => "expansion",
            Self::Guard(_) => "guard",
            Self::Leaf => "leaf",
        }
    }
}

/// A tree of nodes in one flat arena; parents come before their children.
#[derive(Debug, Clone)]
pub struct ScheduleTree {
    nodes: Vec<NodeData>,
}

#[derive(Debug, Clone)]
struct NodeData {
    kind: NodeKind,
    parent: Option<Node>,
    first_child: Option<Node>,
    last_child: Option<Node>,
    next_sibling: Option<Node>,
}

impl ScheduleTree {
    /// Makes a tree of a root alone.
    pub fn new(root: NodeKind) -> Self {
        let mut tree = Self { nodes: Vec::new() };
        tree.push(None, root);
        tree
    }

    /// Adds a node as last child of `parent`.
    ///
    /// Nothing is checked before [`Self::check`], so that trees can be built top down.
    pub fn add(&mut self, parent: Node, kind: NodeKind) -> Node {
        self.push(Some(parent), kind)
    }

    /// Ends every open branch with a leaf; a sequence or set needs filters instead. O(nodes).
    pub fn close(&mut self) {
        for index in 0..self.nodes.len() {
            let data = &self.nodes[index];
            let ends = matches!(data.kind, NodeKind::Leaf | NodeKind::Sequence | NodeKind::Set);
            if data.first_child.is_none() && !ends {
                self.add(Node(index as u32), NodeKind::Leaf);
            }
        }
    }

    /// Returns the root.
    pub fn root(&self) -> Node {
        Node(0)
    }

    /// Returns what `node` is.
    pub fn kind(&self, node: Node) -> &NodeKind {
        &self.data(node).kind
    }

    /// Returns the parent; the root has none.
    pub fn parent(&self, node: Node) -> Option<Node> {
        self.data(node).parent
    }

    /// Returns whether a node stands above another one, or is it.
    pub(crate) fn is_above(&self, node: Node, other: Node) -> bool {
        std::iter::successors(Some(other), |at| self.parent(*at)).any(|at| at == node)
    }

    /// Returns the children in their order.
    pub fn children(&self, node: Node) -> impl Iterator<Item = Node> {
        let first = self.data(node).first_child;
        std::iter::successors(first, |child| self.data(*child).next_sibling)
    }

    /// Returns all nodes, parents before their children.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + use<> {
        (0..self.nodes.len() as u32).map(Node)
    }

    /// Returns the instances that reach a node.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn active(&self, node: Node, budget: &Budget) -> Result<Union, Error> {
        let mut path: Vec<Node> =
            std::iter::successors(self.parent(node), |n| self.parent(*n)).collect();
        path.reverse();
        let mut active = Union::empty();
        for above in path {
            active = match self.kind(above) {
                NodeKind::Domain(domain) => domain.clone(),
                NodeKind::Filter(filter) => active.intersect(filter, budget)?,
                NodeKind::Extension(map) => active.union(&map.range(budget)?)?,
                NodeKind::Expansion { expansion, .. } => active.apply_range(expansion, budget)?,
                _ => active,
            };
        }
        Ok(active)
    }

    /// Returns how many members the bands above a node have.
    pub(crate) fn depth(&self, node: Node) -> usize {
        let above = std::iter::successors(self.parent(node), |at| self.parent(*at));
        let members = above.map(|at| match self.kind(at) {
            NodeKind::Band(band) => band.members.len(),
            NodeKind::Extension(map) if self.parent(at).is_none() => {
                let input = map.relations().find_map(|piece| piece.space().input.as_ref());
                input.map_or(0, |input| input.dims.len())
            }
            _ => 0,
        });
        members.sum()
    }

    /// Replaces what a node is.
    pub(crate) fn put(&mut self, node: Node, kind: NodeKind) {
        self.nodes[node.index()].kind = kind;
    }

    /// Sets what a band promises.
    pub(crate) fn set_flags(&mut self, node: Node, permutable: bool, coincident: &[bool]) {
        if let NodeKind::Band(band) = &mut self.nodes[node.index()].kind {
            band.permutable = permutable;
            for (member, flag) in band.members.iter_mut().zip(coincident) {
                member.coincident = *flag;
            }
        }
    }

    fn data(&self, node: Node) -> &NodeData {
        &self.nodes[node.index()]
    }

    fn push(&mut self, parent: Option<Node>, kind: NodeKind) -> Node {
        let node = Node(self.nodes.len() as u32);
        self.nodes.push(NodeData {
            kind,
            parent,
            first_child: None,
            last_child: None,
            next_sibling: None,
        });
        if let Some(parent) = parent {
            match self.nodes[parent.index()].last_child.replace(node) {
                Some(last) => self.nodes[last.index()].next_sibling = Some(node),
                None => self.nodes[parent.index()].first_child = Some(node),
            }
        }
        node
    }
}

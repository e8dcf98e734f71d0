//! Changing schedule trees, each change checked.
//!
//! An [`Editor`] holds a tree and the dependences that it keeps. An operation makes a new
//! tree; if that is not well-formed, takes a dependence out of its order or promises a
//! parallel or permutable loop that is none, the operation is refused and the tree stays as
//! it was. The flags of a band that an operation makes are found out, not asked for.
//!
//! ```text
//! for i: for j: S(i, j)   --tile 32, 8-->   for i/32: for j/8: for i: for j: S(i, j)
//! ```

mod arrange;
mod attributes;
mod band;
mod copy;
mod diamond;
mod distribute;
mod expansion;
mod gpu_mapping;
mod insert;
mod overlap;
mod script;
mod skewed_jam;
mod structure;
mod tile;
mod trapezoid;
mod whole;

use tangram_presburger::{Budget, Union};

use crate::{Band, Error, Node, NodeKind, ScheduleTree, legality};
pub(crate) use copy::{Piece, append, replaced};

pub use attributes::LoopType;
pub use script::{STEPS, Script};

/// A schedule tree, the dependences that it keeps, and the operations on it.
///
/// Handles of nodes are those of the current tree: an operation that succeeds makes a new
/// tree and returns the handle of the node that it made or changed.
#[derive(Debug)]
pub struct Editor<'a> {
    tree: ScheduleTree,
    dependences: Union,
    /// The pairs that a parallel loop may not take apart.
    coincidence: Union,
    budget: &'a Budget,
}

impl<'a> Editor<'a> {
    /// Starts from a tree that keeps `dependences`, pairs of instances in their order.
    ///
    /// # Errors
    /// [`Error::IllFormed`] or [`Error::Illegal`] if the tree is not right to start with.
    pub fn new(tree: ScheduleTree, dependences: Union, budget: &'a Budget) -> Result<Self, Error> {
        let coincidence = dependences.clone();
        Self::with_coincidence(tree, dependences, coincidence, budget)
    }

    /// Starts as [`Self::new`] does, with other pairs for parallel loops than for the order.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_coincidence(
        tree: ScheduleTree,
        dependences: Union,
        coincidence: Union,
        budget: &'a Budget,
    ) -> Result<Self, Error> {
        tree.check(budget)?;
        legality::check(&tree, &dependences, &coincidence, budget)?;
        Ok(Self { tree, dependences, coincidence, budget })
    }

    /// Returns the tree.
    pub fn tree(&self) -> &ScheduleTree {
        &self.tree
    }

    /// Returns the pairs of instances that have to keep their order.
    pub(crate) fn dependences(&self) -> &Union {
        &self.dependences
    }

    /// Goes back to a tree that this editor had.
    pub(crate) fn reset(&mut self, tree: ScheduleTree) {
        self.tree = tree;
    }

    /// Ends the work.
    pub fn into_tree(self) -> ScheduleTree {
        self.tree
    }

    /// Returns the first node, in the order of the tree, for which `wanted` holds.
    pub fn find(&self, wanted: impl Fn(&NodeKind) -> bool) -> Option<Node> {
        let mut open = vec![self.tree.root()];
        while let Some(node) = open.pop() {
            if wanted(self.tree.kind(node)) {
                return Some(node);
            }
            let mut children: Vec<Node> = self.tree.children(node).collect();
            children.reverse();
            open.extend(children);
        }
        None
    }

    /// Puts `pieces` in the place of a node if the tree stays right.
    fn replace(&mut self, at: Node, pieces: Vec<Piece>) -> Result<Node, Error> {
        let (tree, node, top) = self.changed(at, pieces)?;
        let Self { dependences, coincidence, budget, .. } = self;
        legality::check_below(&tree, top, dependences, coincidence, budget)?;
        self.tree = tree;
        Ok(node)
    }

    /// Puts `pieces` in the place of a node, if the tree stays well-formed. Returns the first new node,
    /// and the node to look at again, with all below it: the rest of the tree is as it was, and says
    /// what it said, but for groups of instances, which expansions make for all nodes above them.
    fn changed(&self, at: Node, pieces: Vec<Piece>) -> Result<(ScheduleTree, Node, Node), Error> {
        let is_one = matches!(pieces[..], [Piece::New(..)]);
        let (mut tree, node) = replaced(&self.tree, at, pieces);
        tree.close();
        let groups = |tree: &ScheduleTree| {
            tree.nodes().any(|node| matches!(tree.kind(node), NodeKind::Expansion { .. }))
        };
        let is_local = is_one && !groups(&self.tree) && !groups(&tree);
        let top = if is_local { node } else { tree.root() };
        tree.check_below(top, self.budget)?;
        Ok((tree, node, top))
    }

    /// Puts new bands in the place of a node, in a chain, with the flags that they deserve.
    fn replace_by_bands(
        &mut self,
        at: Node,
        bands: Vec<Band>,
        below: Vec<Piece>,
    ) -> Result<Node, Error> {
        let plain = |mut band: Band| {
            band.permutable = false;
            band.members.iter_mut().for_each(|member| member.coincident = false);
            NodeKind::Band(band)
        };
        let count = bands.len();
        let kinds = bands.into_iter().map(plain).collect();
        let (mut tree, node, top) = self.changed(at, Piece::chain(kinds, below))?;
        let Self { dependences, coincidence, budget, .. } = self;
        let facts = legality::facts(&tree, top, dependences, coincidence, budget)?;
        let mut at = Some(node);
        for _ in 0..count {
            let Some(node) = at else { break };
            if let Some((_, flags)) = facts.iter().find(|(other, _)| *other == node) {
                tree.set_flags(node, flags.permutable, &flags.coincident);
            }
            at = tree.children(node).next();
        }
        legality::check_below(&tree, top, dependences, coincidence, budget)?;
        self.tree = tree;
        Ok(node)
    }

    /// Puts `pieces` in the place of a node; the bands in them get the flags they deserve.
    ///
    /// Finding these out is a check of what is new and all below it.
    fn replace_with_flags(&mut self, at: Node, pieces: Vec<Piece>) -> Result<Node, Error> {
        let (mut tree, node, top) = self.changed(at, pieces)?;
        let Self { dependences, coincidence, budget, .. } = self;
        let facts = legality::facts(&tree, top, dependences, coincidence, budget)?;
        let mut open = vec![node];
        while let Some(at) = open.pop() {
            if let Some((_, flags)) = facts.iter().find(|(other, _)| *other == at) {
                tree.set_flags(at, flags.permutable, &flags.coincident);
            }
            open.extend(tree.children(at));
        }
        self.tree = tree;
        Ok(node)
    }

    fn children(&self, node: Node) -> Vec<Piece> {
        self.tree.children(node).map(Piece::Old).collect()
    }

    fn band(&self, node: Node) -> Result<&Band, Error> {
        match self.tree.kind(node) {
            NodeKind::Band(band) => Ok(band),
            _ => Err(Error::Operand { node, expected: "a band" }),
        }
    }
}

fn refuse<T>(node: Node, expected: &'static str) -> Result<T, Error> {
    Err(Error::Operand { node, expected })
}

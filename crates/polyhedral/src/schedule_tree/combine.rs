//! Larger trees from smaller ones.

use tangram_presburger::{Budget, Union};

use crate::{Error, Node, NodeKind, ScheduleTree};

impl ScheduleTree {
    /// Makes a tree of instances that run in any order: their domain over a leaf.
    pub fn from_domain(domain: Union) -> Self {
        let mut tree = Self::new(NodeKind::Domain(domain));
        tree.close();
        tree
    }

    /// Runs trees one after the other: a sequence with a filter for each.
    ///
    /// # Errors
    /// [`Error::Operand`] for a root that is no domain, or instances of two trees.
    ///
    /// # Source
    /// isl `isl_schedule_sequence`.
    pub fn in_sequence(trees: &[Self], budget: &Budget) -> Result<Self, Error> {
        Self::side_by_side(trees, NodeKind::Sequence, budget)
    }

    /// Runs trees in any order: a set with a filter for each.
    ///
    /// # Errors
    /// As [`Self::in_sequence`].
    pub fn in_set(trees: &[Self], budget: &Budget) -> Result<Self, Error> {
        Self::side_by_side(trees, NodeKind::Set, budget)
    }

    fn side_by_side(trees: &[Self], list: NodeKind, budget: &Budget) -> Result<Self, Error> {
        let mut all = Union::empty();
        let mut domains = Vec::new();
        for tree in trees {
            let domain = tree.domain()?;
            if !all.is_disjoint(domain, budget)? {
                let expected = "instances that no other tree has";
                return Err(Error::Operand { node: tree.root(), expected });
            }
            all = all.union(domain)?;
            domains.push(domain.clone());
        }
        let mut result = Self::new(NodeKind::Domain(all));
        if !trees.is_empty() {
            let root = result.root();
            let list = result.add(root, list);
            for (tree, domain) in trees.iter().zip(domains) {
                let filter = result.add(list, NodeKind::Filter(domain));
                result.graft(filter, tree);
            }
        }
        result.close();
        Ok(result)
    }

    /// Puts a tree under another domain: its instances that are in `domain` as well.
    ///
    /// # Errors
    /// [`Error::Operand`] for a root that is no domain, [`Error::Presburger`] if the budget
    /// ends.
    ///
    /// # Source
    /// isl `isl_schedule_intersect_domain`.
    pub fn under_domain(&self, domain: &Union, budget: &Budget) -> Result<Self, Error> {
        let inside = self.domain()?.intersect(domain, budget)?;
        let mut result = self.clone();
        result.put(self.root(), NodeKind::Domain(inside));
        Ok(result)
    }

    /// Returns what is left of a tree, from the root's child on, for some of its instances.
    ///
    /// Children of lists that get none go away, and of a list with one child left, what is below
    /// its filter stays. Below an expansion or extension instances are others, and all stays.
    pub(crate) fn pruned(&self, points: &Union, budget: &Budget) -> Result<Self, Error> {
        let mut result = Self::new(NodeKind::Domain(points.clone()));
        let root = result.root();
        if points.is_empty(budget)? {
            result.close();
            return Ok(result);
        }
        let below = self.children(self.root());
        let mut open: Vec<(Node, Node, Option<Union>)> =
            below.map(|child| (root, child, Some(points.clone()))).collect();
        while let Some((parent, node, active)) = open.pop() {
            let active = match (self.kind(node), active) {
                (NodeKind::Filter(filter), Some(active)) => Some(active.intersect(filter, budget)?),
                (NodeKind::Expansion { .. } | NodeKind::Extension(_), _) => None,
                (_, active) => active,
            };
            let mut children: Vec<Node> = self.children(node).collect();
            let mut at = parent;
            if let (NodeKind::Sequence | NodeKind::Set, Some(active)) = (self.kind(node), &active) {
                let mut left = Vec::new();
                for child in children {
                    if let NodeKind::Filter(filter) = self.kind(child)
                        && !filter.is_disjoint(active, budget)?
                    {
                        left.push(child);
                    }
                }
                children = match left[..] {
                    [only] => self.children(only).collect(),
                    _ => left,
                };
                if children.len() > 1 {
                    at = result.add(parent, self.kind(node).clone());
                }
            } else {
                at = result.add(parent, self.kind(node).clone());
            }
            children.reverse();
            open.extend(children.into_iter().map(|child| (at, child, active.clone())));
        }
        result.close();
        Ok(result)
    }

    fn domain(&self) -> Result<&Union, Error> {
        match self.kind(self.root()) {
            NodeKind::Domain(domain) => Ok(domain),
            _ => Err(Error::Operand { node: self.root(), expected: "a domain as root" }),
        }
    }

    /// Copies what is below the root of another tree below a node.
    pub(crate) fn graft(&mut self, at: Node, other: &Self) {
        let mut open: Vec<(Node, Node)> =
            other.children(other.root()).map(|child| (at, child)).collect();
        while let Some((parent, node)) = open.pop() {
            let copy = self.add(parent, other.kind(node).clone());
            let mut children: Vec<Node> = other.children(node).collect();
            children.reverse();
            open.extend(children.into_iter().map(|child| (copy, child)));
        }
    }
}

//! Larger trees from smaller ones.

use tangram_presburger::{Budget, Union};

use crate::{Error, Node, NodeKind, ScheduleTree};

impl ScheduleTree {
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

    fn domain(&self) -> Result<&Union, Error> {
        match self.kind(self.root()) {
            NodeKind::Domain(domain) => Ok(domain),
            _ => Err(Error::Operand { node: self.root(), expected: "a domain as root" }),
        }
    }

    /// Copies what is below the root of another tree below a node.
    fn graft(&mut self, at: Node, other: &Self) {
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

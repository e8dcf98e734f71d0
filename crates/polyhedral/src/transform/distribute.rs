//! A band for each group of statements that needs one.

use tangram_presburger::{Relation, Space, Union};

use super::copy::Piece;
use super::{Editor, refuse};
use crate::schedule::components::ordered;
use crate::{Error, Node, NodeKind, legality};

impl Editor<'_> {
    /// Splits a band over the statements below it, in an order in which they can run.
    ///
    /// Statements that depend on each other in a cycle, while the loops around the band stay
    /// where they are, keep a band together. `for j { S(j); T(j); }` becomes
    /// `for j S(j); for j T(j);`. Returns the sequence.
    ///
    /// # Errors
    /// [`Error::Operand`] if there is one such group, or if more than a list of statements
    /// stands below the band.
    pub fn distribute_statements(&mut self, node: Node) -> Result<Node, Error> {
        let band = self.band(node)?.clone();
        let active: Vec<Relation> =
            self.tree.active(node, self.budget)?.relations().cloned().collect();
        let groups = self.groups(node, &active)?;
        if groups.len() < 2 {
            return refuse(node, "a band over several groups of statements");
        }
        let lists: Vec<Node> = self.tree.children(node).collect();
        let mut children = Vec::new();
        for group in groups {
            let filter = Union::collect(group.iter().map(|at| {
                let space = active[*at].space().clone();
                Relation::universe(Space::set(Vec::new(), space.output.clone()))
            }))?;
            let own = NodeKind::Band(self.restricted(&band, &filter)?);
            let mut below = match lists[..] {
                [list] if !matches!(self.tree.kind(list), NodeKind::Leaf) => {
                    self.parts_of(list, &filter)?
                }
                _ => Vec::new(),
            };
            if group.len() == 1 {
                below.clear();
            }
            let inner = Piece::New(own, below);
            children.push(Piece::New(NodeKind::Filter(filter), vec![inner]));
        }
        self.replace_with_flags(node, vec![Piece::New(NodeKind::Sequence, children)])
    }

    /// Finds the groups of statements, sources first.
    fn groups(&self, node: Node, active: &[Relation]) -> Result<Vec<Vec<usize>>, Error> {
        let mut left = self.dependences.clone();
        for above in std::iter::successors(self.tree.parent(node), |node| self.tree.parent(*node)) {
            if let NodeKind::Band(outer) = self.tree.kind(above) {
                for member in &outer.members {
                    left = legality::together(&left, &member.schedule, self.budget)?;
                }
            }
        }
        let mut arrows = Vec::new();
        for (from, first) in active.iter().enumerate() {
            for (to, second) in active.iter().enumerate().filter(|(to, _)| *to != from) {
                let pairs = left.intersect_domain(&first.clone().into(), self.budget)?;
                let pairs = pairs.intersect_range(&second.clone().into(), self.budget)?;
                if !pairs.is_empty(self.budget)? {
                    arrows.push((from, to));
                }
            }
        }
        Ok(ordered(active.len(), &arrows))
    }

    /// Copies of a list's children that some statements reach; none of more than leaves.
    fn parts_of(&self, list: Node, filter: &Union) -> Result<Vec<Piece>, Error> {
        let mut children = Vec::new();
        for (child, own) in self.list(list)? {
            let both = own.intersect(filter, self.budget)?;
            let is_leaf = |below: Node| matches!(self.tree.kind(below), NodeKind::Leaf);
            if !self.tree.children(child).all(is_leaf) {
                return refuse(child, "a list of statements below the band");
            }
            if !both.is_empty(self.budget)? {
                children.push(Piece::New(NodeKind::Filter(both), Vec::new()));
            }
        }
        Ok(vec![Piece::New(self.tree.kind(list).clone(), children)])
    }
}

//! Moving bands, sequences and their children.

use tangram_presburger::Union;

use super::{Editor, Piece, refuse};
use crate::{Band, Error, Member, Node, NodeKind};

impl Editor<'_> {
    pub(super) fn list(&self, node: Node) -> Result<Vec<(Node, Union)>, Error> {
        if !matches!(self.tree.kind(node), NodeKind::Sequence | NodeKind::Set) {
            return refuse(node, "a sequence or a set");
        }
        let child = |child: Node| match self.tree.kind(child) {
            NodeKind::Filter(filter) => Some((child, filter.clone())),
            _ => None,
        };
        Ok(self.tree.children(node).filter_map(child).collect())
    }

    /// Fuses the bands below the children of a sequence into one band above it.
    ///
    /// Each child must be a band of as many members.
    ///
    /// # Errors
    /// [`Error::Operand`] if a child is none, [`Error::Illegal`] if an instance would run
    /// before one that it depends on.
    pub fn fuse(&mut self, node: Node) -> Result<Node, Error> {
        let mut members: Vec<Member> = Vec::new();
        let mut children = Vec::new();
        for (index, (child, filter)) in self.list(node)?.into_iter().enumerate() {
            let Some(below) = self.tree.children(child).next() else { continue };
            let active = self.tree.active(below, self.budget)?;
            let band = self.band(below)?.clone();
            if index == 0 {
                let empty = |_| Member { schedule: Union::empty(), coincident: false };
                members = band.members.iter().map(empty).collect();
            }
            if band.members.len() != members.len() {
                return refuse(below, "a band of as many members as the others");
            }
            for (fused, member) in members.iter_mut().zip(&band.members) {
                let own = member.schedule.intersect_domain(&active, self.budget)?;
                fused.schedule = fused.schedule.union(&own)?;
            }
            children.push(Piece::New(NodeKind::Filter(filter), self.children(below)));
        }
        let list = Piece::New(self.tree.kind(node).clone(), children);
        let band = Band { members, permutable: false, options: Union::empty() };
        self.replace_by_bands(node, vec![band], vec![list])
    }

    /// Distributes a band over the sequence or set below it.
    ///
    /// # Errors
    /// [`Error::Operand`] if there is none below, [`Error::Illegal`] if an instance would run
    /// before one that it depends on.
    pub fn distribute(&mut self, node: Node) -> Result<Node, Error> {
        let band = self.band(node)?.clone();
        let Some(list) = self.tree.children(node).next() else {
            return refuse(node, "a band over a sequence or set");
        };
        let mut children = Vec::new();
        for (child, filter) in self.list(list)? {
            let own = NodeKind::Band(self.restricted(&band, &filter)?);
            let inner = vec![Piece::New(own, self.children(child))];
            children.push(Piece::New(NodeKind::Filter(filter), inner));
        }
        self.replace(node, vec![Piece::New(self.tree.kind(list).clone(), children)])
    }

    /// Interchanges a loop with one below it that other statements stand beside. Of each iteration,
    /// those of the inner loop run first, for all iterations of the outer one:
    ///
    /// ```text
    /// for j: { T(j); for i: S(i, j) }        for v: { for j: S(v, j);  T(v) }
    /// ```
    ///
    /// Returns both loops, the new outer one first.
    ///
    /// # Errors
    /// [`Error::Operand`] if they have several members, [`Error::Illegal`] if an instance would run
    /// before one that it depends on.
    pub(crate) fn turn(&mut self, outer: Node, inner: Node) -> Result<(Node, Node), Error> {
        let ([over], [under]) = (&self.band(outer)?.members[..], &self.band(inner)?.members[..])
        else {
            return refuse(outer, "bands of one member");
        };
        let own = self.tree.active(inner, self.budget)?;
        let others = self.tree.active(outer, self.budget)?.subtract(&own, self.budget)?;
        let schedule = over.schedule.intersect_domain(&others, self.budget)?;
        let schedule = schedule.union(&under.schedule.intersect_domain(&own, self.budget)?)?;
        let sums = over.schedule.intersect_domain(&own, self.budget)?;
        let band = |schedule| {
            let members = vec![Member { schedule, coincident: false }];
            NodeKind::Band(Band { members, permutable: false, options: Union::empty() })
        };
        let first = Piece::New(band(sums), self.children(inner));
        let list = vec![
            Piece::New(NodeKind::Filter(own), vec![first]),
            Piece::New(NodeKind::Filter(others), self.children(outer)),
        ];
        let list = Piece::New(NodeKind::Sequence, list);
        let outer = self.replace_with_flags(outer, vec![Piece::New(band(schedule), vec![list])])?;
        let down = |node: &Node| self.tree.children(*node).next();
        match std::iter::successors(Some(outer), down).nth(3) {
            Some(inner) => Ok((outer, inner)),
            None => refuse(outer, "a band over a list"),
        }
    }

    pub(super) fn restricted(&self, band: &Band, filter: &Union) -> Result<Band, Error> {
        let mut own = band.clone();
        for member in &mut own.members {
            member.schedule = member.schedule.intersect_domain(filter, self.budget)?;
        }
        Ok(own)
    }

    /// Moves a band down to the leaves below it.
    ///
    /// Below an expansion, instances have the values of those that stand for them above it.
    ///
    /// # Errors
    /// [`Error::Illegal`] if an instance would run before one that it depends on.
    ///
    /// # Source
    /// isl `isl_schedule_node_band_sink`.
    pub fn sink(&mut self, node: Node) -> Result<Node, Error> {
        let band = self.band(node)?.clone();
        let child = self.tree.children(node).next();
        let Some(child) = child.filter(|child| self.tree.children(*child).next().is_some()) else {
            return refuse(node, "a band with something below it");
        };
        let mut tree = self.tree.clone();
        // Nodes with the band of the instances that reach them.
        let mut open = vec![(child, band)];
        while let Some((at, band)) = open.pop() {
            let band = match self.tree.kind(at) {
                NodeKind::Leaf => {
                    let active = self.tree.active(at, self.budget)?;
                    tree.put(at, NodeKind::Band(self.restricted(&band, &active)?));
                    continue;
                }
                NodeKind::Expansion { contraction, .. } => self.pulled_back(&band, contraction)?,
                _ => band,
            };
            open.extend(self.tree.children(at).map(|child| (child, band.clone())));
        }
        let old = std::mem::replace(&mut self.tree, tree);
        let result = self.replace(node, vec![Piece::Old(child)]);
        if result.is_err() {
            self.tree = old;
        }
        result
    }

    /// Returns a band for the instances that a contraction maps to those it has values for.
    fn pulled_back(&self, band: &Band, contraction: &Union) -> Result<Band, Error> {
        let mut own = band.clone();
        for member in &mut own.members {
            member.schedule = contraction.apply_range(&member.schedule, self.budget)?;
        }
        Ok(own)
    }

    /// Puts the children of a sequence or set in another order.
    ///
    /// `order`: the old positions, each once.
    ///
    /// # Errors
    /// [`Error::Operand`] if `order` is none, [`Error::Illegal`] if an instance would run
    /// before one that it depends on.
    pub fn reorder(&mut self, node: Node, order: &[usize]) -> Result<Node, Error> {
        let list = self.list(node)?;
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..list.len()) {
            return refuse(node, "each position once");
        }
        let children = order.iter().map(|at| Piece::Old(list[*at].0)).collect();
        self.replace(node, vec![Piece::New(self.tree.kind(node).clone(), children)])
    }

    /// Groups neighbouring children of a sequence or set into one, a sequence of its own.
    ///
    /// # Errors
    /// [`Error::Operand`] for an empty range or one that is too long.
    pub fn group(&mut self, node: Node, range: std::ops::Range<usize>) -> Result<Node, Error> {
        let list = self.list(node)?;
        if range.is_empty() || range.end > list.len() {
            return refuse(node, "a range of children");
        }
        let mut all = Union::empty();
        for (_, filter) in &list[range.clone()] {
            all = all.union(filter)?;
        }
        let kind = self.tree.kind(node).clone();
        let inner = list[range.clone()].iter().map(|(child, _)| Piece::Old(*child)).collect();
        let grouped = Piece::New(NodeKind::Filter(all), vec![Piece::New(kind.clone(), inner)]);
        let mut children: Vec<Piece> =
            list[..range.start].iter().map(|(child, _)| Piece::Old(*child)).collect();
        children.push(grouped);
        children.extend(list[range.end..].iter().map(|(child, _)| Piece::Old(*child)));
        self.replace(node, vec![Piece::New(kind, children)])
    }

    /// Splits the instances of a node: those of `set` run before the others.
    ///
    /// # Errors
    /// [`Error::Illegal`] if one of `set` depends on one of the others.
    pub fn split_index_set(&mut self, node: Node, set: &Union) -> Result<Node, Error> {
        let active = self.tree.active(node, self.budget)?;
        let first = active.intersect(set, self.budget)?;
        let rest = active.subtract(set, self.budget)?;
        if first.is_empty(self.budget)? || rest.is_empty(self.budget)? {
            return refuse(node, "a set with some of the node's instances");
        }
        self.insert_sequence(node, vec![first, rest])
    }

    /// Runs the instances of `filter` before the others that reach the node.
    ///
    /// # Errors
    /// As [`Self::split_index_set`].
    pub fn order_before(&mut self, node: Node, filter: &Union) -> Result<Node, Error> {
        self.split_index_set(node, filter)
    }

    /// Runs the instances of `filter` after the others that reach the node.
    ///
    /// # Errors
    /// As [`Self::split_index_set`].
    pub fn order_after(&mut self, node: Node, filter: &Union) -> Result<Node, Error> {
        let active = self.tree.active(node, self.budget)?;
        self.split_index_set(node, &active.subtract(filter, self.budget)?)
    }
}

//! Overlapped tiles: each tile computes again what it needs of its neighbours' work.

use tangram_presburger::Union;

use super::copy::{Piece, replaced};
use super::{Editor, refuse};
use crate::{Band, Error, Node, NodeKind, legality};

impl Editor<'_> {
    /// Tiles a consumer and computes its producer inside the tiles, again where they overlap.
    ///
    /// `node` is a sequence of two children: a producer, and a consumer over a band with as
    /// many members as there are `sizes`. `for i: P(i); for i: C(i)` with `C(i)` reading what
    /// `P(i - 1)` and `P(i)` write becomes, for tiles of 8,
    ///
    /// ```text
    /// for i/8 { for each P that the tile needs: P; for i: C(i) }
    /// ```
    ///
    /// Producers leave the domain and come back by an extension, so the schedule is
    /// many-valued: [`crate::ScheduleTree::to_map`] gives such an instance several points.
    /// Returns the tile band. It is not marked parallel, as tiles write the same cells;
    /// with storage for each tile they may run in any order.
    ///
    /// # Errors
    /// [`Error::Operand`] for another node, for producers that need something themselves,
    /// that something else needs, or that no tile needs; [`Error::Illegal`] if the tiles of
    /// the consumer are.
    ///
    /// # Source
    /// Krishnamoorthy et al., "Effective automatic parallelization of stencil computations"
    /// (2007).
    pub fn overlap(&mut self, node: Node, sizes: &[i128]) -> Result<Node, Error> {
        let children: Vec<Node> = self.tree.children(node).collect();
        let (NodeKind::Sequence, [first, second]) = (self.tree.kind(node), &children[..]) else {
            return refuse(node, "a sequence of a producer and a consumer");
        };
        let (first, second) = (*first, *second);
        let Some(consumer) = self.tree.children(second).next() else {
            return refuse(second, "a band of the consumer");
        };
        let band = self.band(consumer)?.clone();
        if band.members.len() != sizes.len() || sizes.iter().any(|size| *size <= 0) {
            return refuse(consumer, "a positive size for each member");
        }
        let producers = self.tree.active(first, self.budget)?;
        let (NodeKind::Filter(mine), NodeKind::Filter(theirs)) =
            (self.tree.kind(first).clone(), self.tree.kind(second).clone())
        else {
            return refuse(node, "a sequence of a producer and a consumer");
        };
        let producers = producers.intersect(&mine, self.budget)?;
        let consumers = self.tree.active(consumer, self.budget)?;
        let pairs = legality::within(&self.tree, &self.dependences, self.budget)?;
        self.check_recomputable(first, &pairs, &producers, &consumers)?;

        let tiles = self.tiles_of(&band, sizes)?;
        let outer = self.tree.prefix(consumer, self.budget)?;
        let place = outer.flat_range_product(&tiles, self.budget)?;
        let needs = pairs.intersect_domain(&producers, self.budget)?;
        let added = needs.apply_range(&place, self.budget)?.inverse()?;
        if !producers.is_subset(&added.range(self.budget)?, self.budget)? {
            return refuse(first, "producers that some tile needs");
        }
        let NodeKind::Domain(domain) = self.tree.kind(self.tree.root()) else {
            return refuse(self.tree.root(), "a domain");
        };
        let domain = domain.subtract(&producers, self.budget)?;

        let mut members = Vec::new();
        for (member, size) in band.members.iter().zip(sizes) {
            members.push(self.blocked(member, *size)?);
        }
        let plain = Band { members, permutable: false, options: Union::empty() };
        let list = vec![
            Piece::New(NodeKind::Filter(mine), self.children(first)),
            Piece::New(NodeKind::Filter(theirs), vec![Piece::Old(consumer)]),
        ];
        let extended =
            Piece::New(NodeKind::Extension(added), vec![Piece::New(NodeKind::Sequence, list)]);
        let piece = Piece::New(NodeKind::Band(plain), vec![extended]);
        let (mut tree, top) = replaced(&self.tree, node, vec![piece]);
        tree.put(tree.root(), NodeKind::Domain(domain));
        tree.close();
        tree.check(self.budget)?;
        legality::check(&tree, &self.dependences, &self.dependences, self.budget)?;
        self.tree = tree;
        Ok(top)
    }

    /// Relates instances to the tiles that they are in.
    fn tiles_of(&self, band: &Band, sizes: &[i128]) -> Result<Union, Error> {
        let mut tiles: Option<Union> = None;
        for (member, size) in band.members.iter().zip(sizes) {
            let block = self.blocked(member, *size)?.schedule;
            tiles = Some(match tiles {
                Some(outer) => outer.flat_range_product(&block, self.budget)?,
                None => block,
            });
        }
        Ok(tiles.unwrap_or_default())
    }

    /// Producers may run again if they need nothing and nobody but the consumers needs them.
    fn check_recomputable(
        &self,
        node: Node,
        pairs: &Union,
        producers: &Union,
        consumers: &Union,
    ) -> Result<(), Error> {
        let into = pairs.intersect_range(producers, self.budget)?;
        if !into.is_empty(self.budget)? {
            return refuse(node, "producers that depend on nothing in the tree");
        }
        let from = pairs.intersect_domain(producers, self.budget)?;
        if !from.range(self.budget)?.is_subset(consumers, self.budget)? {
            return refuse(node, "producers that only the consumer depends on");
        }
        Ok(())
    }
}

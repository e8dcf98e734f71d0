//! Loop orders for machines: tiles, one member innermost, iterations side by side.

use tangram_presburger::{Relation, Space, Tuple, Union};

use super::copy::{Piece, replaced};
use super::{Editor, refuse};
use crate::{Band, Error, Node, NodeKind, legality};

impl Editor<'_> {
    /// Splits a band in up to three: tile loops, point loops, and one member innermost.
    ///
    /// `sizes`: for each member the size of its tiles, or nothing to leave it whole.
    /// `order`: the members of the point loops from the outermost on, each once; the last
    /// one gets a band of its own, and with it flags of its own. Loops over tiles have the
    /// order of the members, but parallel ones are outside.
    /// Returns the outermost of the new bands.
    ///
    /// # Errors
    /// [`Error::Operand`] if sizes or order do not fit the band, [`Error::Illegal`] if a
    /// dependence would run backwards.
    pub fn arrange(
        &mut self,
        node: Node,
        sizes: &[Option<i128>],
        order: &[usize],
    ) -> Result<Node, Error> {
        let band = self.band(node)?.clone();
        let count = band.members.len();
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        let positive = sizes.iter().flatten().all(|size| *size > 0);
        if sizes.len() != count || !positive || sorted != (0..count).collect::<Vec<_>>() {
            return refuse(node, "sizes for all members and an order of them");
        }
        let make = |members| Band { members, permutable: false, options: Union::empty() };
        let mut tiled: Vec<usize> = (0..count).filter(|at| sizes[*at].is_some()).collect();
        if band.permutable {
            tiled.sort_by_key(|at| !band.members[*at].coincident);
        }
        let mut tiles = Vec::new();
        for at in tiled {
            tiles.push(self.blocked(&band.members[at], sizes[at].unwrap_or(1))?);
        }
        let mut points: Vec<_> = order.iter().map(|at| band.members[*at].clone()).collect();
        let inner = points.split_off(count - 1);
        let mut bands: Vec<Band> =
            [tiles, points].into_iter().filter(|list| !list.is_empty()).map(make).collect();
        bands.push(make(inner));
        let below = self.children(node);
        self.replace_by_bands(node, bands, below)
    }

    /// Asks code generation to run iterations of members side by side in the loops below them.
    ///
    /// `factors`: for each member how many iterations; 1 for a plain loop. Iterations without
    /// dependences between them are interleaved through whatever stands below. For others
    /// the only child must be a band, and loops must be directly in each other. Where the
    /// bounds of inner loops depend on a member, it stays a plain loop.
    ///
    /// # Errors
    /// [`Error::Operand`] for other factors or nodes, [`Error::Illegal`] if members of which
    /// iterations depend on each other are not permutable with the child's.
    pub fn unroll_and_jam(&mut self, node: Node, factors: &[i128]) -> Result<Node, Error> {
        let mut band = self.band(node)?.clone();
        if factors.len() != band.members.len() || factors.iter().any(|f| !(1..=64).contains(f)) {
            return refuse(node, "a factor from 1 to 64 for each member");
        }
        let free = self.free_members(node)?;
        let mut pairs = factors.iter().zip(&free);
        if let Some(first) = pairs.position(|(factor, free)| *factor > 1 && !free) {
            self.permutable_with_child(node, first)?;
        }
        for (at, factor) in factors.iter().enumerate().filter(|(_, factor)| **factor > 1) {
            let name = if free[at] { "interleave" } else { "jam" };
            let space = Space::set(Vec::new(), Tuple::new(name, ["m", "f"]));
            let point = Relation::point(space, &[at as i128, *factor])?;
            band.options = band.options.union(&point.into())?;
        }
        let below = self.children(node);
        self.replace(node, vec![Piece::New(NodeKind::Band(band), below)])
    }

    /// Says for each member whether no dependence goes from one of its iterations to another
    /// while those of the outer members stay.
    pub(crate) fn free_members(&self, node: Node) -> Result<Vec<bool>, Error> {
        let mut band = self.band(node)?.clone();
        band.permutable = false;
        let count = band.members.len();
        let plain = Piece::New(NodeKind::Band(band), self.children(node));
        let (mut trial, at) = replaced(&self.tree, node, vec![plain]);
        trial.close();
        let dependences = &self.dependences;
        let facts = legality::facts(&trial, at, dependences, dependences, self.budget)?;
        let own = facts.into_iter().find(|(other, _)| *other == at);
        Ok(own.map_or_else(|| vec![true; count], |(_, facts)| facts.coincident))
    }

    /// Checks that the members of a band from `first` on and those of the band below it are
    /// permutable: blocks may start anywhere, so every interchange must be legal.
    fn permutable_with_child(&self, node: Node, first: usize) -> Result<(), Error> {
        let mut outer = self.band(node)?.clone();
        let child = self.tree.children(node).next();
        let inner = child.map(|child| (child, self.tree.kind(child)));
        let Some((child, NodeKind::Band(inner))) = inner else {
            return refuse(node, "a band over a band");
        };
        outer.permutable = false;
        outer.members.iter_mut().for_each(|member| member.coincident = false);
        let mut members = outer.members.split_off(first);
        members.extend(inner.members.iter().cloned());
        members.iter_mut().for_each(|member| member.coincident = false);
        let whole = Band { members, permutable: true, options: Union::empty() };
        let mut kinds = vec![NodeKind::Band(whole)];
        if first > 0 {
            kinds.insert(0, NodeKind::Band(outer));
        }
        let pieces = Piece::chain(kinds, self.children(child));
        let (mut trial, at) = replaced(&self.tree, node, pieces);
        trial.close();
        let Self { dependences, coincidence, budget, .. } = self;
        legality::check_below(&trial, at, dependences, coincidence, budget)
    }
}

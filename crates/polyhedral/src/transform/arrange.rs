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
    /// one gets a band of its own, and with it flags of its own.
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
        let mut tiles = Vec::new();
        for (member, size) in band.members.iter().zip(sizes) {
            if let Some(size) = size {
                tiles.push(self.blocked(member, *size)?);
            }
        }
        let mut points: Vec<_> = order.iter().map(|at| band.members[*at].clone()).collect();
        let inner = points.split_off(count - 1);
        let mut bands: Vec<Band> =
            [tiles, points].into_iter().filter(|list| !list.is_empty()).map(make).collect();
        bands.push(make(inner));
        let below = self.children(node);
        self.replace_by_bands(node, bands, below)
    }

    /// Asks code generation to run iterations of members side by side in the band below.
    ///
    /// `factors`: for each member how many iterations; 1 for a plain loop. The only child
    /// must be a band. Where the bounds of inner loops depend on a member, it stays a
    /// plain loop.
    ///
    /// # Errors
    /// [`Error::Operand`] for other factors or nodes, [`Error::Illegal`] if the members of
    /// both bands are not permutable together.
    pub fn unroll_and_jam(&mut self, node: Node, factors: &[i128]) -> Result<Node, Error> {
        let mut band = self.band(node)?.clone();
        let child = self.tree.children(node).next();
        let inner = child.map(|child| (child, self.tree.kind(child)));
        let Some((child, NodeKind::Band(inner))) = inner else {
            return refuse(node, "a band over a band");
        };
        if factors.len() != band.members.len() || factors.iter().any(|f| !(1..=64).contains(f)) {
            return refuse(node, "a factor from 1 to 64 for each member");
        }
        // Blocks may start anywhere, so every interchange must be legal.
        let mut members = [band.members.clone(), inner.members.clone()].concat();
        members.iter_mut().for_each(|member| member.coincident = false);
        let whole = Band { members, permutable: true, options: Union::empty() };
        let below: Vec<Piece> = self.children(child);
        let (mut trial, _) =
            replaced(&self.tree, node, vec![Piece::New(NodeKind::Band(whole), below)]);
        trial.close();
        legality::check(&trial, &self.dependences, &self.coincidence, self.budget)?;
        let space = Space::set(Vec::new(), Tuple::new("jam", ["m", "f"]));
        for (at, factor) in factors.iter().enumerate().filter(|(_, factor)| **factor > 1) {
            let point = Relation::point(space.clone(), &[at as i128, *factor])?;
            band.options = band.options.union(&point.into())?;
        }
        let below = self.children(node);
        self.replace(node, vec![Piece::New(NodeKind::Band(band), below)])
    }
}

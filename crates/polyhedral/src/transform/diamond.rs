//! Diamond tiles: tiles of a stencil that can all start at once.

use tangram_presburger::Union;

use super::copy::{Piece, replaced};
use super::{Editor, refuse};
use crate::{Band, Error, Member, Node, NodeKind, legality};

/// Cones that are steeper than this are not looked for.
const STEEPEST: i128 = 8;

impl Editor<'_> {
    /// Splits a band in tile loops and point loops, with tiles along both sides of the cone
    /// in which the first two members depend on what was before.
    ///
    /// `[t, t + i]` with sizes `[8, 8]` becomes `[(t + i)/8, (t - i)/8]` over `[t, t + i]`:
    /// the first two members `[a, b]` give way to `b` and `f a - b`, with the least `f` up to 8
    /// for which no dependence runs backwards. Both grow with `a`, so tiles on a line of
    /// equal sums do not depend on each other: after [`Self::wavefront`] over two members,
    /// the second is parallel, from the first line on. The other members are tiled as in
    /// [`Self::tile`]. Returns the tile band.
    ///
    /// # Errors
    /// [`Error::Operand`] if the band has one member, the sizes do not fit, or there is no
    /// such `f`.
    ///
    /// # Source
    /// Bondhugula, Bandishti, Pananilath: "Diamond tiling" (TPDS 2017). Divergence:
    /// the sides are made from a band that was computed without thought of them.
    pub fn diamond(&mut self, node: Node, sizes: &[i128]) -> Result<Node, Error> {
        let band = self.band(node)?.clone();
        let count = band.members.len();
        let fits = sizes.len() == count && sizes.iter().all(|size| *size > 0);
        if count < 2 || !fits {
            return refuse(node, "a band of several members and their sizes");
        }
        for factor in 1..=STEEPEST {
            let mut rows = self.identity(node)?;
            rows[0] = rows[1].clone();
            rows[1] = vec![0; 1 + count];
            rows[1][1..=2].copy_from_slice(&[factor, -1]);
            let sides = self.sums(node, &rows)?;
            if self.is_forward(node, &band, &sides)? {
                return self.tile_along(node, band, sides, sizes);
            }
        }
        refuse(node, "a band whose second member moves no faster than its first one")
    }

    /// Says whether no dependence runs backwards in any of some sums of members.
    fn is_forward(&self, node: Node, band: &Band, sums: &[Union]) -> Result<bool, Error> {
        let member = |schedule: &Union| Member { schedule: schedule.clone(), coincident: false };
        let members = sums.iter().map(member).collect();
        let sides = Band { members, permutable: true, options: Union::empty() };
        let mut plain = band.clone();
        plain.members.iter_mut().for_each(|member| member.coincident = false);
        plain.permutable = false;
        let below =
            Piece::chain(vec![NodeKind::Band(sides), NodeKind::Band(plain)], self.children(node));
        let (mut trial, _) = replaced(&self.tree, node, below);
        trial.close();
        match legality::check(&trial, &self.dependences, &Union::empty(), self.budget) {
            Ok(()) => Ok(true),
            Err(Error::Illegal { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn tile_along(
        &mut self,
        node: Node,
        points: Band,
        sides: Vec<Union>,
        sizes: &[i128],
    ) -> Result<Node, Error> {
        let mut members = Vec::new();
        for (schedule, size) in sides.into_iter().zip(sizes) {
            members.push(self.blocked(&Member { schedule, coincident: false }, *size)?);
        }
        let tiles = Band { members, permutable: false, options: Union::empty() };
        let below = self.children(node);
        self.replace_by_bands(node, vec![tiles, points], below)
    }
}

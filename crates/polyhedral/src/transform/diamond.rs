//! Diamond tiles: tiles of a stencil that can all start at once.

use tangram_presburger::{Relation, Space, Tuple, Union, narrow};

use super::copy::{Piece, replaced};
use super::{Editor, refuse};
use crate::{Band, Conjunction, Error, Member, Node, NodeKind, legality};

/// Cones that are steeper than this are not looked for.
const STEEPEST: i128 = 8;

impl Editor<'_> {
    /// Splits a band in tile loops and point loops, with tiles along both sides of the cone
    /// in which the first two members depend on what was before.
    ///
    /// `[t, t + i]` with sizes `[8, 8]` becomes `[(t + i)/8, (t - i)/8]` over `[t, t + i]`:
    /// the first two members `[a, b]` give way to `b` and `f a - b`, with the least `f` up to 8
    /// for which no dependence runs backwards, where each statement may be shifted along the
    /// second one. Both grow with `a`, so tiles on a line of equal sums do not depend on each
    /// other: after [`Self::wavefront`] over two members, the second is parallel, from the
    /// first line on. The other members are tiled as in [`Self::tile`]. Returns the tile band.
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
        let (_, sides) = self.cone(node, 1)?;
        self.tile_along(node, band, sides, sizes)
    }

    /// Finds the cone in which the first member `a` of a band and another one, `b`, depend on what was
    /// before.
    ///
    /// `across`: the position of `b`. Returns the least `f` and functions of the members, of which none
    /// ever falls along a dependence: `b` in the place of `a`, `f a - b` with a shift for each statement
    /// in the place of `b`, and the others.
    ///
    /// # Errors
    /// [`Error::Operand`] if there is no such `f`.
    pub(super) fn cone(&self, node: Node, across: usize) -> Result<(i128, Vec<Union>), Error> {
        let band = self.band(node)?;
        let count = band.members.len();
        let dependences = self.within(node)?;
        for factor in 1..=STEEPEST {
            let mut rows = self.identity(node)?;
            rows[0] = rows[across].clone();
            rows[across] = vec![0; 1 + count];
            (rows[across][1], rows[across][1 + across]) = (factor, -1);
            let mut sides = self.sums(node, &rows)?;
            let Some(side) = self.shifted(&sides[across], &dependences)? else { continue };
            sides[across] = side;
            if self.is_forward(node, band, &sides)? {
                return Ok((factor, sides));
            }
        }
        refuse(node, "a band in which dependences go no faster than a cone opens")
    }

    /// Returns the dependences among the instances of a node.
    fn within(&self, node: Node) -> Result<Union, Error> {
        let active = self.tree.active(node, self.budget)?;
        let from = self.dependences.intersect_domain(&active, self.budget)?;
        Ok(from.intersect_range(&active, self.budget)?)
    }

    /// Shifts a side for each statement so that no dependence runs backwards; nothing if
    /// that cannot be.
    ///
    /// Statements of one time step run one after the other, but their rows start at the
    /// same place. Shifts are shortest paths along the least distances of dependences.
    fn shifted(&self, side: &Union, dependences: &Union) -> Result<Option<Union>, Error> {
        let statements: Vec<Relation> = side.relations().cloned().collect();
        let position = |tuple: &Tuple| {
            let own = |s: &Relation| s.space().input.as_ref().is_some_and(|i| i.name == tuple.name);
            statements.iter().position(own)
        };
        let mut distances = Vec::new();
        for relation in dependences.relations() {
            let Some(source) = &relation.space().input else { continue };
            let ends = position(source).zip(position(&relation.space().output));
            let Some((from, to)) = ends else { continue };
            if relation.is_empty(self.budget)? {
                continue;
            }
            let pair = Union::from(relation.clone());
            let times = Union::from(statements[from].clone()).inverse()?;
            let times = times.apply_range(&pair, self.budget)?;
            let times = times.apply_range(&statements[to].clone().into(), self.budget)?;
            for times in times.relations() {
                let deltas = times.deltas(self.budget)?;
                let names: Vec<&str> = deltas.space().params.iter().map(String::as_str).collect();
                let all = deltas.project_params(&names, self.budget)?;
                let least = all.lexmin(self.budget)?.points(self.budget)?;
                // Distances that go down without bound need a shift without bound.
                let Some(point) = least.first() else { return Ok(None) };
                let Some(distance) = narrow(point)?.first().copied() else { continue };
                distances.push((from, to, distance));
            }
        }
        let Some(shifts) = shifts(statements.len(), &distances) else { return Ok(None) };
        let mut shifted = Vec::new();
        for (statement, shift) in statements.into_iter().zip(shifts) {
            let space = Space::map(Vec::new(), Tuple::anonymous(1), Tuple::anonymous(1));
            let row = vec![shift, 1, -1];
            let part = Conjunction { equalities: vec![row], ..Conjunction::default() };
            let by = Relation::from_conjunctions(space, &[part])?;
            shifted.push(statement.apply_range(&by, self.budget)?);
        }
        Ok(Some(Union::collect(shifted)?))
    }

    /// Returns whether no dependence runs backwards in any of some sums of members.
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

/// Finds the least shifts that make all distances, with the shift of their end and without
/// that of their start, not negative; nothing if a cycle of distances is negative.
///
/// Source: R. Bellman, "On a routing problem" (1958). O(statements * distances).
fn shifts(statements: usize, distances: &[(usize, usize, i128)]) -> Option<Vec<i128>> {
    let mut shifts = vec![0_i128; statements];
    for _ in 0..=statements {
        let mut changed = false;
        for (from, to, distance) in distances {
            let least = shifts[*from].checked_sub(*distance)?;
            if shifts[*to] < least {
                shifts[*to] = least;
                changed = true;
            }
        }
        if !changed {
            return Some(shifts);
        }
    }
    None
}

//! Tiles: loops over blocks of iterations, and loops inside them.

use crate::{Conjunction, Division};
use tangram_presburger::{Relation, Space, Tuple, Union};

use super::{Editor, refuse};
use crate::{Band, Error, Member, Node};

impl Editor<'_> {
    /// Splits members into a tile loop and a point loop.
    ///
    /// `[i, j]` with sizes `[32, 8]` becomes `[i/32, j/8]` over `[i, j]`.
    /// `sizes`: one for each member, in iterations; 0 for a member without tile loop.
    /// Returns the tile band; the point band is its only child.
    ///
    /// # Errors
    /// [`Error::Operand`] if the sizes do not fit, [`Error::Illegal`] if the band is not
    /// permutable and a dependence would run backwards.
    ///
    /// # Source
    /// isl `isl_schedule_node_band_tile`. Divergence: tile loops are never scaled.
    pub fn tile(&mut self, node: Node, sizes: &[i128]) -> Result<Node, Error> {
        let band = self.band(node)?.clone();
        let fits = sizes.len() == band.members.len() && sizes.iter().all(|size| *size >= 0);
        if !fits || sizes.iter().all(|size| *size == 0) {
            return refuse(node, "a size for each member, some of them positive, 0 for no tiles");
        }
        let mut members = Vec::new();
        for (member, size) in band.members.iter().zip(sizes).filter(|(_, size)| **size > 0) {
            members.push(self.blocked(member, *size)?);
        }
        let tiles = Band { members, permutable: false, options: Union::empty() };
        let below = self.children(node);
        self.replace_by_bands(node, vec![tiles, band], below)
    }

    /// Returns the blocks of `size` iterations of a member.
    pub(crate) fn blocked(&self, member: &Member, size: i128) -> Result<Member, Error> {
        let division = Division { numerator: vec![0, 1, 0], denominator: size };
        let part = Conjunction {
            divisions: vec![division],
            equalities: vec![vec![0, 0, 1, -1]],
            inequalities: Vec::new(),
        };
        let space = Space::map(Vec::new(), Tuple::anonymous(1), Tuple::anonymous(1));
        let blocks = Relation::from_conjunctions(space, &[part])?;
        let schedule = member.schedule.apply_range(&blocks.into(), self.budget)?;
        Ok(Member { schedule, coincident: false })
    }

    /// Splits one member, in place, into blocks of `size` iterations and the iterations.
    ///
    /// Always legal: the order stays.
    ///
    /// # Errors
    /// [`Error::Operand`] if there is no such member or the size is not positive.
    pub fn strip_mine(&mut self, node: Node, member: usize, size: i128) -> Result<Node, Error> {
        let mut band = self.band(node)?.clone();
        if member >= band.members.len() || size <= 0 {
            return refuse(node, "a member of the band and a positive size");
        }
        let block = self.blocked(&band.members[member], size)?;
        band.members.insert(member, block);
        let below = self.children(node);
        self.replace_by_bands(node, vec![band], below)
    }

    /// Asks code generation to separate the full tiles of a band from the others.
    ///
    /// `node` is the tile band that [`Self::tile`] returned for `sizes`. A tile is full if
    /// every statement has an instance at each of its points, whatever the outer loops.
    ///
    /// # Errors
    /// [`Error::Operand`] if the band has no band below it or stands below another.
    pub fn separate_full_tiles(&mut self, node: Node, sizes: &[i128]) -> Result<Node, Error> {
        let mut band = self.band(node)?.clone();
        let child = self.tree.children(node).next();
        let Some(points) = child.and_then(|child| self.band(child).ok()).cloned() else {
            return refuse(node, "a tile band over its point band");
        };
        let count = band.members.len();
        if sizes.len() != count || points.members.len() != count || self.is_inner(node) {
            return refuse(node, "an outermost tile band with its sizes");
        }
        let boxes = boxes(sizes)?;
        let active = self.tree.active(node, self.budget)?;
        let mut full: Option<Relation> = None;
        for statement in active.relations() {
            let mut values = Union::from(statement.clone());
            for (index, member) in points.members.iter().enumerate() {
                let next = Union::from(statement.clone()).identity(self.budget)?;
                let next = next.apply_range(&member.schedule, self.budget)?;
                values = if index == 0 {
                    next
                } else {
                    values.flat_range_product(&next, self.budget)?
                };
            }
            let reached = values.range(self.budget)?;
            if reached.is_empty(self.budget)? {
                // A statement without instances is full in every tile.
                continue;
            }
            let reached = reached.single()?.clone();
            let all = boxes.range(self.budget)?;
            let missing = all.subtract(&reached, self.budget)?;
            let partial = boxes.intersect_range(&missing, self.budget)?.domain(self.budget)?;
            let tiles = boxes.intersect_range(&reached, self.budget)?.domain(self.budget)?;
            let own = tiles.subtract(&partial, self.budget)?;
            full = Some(match full {
                Some(full) => full.intersect(&own, self.budget)?,
                None => own,
            });
        }
        let Some(full) = full else { return refuse(node, "a band with instances") };
        let full = full.coalesce(self.budget)?;
        let mut isolate = Tuple::wrapping(Tuple::anonymous(0), Tuple::anonymous(count));
        isolate.name = "isolate".to_owned();
        let isolate = full.cast(None, isolate)?;
        band.options = band.options.union(&isolate.into())?;
        let below = self.children(node);
        self.replace_by_bands(node, vec![band], below)
    }

    fn is_inner(&self, node: Node) -> bool {
        let above = std::iter::successors(self.tree.parent(node), |node| self.tree.parent(*node));
        above.into_iter().any(|node| self.band(node).is_ok())
    }
}

/// Relates each tile to its points.
fn boxes(sizes: &[i128]) -> Result<Relation, Error> {
    let count = sizes.len();
    let mut part = Conjunction::default();
    for (index, size) in sizes.iter().enumerate() {
        let mut row = vec![0; 1 + 2 * count];
        (row[1 + index], row[1 + count + index]) = (-size, 1);
        let mut above: Vec<i128> = row.iter().map(|v| -v).collect();
        above[0] = size - 1;
        part.inequalities.extend([row, above]);
    }
    let space = Space::map(Vec::new(), Tuple::anonymous(count), Tuple::anonymous(count));
    Ok(Relation::from_conjunctions(space, &[part])?)
}

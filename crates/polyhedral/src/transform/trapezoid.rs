//! Trapezoids: blocks of a stencil that all start at once, and what is left between them.
//!
//! In a few time steps, values spread no further than the sides of a cone. What a block of rows can
//! compute from its own rows alone gets narrower with each step; the gaps between such blocks get
//! wider, and depend on the two blocks beside them:
//!
//! ```text
//! time  /‾‾\______/‾‾\______/‾‾\    gaps, after all blocks
//!      /    \    /    \    /    \   blocks
//! ```

use tangram_presburger::{Relation, Space, Tuple, Union};

use super::{Editor, Piece, refuse};
use crate::{Band, Conjunction, Division, Error, Member, Node, NodeKind};

/// Where blocks and gaps of a band are.
#[derive(Debug)]
pub(crate) struct Trapezoids {
    /// How many iterations of the first member a block has.
    pub steps: i128,
    /// The loop over blocks of time.
    time: Member,
    /// The loop over blocks, or over gaps.
    block: Member,
    /// The instances in blocks, and those in gaps.
    parts: [Union; 2],
}

impl Editor<'_> {
    /// Finds blocks of a member over iterations of the first one: `steps` of them, or half as many, and
    /// so on, until what is left of a block at their end could be all of it or nothing.
    ///
    /// `across`: the position of the member, not 0.
    /// `steps` and `width` are in iterations, each positive. With the sides `b` and `f a - b` of
    /// [`Self::diamond`], neither of which falls along a dependence, an instance is in a block if the
    /// lines along both sides through it meet the block's first iteration of `a` within the block.
    ///
    /// # Errors
    /// [`Error::Operand`] if there is no such member or no such cone.
    ///
    /// # Source
    /// T. Grosser et al., "Split tiling for GPUs" (GPGPU 2013). Divergence: sides come from a skewed
    /// band, and its own loops stay in blocks and gaps.
    pub(crate) fn trapezoids(
        &self,
        node: Node,
        across: usize,
        (steps, width): (i128, i128),
    ) -> Result<Trapezoids, Error> {
        let band = self.band(node)?;
        if !(1..band.members.len()).contains(&across) || steps <= 0 || width <= 0 {
            return refuse(node, "an inner member of a band, and positive sizes");
        }
        let time = &band.members[0];
        let (factor, sides) = self.cone(node, across)?;
        let halves = std::iter::successors(Some(steps), |steps| Some(steps / 2));
        let fits = |steps: &i128| factor * steps <= width;
        let steps = halves.take_while(|steps| *steps > 0).find(fits).unwrap_or(1);
        // Blocks that move half as fast as the cone is wide stay at the same rows; where the first row
        // is 0 or shortly behind, there is no gap in front of the first block.
        let drift = factor / 2;
        let start = (factor - drift) * steps;
        let along = |side: &Union, row: [i128; 2]| {
            let both = time.schedule.flat_range_product(side, self.budget)?;
            let foot = foot(start, row, steps, width)?;
            both.apply_range(&foot.into(), self.budget).map_err(Error::from)
        };
        let right = along(&sides[0], [-drift * steps, 1])?;
        let left = along(&sides[across], [start, -1])?;
        let active = self.tree.active(node, self.budget)?;
        let blocks = right.intersect(&left, self.budget)?.domain(self.budget)?;
        let blocks = blocks.intersect(&active, self.budget)?;
        let gaps = active.subtract(&blocks, self.budget)?;
        let block = Member { schedule: right, coincident: false };
        let time = self.blocked(time, steps)?;
        Ok(Trapezoids { steps, time, block, parts: [blocks, gaps] })
    }

    /// Runs all blocks at once, and then the gaps between them, each in the order below `node`.
    ///
    /// `node` becomes a loop over blocks of time over a sequence of two filters, each with a parallel
    /// band over `node`. Returns that loop.
    ///
    /// # Errors
    /// [`Error::Operand`] if blocks are narrower than the gaps become, [`Error::Illegal`] if a
    /// dependence would run backwards.
    pub(crate) fn in_trapezoids(
        &mut self,
        node: Node,
        Trapezoids { time, block, parts, .. }: Trapezoids,
    ) -> Result<Node, Error> {
        let band = |member: Member| {
            NodeKind::Band(Band {
                members: vec![member],
                permutable: false,
                options: Union::empty(),
            })
        };
        let part = |part: Union| {
            let below = vec![Piece::Old(node)];
            Piece::New(NodeKind::Filter(part), vec![Piece::New(band(block.clone()), below)])
        };
        let list = Piece::New(NodeKind::Sequence, parts.into_iter().map(part).collect());
        let before = self.tree.clone();
        let top = self.replace_with_flags(node, vec![Piece::New(band(time), vec![list])])?;
        let down = |nodes: Vec<Node>| -> Vec<Node> {
            nodes.into_iter().flat_map(|node| self.tree.children(node)).collect()
        };
        // The loop over time, the list, its filters, and what is below these.
        let shared = down(down(down(vec![top])));
        let is_parallel = |node: &Node| match self.tree.kind(*node) {
            NodeKind::Band(band) => band.members.iter().all(|member| member.coincident),
            _ => false,
        };
        if shared.iter().all(is_parallel) {
            return Ok(top);
        }
        self.tree = before;
        refuse(node, "blocks as wide as the gaps become")
    }
}

impl Editor<'_> {
    /// Runs the iterations of `node`, a band of one member, that have the same value of `front` at
    /// once: a loop over `front` around it. Returns the node below `node`.
    ///
    /// # Errors
    /// [`Error::Operand`] if they depend on each other, [`Error::Illegal`] if a dependence would run
    /// backwards.
    pub(crate) fn by_fronts(&mut self, node: Node, front: Union) -> Result<Node, Error> {
        let mut band = self.band(node)?.clone();
        let member = Member { schedule: front, coincident: false };
        let outer = Band { members: vec![member], permutable: false, options: Union::empty() };
        band.members.iter_mut().for_each(|member| member.coincident = false);
        let pieces =
            Piece::chain(vec![NodeKind::Band(outer), NodeKind::Band(band)], self.children(node));
        let before = self.tree.clone();
        let top = self.replace_with_flags(node, pieces)?;
        let own = self.tree.children(top).next().unwrap_or(top);
        if self.band(own)?.members.iter().all(|member| member.coincident) {
            return Ok(self.tree.children(own).next().unwrap_or(own));
        }
        self.tree = before;
        refuse(node, "iterations that do not depend on each other")
    }
}

/// Maps the time and the position along a side to the block where that side begins:
/// `[t, x]` to `(start + a * (t / steps) + b * x) / width`.
fn foot(start: i128, [a, b]: [i128; 2], steps: i128, width: i128) -> Result<Relation, Error> {
    let first = Division { numerator: vec![0, 1, 0, 0], denominator: steps };
    let block = Division { numerator: vec![start, 0, b, 0, a], denominator: width };
    let part = Conjunction {
        divisions: vec![first, block],
        equalities: vec![vec![0, 0, 0, -1, 0, 1]],
        inequalities: Vec::new(),
    };
    let space = Space::map(Vec::new(), Tuple::anonymous(2), Tuple::anonymous(1));
    Ok(Relation::from_conjunctions(space, &[part])?)
}

//! What threads share of a panel: rows or columns of a factorisation that wait for its block alone.
//!
//! Of the instances that stay with a block of the sum, those that write rows or columns beyond the
//! block need what the block itself computes, and nothing of each other:
//!
//! ```text
//! for b by 24:
//!     block:    all instances that write rows and columns b .. b + 23
//!     rows:     parallel, 24 at a time: those that write rows beyond, in the order of the source
//!     columns:  the same for columns
//!     trailing: what is beyond in both
//! ```
//!
//! Whether that holds, the dependences say: the tree is checked against them.
//!
//! # Source
//! A. Buttari et al., "A class of parallel tiled linear algebra algorithms for multicore
//! architectures" (Parallel Computing 35(1), 2009). Divergence: threads wait behind each step.

use tangram_presburger::{Budget, Space, Tuple, Union};

use super::trailing::blocks_of;
use crate::scop::Scop;
use crate::transform::Piece;
use crate::{Band, Error, Member, Node, NodeKind};

/// What a block of a factorisation runs beside its contractions.
pub(super) struct Panel<'a> {
    /// The position of the update, whose array is the matrix.
    pub target: usize,
    /// The nest of the source.
    pub top: Node,
    /// Rows and columns of a block.
    pub size: i128,
    /// The first value of the block that each instance belongs to.
    pub blocks: &'a Union,
    pub instances: Union,
}

impl Scop {
    /// Lists the steps of a panel: what is in its block, then strips for each of the subscripts in
    /// `sides` that reach beyond it.
    pub(super) fn panel_pieces(
        &self,
        panel: Panel,
        sides: &[usize],
        budget: &Budget,
    ) -> Result<Vec<Piece>, Error> {
        let Panel { target, top, size, blocks, instances: mut rest } = panel;
        let mut pieces = Vec::new();
        for side in sides {
            let strips = self.written_strips(target, (*side, size), budget)?;
            let strips = strips.intersect_domain(&rest, budget)?;
            let within = strips.intersect(blocks, budget)?.domain(budget)?;
            let beyond = strips.domain(budget)?.subtract(&within, budget)?;
            if beyond.is_empty(budget)? {
                continue;
            }
            rest = rest.subtract(&beyond, budget)?;
            let schedule = strips.intersect_domain(&beyond, budget)?;
            let members = vec![Member { schedule, coincident: true }];
            let band = Band { members, permutable: false, options: Union::empty() };
            let below = Piece::chain(vec![NodeKind::Band(band)], vec![Piece::Old(top)]);
            pieces.push(Piece::New(NodeKind::Filter(beyond), below));
        }
        pieces.insert(0, Piece::New(NodeKind::Filter(rest), vec![Piece::Old(top)]));
        Ok(pieces)
    }

    /// Maps the instances that write the matrix of an update to the first value of the strip that a
    /// subscript of the written element is in; nothing of statements that may write several.
    fn written_strips(
        &self,
        target: usize,
        (side, size): (usize, i128),
        budget: &Budget,
    ) -> Result<Union, Error> {
        let name = |at: usize| &self.statements[at].name;
        let writer = |space: &Space| space.input.as_ref().map(|input| input.name.clone());
        let own = |space: &Space| writer(space).as_ref() == Some(name(target));
        let all: Vec<_> = self.may_writes.relations().collect();
        let Some(matrix) = all.iter().find(|write| own(write.space())) else {
            return Ok(Union::empty());
        };
        let matrix = &matrix.space().output;
        if matrix.dims.len() != 2 {
            return Ok(Union::empty());
        }
        let line = Space::set(Vec::new(), Tuple::anonymous(1));
        let strip = blocks_of(&line, 0, size)?;
        let mut strips = Union::empty();
        for write in &all {
            let from = writer(write.space());
            let count = all.iter().filter(|other| writer(other.space()) == from).count();
            let is_other = write.space().output.name != matrix.name || count != 1;
            if is_other || !write.is_single_valued(budget)? {
                continue;
            }
            let subscript = write.project_out(1 - side..2 - side, budget)?;
            let input = subscript.space().input.clone();
            let subscript = subscript.cast(input, Tuple::anonymous(1))?;
            strips = strips.union(&Union::from(subscript).apply_range(&strip, budget)?)?;
        }
        Ok(strips)
    }
}

//! Loops over time around sweeps through arrays: tiles of several sweeps at once.
//!
//! Each sweep of a stencil goes through all of its arrays. Where these are larger than a cache, a
//! tile of a few time steps and a few rows does several sweeps' work on rows that are still there:
//!
//! ```text
//! for t: { for i, j: B[i][j] = f(A, i, j);  for i, j: A[i][j] = f(B, i, j); }
//!
//! for t/16: for (2t + i)/16: for t: for 2t + i: { for j: B[i][j] = ...;  for j: A[i - 1][j] = ...; }
//! ```
//!
//! The scheduler has skewed the loops so that tiles are legal, and shifted statements against each
//! other. Rows stay whole, and statements get loops of their own along them, so that vectors run
//! these. Of one-dimensional arrays, a piece of the only row is in a tile.
//!
//! # Source
//! M. Wolf, M. Lam, "A data locality optimizing algorithm" (PLDI 1991), for skewing and tiling;
//! U. Bondhugula et al. (PLDI 2008) for the shifts. Divergence: the loop along rows is in no tile.

use tangram_presburger::{Conjunction, Relation, Union};

use super::Arranged;
use super::tile_innermost::Work;
use crate::{Error, Node, NodeKind};

/// Dependences that go further than this many iterations are none of a stencil.
const NEAR: i128 = 8;
/// Time steps in a tile of pieces of rows, and elements in such a piece: those of two arrays and
/// all time steps fit in half of a first cache. Measured between 16 and 128, 512 and 4096.
const LINE: [i128; 2] = [32, 1024];
/// Time steps and rows in a tile of whole rows. Measured between 8 and 32: within 5 %.
const ROWS: i128 = 16;
/// The same with planes around rows.
const PLANES: i128 = 8;

impl Work<'_> {
    /// Tiles an outermost band of sweeps through arrays that no cache holds; says whether it is one.
    pub(super) fn time_tiled(&mut self, node: Node) -> Result<bool, Error> {
        let NodeKind::Band(band) = self.editor.tree().kind(node) else { return Ok(false) };
        let (count, permutable) = (band.members.len(), band.permutable);
        let is_free = band.members.iter().any(|member| member.coincident);
        if count < 2 || !permutable || is_free || self.in_cache || self.is_inside_loop(node) {
            return Ok(false);
        }
        if !self.is_near(node)? {
            return Ok(false);
        }
        let loops = self.loops(node, count)?;
        let Some(inner) = (1..count).rev().find(|at| loops[*at].is_smooth()) else {
            return Ok(false);
        };
        let size = if count > 3 { PLANES } else { ROWS };
        let mut sizes = vec![Some(size); count];
        sizes[inner] = None;
        if count == 2 {
            sizes = LINE.map(Some).to_vec();
        }
        let mut order: Vec<usize> = (0..count).filter(|at| *at != inner).collect();
        order.push(inner);
        let before = self.editor.tree().clone();
        match self.rows_in_tiles(node, &sizes, &order) {
            Ok(true) => {}
            Ok(false) | Err(Error::Illegal { .. } | Error::Operand { .. }) => {
                self.editor.reset(before);
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        let statements = (0..loops[0].along.len()).map(|at| loops[0].along[at]);
        let mut statements: Vec<usize> =
            statements.filter(|along| along.step.is_some()).map(|along| along.statement).collect();
        statements.sort_unstable();
        statements.dedup();
        let tiles = sizes.into_iter().flatten().collect();
        self.bands.push(Arranged { statements, tiles, jams: Vec::new(), vector: true });
        Ok(true)
    }

    fn rows_in_tiles(
        &mut self,
        node: Node,
        sizes: &[Option<i128>],
        order: &[usize],
    ) -> Result<bool, Error> {
        let top = self.editor.arrange(node, sizes, order)?;
        let innermost = self.chain(top).last().copied().unwrap_or(top);
        // Rows of several statements begin and end apart: in one loop, conditions would keep vectors
        // from being used.
        let before = (self.editor.tree().clone(), self.is_parallel(innermost));
        match (self.editor.distribute_statements(innermost), before) {
            (Ok(list), _) => {
                Ok(self.bands_below(list).into_iter().all(|band| self.is_parallel(band)))
            }
            (Err(Error::Illegal { .. } | Error::Operand { .. }), (tree, true)) => {
                self.editor.reset(tree);
                Ok(true)
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Says whether all dependences go over few iterations of each member.
    fn is_near(&self, node: Node) -> Result<bool, Error> {
        let NodeKind::Band(band) = self.editor.tree().kind(node) else { return Ok(false) };
        let active = self.editor.tree().active(node, self.budget)?;
        let pairs = self.editor.dependences().intersect_domain(&active, self.budget)?;
        let pairs = pairs.intersect_range(&active, self.budget)?;
        for member in &band.members {
            let values = pairs.apply_domain(&member.schedule, self.budget)?;
            let values = values.apply_range(&member.schedule, self.budget)?;
            for relation in values.relations() {
                let deltas = relation.deltas(self.budget)?;
                if !Union::from(deltas.intersect(&further(&deltas)?, self.budget)?)
                    .is_empty(self.budget)?
                {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// The points of a one-dimensional space beyond [`NEAR`].
fn further(set: &Relation) -> Result<Relation, Error> {
    let params = set.space().params.len();
    let mut row = vec![0; 2 + params];
    (row[0], row[1 + params]) = (-NEAR - 1, 1);
    let part = Conjunction { inequalities: vec![row], ..Conjunction::default() };
    Ok(Relation::from_conjunctions(set.space().clone(), &[part])?)
}

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
//! Several threads share out blocks of rows over some time steps, then the gaps between these; tiles
//! are inside.
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

/// Time steps of blocks that several threads share out, and how many elements such a block has: as many
/// steps as one thread takes, and elements for more work than waiting twice. Measured between 4096 and
/// 16384: within 5 %.
const PIECES: (i128, i128) = (32, 8192);
/// The same for rows of a matrix: few enough that a thousand rows make blocks for several threads. Of 8
/// and 16 steps, and 64, 96 and 128 rows, two threads gain most by these.
const BLOCKS: (i128, i128) = (16, 64);
/// The same for planes, of which there are fewer: 8 steps and 32 planes leave threads idle where there
/// are 120, and take a tenth less time on one thread.
const SLABS: (i128, i128) = (4, 16);

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
        // What a loop of few iterations goes through is one point of a stencil.
        if loops.iter().any(|own| own.short.is_some()) {
            return Ok(false);
        }
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
        let made = match self.recipe.parallel {
            true => self.in_trapezoids(node, &mut sizes, &order),
            false => self.rows_in_tiles(node, &sizes, &order),
        };
        match made {
            Ok(Some(_)) => {}
            Ok(None) | Err(Error::Illegal { .. } | Error::Operand { .. }) => {
                self.editor.reset(before);
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        self.shared |= self.recipe.parallel;
        let statements = (0..loops[0].along.len()).map(|at| loops[0].along[at]);
        let mut statements: Vec<usize> =
            statements.filter(|along| along.step.is_some()).map(|along| along.statement).collect();
        statements.sort_unstable();
        statements.dedup();
        let tiles = sizes.into_iter().flatten().collect();
        self.bands.push(Arranged { statements, tiles, jams: Vec::new(), vector: true });
        Ok(true)
    }

    /// Tiles blocks that threads share out, and the gaps between them, as one thread tiles all.
    fn in_trapezoids(
        &mut self,
        node: Node,
        sizes: &mut [Option<i128>],
        order: &[usize],
    ) -> Result<Option<Node>, Error> {
        let shape = match sizes.len() {
            2 => PIECES,
            3 => BLOCKS,
            _ => SLABS,
        };
        // Pieces of the only row, or whole rows.
        let across = order.get(1).copied().unwrap_or(1);
        let blocks = self.editor.trapezoids(node, across, shape)?;
        sizes[0] = None;
        let Some(top) = self.rows_in_tiles(node, sizes, order)? else { return Ok(None) };
        sizes[0] = Some(blocks.steps);
        self.editor.in_trapezoids(top, blocks).map(Some)
    }

    fn rows_in_tiles(
        &mut self,
        node: Node,
        sizes: &[Option<i128>],
        order: &[usize],
    ) -> Result<Option<Node>, Error> {
        let top = self.editor.arrange(node, sizes, order)?;
        let innermost = self.chain(top).last().copied().unwrap_or(top);
        // Rows of several statements begin and end apart: in one loop, conditions would keep vectors
        // from being used.
        let before = (self.editor.tree().clone(), self.is_parallel(innermost));
        match (self.editor.distribute_statements(innermost), before) {
            (Ok(list), _) => {
                let all = self.bands_below(list).into_iter().all(|band| self.is_parallel(band));
                Ok(all.then_some(top))
            }
            (Err(Error::Illegal { .. } | Error::Operand { .. }), (tree, true)) => {
                self.editor.reset(tree);
                Ok(Some(top))
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

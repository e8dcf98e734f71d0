//! Contractions in tiles that blocks of threads compute.
//!
//! A block has a tile of the target, whose elements stay in registers of its threads during the
//! whole sum; panels of the operands are copied to memory that its threads share:
//!
//! ```text
//! tiles of 64 by 128, one for each block > load > reduced by 16 > pack A, pack B > kernel; store
//! ```
//!
//! The tree is that of one block. Each of its statements is one of all threads together: they copy,
//! load, store and compute side by side, and wait for each other in front of a copy and behind it.
//!
//! # Source
//! S. Verdoolaege et al., "Polyhedral parallel code generation for CUDA" (2013), copies to shared memory
//! and registers. Divergence: operands are those of the contraction, each of a whole expression.

use tangram_kernel::{RegisterTile, Role};
use tangram_machine::{Device, Isa, Machine};
use tangram_presburger::{Budget, Relation, Rows, Space, Tuple, Union};

use super::loops::unit_loop;
use super::tree::{Copied, TileDim, projection_band};
use super::{Contraction, KERNEL, LoopKind};
use crate::schedule_tree::ScheduleTree;
use crate::scop::Scop;
use crate::transform::{Editor, Piece, append};
use crate::{Band, Error, Member, NodeKind, legality};

/// Iterations of a sum whose operands are shared at once: enough that threads seldom wait, few
/// enough that several blocks fit beside each other.
const DEPTH: usize = 16;
/// Blocks in each direction, as many as keep every device busy; they go on with the next tile.
const BLOCKS: [i128; 3] = [32, 32, 16];

/// No block has more threads.
pub(crate) const MOST_THREADS: usize = 1024;

/// A contraction, and how a block of threads shares a tile of it.
#[derive(Debug, Clone)]
pub struct BlockTiles {
    /// The name of the statement.
    pub statement: String,
    /// The contraction; its register tile is that of the whole block.
    pub contraction: Contraction,
    /// Threads along rows and along columns.
    pub threads: [usize; 2],
    /// What each thread has in registers: rows and columns, dealt out in turn.
    pub thread: RegisterTile,
    /// Whether what an operand reads is side by side in memory along the sum.
    pub along_sum: Vec<bool>,
}

impl BlockTiles {
    /// Reads a statement as a contraction for a device; nothing if it is none, or if it is known to be
    /// too small for tiles.
    ///
    /// `threads`: how many share rows and columns; the device's where nothing, or 0, is given.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn of(
        scop: &Scop,
        statement: usize,
        device: &Device,
        threads: &[i128],
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        // Only the sizes of tiles depend on the machine, and those are the device's.
        let machine = Machine::of(Isa::Scalar);
        let Some(mut contraction) = Contraction::of(scop, statement, &machine, budget)? else {
            return Ok(None);
        };
        let given = |at: usize| {
            let size = threads.get(at).copied().filter(|size| *size > 0)?;
            usize::try_from(size).ok()
        };
        let threads = [0, 1].map(|at| given(at).unwrap_or(device.threads[at]));
        if threads[0].saturating_mul(threads[1]) > MOST_THREADS {
            return Ok(None);
        }
        let thread = RegisterTile::of_thread(device, contraction.element);
        let (rows, columns) = (threads[0] * thread.rows, threads[1] * thread.columns());
        contraction.tile = RegisterTile { rows, vectors: columns, width: 1 };
        contraction.blocking.rows = rows;
        contraction.blocking.columns = columns;
        contraction.blocking.depth = (DEPTH / contraction.inner).max(1);
        let statement = &scop.statements[statement];
        let mut along_sum = Vec::new();
        for loops in statement.update.iter().flat_map(|update| &update.operands) {
            let unit = unit_loop(scop, statement, loops)?;
            along_sum.push(unit.is_some_and(|at| contraction.is_reduced(at)));
        }
        let statement = statement.name.clone();
        let mut found = Self { statement, contraction, threads, thread, along_sum };
        while found.shared_bytes() > device.shared_bytes && found.contraction.blocking.depth > 1 {
            found.contraction.blocking.depth /= 2;
        }
        let fits = found.shared_bytes() <= device.shared_bytes && !found.contraction.is_thin();
        Ok(fits.then_some(found))
    }

    /// Returns the number of elements from an iteration to the next in the panel of an operand: one
    /// more than there are, so that threads that write along the sum use different banks.
    pub fn pitch(&self, role: Role) -> usize {
        match role {
            Role::Row => self.contraction.tile.rows + 1,
            Role::Column => self.contraction.tile.columns() + 1,
            Role::Scalar => 0,
        }
    }

    /// Names the statement that loads the tile.
    pub fn load(&self) -> String {
        format!("L{}", self.contraction.statement)
    }

    /// Names the statement that stores the tile.
    pub fn store(&self) -> String {
        format!("W{}", self.contraction.statement)
    }

    fn shared_bytes(&self) -> usize {
        let roles = self.contraction.body.roles().iter();
        let elements = roles.map(|role| self.pitch(*role) * self.contraction.depth());
        elements.sum::<usize>() * self.contraction.element.bytes()
    }

    /// Makes the tree of a block, in which its place is `b0` to `b2`.
    ///
    /// # Errors
    /// [`Error::Illegal`] if tiles do not keep a dependence, or one leads from a tile to another;
    /// [`Error::Presburger`] if the budget ends.
    pub(crate) fn tree(
        &self,
        domain: &Relation,
        [validity, coincidence]: [&Union; 2],
        budget: &Budget,
    ) -> Result<ScheduleTree, Error> {
        let contraction = self.contraction.grouped(domain)?;
        let expansion = contraction.intersect_domain(domain, budget)?.inverse()?;
        let groups = expansion.domain(budget)?;
        let mut tree = ScheduleTree::new(NodeKind::Domain(groups.clone().into()));
        let (places, count) = self.places();
        let units = self.unit_band(groups.space(), &places)?;
        let units = tree.add(tree.root(), units);
        let inside = self.inside(&groups, (&contraction, &expansion), domain, &places)?;
        append(&mut tree, units, inside);
        tree.close();
        tree.check(budget)?;
        // Tiles of different blocks do not depend on each other: each member is coincident.
        legality::check(&tree, validity, coincidence, budget)?;
        let names = ["b1", "b0", "b2"];
        let mut editor = Editor::new(tree, Union::empty(), budget)?;
        editor.map_to_units(units, &names[..count], &BLOCKS[..count])?;
        Ok(editor.into_tree())
    }

    /// Lists the places of the loops over tiles, and says how many of them blocks share.
    fn places(&self) -> (Vec<TileDim>, usize) {
        let loops = &self.contraction.loops;
        let around = (0..loops.len()).filter(|at| {
            matches!(loops[*at], LoopKind::Batch | LoopKind::RowOuter | LoopKind::ColumnOuter)
        });
        let mut places = vec![TileDim::RowBlock, TileDim::ColumnBlock];
        places.extend(around.map(TileDim::First));
        let count = places.len().min(BLOCKS.len());
        (places, count)
    }

    /// The loops over tiles, each by one from tile to tile.
    fn unit_band(&self, tile: &Space, places: &[TileDim]) -> Result<NodeKind, Error> {
        let loops = self.contraction.loops.len();
        let count = TileDim::count(loops);
        let mut members = Vec::new();
        for place in places {
            let mut rows = Rows::new(tile.params.len(), count, 1);
            let mut numerator = vec![0; rows.columns()];
            numerator[rows.input(place.index(loops))] = 1;
            let column = match place {
                TileDim::RowBlock => rows.floor(numerator, self.contraction.tile.rows as i128),
                TileDim::ColumnBlock => {
                    rows.floor(numerator, self.contraction.tile.columns() as i128)
                }
                _ => rows.input(place.index(loops)),
            };
            rows.output_is(0, &[], &[(column, 1)]);
            let space = Space::map(tile.params.clone(), tile.output.clone(), Tuple::anonymous(1));
            members.push(Member { schedule: rows.relation(space)?.into(), coincident: true });
        }
        Ok(NodeKind::Band(Band { members, permutable: false, options: Union::empty() }))
    }

    /// What a block does for a tile.
    fn inside(
        &self,
        groups: &Relation,
        (contraction, expansion): (&Relation, &Relation),
        domain: &Relation,
        places: &[TileDim],
    ) -> Result<Vec<Piece>, Error> {
        let own = &self.contraction;
        let space = groups.space();
        let outer = places.len();
        let all = |kind| {
            let loops = own.loops.iter().enumerate().filter(move |(_, own)| **own == kind);
            loops.map(|(at, _)| TileDim::First(at))
        };
        let sums: Vec<TileDim> =
            all(LoopKind::ReducedOuter).chain(all(LoopKind::Reduced)).collect();
        let both = [places, &sums].concat();
        let kernel = vec![
            NodeKind::Mark(KERNEL.to_owned()),
            NodeKind::Expansion {
                contraction: contraction.clone().into(),
                expansion: expansion.clone().into(),
            },
            own.inner_band(domain)?,
        ];
        let mut packed = Vec::new();
        for copied in [Copied::Rows, Copied::Columns] {
            packed.push(own.packed(space, copied, (outer, &both))?);
        }
        let sum = Piece::chain(
            vec![own.band(space, &sums)?],
            beside(groups, (packed, Vec::new()), Piece::chain(kernel, Vec::new()))?,
        );
        let mut moved = Vec::new();
        for name in [self.load(), self.store()] {
            moved.push(own.whole_tile(space, name, (outer, places))?);
        }
        let store = moved.split_off(1);
        let loops = own.loops.len();
        let positions = places.iter().map(|place| place.index(loops));
        let values = projection_band(space, positions, TileDim::count(loops))?;
        Ok(Piece::chain(vec![values], beside(groups, (moved, store), sum)?))
    }
}

/// Runs statements of an extension before and behind what is below.
fn beside(
    groups: &Relation,
    (before, behind): (Vec<Relation>, Vec<Relation>),
    below: Vec<Piece>,
) -> Result<Vec<Piece>, Error> {
    let filter = |space: &Space, below: Vec<Piece>| {
        let tuple = Relation::universe(Space::set(Vec::new(), space.output.clone()));
        Piece::New(NodeKind::Filter(tuple.into()), below)
    };
    let leaf = |map: &Relation| filter(map.space(), Vec::new());
    let mut children: Vec<Piece> = before.iter().map(leaf).collect();
    children.push(filter(groups.space(), below));
    children.extend(behind.iter().map(leaf));
    let all = Union::collect(before.into_iter().chain(behind))?;
    let list = Piece::New(NodeKind::Sequence, children);
    Ok(vec![Piece::New(NodeKind::Extension(all), vec![list])])
}

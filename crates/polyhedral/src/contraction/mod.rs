//! Contractions: updates of a target by products over reduced loops, tiled for registers and caches.
//!
//! A statement is a contraction if it updates one element of an array by an expression whose
//! operands fall into two groups that share no loop of the target but outermost ones:
//!
//! ```text
//! for i, j, k:  C[i][j] += A[i][k] * B[k][j]
//! ```
//!
//! `i` is a *row* loop, `j` a *column* loop, `k` is *reduced*. Loops of the target that both
//! groups use are *batch* loops. With several loops of a kind, one is tiled and the others stand
//! around it; of reduced loops, those inside the tiled one are a part of the tile:
//!
//! ```text
//! for x, y, o, c, u, v:  out[o][y][x] += in[c][y + u][x + v] * w[o][c][u][v]
//!                        column x, around it y; row o; reduced c, inside it u and v
//! ```
//!
//! The schedule tree is that of Goto and van de Geijn. Packed copies of blocks of the operands are
//! extensions: they run where their block begins. Tiles for registers stand for the instances in
//! them as the groups of an expansion, under the mark [`KERNEL`]:
//!
//! ```text
//! columns by 1024 > reduced by 256 > pack B > rows by 120 > pack A > tiles of 6 by 8 > kernel
//! ```
//!
//! Below the mark, reduced loops run in their own order around rows and columns, so that the order
//! of all updates of an element is the source's: the whole tree is checked against the
//! dependences of the instances.
//!
//! Where rows or columns bound the sum (`k < i`), a tile runs what all of it has by the kernel, and the
//! ends of each row or column one by one, from the same panels:
//!
//! ```text
//! for i, j, k > i:  B[i][j] += A[k][i] * B[k][j]
//! ```
//!
//! Inside a factorisation, where the operands are elements of the target, it is the part of an
//! update beyond a block of the sum that is a contraction (`trailing.rs`).
//!
//! # Source
//! R. Gareev, T. Grosser, M. Kruse, "High-performance generalized tensor operations: a
//! compiler-oriented approach" (TACO 15(3), 2018) recognise them on schedule trees and pack by
//! extension nodes. Divergence: operands are maximal subexpressions, not reads; accumulators
//! start from the target; domains may be triangular in each two loops.

mod blocks;
mod domain;
mod loops;
mod outlined;
mod panel;
mod trailing;
mod tree;

use tangram_kernel::{Blocking, Body, Element, Op, RegisterTile};
use tangram_machine::Machine;
use tangram_presburger::{Budget, Relation, Union};

use crate::Error;
use crate::scop::{Scop, Statement};
use domain::Bounds;
use loops::{Loops, Target};

pub use blocks::BlockTiles;
pub(crate) use blocks::MOST_THREADS;
pub use loops::LoopKind;
pub use outlined::{Cut, TileLoops};
pub(crate) use trailing::Trailing;
pub(crate) use tree::projection_band;
pub use tree::{Copied, KERNEL, TileDim};

/// Sums that are known to be shorter go the way of other loops.
const LEAST_DEPTH: i128 = 8;
/// Fewer updates than this are done before blocks are packed: 12 in each of three loops, where
/// tiles and plain loops took the same time.
const LEAST_UPDATES: i128 = 12 * 12 * 12;

/// Operations on vectors for each element of the target: loaded and stored by tiles, and for sums of a
/// variable written before and read after.
const TARGET: f64 = 4.0;
/// Operations for each element that is copied into a panel, one by one: the test whether it is there,
/// the load and the store.
const COPY: f64 = 2.0;
/// Operations around a register tile: pointers to its rows, the call, and loads before all ports are busy.
const CALL: f64 = 60.0;

/// Register tiles above each other in a block that a thread takes at once: of 500 rows each of two
/// threads has 10 or 11 blocks of 24, and a panel of columns, in the first cache, serves four tiles.
const THREAD_TILES: usize = 4;

/// What a statement adds to, or subtracts from, an element of an array, as its front end reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The type of the element, of all operands and of every value between.
    pub element: Element,
    /// For each operand the loops that it varies with: dimensions of the statement's domain.
    pub operands: Vec<Vec<usize>>,
    /// The expression over them.
    pub ops: Vec<Op>,
    /// Whether it is subtracted.
    pub subtracts: bool,
}

/// A bound of a loop that rows or columns give: `affine + slope * value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ragged<'a> {
    /// The loop whose value it is.
    pub by: usize,
    /// The bound at 0, over `[constant, parameters..]`.
    pub affine: &'a [i128],
    /// By how much it grows.
    pub slope: i128,
}

/// A statement that is a contraction, and how it is tiled.
#[derive(Debug, Clone)]
pub struct Contraction {
    /// The statement's position in its part.
    pub statement: usize,
    /// What each loop of the statement is, outermost first.
    pub loops: Vec<LoopKind>,
    /// The update, with the role of each operand.
    pub body: Body,
    /// The type of an element.
    pub element: Element,
    /// The register tile.
    pub tile: RegisterTile,
    /// Sizes of blocks; `depth` is that of the tiled reduced loop.
    pub blocking: Blocking,
    /// How many iterations the reduced loops inside the tiled one have together.
    pub inner: usize,
    /// By how much the least and the greatest column grow from row to row.
    pub slopes: [i128; 2],
    /// Whether threads share the blocks: those of rows, or whatever changes while the others stay.
    pub on_threads: bool,
    /// Whether it is what a block of the reduced loop updates beyond the block: then each bound
    /// has one more factor, that of the block's first value.
    is_trailing: bool,
    bounds: Bounds,
}

impl Contraction {
    /// Reads a statement as a contraction; nothing if it is none, or none that can be tiled.
    ///
    /// Whether tiles keep the dependences is not looked at here: their tree is checked.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn of(
        scop: &Scop,
        statement: usize,
        machine: &Machine,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let data = &scop.statements[statement];
        let Some(update) = &data.update else { return Ok(None) };
        let Some(target) = loops::target(scop, data, budget)? else { return Ok(None) };
        let Some(loops) = Loops::of(update, &target) else { return Ok(None) };
        let Some(bounds) = Bounds::of(&data.domain, &loops.kinds, budget)? else {
            return Ok(None);
        };
        if !reads_from_before(scop, &target, budget)? {
            return Ok(None);
        }
        let Some((kinds, inner)) = loops::reduced(loops.kinds, &bounds) else { return Ok(None) };
        let Ok(body) = Body::new(loops.roles, update.ops.clone(), update.subtracts) else {
            return Ok(None);
        };
        let tile = RegisterTile::of(machine, update.element, &body);
        let mut blocking = Blocking::of(machine, update.element, &body, &tile);
        blocking.depth = (blocking.depth / inner).max(1);
        let (element, slopes) = (update.element, bounds.slopes());
        let (loops, is_trailing) = (kinds, false);
        Ok(Some(Self {
            statement,
            loops,
            body,
            element,
            tile,
            blocking,
            inner,
            slopes,
            on_threads: false,
            is_trailing,
            bounds,
        }))
    }

    /// Lets threads share the blocks, which become smaller, so that all have about as many.
    pub(crate) fn shared_out(mut self) -> Self {
        self.on_threads = true;
        // Where rows stay, threads share out columns, and each block of rows would pack all of these
        // again.
        if !self.rows_stay() {
            self.blocking.rows = self.blocking.rows.min(THREAD_TILES * self.tile.rows);
        }
        self
    }

    /// Returns the pairs of instances that packing ahead takes apart: one reads an element of the
    /// target's array that the other one writes.
    ///
    /// Threads that share blocks read copies, made before any of them runs: what one of them writes
    /// is not what another one reads. Nothing if each thread makes such copies itself.
    pub(crate) fn packed_ahead(&self, scop: &Scop, budget: &Budget) -> Result<Union, Error> {
        let data = &scop.statements[self.statement];
        let Some(copied) = self.used_by_all() else { return Ok(Union::empty()) };
        let Some(target) = loops::target(scop, data, budget)? else { return Ok(Union::empty()) };
        let Some(others) = target.others else { return Ok(Union::empty()) };
        let moving = match copied {
            Copied::Rows => [LoopKind::Column, LoopKind::ColumnOuter],
            Copied::Columns => [LoopKind::Row, LoopKind::RowOuter],
        };
        let is_moved = |rows: &Vec<Vec<i128>>| {
            let uses = |at: usize| rows.iter().any(|row| row[at] != 0);
            (0..self.loops.len()).any(|at| moving.contains(&self.loops[at]) && uses(at))
        };
        match loops::subscripts_of_all(&others)? {
            Some(all) if !all.iter().any(is_moved) => {
                Ok(others.apply_range(&target.write.inverse()?, budget)?.into())
            }
            _ => Ok(Union::empty()),
        }
    }

    /// Returns the bounds of the tiled reduced loop by rows or columns, the first value and the last.
    pub fn ragged(&self) -> [Option<Ragged<'_>>; 2] {
        self.bounds.ragged.each_ref().map(|side| {
            let (by, (affine, slope)) = side.as_ref()?;
            Some(Ragged { by: *by, affine, slope: *slope })
        })
    }

    /// Returns the bounds of columns by the row, the least and the greatest.
    pub fn column_bounds(&self) -> [Option<Ragged<'_>>; 2] {
        let by = self.only(LoopKind::Row);
        self.bounds.sloped.each_ref().map(|side| {
            let (affine, slope) = side.as_ref()?;
            Some(Ragged { by, affine, slope: *slope })
        })
    }

    /// Returns whether it is known to be too thin for tiles: fewer rows or columns than half a
    /// register tile, or a sum so short that loading and storing the target takes longer.
    ///
    /// Measured on sizes of 2 to 64 beside 500 by 500: from 8 reduced iterations on tiles are
    /// faster than other loops.
    pub(crate) fn is_thin(&self) -> bool {
        let depth = self.iterations((0..self.loops.len()).filter(|at| self.is_reduced(*at)));
        let few = |kind, most: usize| {
            let length = self.length(self.only(kind));
            length.is_some_and(|length| length < most as i128 / 2)
        };
        depth.is_some_and(|depth| depth < LEAST_DEPTH)
            || few(LoopKind::Row, self.tile.rows)
            || few(LoopKind::Column, self.tile.columns())
    }

    /// Estimates what an update costs beside a loop of vectors, in operations on vectors of `lanes`
    /// elements: register tiles as far as they are filled, loads and stores of the target, copies into
    /// panels, and the call of each tile. Sizes that are not known are taken to be large.
    pub(crate) fn cost(&self, lanes: f64) -> f64 {
        let length = |kind| self.length(self.only(kind)).map_or(f64::INFINITY, |own| own as f64);
        let (rows, columns) = (length(LoopKind::Row), length(LoopKind::Column));
        let depth = self.iterations((0..self.loops.len()).filter(|at| self.is_reduced(*at)));
        let depth = depth.map_or(self.depth() as f64, |depth| depth as f64);
        let tile = [self.tile.rows as f64, self.tile.columns() as f64];
        let filled = |length: f64, tile: f64| match length.is_finite() {
            true => (length / tile).ceil() * tile / length,
            false => 1.0,
        };
        let register_tiles = filled(rows, tile[0]) * filled(columns, tile[1]) / lanes;
        let target = TARGET / depth / lanes;
        let copies = COPY * (1.0 / rows + 1.0 / columns);
        let calls =
            CALL / (tile[0].min(rows) * tile[1].min(columns) * depth.min(self.depth() as f64));
        register_tiles + target + copies + calls
    }

    /// Returns whether the target and all operands are known to be little more than the first
    /// cache holds: then packing gains nothing over loops that are vectorised and jammed.
    ///
    /// Measured on square products of doubles (gcc, sizes constant): 32 by 32 jammed loops are a
    /// third faster, 64 by 64 tiles are a sixth, from 128 by 128 on half.
    pub(crate) fn fits(&self, machine: &Machine, update: &Update) -> bool {
        let cache = machine.cache(1).map_or(0, |cache| 2 * cache.bytes);
        let target = (0..self.loops.len()).filter(|at| !self.is_reduced(*at)).collect();
        let all = update.operands.iter().chain([&target]);
        let counts: Option<Vec<i128>> =
            all.map(|loops| self.iterations(loops.iter().copied())).collect();
        counts.is_some_and(|counts| {
            counts.iter().sum::<i128>() * self.element.bytes() as i128 <= cache as i128
        })
    }

    /// Returns what has to hold for tiles to be worth their packing, as far as only a run knows it.
    ///
    /// Each element says that a product of affine expressions over `[constant, parameters..]` is at
    /// least a number. For other sizes the loops of the source are as fast.
    pub fn worth(&self) -> Vec<(Vec<Vec<i128>>, i128)> {
        let length = |at: &usize| -> Vec<i128> {
            let [low, high] = &self.bounds.ranges[*at];
            // Of what trails, the first block has the most.
            let (low, high) = (self.of_parameters(low), self.of_parameters(high));
            let mut row: Vec<i128> = high.iter().zip(low).map(|(a, b)| a - b).collect();
            row[0] += 1;
            row
        };
        let product = |loops: Vec<usize>| loops.iter().map(length).collect::<Vec<_>>();
        let all = 0..self.loops.len();
        let reduced = all.clone().filter(|at| self.is_reduced(*at)).collect();
        let half = |count: usize| (count / 2).max(1) as i128;
        let mut tests = vec![
            (product(vec![self.only(LoopKind::Row)]), half(self.tile.rows)),
            (product(vec![self.only(LoopKind::Column)]), half(self.tile.columns())),
            (product(reduced), LEAST_DEPTH),
            (product(all.collect()), LEAST_UPDATES),
        ];
        let is_open = |row: &Vec<i128>| row[1..].iter().any(|value| *value != 0);
        tests.retain(|(rows, _)| rows.iter().any(is_open));
        tests
    }

    fn is_reduced(&self, at: usize) -> bool {
        matches!(
            self.loops[at],
            LoopKind::ReducedOuter | LoopKind::Reduced | LoopKind::ReducedInner
        )
    }

    /// Counts the iterations of loops together, if that is a number.
    fn iterations(&self, mut loops: impl Iterator<Item = usize>) -> Option<i128> {
        loops.try_fold(1_i128, |count, at| count.checked_mul(self.length(at)?))
    }

    /// Returns how many iterations a loop has, or has in the first block of what trails, if that
    /// is a number.
    pub fn length(&self, at: usize) -> Option<i128> {
        let [low, high] = self.bounds.ranges[at].each_ref().map(|bound| self.of_parameters(bound));
        let is_number = low[1..].iter().zip(&high[1..]).all(|(a, b)| a == b);
        is_number.then(|| high[0] - low[0] + 1)
    }

    /// Returns the part of a bound that parameters give.
    fn of_parameters<'a>(&self, bound: &'a [i128]) -> &'a [i128] {
        match bound.split_last() {
            Some((_, parameters)) if self.is_trailing => parameters,
            _ => bound,
        }
    }

    /// Returns the dimension of the only loop of a kind.
    pub fn only(&self, kind: LoopKind) -> usize {
        self.loops.iter().position(|own| *own == kind).unwrap_or(0)
    }

    /// Returns how many iterations of the reduced loops a block has at most.
    pub fn depth(&self) -> usize {
        self.blocking.depth * self.inner
    }
}

/// Returns whether all that is read of the target's array beside the element was written before the
/// first instance runs.
///
/// Then a block may be packed ahead of the instances that use it: these run before whatever writes
/// over it, in every order that keeps the dependences.
fn reads_from_before(scop: &Scop, target: &Target, budget: &Budget) -> Result<bool, Error> {
    let Some(others) = &target.others else { return Ok(true) };
    let (writes, reads) = (target.write.clone().into(), others.clone().into());
    Ok(scop.touching(&writes, &reads, budget)?.is_empty(budget)?)
}

/// Names the array whose element a statement updates, and says which of its loops stand in a
/// subscript; nothing if it updates none.
pub(crate) fn target_loops(
    scop: &Scop,
    statement: &Statement,
    budget: &Budget,
) -> Result<Option<(String, Vec<bool>)>, Error> {
    if statement.update.is_none() {
        return Ok(None);
    }
    let target = loops::target(scop, statement, budget)?;
    Ok(target.map(|target| (target.write.space().output.name.clone(), target.used)))
}

/// Finds the least and the greatest value of a coordinate, each one affine expression over
/// `[constant, parameters..]`.
pub(crate) fn affine_range(
    set: &Relation,
    at: usize,
    budget: &Budget,
) -> Result<Option<[Vec<i128>; 2]>, Error> {
    domain::range(set, at, set.space().output.dims.len(), budget)
}

//! The schedule tree of a contraction.

use tangram_kernel::Role;
use tangram_presburger::{Budget, Relation, Rows, Space, Tuple, Union};

use super::domain::{Affine, Bounds};
use super::{Contraction, LoopKind};
use crate::schedule::Constraints;
use crate::schedule_tree::ScheduleTree;
use crate::scop::Scop;
use crate::transform::{Piece, replaced};
use crate::{Band, Error, Fault, Member, Node, NodeKind, legality};

/// The mark over the instances of a register tile: its group stands for all of them.
pub const KERNEL: &str = "kernel";

/// Where a dimension of a tile, or of a packed block, stands.
///
/// Tiles and blocks are points of one kind of tuple: for each loop of the statement its first
/// value in the tile and its last value anywhere, then these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileDim {
    /// The first value of a loop in the tile.
    First(usize),
    /// The last value of a loop in all tiles.
    Last(usize),
    /// The first row of the packed block around the tile.
    RowBlock,
    /// The first column of the packed block around the tile.
    ColumnBlock,
    /// The least column in the first row of the tile.
    Low,
    /// The greatest column in the first row of the tile.
    High,
    /// The first value of the reduced loop in the first row or column of the tile.
    Begin,
    /// The last value of the reduced loop in the first row or column of the tile.
    End,
}

impl TileDim {
    /// Returns its position in a tuple for `loops` loops.
    pub fn index(self, loops: usize) -> usize {
        match self {
            Self::First(at) => 2 * at,
            Self::Last(at) => 2 * at + 1,
            Self::RowBlock => 2 * loops,
            Self::ColumnBlock => 2 * loops + 1,
            Self::Low => 2 * loops + 2,
            Self::High => 2 * loops + 3,
            Self::Begin => 2 * loops + 4,
            Self::End => 2 * loops + 5,
        }
    }

    pub(super) fn count(loops: usize) -> usize {
        2 * loops + 6
    }
}

/// Which operands are copied into a packed block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copied {
    /// Row operands.
    Rows,
    /// Column operands.
    Columns,
}

impl Copied {
    /// The role of what is copied.
    pub fn role(self) -> Role {
        match self {
            Self::Rows => Role::Row,
            Self::Columns => Role::Column,
        }
    }
}

/// Adds `floor((input - first) / size)`; returns its column.
pub(super) fn block(rows: &mut Rows, input: usize, first: &[i128], size: i128) -> usize {
    let mut numerator: Vec<i128> = first.iter().map(|value| -value).collect();
    numerator.resize(rows.columns(), 0);
    numerator[rows.input(input)] += 1;
    rows.floor(numerator, size)
}

impl Contraction {
    /// Names the groups of instances that are register tiles.
    pub fn tiles(&self) -> String {
        format!("T{}", self.statement)
    }

    /// Names the statement that packs a block.
    pub fn packing(&self, copied: Copied) -> String {
        match copied {
            Copied::Rows => format!("A{}", self.statement),
            Copied::Columns => format!("B{}", self.statement),
        }
    }

    /// Whether blocks of rows stay while those of columns change; otherwise the other way round.
    ///
    /// What stays is packed less often. Loops around the tiled column alone would pack rows again
    /// for each of their iterations if these were inside.
    pub(super) fn rows_stay(&self) -> bool {
        let has = |kind| self.loops.contains(&kind);
        has(LoopKind::ColumnOuter) && !has(LoopKind::RowOuter)
    }

    /// Puts tiles in the place of the band of the statement.
    ///
    /// `filter`: a node that passes on the statement's instances alone. The tree is checked
    /// against the constraints.
    ///
    /// # Errors
    /// [`Error::Illegal`] if tiles do not keep a dependence, [`Error::Presburger`] if the budget
    /// ends.
    pub(crate) fn arranged(
        &self,
        scop: &Scop,
        tree: &ScheduleTree,
        filter: Node,
        constraints: &Constraints,
        budget: &Budget,
    ) -> Result<ScheduleTree, Error> {
        let domain = &scop.statements[self.statement].domain;
        let contraction = self.grouped(domain)?;
        let expansion = contraction.intersect_domain(domain, budget)?.inverse()?;
        let groups = expansion.domain(budget)?;
        let below = self.pieces(&groups, &contraction, &expansion, domain, 0)?;
        let filtered = NodeKind::Filter(groups.clone().into());
        let piece = match tree.kind(filter) {
            NodeKind::Filter(_) => vec![Piece::New(filtered, below)],
            _ => below,
        };
        let (mut new, top) = replaced(tree, filter, piece);
        let (instances, groups) = (Union::from(domain.clone()), Union::from(groups));
        let above: Vec<Node> =
            std::iter::successors(new.parent(top), |at| new.parent(*at)).collect();
        for node in above {
            let kind = match new.kind(node) {
                NodeKind::Domain(all) => {
                    NodeKind::Domain(all.subtract(&instances, budget)?.union(&groups)?)
                }
                NodeKind::Filter(all) => {
                    let name = &domain.space().output.name;
                    let others = all.relations().filter(|set| set.space().output.name != *name);
                    NodeKind::Filter(Union::collect(others.cloned())?.union(&groups)?)
                }
                _ => continue,
            };
            new.put(node, kind);
        }
        new.close();
        new.check(budget)?;
        // All tiles arrive here: a dependence that no instance reaches is kept by every tree.
        if !groups.is_subset(&new.active(top, budget)?, budget)? {
            return Err(Error::IllFormed { node: top, fault: Fault::Lost });
        }
        let together = if self.on_threads { &constraints.coincidence } else { &Union::empty() };
        legality::check(&new, &constraints.validity, together, budget)?;
        Ok(new)
    }

    /// Maps instances to their tiles.
    pub(super) fn grouped(&self, domain: &Relation) -> Result<Relation, Error> {
        let (space, loops) = (domain.space(), self.loops.len());
        let outputs = TileDim::count(loops);
        let mut rows = Rows::new(space.params.len(), loops, outputs);
        let depth = self.blocking.depth as i128;
        let around = self.is_trailing.then(|| {
            let at = self.only(LoopKind::Reduced);
            (block(&mut rows, at, &[], depth), depth)
        });
        let tiled = |rows: &mut Rows, at: usize, size: usize, place: TileDim| {
            let first = &self.bounds.ranges[at][0];
            let (own, terms) = self.terms(first, around);
            let mut numerator: Vec<i128> = own.iter().map(|value| -value).collect();
            numerator.resize(rows.columns(), 0);
            numerator[rows.input(at)] += 1;
            terms.iter().for_each(|(column, factor)| numerator[*column] -= factor);
            let column = rows.floor(numerator, size as i128);
            let terms = [terms, vec![(column, size as i128)]].concat();
            rows.output_is(place.index(loops), own, &terms);
            column
        };
        let bound = |rows: &mut Rows, place: TileDim, bound: &Affine| {
            let (own, terms) = self.terms(bound, around);
            rows.output_is(place.index(loops), own, &terms);
        };
        let mut starts = [None, None];
        for (at, kind) in self.loops.iter().enumerate() {
            let [first, last] = &self.bounds.ranges[at];
            let place = TileDim::First(at);
            match kind {
                LoopKind::Row => {
                    let column = tiled(&mut rows, at, self.tile.rows, place);
                    starts[0] = Some((at, column, self.tile.rows as i128));
                    tiled(&mut rows, at, self.blocking.rows, TileDim::RowBlock);
                }
                LoopKind::Column => {
                    let column = tiled(&mut rows, at, self.tile.columns(), place);
                    starts[1] = Some((at, column, self.tile.columns() as i128));
                    tiled(&mut rows, at, self.blocking.columns, TileDim::ColumnBlock);
                }
                LoopKind::Reduced if self.is_trailing => bound(&mut rows, place, first),
                LoopKind::Reduced => {
                    tiled(&mut rows, at, self.blocking.depth, place);
                }
                LoopKind::ReducedInner => bound(&mut rows, place, first),
                _ => {
                    let column = rows.input(at);
                    rows.output_is(place.index(loops), &[], &[(column, 1)]);
                }
            }
            match self.is_outer(at) {
                true => {
                    let column = rows.input(at);
                    rows.output_is(TileDim::Last(at).index(loops), &[], &[(column, 1)]);
                }
                false => bound(&mut rows, TileDim::Last(at), last),
            }
        }
        self.sloped(&mut rows, starts, around);
        let to = Tuple::anonymous(outputs);
        let to = Tuple { name: self.tiles(), ..to };
        Ok(rows.relation(Space::map(space.params.clone(), space.output.clone(), to))?)
    }

    /// Returns the part of a bound that parameters give, and what the block of what trails adds to
    /// it: `block` is a column, and by how much it counts.
    fn terms<'a>(
        &self,
        bound: &'a [i128],
        block: Option<(usize, i128)>,
    ) -> (&'a [i128], Vec<(usize, i128)>) {
        match (block, bound.split_last()) {
            (Some((column, by)), Some((factor, own))) if *factor != 0 => {
                (own, vec![(column, factor * by)])
            }
            _ => (self.of_parameters(bound), Vec::new()),
        }
    }

    /// Says what the least and the greatest column are in the first row of a tile, and where its
    /// sum begins and ends; `starts`: a loop of rows or columns, the column that counts its tiles,
    /// and their size.
    fn sloped(
        &self,
        rows: &mut Rows,
        starts: [Option<(usize, usize, i128)>; 2],
        around: Option<(usize, i128)>,
    ) {
        let loops = self.loops.len();
        let Bounds { ranges, sloped, ragged, .. } = &self.bounds;
        let of_columns = sloped.iter().map(|side| side.as_ref().map(|slope| (starts[0], slope)));
        let of_sums = ragged.iter().map(|side| {
            side.as_ref().map(|(by, slope)| {
                (starts.into_iter().flatten().find(|start| start.0 == *by), slope)
            })
        });
        let (column, sum) = (self.only(LoopKind::Column), self.only(LoopKind::Reduced));
        let places = [
            (TileDim::Low, &ranges[column][0]),
            (TileDim::High, &ranges[column][1]),
            (TileDim::Begin, &ranges[sum][0]),
            (TileDim::End, &ranges[sum][1]),
        ];
        for ((place, whole), side) in places.into_iter().zip(of_columns.chain(of_sums)) {
            match side {
                Some((Some((by, block, size)), (affine, slope))) => {
                    // slope * (first + size * block) + affine.
                    let first = &ranges[by][0];
                    let sum: Affine =
                        affine.iter().zip(first).map(|(a, b)| a + slope * b).collect();
                    let (own, mut terms) = self.terms(&sum, around);
                    terms.push((block, slope * size));
                    rows.output_is(place.index(loops), own, &terms);
                }
                _ => {
                    let (own, terms) = self.terms(whole, around);
                    rows.output_is(place.index(loops), own, &terms);
                }
            }
        }
    }

    /// Whether a loop stays a loop around all tiles.
    fn is_outer(&self, at: usize) -> bool {
        matches!(
            self.loops[at],
            LoopKind::Batch | LoopKind::RowOuter | LoopKind::ColumnOuter | LoopKind::ReducedOuter
        )
    }

    /// Lists the places that are loops, in three bands: up to the block that stays, up to the
    /// other block, and the tiles in both.
    fn bands(&self) -> [Vec<TileDim>; 3] {
        let all = |kind| {
            let own = self.loops.iter().enumerate().filter(move |(_, own)| **own == kind);
            own.map(|(at, _)| TileDim::First(at)).collect::<Vec<_>>()
        };
        let (stays, moves) = match self.rows_stay() {
            true => (
                (LoopKind::RowOuter, TileDim::RowBlock),
                (LoopKind::ColumnOuter, TileDim::ColumnBlock),
            ),
            false => (
                (LoopKind::ColumnOuter, TileDim::ColumnBlock),
                (LoopKind::RowOuter, TileDim::RowBlock),
            ),
        };
        let mut first = all(LoopKind::Batch);
        first.extend(all(stays.0));
        first.extend(all(LoopKind::ReducedOuter));
        first.push(stays.1);
        first.extend(all(LoopKind::Reduced));
        let mut second = all(moves.0);
        second.push(moves.1);
        let third = [all(LoopKind::Column), all(LoopKind::Row)].concat();
        [first, second, third]
    }

    /// Makes the nest over tiles; `outer`: how many loops are around it.
    pub(super) fn pieces(
        &self,
        groups: &Relation,
        contraction: &Relation,
        expansion: &Relation,
        domain: &Relation,
        outer: usize,
    ) -> Result<Vec<Piece>, Error> {
        let [first, second, third] = self.bands();
        let (stays, moves) = match self.rows_stay() {
            true => (Copied::Rows, Copied::Columns),
            false => (Copied::Columns, Copied::Rows),
        };
        let band = |places: &[TileDim]| self.band(groups.space(), places);
        let packed_first = self.packed(groups.space(), stays, (outer, &first))?;
        let both = [first.clone(), second.clone()].concat();
        let packed_second = self.packed(groups.space(), moves, (outer, &both))?;
        let inside = vec![
            NodeKind::Mark(KERNEL.to_owned()),
            NodeKind::Expansion {
                contraction: contraction.clone().into(),
                expansion: expansion.clone().into(),
            },
            self.inner_band(domain)?,
        ];
        let tiles = Piece::chain([vec![band(&third)?], inside].concat(), Vec::new());
        let inner = extended(groups, packed_second, tiles)?;
        let batched = self.loops.contains(&LoopKind::Batch);
        let [all, moving] = [batched, !batched].map(|own| own && self.on_threads);
        let outer = Piece::chain(vec![coincident(band(&second)?, moving)], inner);
        let outer = extended(groups, packed_first, outer)?;
        Ok(Piece::chain(vec![coincident(band(&first)?, all)], outer))
    }

    /// Returns which panels all threads use, if they share blocks of the others: what stays.
    pub fn used_by_all(&self) -> Option<Copied> {
        let moving = self.on_threads && !self.loops.contains(&LoopKind::Batch);
        moving.then_some(if self.rows_stay() { Copied::Rows } else { Copied::Columns })
    }

    /// A band of the values of some places.
    pub(super) fn band(&self, tile: &Space, places: &[TileDim]) -> Result<NodeKind, Error> {
        let loops = self.loops.len();
        let positions = places.iter().map(|place| place.index(loops));
        projection_band(tile, positions, TileDim::count(loops))
    }

    /// The order within a tile: reduced loops in their own order, then rows, then columns.
    pub(super) fn inner_band(&self, domain: &Relation) -> Result<NodeKind, Error> {
        let inner = [LoopKind::Reduced, LoopKind::ReducedInner, LoopKind::Row, LoopKind::Column];
        let positions = inner.into_iter().flat_map(|kind| {
            let own = self.loops.iter().enumerate().filter(move |(_, own)| **own == kind);
            own.map(|(at, _)| at).collect::<Vec<_>>()
        });
        projection_band(domain.space(), positions, self.loops.len())
    }

    /// Maps the loops around a block to the statement that packs it; `around` are these loops,
    /// behind `outer` that are not the contraction's own.
    pub(super) fn packed(
        &self,
        tile: &Space,
        copied: Copied,
        (outer, around): (usize, &[TileDim]),
    ) -> Result<Relation, Error> {
        let own = copied.role();
        let varies = |kind: LoopKind| match kind {
            LoopKind::Row | LoopKind::RowOuter => own == Role::Row,
            LoopKind::Column | LoopKind::ColumnOuter => own == Role::Column,
            _ => true,
        };
        self.placed(tile, self.packing(copied), (outer, around), &varies)
    }

    /// Maps the loops around a tile to a statement of all of it.
    pub(super) fn whole_tile(
        &self,
        tile: &Space,
        name: String,
        around: (usize, &[TileDim]),
    ) -> Result<Relation, Error> {
        let varies = |kind: LoopKind| {
            !matches!(kind, LoopKind::Reduced | LoopKind::ReducedOuter | LoopKind::ReducedInner)
        };
        self.placed(tile, name, around, &varies)
    }

    /// Maps the loops around a statement to it: the first and the last value of each loop with which
    /// it varies, as far as these are not those of the loops around it.
    fn placed(
        &self,
        tile: &Space,
        name: String,
        (outer, around): (usize, &[TileDim]),
        varies: &dyn Fn(LoopKind) -> bool,
    ) -> Result<Relation, Error> {
        let loops = self.loops.len();
        let outputs = TileDim::count(loops);
        let mut rows = Rows::new(tile.params.len(), outer + around.len(), outputs);
        let outside =
            |place: TileDim| around.iter().position(|other| *other == place).map(|at| outer + at);
        let reduced = TileDim::First(self.only(LoopKind::Reduced));
        let trailed = outside(reduced).filter(|_| self.is_trailing);
        let trailed = trailed.map(|from| (rows.input(from), 1));
        let bound = |rows: &mut Rows, output: usize, bound: &Affine| {
            let (own, terms) = self.terms(bound, trailed);
            rows.output_is(output, own, &terms);
        };
        for (at, kind) in self.loops.iter().enumerate() {
            let [low, high] = &self.bounds.ranges[at];
            let from = match kind {
                LoopKind::Row => outside(TileDim::RowBlock).filter(|_| varies(*kind)),
                LoopKind::Column => outside(TileDim::ColumnBlock).filter(|_| varies(*kind)),
                _ => outside(TileDim::First(at)),
            };
            let (first, last) = (TileDim::First(at).index(loops), TileDim::Last(at).index(loops));
            match from.map(|from| rows.input(from)) {
                _ if !varies(*kind) => {
                    rows.output_is(first, &[], &[]);
                    rows.output_is(last, &[], &[]);
                }
                Some(column) => {
                    rows.output_is(first, &[], &[(column, 1)]);
                    match self.is_outer(at) {
                        true => rows.output_is(last, &[], &[(column, 1)]),
                        false => bound(&mut rows, last, high),
                    }
                }
                None => {
                    bound(&mut rows, first, low);
                    bound(&mut rows, last, high);
                }
            }
        }
        for place in TileDim::RowBlock.index(loops)..TileDim::count(loops) {
            rows.output_is(place, &[], &[]);
        }
        let to = Tuple { name, ..Tuple::anonymous(outputs) };
        let from = Tuple::anonymous(outer + around.len());
        Ok(rows.relation(Space::map(tile.params.clone(), from, to))?)
    }
}

/// A band of coordinates of a set.
pub(crate) fn projection_band(
    set: &Space,
    positions: impl Iterator<Item = usize>,
    count: usize,
) -> Result<NodeKind, Error> {
    let mut members = Vec::new();
    for position in positions {
        let mut rows = Rows::new(set.params.len(), count, 1);
        let column = rows.input(position);
        rows.output_is(0, &[], &[(column, 1)]);
        let space = Space::map(set.params.clone(), set.output.clone(), Tuple::anonymous(1));
        let schedule = rows.relation(space)?.into();
        members.push(Member { schedule, coincident: false });
    }
    Ok(NodeKind::Band(Band { members, permutable: false, options: Union::empty() }))
}

/// Says of the outermost loop of a band that its iterations run at once.
fn coincident(mut band: NodeKind, at_once: bool) -> NodeKind {
    if let NodeKind::Band(band) = &mut band
        && let Some(member) = band.members.first_mut()
    {
        member.coincident = at_once;
    }
    band
}

/// Runs a packing statement in front of what is below.
fn extended(groups: &Relation, packed: Relation, below: Vec<Piece>) -> Result<Vec<Piece>, Error> {
    let name = Relation::universe(Space::set(Vec::new(), packed.space().output.clone()));
    let tiles = Relation::universe(Space::set(Vec::new(), groups.space().output.clone()));
    let copies = Piece::New(NodeKind::Filter(name.into()), Vec::new());
    let rest = Piece::New(NodeKind::Filter(tiles.into()), below);
    let list = Piece::New(NodeKind::Sequence, vec![copies, rest]);
    Ok(vec![Piece::New(NodeKind::Extension(packed.into()), vec![list])])
}

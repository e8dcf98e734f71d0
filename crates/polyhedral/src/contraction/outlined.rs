//! Loops over tiles that stand for all instances of several statements in them.
//!
//! Statements that share their outer loops, as the initial value of a sum, the sum and what
//! follows it do, become one statement of tiles: the loops run over tiles, and whoever writes the
//! code writes a tile.
//!
//! ```text
//! I[i, j]; S[i, j, k]; F[i, j]    i by 6, j by 16
//!
//! for j by 16: for i by 6: T(i, j)    T: all of I, then of S, then of F in the tile
//! ```
//!
//! The tree has the instances under an expansion below the mark [`KERNEL`], and is checked against
//! their dependences.

use tangram_presburger::{Budget, Relation, Rows, Space, Tuple, Union};

use super::KERNEL;
use super::tree::{block, projection_band};
use crate::schedule::Constraints;
use crate::scop::Scop;
use crate::transform::{Piece, append};
use crate::{Band, Error, Member, NodeKind, ScheduleTree, legality};

/// Tiles of statements that share loops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileLoops {
    /// The name of tiles.
    pub name: String,
    /// Positions of the statements, in the order in which they run in a tile, each with the
    /// dimensions of its domain that are the shared loops.
    pub statements: Vec<(usize, Vec<usize>)>,
    /// How each of the shared loops, which start at 0, is cut into tiles.
    pub cuts: Vec<Cut>,
    /// The loops over tiles, outermost first: a shared loop, and how many tiles a step goes.
    pub loops: Vec<(usize, i128)>,
}

/// How a loop is cut into tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Tiles of this many iterations, and at the end what is left. A tile is its first iteration.
    Every(i128),
    /// Tiles of nearly one size: the first `whole` of them of `size` iterations, at least 2, those
    /// behind them of one less. A tile is its number.
    Even {
        /// The iterations of the first tiles.
        size: i128,
        /// How many tiles have as many.
        whole: i128,
    },
}

/// The iterations that tiles of one size cover.
struct Part {
    size: i128,
    /// The first iteration of it, and the tile that begins there.
    first: [i128; 2],
    /// The iteration behind it.
    end: Option<i128>,
    /// How far it is from one tile to the next one.
    step: i128,
}

impl Cut {
    /// How far it is from one tile to the next one.
    fn step(self) -> i128 {
        match self {
            Cut::Every(size) => size,
            Cut::Even { .. } => 1,
        }
    }

    fn parts(self) -> Vec<Part> {
        let step = self.step();
        match self {
            Cut::Every(size) => vec![Part { size, first: [0, 0], end: None, step }],
            Cut::Even { size, whole } => {
                let end = size * whole;
                let before = Part { size, first: [0, 0], end: Some(end), step };
                vec![before, Part { size: size - 1, first: [end, whole], end: None, step }]
            }
        }
    }
}

impl Part {
    /// Says which tile, coordinate `at` of the tuple, iteration `dim` is in.
    fn write(&self, rows: &mut Rows, params: usize, (dim, at): (usize, usize)) {
        let constant = |value: i128| {
            let mut row = vec![0; 1 + params];
            row[0] = value;
            row
        };
        let [first, tile] = self.first;
        let term = match self.size {
            1 => (rows.input(dim), self.step),
            size => (block(rows, dim, &constant(first), size), self.step),
        };
        // A tile of one iteration is counted from the first one by itself.
        let start = if self.size == 1 { tile - first * self.step } else { tile };
        rows.output_is(at, &constant(start), &[term]);
        let mut bound = |value: i128, factor: i128| {
            let mut row = constant(value);
            row.resize(rows.columns(), 0);
            row[rows.input(dim)] = factor;
            rows.at_least_zero(row);
        };
        if first > 0 {
            bound(-first, 1);
        }
        if let Some(end) = self.end {
            bound(end - 1, -1);
        }
    }
}

impl Scop {
    /// Makes loops over tiles of all statements.
    ///
    /// Tiles are points of a tuple [`TileLoops::name`]: along each shared loop, what [`Cut`] says.
    ///
    /// # Errors
    /// [`Error::Illegal`] if tiles do not keep a dependence, [`Error::Presburger`] if the budget
    /// ends.
    pub fn outlined(
        &self,
        tiles: &TileLoops,
        constraints: &Constraints,
        budget: &Budget,
    ) -> Result<ScheduleTree, Error> {
        let (mut contraction, mut expansion) = (Vec::new(), Vec::new());
        let (mut groups, mut inside) = (None::<Relation>, Vec::new());
        for (position, shared) in &tiles.statements {
            let domain = &self.statements[*position].domain;
            let map = tiles.contraction(domain, shared)?;
            let back = map.intersect_domain(domain, budget)?.inverse()?;
            let own = back.domain(budget)?;
            groups = Some(match groups {
                Some(groups) => groups.union(&own)?,
                None => own,
            });
            contraction.push(map);
            expansion.push(back);
            let tuple = Space::set(Vec::new(), domain.space().output.clone());
            let filter = NodeKind::Filter(Relation::universe(tuple).into());
            let count = domain.space().output.dims.len();
            let reduced = (0..count).filter(|at| !shared.contains(at));
            let order = reduced.chain(shared.iter().copied());
            let band = projection_band(domain.space(), order, count)?;
            let below = if count == 0 { Vec::new() } else { Piece::chain(vec![band], Vec::new()) };
            inside.push(Piece::New(filter, below));
        }
        let Some(groups) = groups else { return Err(Error::Unschedulable) };
        let groups = groups.coalesce(budget)?;
        let expansion = NodeKind::Expansion {
            contraction: Union::collect(contraction)?,
            expansion: Union::collect(expansion)?,
        };
        let mut tree = ScheduleTree::new(NodeKind::Domain(groups.clone().into()));
        let mut parent = tree.root();
        if !tiles.loops.is_empty() {
            parent = tree.add(parent, tiles.band(groups.space())?);
        }
        parent = tree.add(parent, NodeKind::Mark(KERNEL.to_owned()));
        parent = tree.add(parent, expansion);
        let list = tree.add(parent, NodeKind::Sequence);
        append(&mut tree, list, inside);
        tree.close();
        tree.check(budget)?;
        legality::check(&tree, &constraints.validity, &Union::empty(), budget)?;
        Ok(tree)
    }
}

impl TileLoops {
    /// Maps instances of a statement to their tiles.
    fn contraction(&self, domain: &Relation, shared: &[usize]) -> Result<Relation, Error> {
        let space = domain.space();
        let (params, dims) = (space.params.len(), space.output.dims.len());
        let mut pieces = vec![Rows::new(params, dims, self.cuts.len())];
        for (at, (dim, cut)) in shared.iter().zip(&self.cuts).enumerate() {
            let parts = cut.parts();
            let cross =
                pieces.iter().flat_map(|rows| parts.iter().map(|part| (rows.clone(), part)));
            let cross = cross.map(|(mut rows, part)| {
                part.write(&mut rows, params, (*dim, at));
                rows
            });
            pieces = cross.collect();
        }
        let to = Tuple { name: self.name.clone(), ..Tuple::anonymous(self.cuts.len()) };
        let space = Space::map(space.params.clone(), space.output.clone(), to);
        let mut all = Relation::empty(space.clone());
        for rows in pieces {
            all = all.union(&rows.relation(space.clone())?)?;
        }
        Ok(all)
    }

    /// The loops over tiles.
    fn band(&self, tile: &Space) -> Result<NodeKind, Error> {
        let mut members = Vec::new();
        for (at, tiles) in &self.loops {
            let mut rows = Rows::new(tile.params.len(), self.cuts.len(), 1);
            let start = vec![0; 1 + tile.params.len()];
            let step = tiles * self.cuts[*at].step();
            let term = match *tiles {
                1 => (rows.input(*at), 1),
                _ => (block(&mut rows, *at, &start, step), step),
            };
            rows.output_is(0, &[], &[term]);
            let space = Space::map(tile.params.clone(), tile.output.clone(), Tuple::anonymous(1));
            members.push(Member { schedule: rows.relation(space)?.into(), coincident: false });
        }
        Ok(NodeKind::Band(Band { members, permutable: false, options: Union::empty() }))
    }
}

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
    /// The sizes of tiles along the shared loops, which start at 0.
    pub sizes: Vec<i128>,
    /// The loops over tiles, outermost first: a shared loop, and how far a step goes, a multiple
    /// of the tile's size.
    pub loops: Vec<(usize, i128)>,
}

impl Scop {
    /// Makes loops over tiles of all statements.
    ///
    /// Tiles are points of a tuple [`TileLoops::name`]: the first value of each shared loop.
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
        let mut rows = Rows::new(space.params.len(), space.output.dims.len(), self.sizes.len());
        let start = vec![0; 1 + space.params.len()];
        for (at, (dim, size)) in shared.iter().zip(&self.sizes).enumerate() {
            let term = match size {
                1 => (rows.input(*dim), 1),
                size => (block(&mut rows, *dim, &start, *size), *size),
            };
            rows.output_is(at, &[], &[term]);
        }
        let to = Tuple { name: self.name.clone(), ..Tuple::anonymous(self.sizes.len()) };
        Ok(rows.relation(Space::map(space.params.clone(), space.output.clone(), to))?)
    }

    /// The loops over tiles.
    fn band(&self, tile: &Space) -> Result<NodeKind, Error> {
        let mut members = Vec::new();
        for (at, step) in &self.loops {
            let mut rows = Rows::new(tile.params.len(), self.sizes.len(), 1);
            let start = vec![0; 1 + tile.params.len()];
            let term = match *step == self.sizes[*at] {
                true => (rows.input(*at), 1),
                false => (block(&mut rows, *at, &start, *step), *step),
            };
            rows.output_is(0, &[], &[term]);
            let space = Space::map(tile.params.clone(), tile.output.clone(), Tuple::anonymous(1));
            members.push(Member { schedule: rows.relation(space)?.into(), coincident: false });
        }
        Ok(NodeKind::Band(Band { members, permutable: false, options: Union::empty() }))
    }
}

//! Updates inside a factorisation: blocks of the sum, and what each block updates beyond itself.
//!
//! In a factorisation the operands of an update are elements of the array that it updates:
//!
//! ```text
//! for i: { for j < i: { for k < j: A[i][j] -= A[i][k] * A[j][k];  A[i][j] /= A[j][j]; }  ... }
//! ```
//!
//! Where all statements can run by blocks of `k`, the index set of the update splits: its elements
//! in the block's columns belong to the *panel*, which runs as the source does; those beyond are
//! updated by a product of final parts of the panel, which is a contraction:
//!
//! ```text
//! for b by 24:
//!     panel:     all statements of the block, in the order of the source
//!     trailing:  for i, j >= b + 24, k in b .. b + 23: A[i][j] -= A[i][k] * A[j][k]
//! ```
//!
//! The block of an instance is that of one of its loops; which one, the dependences say. All of the
//! tree is checked against these, and the cells that are packed against those that are written.
//!
//! # Source
//! J. Dongarra et al., "LAPACK Users' Guide" (1999), for the blocks; M. Griebl, P. Feautrier, C.
//! Lengauer, "Index set splitting" (IJPP 28(6), 2000). Divergence: the panel keeps its order.

use std::collections::BTreeMap;

use tangram_kernel::{Blocking, Body, RegisterTile};
use tangram_machine::Machine;
use tangram_presburger::{Budget, Relation, Rows, Space, Tuple, Union};

use super::domain::Bounds;
use super::loops::{self, Loops, Target};
use super::panel::Panel;
use super::tree::block;
use super::{Contraction, LoopKind, TileDim};
use crate::schedule::Constraints;
use crate::scop::Scop;
use crate::transform::{Piece, replaced};
use crate::{Band, Error, Member, Node, NodeKind, ScheduleTree, legality};

/// A contraction beyond blocks of its sum, and the instances that it takes from its statement.
#[derive(Debug)]
pub(crate) struct Trailing {
    pub contraction: Contraction,
    instances: Relation,
    /// The instances that stay in the panel.
    panel: Relation,
    /// A loop whose blocks these are in, too: that of the target that is in the block always.
    level: Option<usize>,
}

impl Trailing {
    /// Reads a statement as an update of an array by elements of the same array, beyond blocks of
    /// at least `size` iterations of its only reduced loop; nothing if it is none.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn of(
        scop: &Scop,
        statement: usize,
        machine: &Machine,
        size: usize,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let data = &scop.statements[statement];
        let Some(update) = &data.update else { return Ok(None) };
        let Some(target) = loops::target(scop, data, budget)? else { return Ok(None) };
        let Some(Loops { kinds, roles }) = Loops::of(update, &target) else { return Ok(None) };
        let plain = [LoopKind::Row, LoopKind::Column, LoopKind::Reduced];
        if target.others.is_none() || kinds.len() != 3 || !plain.iter().all(|k| kinds.contains(k)) {
            return Ok(None);
        }
        let Ok(body) = Body::new(roles, update.ops.clone(), update.subtracts) else {
            return Ok(None);
        };
        let element = update.element;
        let tile = RegisterTile::of(machine, element, &body);
        // Blocks of rows begin where those of the sum do.
        let size = size.next_multiple_of(tile.rows);
        let (instances, block) = beyond(&data.domain, &kinds, size as i128, budget)?;
        if instances.is_empty(budget)? || !is_apart(&target, &block, budget)? {
            return Ok(None);
        }
        let Some(bounds) = Bounds::of(&block, &kinds, budget)? else { return Ok(None) };
        if bounds.ragged_loop.is_some() {
            return Ok(None);
        }
        let slopes = bounds.slopes();
        let blocking = Blocking::of(machine, element, &body, &tile);
        let contraction = Contraction {
            statement,
            loops: kinds,
            body,
            element,
            tile,
            blocking: Blocking { depth: size, rows: size, ..blocking },
            inner: 1,
            slopes,
            on_threads: false,
            is_trailing: true,
            bounds,
        };
        let (panel, level) = panel(&data.domain, &contraction.loops, size as i128, budget)?;
        Ok(Some(Self { contraction, instances, panel, level }))
    }

    /// Lets threads share the blocks of rows of what each block of the sum updates.
    pub fn shared_out(mut self) -> Self {
        self.contraction.on_threads = true;
        self
    }
}

/// Restricts a domain to rows or columns in the block of the reduced loop; if one of both always is,
/// returns it, too.
fn panel(
    domain: &Relation,
    kinds: &[LoopKind],
    size: i128,
    budget: &Budget,
) -> Result<(Relation, Option<usize>), Error> {
    let at = |kind| kinds.iter().position(|own| *own == kind).unwrap_or(0);
    let (row, column) = (at(LoopKind::Row), at(LoopKind::Column));
    // As sums end in front of rows and columns, what is in their block or before it is in it. In
    // this form code generation finds the condition for loops outside that of the sum.
    let part = |conditions: &[(usize, bool)]| -> Result<Relation, Error> {
        let space = domain.space();
        let mut rows = Rows::new(space.params.len(), 0, kinds.len());
        let first = block(&mut rows, at(LoopKind::Reduced), &[], size);
        for (target, is_beyond) in conditions {
            let own = block(&mut rows, *target, &[], size);
            let mut line = vec![0; rows.columns()];
            (line[own], line[first]) = (1, -1);
            match is_beyond {
                true => {
                    line[0] = -1;
                    rows.at_least_zero(line);
                }
                false => rows.zero(line),
            }
        }
        let part = rows.relation(Space::set(space.params.clone(), space.output.clone()))?;
        Ok(part.intersect(domain, budget)?)
    };
    for (one, other) in [(row, column), (column, row)] {
        if part(&[(one, true), (other, false)])?.is_empty(budget)? {
            return Ok((part(&[(one, false)])?, Some(one)));
        }
    }
    let both = part(&[(row, false)])?.union(&part(&[(row, true), (column, false)])?)?;
    Ok((both, None))
}

/// Restricts a domain to what is beyond blocks of the reduced loop in rows and columns: for all
/// blocks, and for one, whose first value is a parameter behind the others.
fn beyond(
    domain: &Relation,
    kinds: &[LoopKind],
    size: i128,
    budget: &Budget,
) -> Result<(Relation, Relation), Error> {
    let space = domain.space();
    let (params, loops) = (space.params.len(), kinds.len());
    let at = |kind| kinds.iter().position(|own| *own == kind).unwrap_or(0);
    let reduced = at(LoopKind::Reduced);
    let targets = [at(LoopKind::Row), at(LoopKind::Column)];
    let mut all = Rows::new(params, 0, loops);
    let first = block(&mut all, reduced, &[], size);
    for target in targets {
        let mut row = vec![0; all.columns()];
        (row[0], row[all.output(target)], row[first]) = (-size, 1, -size);
        all.at_least_zero(row);
    }
    let all = all.relation(Space::set(space.params.clone(), space.output.clone()))?;
    // A name that no parameter of C has.
    let names = [space.params.clone(), vec!["first of block".to_owned()]].concat();
    let mut one = Rows::new(params + 1, 0, loops);
    let first = 1 + params;
    let mut at_least = |terms: &[(usize, i128)], constant: i128| {
        let mut row = vec![0; one.columns()];
        row[0] = constant;
        terms.iter().for_each(|(column, factor)| row[*column] = *factor);
        one.at_least_zero(row);
    };
    let input = |at: usize| 2 + params + at;
    at_least(&[(first, 1)], 0);
    at_least(&[(input(reduced), 1), (first, -1)], 0);
    at_least(&[(input(reduced), -1), (first, 1)], size - 1);
    for target in targets {
        at_least(&[(input(target), 1), (first, -1)], -size);
    }
    let one = one.relation(Space::set(names.clone(), space.output.clone()))?;
    let one = one.intersect(&domain.align_params(&names)?, budget)?;
    Ok((all.intersect(domain, budget)?, one))
}

/// Returns whether no instance of a block writes what another one reads beside its own element:
/// then all of that can be packed before any of them runs.
fn is_apart(target: &Target, block: &Relation, budget: &Budget) -> Result<bool, Error> {
    let Some(others) = &target.others else { return Ok(true) };
    let params = &block.space().params;
    let cells = |map: &Relation| -> Result<Relation, Error> {
        Ok(map.align_params(params)?.intersect_domain(block, budget)?.range(budget)?)
    };
    Ok(cells(others)?.is_disjoint(&cells(&target.write)?, budget)?)
}

/// The loop of each statement whose blocks are those of the statement's instances.
type Levels = BTreeMap<usize, usize>;

impl Scop {
    /// Runs the nest around updates by blocks, with contractions of what is beyond; nothing if its
    /// dependences do not let it.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub(crate) fn by_blocks(
        &self,
        all: &[Trailing],
        constraints: &Constraints,
        budget: &Budget,
    ) -> Result<Option<ScheduleTree>, Error> {
        let Some(first) = all.first() else { return Ok(None) };
        let name = &self.statements[first.contraction.statement].name;
        let Some(top) = self.nest_of(name) else { return Ok(None) };
        let active = self.schedule.active(top, budget)?;
        let Some(levels) = self.levels(all, &active, constraints, budget)? else {
            return Ok(None);
        };
        // Parallel loops of the source's tree, which the panel keeps, are not said to be any.
        let is_shared = all.iter().any(|own| own.contraction.on_threads);
        let together = if is_shared { &constraints.coincidence } else { &Union::empty() };
        let ways: &[&[usize]] = if is_shared { &[&[0, 1], &[0], &[1], &[]] } else { &[&[]] };
        for sides in ways {
            let tree = match self.blocks(all, top, &active, (&levels, sides), budget) {
                Ok(tree) => tree,
                Err(Error::IllFormed { .. }) => continue,
                Err(error) => return Err(error),
            };
            match legality::check(&tree, &constraints.validity, together, budget) {
                Ok(()) => return Ok(Some(tree)),
                Err(Error::Illegal { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Finds the outermost loop around a statement.
    fn nest_of(&self, name: &str) -> Option<Node> {
        let tree = &self.schedule;
        let has = |node: &Node| match tree.kind(*node) {
            NodeKind::Filter(set) => set.relations().any(|own| own.space().output.name == name),
            _ => true,
        };
        let mut node = tree.children(tree.root()).next()?;
        while !matches!(tree.kind(node), NodeKind::Band(_)) {
            node = tree.children(node).find(has)?;
        }
        Some(node)
    }

    /// Finds for each statement of a nest a loop whose values no dependence leads down; that of
    /// updates is the one of their sum.
    fn levels(
        &self,
        all: &[Trailing],
        active: &Union,
        constraints: &Constraints,
        budget: &Budget,
    ) -> Result<Option<Levels>, Error> {
        let mut levels = Levels::new();
        for Trailing { contraction, .. } in all {
            levels.insert(contraction.statement, contraction.only(LoopKind::Reduced));
        }
        for at in levels.keys() {
            if !self.keeps(&levels, *at, constraints, budget)? {
                return Ok(None);
            }
        }
        for (at, statement) in self.statements.iter().enumerate() {
            let tuple = &statement.domain.space().output;
            let is_active = active.relations().any(|set| set.space().output.name == tuple.name);
            if levels.contains_key(&at) || !is_active {
                continue;
            }
            let mut found = false;
            for dim in 0..tuple.dims.len() {
                levels.insert(at, dim);
                found = self.keeps(&levels, at, constraints, budget)?;
                if found {
                    break;
                }
            }
            if !found {
                return Ok(None);
            }
        }
        Ok(Some(levels))
    }

    /// Returns whether no dependence of a statement leads to a smaller value.
    fn keeps(
        &self,
        levels: &Levels,
        statement: usize,
        constraints: &Constraints,
        budget: &Budget,
    ) -> Result<bool, Error> {
        let level = |tuple: &Tuple| {
            let own = |at: &&usize| self.statements[**at].name == tuple.name;
            levels.keys().find(own).map(|at| (*at, levels[at]))
        };
        for pairs in constraints.validity.relations() {
            let space = pairs.space();
            let from = space.input.as_ref().and_then(level);
            let (Some(from), Some(to)) = (from, level(&space.output)) else { continue };
            if from.0 != statement && to.0 != statement {
                continue;
            }
            let inputs = space.input.as_ref().map_or(0, |input| input.dims.len());
            let mut rows = Rows::new(space.params.len(), inputs, space.output.dims.len());
            let mut row = vec![0; rows.columns()];
            (row[0], row[rows.input(from.1)], row[rows.output(to.1)]) = (-1, 1, -1);
            rows.at_least_zero(row);
            if !pairs.intersect(&rows.relation(space.clone())?, budget)?.is_empty(budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes the tree: blocks around the nest of the source and contractions behind it; `sides`:
    /// subscripts whose strips threads share.
    fn blocks(
        &self,
        all: &[Trailing],
        top: Node,
        active: &Union,
        (levels, sides): (&Levels, &[usize]),
        budget: &Budget,
    ) -> Result<ScheduleTree, Error> {
        let size = all.first().map_or(1, |own| own.contraction.blocking.depth as i128);
        let (mut rest, mut trailing) = (active.clone(), Union::empty());
        let (mut groups, mut members) = (Union::empty(), Union::empty());
        let mut children = Vec::new();
        for Trailing { contraction, instances, panel, .. } in all {
            let domain = &self.statements[contraction.statement].domain;
            let grouping = contraction.grouped(instances)?;
            let expansion = grouping.intersect_domain(instances, budget)?.inverse()?;
            let own = expansion.domain(budget)?;
            let below = contraction.pieces(&own, &grouping, &expansion, domain, 1)?;
            children.push(Piece::New(NodeKind::Filter(own.clone().into()), below));
            let reduced = TileDim::First(contraction.only(LoopKind::Reduced));
            members = members.union(&blocks_of(
                own.space(),
                reduced.index(contraction.loops.len()),
                1,
            )?)?;
            rest = rest.subtract(&domain.clone().into(), budget)?.union(&panel.clone().into())?;
            trailing = trailing.union(&instances.clone().into())?;
            groups = groups.union(&own.into())?;
        }
        for (statement, dim) in levels {
            let space = self.statements[*statement].domain.space();
            let own = all.iter().find(|own| own.contraction.statement == *statement);
            let dim = own.and_then(|own| own.level).unwrap_or(*dim);
            let blocks = blocks_of(space, dim, size)?;
            members = members.union(&match own {
                // Tiles have the others.
                Some(own) => blocks.intersect_domain(&own.panel.clone().into(), budget)?,
                None => blocks,
            })?;
        }
        let target = all.first().map_or(0, |own| own.contraction.statement);
        let panel = Panel { target, top, size, blocks: &members, instances: rest };
        children.splice(0..0, self.panel_pieces(panel, sides, budget)?);
        let members = vec![Member { schedule: members, coincident: false }];
        let band = Band { members, permutable: false, options: Union::empty() };
        let list = Piece::New(NodeKind::Sequence, children);
        let nest = Piece::New(NodeKind::Band(band), vec![list]);
        let (mut tree, top) = replaced(&self.schedule, top, vec![nest]);
        let above: Vec<Node> =
            std::iter::successors(tree.parent(top), |at| tree.parent(*at)).collect();
        for node in above {
            let grouped = |own: &Union| own.subtract(&trailing, budget)?.union(&groups);
            let kind = match tree.kind(node) {
                NodeKind::Domain(own) => NodeKind::Domain(grouped(own)?),
                NodeKind::Filter(own) => NodeKind::Filter(grouped(own)?),
                _ => continue,
            };
            tree.put(node, kind);
        }
        tree.close();
        tree.check(budget)?;
        Ok(tree)
    }
}

/// Maps the points of a set to the first value of the block that a dimension is in.
pub(super) fn blocks_of(space: &Space, dim: usize, size: i128) -> Result<Union, Error> {
    let mut rows = Rows::new(space.params.len(), space.output.dims.len(), 1);
    let term = match size {
        1 => (rows.input(dim), 1),
        size => (block(&mut rows, dim, &[], size), size),
    };
    rows.output_is(0, &[], &[term]);
    let space = Space::map(space.params.clone(), space.output.clone(), Tuple::anonymous(1));
    Ok(rows.relation(space)?.into())
}

//! Expansion of arrays: cells of which each iteration of outer loops uses its own values become
//! cells for each of these iterations.
//!
//! ```text
//! for i, j: { t = 0;       for k: t += A[i][k] * B[k][j];        C[i][j] = f(t);       }
//! for i, j: { T[i][j] = 0; for k: T[i][j] += A[i][k] * B[k][j];  C[i][j] = f(T[i][j]); }
//! ```
//!
//! One cell for all iterations keeps them in their order; the sum alone is a product of matrices.
//! What is still in the array behind the part is copied back at its end. The state of a recurrence along
//! rows gets a cell for each row, so that rows need not wait for each other:
//!
//! ```text
//! for i: { s = 0;    for j: { s = f(s, x[i][j]);       y[i][j] = s;    } }
//! for i: { S[i] = 0; for j: { S[i] = f(S[i], x[i][j]); y[i][j] = S[i]; } }
//! ```
//!
//! Other nests may use the same variable for values of their own: only accesses between which values flow
//! (a web) get the new array.
//!
//! # Source
//! P. Feautrier, "Array expansion" (ICS 1988); S. Muchnick, "Advanced Compiler Design and
//! Implementation" (1997), 16.3, for webs. Divergence: only along loops around all accesses
//! whose values stay within an iteration, so that no access has to choose a cell.

use tangram_machine::Machine;
use tangram_presburger::{Budget, Relation, Rows, Space, Tuple, Union};

use super::{Array, Basis, Kind, Scop, Statement};
use crate::contraction::{Contraction, affine_range, projection_band, target_loops};
use crate::transform::{Piece, replaced};
use crate::{Error, NodeKind};

/// Bounds are not looked for in more pieces than this.
const MOST_PIECES: usize = 8;

/// A part with an expanded array.
#[derive(Debug, Clone)]
pub struct Expanded {
    /// The part, with the new array last.
    pub scop: Scop,
    /// The array in whose place it is, which other values may still use, and what is copied back.
    pub array: String,
    /// Positions of the statements that use the new array in its place.
    pub statements: Vec<usize>,
    /// How many outer loops its cells have now.
    pub depth: usize,
    /// The parameters of its extents.
    pub params: Vec<String>,
    /// How many cells there are in each dimension, over `[constant, parameters..]`.
    pub extents: Vec<Vec<i128>>,
    /// Statements behind those of the part: each copies back what one of these has written last,
    /// in its instances.
    pub copies: Vec<usize>,
}

/// Accesses to one array that values connect: what they share with others is the memory alone.
struct Web {
    array: String,
    /// Names of the statements.
    statements: Vec<String>,
}

impl Web {
    /// Returns whether it has an access, from an instance to cells.
    fn has(&self, access: &Relation) -> bool {
        access.space().output.name == self.array && self.starts(access)
    }

    /// Returns whether a relation is one of its instances.
    fn starts(&self, map: &Relation) -> bool {
        map.space().input.as_ref().is_some_and(|input| self.statements.contains(&input.name))
    }
}

impl Scop {
    /// Expands what a statement updates, along all outer loops that its subscripts leave out;
    /// nothing if there are none, a value leaves its iteration, or the new extents are not affine.
    ///
    /// `name` is that of the new array. Statements keep their positions.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn expanded(
        &self,
        statement: usize,
        name: &str,
        budget: &Budget,
    ) -> Result<Option<Expanded>, Error> {
        let data = &self.statements[statement];
        let Some((array, used)) = target_loops(self, data, budget)? else { return Ok(None) };
        let around = used.iter().take_while(|used| !**used).count();
        if around == 0 {
            return Ok(None);
        }
        let web = self.web(&array, statement, budget)?;
        let Some(depth) = self.own_loops(&web, around, budget)? else { return Ok(None) };
        if used[depth..].iter().all(|used| *used) {
            return Ok(None);
        }
        self.expanded_along(web, depth, name, budget)
    }

    /// Expands a variable that a statement writes, if its values go on in the innermost loop and stay
    /// within iterations of loops around it, as the state of a recurrence along rows does.
    ///
    /// `name` is that of the new array. Statements keep their positions.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn expanded_state(
        &self,
        statement: usize,
        name: &str,
        budget: &Budget,
    ) -> Result<Option<Expanded>, Error> {
        let data = &self.statements[statement];
        let loops = data.domain.space().output.dims.len();
        let Some(array) = self.variable_written_by(data).filter(|_| loops > 1) else {
            return Ok(None);
        };
        let web = self.web(array, statement, budget)?;
        match self.own_loops(&web, loops, budget)? {
            Some(depth) if depth < loops => self.expanded_along(web, depth, name, budget),
            _ => Ok(None),
        }
    }

    /// Names the variable that is all that a statement writes.
    fn variable_written_by(&self, statement: &Statement) -> Option<&str> {
        let is_own = |map: &&Relation| {
            map.space().input.as_ref().is_some_and(|input| input.name == statement.name)
        };
        let mut writes = self.may_writes.relations().filter(is_own);
        let (Some(write), None) = (writes.next(), writes.next()) else { return None };
        let name = &write.space().output.name;
        let own = self.arrays.iter().find(|array| array.name == *name && array.extents.is_empty());
        own.map(|array| array.name.as_str())
    }

    /// Gives a web cells for each iteration of so many outer loops.
    fn expanded_along(
        &self,
        web: Web,
        depth: usize,
        name: &str,
        budget: &Budget,
    ) -> Result<Option<Expanded>, Error> {
        let mut scop = self.clone();
        for union in [&mut scop.reads, &mut scop.may_writes, &mut scop.must_writes, &mut scop.kills]
        {
            let all = union.relations().map(|map| match web.has(map) {
                true => along(map, depth, name, budget),
                false => Ok(map.clone()),
            });
            *union = Union::collect(all.collect::<Result<Vec<_>, _>>()?)?;
        }
        let cells = scop.accessing(&[name])?;
        let cells = cells.reads.union(&cells.may_writes)?.range(budget)?;
        let Some((params, extents)) = extents(&cells, budget)? else { return Ok(None) };
        let rank = extents.len();
        let extents_of = vec![None; rank];
        let integer = self.arrays.iter().any(|own| own.name == web.array && own.integer);
        scop.arrays.push(Array {
            name: name.to_owned(),
            extents: extents_of,
            local: true,
            kept: false,
            shared: true,
            integer,
        });
        let last = self.accessing(&[&web.array])?.live_out(budget)?;
        let last = Union::collect(last.relations().filter(|map| web.has(map)).cloned())?;
        let copies = scop.copy_back(&last, depth, budget)?;
        scop.check(budget)?;
        let has = |name: &String| web.statements.contains(name);
        let all = self.statements.iter().enumerate();
        let statements = all.filter(|(_, own)| has(&own.name)).map(|(at, _)| at).collect();
        let array = web.array;
        Ok(Some(Expanded { scop, array, statements, depth, params, extents, copies }))
    }

    /// Finds the statements that values in an array connect with one.
    fn web(&self, array: &str, statement: usize, budget: &Budget) -> Result<Web, Error> {
        let own = self.accessing(&[array])?;
        let values = own.dependences(Kind::Flow, Basis::Value, budget)?.pairs(budget)?;
        let mut pairs = Vec::new();
        for pair in values.relations() {
            let space = pair.space();
            if let Some(input) = space.input.as_ref()
                && !pair.is_empty(budget)?
            {
                pairs.push([&input.name, &space.output.name]);
            }
        }
        let mut found = vec![self.statements[statement].name.clone()];
        let mut next = 0;
        while let Some(name) = found.get(next).cloned() {
            next += 1;
            for pair in pairs.iter().filter(|pair| pair.contains(&&name)) {
                for other in *pair {
                    if !found.contains(other) {
                        found.push((*other).clone());
                    }
                }
            }
        }
        // What only ends values has no pair: it belongs to all there is.
        let uses = own.reads.union(&own.may_writes)?;
        let is_all = uses
            .relations()
            .all(|map| map.space().input.as_ref().is_none_or(|input| found.contains(&input.name)));
        if is_all {
            let ends = own.kills.relations().filter_map(|map| map.space().input.as_ref());
            found.extend(ends.map(|input| input.name.clone()));
        }
        Ok(Web { array: array.to_owned(), statements: found })
    }

    /// Returns whether a statement is a contraction that is worth tiles on a machine, as far as can be
    /// said without its size.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn has_tiles(
        &self,
        statement: usize,
        machine: &Machine,
        budget: &Budget,
    ) -> Result<bool, Error> {
        let found = Contraction::of(self, statement, machine, budget)?;
        Ok(found.is_some_and(|contraction| !contraction.is_thin()))
    }

    /// The part with the accesses to some arrays alone.
    pub(crate) fn accessing(&self, arrays: &[&str]) -> Result<Self, Error> {
        let mut own = self.clone();
        for union in [&mut own.reads, &mut own.may_writes, &mut own.must_writes, &mut own.kills] {
            let is_one = |map: &&Relation| arrays.contains(&map.space().output.name.as_str());
            *union = Union::collect(union.relations().filter(is_one).cloned())?;
        }
        Ok(own)
    }

    /// Counts the outer loops, at most `around`, in whose iterations all values stay; nothing if
    /// there are none, or not all writes are certain and all that is read is written.
    fn own_loops(&self, web: &Web, around: usize, budget: &Budget) -> Result<Option<usize>, Error> {
        let whole = self.accessing(&[&web.array])?;
        let of =
            |union: &Union| Union::collect(union.relations().filter(|map| web.has(map)).cloned());
        let [reads, may_writes, must_writes, kills] =
            [&whole.reads, &whole.may_writes, &whole.must_writes, &whole.kills].map(of);
        let [reads, may_writes, must_writes, kills] = [reads?, may_writes?, must_writes?, kills?];
        let all = [&reads, &may_writes, &kills];
        let loops = all.into_iter().flat_map(Union::relations).filter_map(|map| {
            let input = map.space().input.as_ref();
            input.map(|input| input.dims.len())
        });
        let most = loops.min().unwrap_or(0).min(around);
        // What only updates has its first value from before.
        let starts = must_writes.domain(budget)?;
        let starts = starts.subtract(&reads.domain(budget)?, budget)?;
        let live_in = of(&whole.live_in(budget)?)?;
        if most == 0
            || starts.is_empty(budget)?
            // What is copied back at the end of the part would hide a write that may be the last.
            || !whole.may_writes.is_subset(&whole.must_writes, budget)?
            || !live_in.is_empty(budget)?
        {
            return Ok(None);
        }
        let values = whole.dependences(Kind::Flow, Basis::Value, budget)?.pairs(budget)?;
        for depth in (1..=most).rev() {
            let mut stays = true;
            for pairs in values.relations().filter(|pairs| web.starts(pairs)) {
                // Of others, the reader may be in fewer loops.
                if pairs.is_empty(budget)? {
                    continue;
                }
                let space = pairs.space();
                let inputs = space.input.as_ref().map_or(0, |input| input.dims.len());
                let mut rows = Rows::new(space.params.len(), inputs, space.output.dims.len());
                for at in 0..depth {
                    let mut row = vec![0; rows.columns()];
                    (row[rows.input(at)], row[rows.output(at)]) = (1, -1);
                    rows.zero(row);
                }
                stays = stays && pairs.is_subset(&rows.relation(space.clone())?, budget)?;
            }
            if stays {
                return Ok(Some(depth));
            }
        }
        Ok(None)
    }

    /// Adds statements that write what is left in an array behind the part from the new one.
    fn copy_back(
        &mut self,
        last: &Union,
        depth: usize,
        budget: &Budget,
    ) -> Result<Vec<usize>, Error> {
        let Some(name) = self.arrays.last().map(|array| array.name.clone()) else {
            return Ok(Vec::new());
        };
        let (mut copies, mut children, mut all) = (Vec::new(), Vec::new(), Union::empty());
        for writes in last.relations() {
            let Some(input) = writes.space().input.clone() else { continue };
            let Some(of) = self.statements.iter().position(|own| own.name == input.name) else {
                continue;
            };
            if writes.is_empty(budget)? {
                continue;
            }
            let count = input.dims.len();
            let name_of = format!("S{}", self.statements.len());
            let tuple = Tuple { name: name_of, ..input.clone() };
            let cells = writes.coalesce(budget)?;
            let cells = cells.cast(Some(tuple.clone()), writes.space().output.clone())?;
            let domain = cells.domain(budget)?;
            self.reads = self.reads.union(&along(&cells, depth, &name, budget)?.into())?;
            self.may_writes = self.may_writes.union(&cells.clone().into())?;
            self.must_writes = self.must_writes.union(&cells.into())?;
            let band = projection_band(domain.space(), 0..count, count)?;
            let filter = NodeKind::Filter(domain.clone().into());
            children.push(Piece::New(filter, Piece::chain(vec![band], Vec::new())));
            all = all.union(&domain.clone().into())?;
            self.statements.push(Statement { name: tuple.name, domain, update: None });
            copies.push(of);
        }
        let tree = &self.schedule;
        let (Some(top), NodeKind::Domain(domain)) =
            (tree.children(tree.root()).next(), tree.kind(tree.root()))
        else {
            return Ok(copies);
        };
        if copies.is_empty() {
            return Ok(copies);
        }
        let whole = NodeKind::Domain(domain.union(&all)?);
        let old = NodeKind::Filter(domain.clone());
        children.insert(0, Piece::New(old, vec![Piece::Old(top)]));
        let (mut new, _) = replaced(tree, top, vec![Piece::New(NodeKind::Sequence, children)]);
        new.put(new.root(), whole);
        new.close();
        self.schedule = new;
        Ok(copies)
    }
}

/// Puts the first loops of its instances in front of the cells of an access.
fn along(map: &Relation, depth: usize, name: &str, budget: &Budget) -> Result<Relation, Error> {
    let space = map.space();
    let Some(input) = space.input.clone() else { return Ok(map.clone()) };
    let mut rows = Rows::new(space.params.len(), input.dims.len(), depth);
    for at in 0..depth {
        let column = rows.input(at);
        rows.output_is(at, &[], &[(column, 1)]);
    }
    let first = Space::map(space.params.clone(), input.clone(), Tuple::anonymous(depth));
    let cells = rows.relation(first)?.flat_range_product(map, budget)?;
    let count = cells.space().output.dims.len();
    let to = Tuple { name: name.to_owned(), ..Tuple::anonymous(count) };
    Ok(cells.cast(Some(input), to)?)
}

/// Parameters, and numbers of cells over them.
type Extents = (Vec<String>, Vec<Vec<i128>>);

/// Finds how many cells each dimension has from 0 on, where that is affine.
fn extents(cells: &Union, budget: &Budget) -> Result<Option<Extents>, Error> {
    let cells = cells.coalesce(budget)?;
    let mut all = cells.relations();
    let (Some(cells), None) = (all.next(), all.next()) else { return Ok(None) };
    if cells.conjunctions().len() > MOST_PIECES {
        return Ok(None);
    }
    let count = cells.space().output.dims.len();
    let mut extents = Vec::new();
    for at in 0..count {
        let Some([low, mut high]) = affine_range(cells, at, budget)? else { return Ok(None) };
        let starts_late = low[0] >= 0 && low[1..].iter().all(|factor| *factor == 0);
        if !starts_late {
            return Ok(None);
        }
        high[0] += 1;
        extents.push(high);
    }
    Ok(Some((cells.space().params.clone(), extents)))
}

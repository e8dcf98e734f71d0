//! Splitting one dimension of the schedule into disjoint pieces, in their order.

use tangram_presburger::{Order, Relation, Tuple};

use super::order::components;
use crate::Error;
use crate::ast::basic_set::BasicSet;
use crate::ast::generate::build::{Builder, Executed, Next, Surroundings};
use crate::ast::loops::bounds::{Level, shared};
use crate::ast::options::Kinds;

/// A part of the values of one dimension, by the outer ones.
#[derive(Debug, Clone)]
pub(in crate::ast) struct Piece {
    /// The points; nothing if all of them.
    pub set: Option<Relation>,
    /// Whether the band isolates these points.
    pub isolated: bool,
}

/// The points of one statement at a level, as supersets without strides.
pub(in crate::ast) struct Domain {
    /// The points of the schedule, and their instances.
    pub executed: Relation,
    set: Relation,
    /// One for each disjunct that holds a point.
    pub levels: Vec<Level>,
}

impl Builder<'_> {
    /// Finds where each statement is, in the dimension after the outer ones.
    pub fn domains(&self, executed: &Executed, place: &Surroundings) -> Result<Vec<Domain>, Error> {
        let mut domains = Vec::new();
        for map in executed {
            let levels = self.levels(map, place)?;
            let cells: Vec<BasicSet> = levels.iter().map(|level| level.cell.clone()).collect();
            let set = self.set(&cells, place.depth + 1)?;
            domains.push(Domain { executed: map.clone(), set, levels });
        }
        Ok(domains)
    }

    /// Returns the disjuncts of a statement that hold a point where known facts do.
    pub fn levels(&self, map: &Relation, place: &Surroundings) -> Result<Vec<Level>, Error> {
        let depth = place.depth + 1;
        let known = place.known.widened(self.vars(depth));
        let mut levels = Vec::new();
        for cell in BasicSet::all_of(&self.shadow(map, depth)?)? {
            if !self.is_empty(&cell, &known, depth)? {
                levels.push(Level::of(&cell, self.col(place.depth), &place.known, self.budget)?);
            }
        }
        Ok(levels)
    }

    /// Splits the values of the dimension after the outer ones.
    pub fn pieces(
        &self,
        domains: &[Domain],
        place: &Surroundings,
        next: Next,
    ) -> Result<Vec<Piece>, Error> {
        let depth = place.depth + 1;
        let first = matches!(next, Next::Member { member: 0, .. });
        let isolate =
            if first || place.isolated { self.isolated_set(next, place.depth)? } else { None };
        let Some(isolate) = isolate else {
            return self.split(domains, None, place, next, false);
        };
        let all = isolate.space().output.dims.len();
        if all < depth {
            return self.split(domains, None, place, next, false);
        }
        let isolate = isolate.project_out(depth..all, self.budget)?;
        let isolate = isolate.cast(None, Tuple::anonymous(depth))?;
        self.around(domains, &isolate, place, next)
    }

    /// Splits before, inside and after what a band isolates.
    fn around(
        &self,
        domains: &[Domain],
        isolate: &Relation,
        place: &Surroundings,
        next: Next,
    ) -> Result<Vec<Piece>, Error> {
        let (depth, budget) = (place.depth + 1, self.budget);
        let mut all = Relation::empty(self.space(depth));
        for domain in domains {
            all = all.union(&domain.set)?;
        }
        let inside = all.intersect(isolate, budget)?;
        let known = place.known.widened(self.vars(depth)).relation(self.space(depth))?;
        if inside.is_disjoint(&known, budget)? {
            return self.split(domains, None, place, next, false);
        }
        let inside = self.hull(&inside, place)?;
        let later = self.ordered(&inside, place.depth, Order::Less)?;
        let earlier = self.ordered(&inside, place.depth, Order::Greater)?;
        let rest = all.subtract(&inside, budget)?;
        let mut result = Vec::new();
        if rest.intersect(&known, budget)?.is_disjoint(&earlier, budget)? {
            result.extend(self.split(domains, Some(&inside), place, next, true)?);
            result.extend(self.split(domains, Some(&rest), place, next, false)?);
            return Ok(result);
        }
        let inside =
            self.without_gaps(inside, &all.intersect(&known, budget)?, &earlier, &later)?;
        let before = earlier.subtract(&inside, budget)?;
        let after = later.subtract(&inside, budget)?.subtract(&earlier, budget)?;
        let other = rest.subtract(&earlier, budget)?.subtract(&later, budget)?;
        for (set, isolated) in [(before, false), (inside, true), (after, false), (other, false)] {
            result.extend(self.split(domains, Some(&set), place, next, isolated)?);
        }
        Ok(result)
    }

    /// Adds the points of `all` that are between points of `inside`: no loop runs around them.
    fn without_gaps(
        &self,
        inside: Relation,
        all: &Relation,
        earlier: &Relation,
        later: &Relation,
    ) -> Result<Relation, Error> {
        let between = all.intersect(earlier, self.budget)?.intersect(later, self.budget)?;
        let gaps = between.subtract(&inside, self.budget)?;
        if gaps.is_empty(self.budget)? {
            return Ok(inside);
        }
        Ok(inside.union(&gaps)?.coalesce(self.budget)?)
    }

    /// Returns the points before or after one of `set`, for the same outer dimensions.
    fn ordered(&self, set: &Relation, dim: usize, order: Order) -> Result<Relation, Error> {
        let tuple = set.space().output.clone();
        let all = Relation::lexicographic(self.params.clone(), tuple, order);
        // The last disjunct compares the last dimension only.
        let parts = all.conjunctions();
        let last = parts.into_iter().nth(dim).into_iter().collect::<Vec<_>>();
        let map = Relation::from_conjunctions(all.space().clone(), &last)?;
        Ok(set.apply_range(&map, self.budget)?)
    }

    /// Returns the conjunction of the rows that all disjuncts have.
    fn hull(&self, set: &Relation, place: &Surroundings) -> Result<Relation, Error> {
        let depth = place.depth + 1;
        let levels: Vec<Level> =
            BasicSet::all_of(set)?.into_iter().map(|cell| Level { cell, stride: None }).collect();
        if levels.len() < 2 {
            return Ok(set.clone());
        }
        let known = place.known.widened(self.vars(depth));
        let shared = shared(&levels, &known, self.col(place.depth), self.budget)?;
        Ok(shared.cell.relation(self.space(depth))?)
    }

    /// Splits what is in `within` by the options of the dimension.
    fn split(
        &self,
        domains: &[Domain],
        within: Option<&Relation>,
        place: &Surroundings,
        next: Next,
        isolated: bool,
    ) -> Result<Vec<Piece>, Error> {
        let kinds = self.kinds(place, next, isolated)?;
        let depth = place.depth + 1;
        let plain = kinds.atomic.is_none() && kinds.unroll.is_none() && kinds.separate.is_none();
        let count: usize = domains.iter().map(|domain| domain.levels.len()).sum();
        if within.is_none() && count == 1 && kinds.unroll.is_none() {
            return Ok(vec![Piece { set: None, isolated }]);
        }
        let mut all = Relation::empty(self.space(depth));
        for domain in domains {
            let set = match within {
                Some(within) => domain.set.intersect(within, self.budget)?,
                None => domain.set.clone(),
            };
            all = all.union(&set)?;
        }
        if plain {
            return self.remaining(&all, within, place, isolated);
        }
        let pieces = self.by_kind(domains, (all, within), &kinds, place)?;
        self.sorted(pieces, within, place, isolated)
    }

    /// Splits by options, each where it holds, and by nothing elsewhere.
    fn by_kind(
        &self,
        domains: &[Domain],
        (mut all, within): (Relation, Option<&Relation>),
        kinds: &Kinds,
        place: &Surroundings,
    ) -> Result<Vec<Relation>, Error> {
        let budget = self.budget;
        let mut pieces = Vec::new();
        let mut done = Relation::empty(all.space().clone());
        if let Some(option) = &kinds.atomic {
            let set = all.intersect(option, budget)?;
            if !set.is_empty(budget)? {
                pieces.push(set.coalesce(budget)?);
                all = all.subtract(option, budget)?;
                done = done.union(option)?;
            }
        }
        if let Some(option) = &kinds.unroll {
            let option = match within {
                Some(within) => option.intersect(within, budget)?,
                None => option.clone(),
            };
            for part in self.disjoint(&option)? {
                let set = all.intersect(&part, budget)?;
                if set.is_empty(budget)? {
                    continue;
                }
                let Some(slices) = self.slices(domains, &part, place)? else { continue };
                all = all.subtract(&part, budget)?;
                done = done.union(&part)?;
                pieces.extend(slices);
            }
        }
        if let Some(option) = &kinds.separate {
            let mut region = option.clone();
            if let Some(within) = within {
                region = region.intersect(within, budget)?;
            }
            pieces.extend(self.separated(domains, &region.subtract(&done, budget)?, place)?);
            all = all.subtract(option, budget)?;
        }
        if !all.is_empty(budget)? {
            pieces.extend(self.convex(&all, place)?);
        }
        Ok(pieces)
    }

    /// Splits `region` into parts in each of which the same statements have instances.
    ///
    /// Statements count by their explicit bounds: loops further inside keep to the others.
    fn separated(
        &self,
        domains: &[Domain],
        region: &Relation,
        place: &Surroundings,
    ) -> Result<Vec<Relation>, Error> {
        let (depth, budget) = (place.depth + 1, self.budget);
        let mut parts: Vec<Relation> = Vec::new();
        let mut seen = Relation::empty(region.space().clone());
        for domain in domains {
            let mut cells = Vec::new();
            for cell in BasicSet::all_of(&self.explicit_bounds(&domain.executed, depth)?)? {
                cells.push(Level::of(&cell, self.col(place.depth), &place.known, budget)?.cell);
            }
            let set = self.set(&cells, depth)?.intersect(region, budget)?;
            let mut next = Vec::new();
            for part in &parts {
                next.push(part.intersect(&set, budget)?);
                next.push(part.subtract(&set, budget)?);
            }
            next.push(set.subtract(&seen, budget)?);
            seen = seen.union(&set)?;
            parts.clear();
            for part in next {
                if !part.is_empty(budget)? {
                    parts.push(part);
                }
            }
        }
        let mut pieces = Vec::new();
        for part in parts {
            pieces.extend(self.disjoint(&part.coalesce(budget)?)?);
        }
        Ok(pieces)
    }

    /// Splits what no option speaks of.
    fn remaining(
        &self,
        all: &Relation,
        within: Option<&Relation>,
        place: &Surroundings,
        isolated: bool,
    ) -> Result<Vec<Piece>, Error> {
        let pieces = self.convex(all, place)?;
        if let ([_], None) = (&pieces[..], within) {
            return Ok(vec![Piece { set: None, isolated }]);
        }
        self.sorted(pieces, within, place, isolated)
    }

    /// Splits into disjoint conjunctions, unless they differ in outer dimensions only.
    fn convex(&self, all: &Relation, place: &Surroundings) -> Result<Vec<Relation>, Error> {
        let all = all.coalesce(self.budget)?;
        let col = self.col(place.depth);
        let inner = |cell: &BasicSet| {
            let mut rows: Vec<Vec<i128>> = crate::ast::loops::bounds::half_spaces(cell)
                .into_iter()
                .filter(|row| row[col] != 0)
                .collect();
            rows.sort();
            rows
        };
        let mut cells = BasicSet::all_of(&all)?;
        crate::ast::basic_set::share_divisions(&mut cells);
        if cells.windows(2).all(|pair| inner(&pair[0]) == inner(&pair[1])) {
            return Ok(if cells.is_empty() { Vec::new() } else { vec![all] });
        }
        self.disjoint(&all)
    }

    /// Splits a set into disjoint conjunctions.
    fn disjoint(&self, set: &Relation) -> Result<Vec<Relation>, Error> {
        let mut seen = Relation::empty(set.space().clone());
        let mut result = Vec::new();
        for part in set.conjunctions() {
            let part = Relation::from_conjunctions(set.space().clone(), &[part])?;
            let new = part.subtract(&seen, self.budget)?;
            for piece in new.conjunctions() {
                let piece = Relation::from_conjunctions(set.space().clone(), &[piece])?;
                if !piece.is_empty(self.budget)? {
                    result.push(piece.remove_redundancies(self.budget)?);
                }
            }
            seen = seen.union(&part)?;
        }
        Ok(result)
    }

    /// Orders disjoint pieces, which are all there is `within`; those that no order fits
    /// become one.
    fn sorted(
        &self,
        pieces: Vec<Relation>,
        within: Option<&Relation>,
        place: &Surroundings,
        isolated: bool,
    ) -> Result<Vec<Piece>, Error> {
        let cells = pieces.iter().map(BasicSet::all_of).collect::<Result<Vec<_>, _>>()?;
        let groups = components(pieces.len(), |i, j| {
            for a in &cells[i] {
                for b in &cells[j] {
                    if self.follows(a, b, place, false)? {
                        return Ok(true);
                    }
                }
            }
            Ok(false)
        })?;
        let mut sets = Vec::new();
        for group in groups {
            let mut set = pieces[group[0]].clone();
            for other in &group[1..] {
                set = set.union(&pieces[*other])?;
            }
            sets.push(set);
        }
        let mut result = Vec::new();
        for (index, set) in sets.iter().enumerate() {
            // Each disjunct of a piece may split each disjunct of a statement.
            let set = match set.conjunctions().len() {
                0 | 1 => Some(set.clone()),
                _ if sets.len() == 1 => within.cloned(),
                _ => Some(self.alone(index, &sets, within)?),
            };
            result.push(Piece { set, isolated });
        }
        Ok(result)
    }

    /// Returns one conjunction `within` which there is a set and no point of the others, if a
    /// simple hull gives one; else the set.
    fn alone(
        &self,
        index: usize,
        sets: &[Relation],
        within: Option<&Relation>,
    ) -> Result<Relation, Error> {
        let mut hull = sets[index].simple_hull(self.budget)?;
        if let Some(within) = within {
            // What is outside is for other pieces to run.
            hull = hull.intersect(within, self.budget)?;
            if hull.conjunctions().len() != 1 {
                return Ok(sets[index].clone());
            }
        }
        for (_, other) in sets.iter().enumerate().filter(|(i, _)| *i != index) {
            if !hull.is_disjoint(other, self.budget)? {
                return Ok(sets[index].clone());
            }
        }
        Ok(hull)
    }

    /// Returns whether a point of `a` is not before one of `b`, for the same outer dimensions.
    ///
    /// With `strictly`, whether it is after one.
    pub fn follows(
        &self,
        a: &BasicSet,
        b: &BasicSet,
        place: &Surroundings,
        strictly: bool,
    ) -> Result<bool, Error> {
        let (col, vars) = (self.col(place.depth), self.vars(place.depth + 2));
        let mut both = a.widened(vars);
        let mut other = vec![0; 1 + vars];
        other[col + 1] = 1;
        let other = crate::ast::basic_set::Linear { row: other, divisions: Vec::new() };
        both.join(&b.widened(vars).substitute(col, &other)?);
        both.join(&place.known.widened(vars));
        let mut row = vec![0; both.cols()];
        (row[0], row[col], row[col + 1]) = (-i128::from(strictly), 1, -1);
        both.part.inequalities.push(row);
        Ok(!both.relation(self.space(place.depth + 2))?.is_empty(self.budget)?)
    }
}

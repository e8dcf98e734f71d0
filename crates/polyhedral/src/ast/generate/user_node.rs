//! Calls: the instances at one point of the schedule.

use tangram_presburger::{Relation, Space, Tuple};

use super::build::{Builder, Executed, Graft, Surroundings};
use crate::Error;
use crate::ast::AstNodeKind;
use crate::ast::basic_set::{BasicSet, Linear, share_divisions};
use crate::ast::expression::simplify_divisions::outermost;

impl Builder<'_> {
    /// Generates a call for each statement that has an instance here.
    pub fn leaf(&mut self, executed: &Executed, place: &Surroundings) -> Result<Vec<Graft>, Error> {
        let mut grafts = Vec::new();
        for map in executed {
            grafts.extend(self.statement(map, place)?);
        }
        Ok(grafts)
    }

    fn statement(&mut self, map: &Relation, place: &Surroundings) -> Result<Vec<Graft>, Error> {
        let name = map.space().output.name.clone();
        let arguments = map.space().output.dims.len();
        let mut cells = Vec::new();
        for cell in BasicSet::all_of(map)? {
            // Only what can happen here decides what the arguments are.
            if !self.impossible(map, &cell, place)? {
                cells.push(cell);
            }
        }
        if cells.is_empty() {
            return Ok(Vec::new());
        }
        let parts: Vec<_> = cells.iter().map(|cell| cell.part.clone()).collect();
        let map = Relation::from_conjunctions(map.space().clone(), &parts)?;
        if let Some(calls) = self.calls(&cells, arguments, place)? {
            return self.call_each(&name, &map, calls, place);
        }
        let mut solved = Vec::new();
        for cell in &cells {
            solved.push(self.solved_cell(cell, map.space(), place)?);
        }
        if let Some(calls) = self.calls(&solved, arguments, place)? {
            return self.call_each(&name, &map, calls, place);
        }
        // Bounds and a stride leave one value: no condition tells cases apart.
        if let [_] = cells[..] {
            let grafts = self.instances(&map, place)?;
            let calls =
                |graft: &Graft| matches!(self.ast.node(graft.node), AstNodeKind::Call { .. });
            if grafts.iter().all(calls) {
                return Ok(grafts);
            }
        }
        if map.is_single_valued(self.budget)? {
            let map = map.lexmin(self.budget)?;
            if let Some(calls) = self.calls(&BasicSet::all_of(&map)?, arguments, place)? {
                return self.call_each(&name, &map, calls, place);
            }
        }
        self.instances(&map, place)
    }

    fn impossible(
        &self,
        map: &Relation,
        cell: &BasicSet,
        place: &Surroundings,
    ) -> Result<bool, Error> {
        let mut both = cell.clone();
        both.join(&place.known.widened(cell.vars));
        Ok(both.relation(map.space().clone())?.is_empty(self.budget)?)
    }

    /// Reads the arguments off each disjunct, if its equations say them.
    fn calls(
        &self,
        cells: &[BasicSet],
        arguments: usize,
        place: &Surroundings,
    ) -> Result<Option<Vec<Vec<Linear>>>, Error> {
        let mut all = Vec::new();
        for cell in cells {
            let Some(values) = self.values(cell, arguments, place)? else { return Ok(None) };
            all.push(values);
        }
        Ok(Some(all))
    }

    fn values(
        &self,
        cell: &BasicSet,
        arguments: usize,
        place: &Surroundings,
    ) -> Result<Option<Vec<Linear>>, Error> {
        let mut cell = cell.clone();
        cell.combine_equations(1 + self.vars(place.depth));
        let mut values: Vec<Option<Linear>> = vec![None; arguments];
        loop {
            let mut progress = false;
            for index in 0..arguments {
                if values[index].is_some() {
                    continue;
                }
                let col = self.col(place.depth + index);
                let Some(value) = cell.solved(col).or_else(|| self.exact(&cell, col, place)) else {
                    continue;
                };
                cell = cell.substitute(col, &value)?;
                for old in values.iter_mut().flatten() {
                    let mut scratch = BasicSet::universe(cell.vars);
                    let row = scratch.row_of(old);
                    scratch.part.equalities.push(row);
                    let mut scratch = scratch.substitute(col, &value)?;
                    let row = scratch.part.equalities.pop().unwrap_or_default();
                    *old = scratch.linear(&row);
                }
                values[index] = Some(value);
                progress = true;
            }
            if !progress {
                break;
            }
        }
        let Some(values) = values.into_iter().collect::<Option<Vec<Linear>>>() else {
            return Ok(None);
        };
        let vars = self.vars(place.depth);
        Ok(values.iter().map(|value| shortened(value, vars)).collect())
    }

    /// Adds the equations that hold over the integers to what does not say its arguments.
    pub fn solved(
        &self,
        executed: Executed,
        place: &Surroundings,
        total: usize,
    ) -> Result<Executed, Error> {
        let known = place.known.widened(self.vars(total));
        let place = Surroundings { depth: total, known, ..place.clone() };
        let mut result = Executed::new();
        for map in executed {
            let mut parts = Vec::new();
            for cell in BasicSet::all_of(&map)? {
                parts.push(self.solved_cell(&cell, map.space(), &place)?.part);
            }
            result.push(Relation::from_conjunctions(map.space().clone(), &parts)?);
        }
        Ok(result)
    }

    fn solved_cell(
        &self,
        cell: &BasicSet,
        space: &Space,
        place: &Surroundings,
    ) -> Result<BasicSet, Error> {
        if self.values(cell, space.output.dims.len(), place)?.is_some() {
            return Ok(cell.clone());
        }
        let mut both = cell.clone();
        both.join(&place.known.widened(cell.vars));
        let hull = both.relation(space.clone())?.affine_hull(self.budget)?;
        let mut result = cell.clone();
        for equations in BasicSet::all_of(&hull)? {
            result.join(&equations);
        }
        Ok(result)
    }

    /// Solves `a x + f = 0` for `x`, where `f` is over the schedule's dimensions alone.
    ///
    /// The domain of the disjunct says that `f` is a multiple of `a`.
    fn exact(&self, cell: &BasicSet, col: usize, place: &Surroundings) -> Option<Linear> {
        let instance = 1 + self.vars(place.depth)..1 + cell.vars;
        let mut inner = vec![false; cell.cols()];
        for other in instance {
            inner.iter_mut().zip(cell.dependent(other)).for_each(|(all, one)| *all |= one);
        }
        let alone = |row: &&Vec<i128>| {
            row[col] != 0 && (1..row.len()).all(|c| c == col || row[c] == 0 || !inner[c])
        };
        let row = cell.part.equalities.iter().find(alone)?;
        let row = if row[col] > 0 { crate::ast::basic_set::negated(row) } else { row.clone() };
        Some(crate::ast::loops::bounds::last(cell, &row, col))
    }

    /// Calls a statement, once for each different way to say its arguments.
    ///
    /// Disjuncts may share pairs of a point and an instance; each pair gives one call.
    fn call_each(
        &mut self,
        name: &str,
        map: &Relation,
        calls: Vec<Vec<Linear>>,
        place: &Surroundings,
    ) -> Result<Vec<Graft>, Error> {
        let mut groups: Vec<(Vec<Linear>, Relation)> = Vec::new();
        for (values, part) in calls.into_iter().zip(map.narrow_conjunctions()?) {
            let part = Relation::from_conjunctions(map.space().clone(), &[part])?;
            match groups.iter_mut().find(|(old, _)| same(old, &values)) {
                Some((_, pairs)) => *pairs = pairs.union(&part)?,
                None => groups.push((values, part)),
            }
        }
        let (all, pairs): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
        let mut grafts = Vec::new();
        for (values, set) in all.iter().zip(self.own_points(map, &pairs, place.depth)?) {
            grafts.extend(self.call(name, values, set, place)?);
        }
        Ok(grafts)
    }

    /// Returns where each of some parts of a statement has a call that no earlier part makes.
    ///
    /// At one point, two parts may stand for two instances: then both make their call.
    fn own_points(
        &self,
        map: &Relation,
        parts: &[Relation],
        depth: usize,
    ) -> Result<Vec<Relation>, Error> {
        let one_each = parts.len() > 1 && map.is_single_valued(self.budget)?;
        let mut seen = Relation::empty(self.space(depth));
        let mut result = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            if one_each {
                let set = self.domain(part, depth)?;
                result.push(set.subtract(&seen, self.budget)?);
                seen = seen.union(&set)?;
                continue;
            }
            let mut own = part.clone();
            for earlier in &parts[..index] {
                if !own.is_disjoint(earlier, self.budget)? {
                    own = own.subtract(earlier, self.budget)?;
                }
            }
            result.push(self.domain(&own, depth)?);
        }
        Ok(result)
    }

    /// Calls a statement at the points of a set.
    fn call(
        &mut self,
        name: &str,
        values: &[Linear],
        mut set: Relation,
        place: &Surroundings,
    ) -> Result<Option<Graft>, Error> {
        if set.conjunctions().len() > 1 {
            set = set.coalesce(self.budget)?;
        }
        let guard = self.needed(&set, &place.known.relation(self.space(place.depth))?)?;
        if guard.is_empty(self.budget)? {
            return Ok(None);
        }
        let guard = outermost(&guard, &place.known)?;
        let mut inner = place.clone();
        if let [condition] = &BasicSet::all_of(&guard)?[..] {
            inner.known.join(condition);
        }
        let mut arguments = Vec::new();
        for value in values {
            arguments.push(self.linear(value, &inner.known)?);
        }
        let node = self.ast.add(AstNodeKind::Call { statement: name.to_owned(), arguments });
        Ok(Some(Graft { guard: self.conjunction(Some(guard), None)?, node }))
    }

    /// Generates loops over the instances of one point, in lexicographic order.
    fn instances(&mut self, map: &Relation, place: &Surroundings) -> Result<Vec<Graft>, Error> {
        let space = map.space();
        let (depth, arguments) = (place.depth, space.output.dims.len());
        let total = depth + arguments;
        let to = Space::map(self.params.clone(), Tuple::anonymous(total), space.output.clone());
        let mut parts = Vec::new();
        for cell in BasicSet::all_of(map)? {
            let mut cell = cell.widened(self.vars(total + arguments));
            for index in 0..arguments {
                let mut row = vec![0; cell.cols()];
                (row[self.col(depth + index)], row[self.col(total + index)]) = (1, -1);
                cell.part.equalities.push(row);
            }
            parts.push(cell.part);
        }
        let executed = vec![Relation::from_conjunctions(to, &parts)?];
        self.dimensions(&executed, place, total)
    }
}

/// Drops the variables of the instance, which the value does not use.
fn shortened(value: &Linear, vars: usize) -> Option<Linear> {
    let mut cell = BasicSet::universe(value.row.len() - 1 - value.divisions.len());
    cell.part.divisions.clone_from(&value.divisions);
    cell.part.equalities.push(value.row.clone());
    let mut cell = cell.without_idle_divisions();
    let gone = 1 + vars..1 + cell.vars;
    let divisions = cell.part.divisions.iter().map(|division| &division.numerator);
    if divisions.chain(&cell.part.equalities).any(|row| row[gone.clone()].iter().any(|v| *v != 0)) {
        return None;
    }
    cell = cell.shortened(vars);
    let row = cell.part.equalities.pop()?;
    Some(cell.linear(&row))
}

/// Returns whether two lists of forms are written alike.
fn same(a: &[Linear], b: &[Linear]) -> bool {
    let cell = |value: &Linear| {
        let mut cell = BasicSet::universe(value.row.len() - 1 - value.divisions.len());
        let row = cell.row_of(value);
        cell.part.equalities.push(row);
        cell
    };
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| {
            let mut pair = [cell(a), cell(b)];
            share_divisions(&mut pair);
            pair[0] == pair[1]
        })
}

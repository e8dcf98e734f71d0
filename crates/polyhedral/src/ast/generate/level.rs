//! One dimension of the schedule: pieces in order, a loop or a value for each.

use tangram_presburger::Relation;

use super::build::{Builder, Executed, Graft, Next, Surroundings};
use crate::Error;
use crate::ast::basic_set::{BasicSet, Linear, negated, share_divisions};
use crate::ast::loops::bounds::{Level, Shared, first, last, shared};
use crate::ast::separation::order::components;
use crate::ast::separation::pieces::{Domain, Piece};
use crate::ast::{AstNodeKind, Expr};

impl Builder<'_> {
    /// Generates the dimension after the outer ones, and all that is inside.
    pub fn level(
        &mut self,
        executed: &Executed,
        place: &Surroundings,
        next: Next,
    ) -> Result<Vec<Graft>, Error> {
        let mut grafts = Vec::new();
        for group in self.groups(executed, place, next)? {
            let mut part: Executed = group.iter().map(|index| executed[*index].clone()).collect();
            let mut domains = self.domains(&part, place)?;
            let mut classes = Vec::new();
            if let Some(divided) = self.residues(&domains, place)? {
                (part, classes) = divided;
                domains = self.domains(&part, place)?;
            }
            let place = &Surroundings { classes, ..place.clone() };
            for piece in self.pieces(&domains, place, next)? {
                grafts.extend(self.piece(&domains, &piece, place, next)?);
            }
        }
        Ok(grafts)
    }

    /// Groups statements that must share their loops, in the order of the groups.
    fn groups(
        &self,
        executed: &Executed,
        place: &Surroundings,
        next: Next,
    ) -> Result<Vec<Vec<usize>>, Error> {
        if executed.len() < 2 {
            return components(executed.len(), |_, _| Ok(false));
        }
        let timed: Vec<_> =
            executed.iter().map(|map| self.timed(map, place)).collect::<Result<_, _>>()?;
        components(executed.len(), |i, j| self.runs_after(&timed[i], &timed[j], place, next))
    }

    /// Generates one piece: a loop, or the rest for the only value.
    fn piece(
        &mut self,
        domains: &[Domain],
        piece: &Piece,
        place: &Surroundings,
        next: Next,
    ) -> Result<Vec<Graft>, Error> {
        let (depth, col) = (place.depth, self.col(place.depth));
        let known = place.known.widened(self.vars(depth + 1));
        let mut part = Executed::new();
        let mut levels = Vec::new();
        for domain in domains {
            let (map, inside) = match &piece.set {
                Some(set) => {
                    let map = self.restricted(&domain.executed, set)?;
                    let inside = self.levels(&map, place)?;
                    (map, inside)
                }
                None => (domain.executed.clone(), domain.levels.clone()),
            };
            if !inside.is_empty() {
                part.push(map);
                levels.extend(inside);
            }
        }
        if levels.is_empty() {
            return Ok(Vec::new());
        }
        for level in &mut levels {
            level.cell = self.in_names(level.cell.clone(), &place.known)?;
        }
        let mut all = levels.clone();
        // What the piece says holds for every disjunct. A row that says it by a division of
        // this dimension would give the dimension as value of itself.
        if let Some([cell]) = piece.set.as_ref().map(BasicSet::all_of).transpose()?.as_deref() {
            let cell = self.in_names(cell.clone(), &place.known)?;
            let said = Level::of(&cell, col, &place.known, self.budget)?;
            for level in &mut all {
                level.cell.join(&said.cell);
            }
        }
        let shared = shared(&all, &known, col, self.budget)?;
        let place = Surroundings { isolated: piece.isolated, ..place.clone() };
        match shared.value(col) {
            Some(value) => self.assignment(&part, &shared, &value, &place, next),
            None => self.repetition(&part, &shared, &levels, &place, next),
        }
    }

    /// Generates the rest of the schedule for the only value of this dimension.
    fn assignment(
        &mut self,
        executed: &Executed,
        shared: &Shared,
        value: &Linear,
        place: &Surroundings,
        next: Next,
    ) -> Result<Vec<Graft>, Error> {
        let (depth, col) = (place.depth, self.col(place.depth));
        let mut cell = shared.cell.clone();
        if let Some(stride) = &shared.stride {
            stride.constrain(&mut cell, col)?;
        }
        // As for a loop, what outer dimensions must fulfil is left to what is inside. Of several
        // statements each would bring its part of the bounds back: they stay in front of all.
        let several = executed.len() > 1;
        cell.part.inequalities.retain(|row| several && row[col] != 0);
        let condition = cell.substitute(col, value)?.shortened(self.vars(depth));
        let context = place.known.relation(self.space(depth))?;
        let guard = self.needed(&condition.relation(self.space(depth))?, &context)?;
        let mut inner = place.known.clone();
        let parts = BasicSet::all_of(&guard)?;
        let [condition] = &parts[..] else { return Ok(Vec::new()) };
        inner.join(condition);
        let mut inner = inner.widened(self.vars(depth + 1));
        inner.fix(col, value);
        let fixed: Executed =
            executed.iter().map(|map| self.fixed(map, depth, value)).collect::<Result<_, _>>()?;
        let inner = Surroundings {
            depth: depth + 1,
            known: inner,
            isolated: place.isolated,
            classes: Vec::new(),
        };
        self.enter(depth, false);
        let mut grafts = self.after_classes(&fixed, &inner, &place.classes, next)?;
        for graft in &mut grafts {
            let outer = graft.guard.take();
            let outer =
                outer.map(|guard| self.without_dimension(&guard, depth, value)).transpose()?;
            graft.guard = self.conjunction(Some(guard.clone()), outer)?;
        }
        Ok(grafts)
    }

    /// Notes whether there is a loop over a dimension; what is said of inner ones is past.
    fn enter(&mut self, depth: usize, is_loop: bool) {
        self.loops.truncate(depth);
        self.loops.push(is_loop);
    }

    /// Puts a value in the place of the last dimension of a set.
    fn without_dimension(
        &self,
        guard: &Relation,
        depth: usize,
        value: &Linear,
    ) -> Result<Relation, Error> {
        let guard = guard.align_params(&self.params)?;
        let mut cells = Vec::new();
        for cell in BasicSet::all_of(&guard)? {
            cells.push(cell.substitute(self.col(depth), value)?.shortened(self.vars(depth)));
        }
        Ok(self.set(&cells, depth)?)
    }

    /// Combines two conditions; nothing stands for one that always holds.
    pub fn conjunction(
        &self,
        a: Option<Relation>,
        b: Option<Relation>,
    ) -> Result<Option<Relation>, Error> {
        let always = |set: &Relation| {
            set.conjunctions()
                .iter()
                .any(|part| part.equalities.is_empty() && part.inequalities.is_empty())
        };
        let (a, b) = (a.filter(|set| !always(set)), b.filter(|set| !always(set)));
        Ok(match (a, b) {
            (Some(a), Some(b)) => {
                let both = a.intersect(&b, self.budget)?;
                Some(self.needed(&both, &Relation::universe(both.space().clone()))?)
            }
            (a, b) => a.or(b),
        })
    }

    /// Generates a loop around the rest of the schedule.
    fn repetition(
        &mut self,
        executed: &Executed,
        shared: &Shared,
        levels: &[Level],
        place: &Surroundings,
        next: Next,
    ) -> Result<Vec<Graft>, Error> {
        let depth = place.depth;
        let col = self.col(depth);
        let tightened = self.tightened(shared, executed, place)?;
        let shared = tightened.as_ref().unwrap_or(shared);
        // What the outer dimensions must fulfil is left to what is inside: mostly its loops
        // have no iterations otherwise, and a condition that is needed comes back out.
        let mut bounds = shared.cell.clone();
        bounds.part.inequalities.retain(|row| row[col] != 0);
        let idle = self.idle(shared, &place.known, depth)?;
        let mut inner = place.known.widened(self.vars(depth + 1));
        inner.join(&bounds);
        if let Some(idle) = &idle {
            inner.join(&idle.widened(self.vars(depth + 1)));
        }
        if let Some(stride) = &shared.stride {
            stride.constrain(&mut inner, col)?;
        }
        let inner = Surroundings {
            depth: depth + 1,
            known: inner,
            isolated: place.isolated,
            classes: Vec::new(),
        };
        self.enter(depth, true);
        let mut grafts = self.after_classes(executed, &inner, &place.classes, next)?;
        let hoisted = self.hoist(&mut grafts, &inner.known, depth)?;
        let Some(body) = self.assemble(grafts, &inner)? else { return Ok(Vec::new()) };
        let mut outer = place.clone();
        if let Some([cell]) = hoisted.as_ref().map(BasicSet::all_of).transpose()?.as_deref() {
            outer.known.join(cell);
        }
        let idle = idle.map(|idle| idle.relation(self.space(depth))).transpose()?;
        let Some(lower) = self.bound(shared, levels, &outer, true)? else {
            return Err(self.no_first_value(depth, executed));
        };
        let upper = self.bound(shared, levels, &outer, false)?;
        let node = self.ast.add(AstNodeKind::For {
            iterator: depth as u32,
            lower,
            upper,
            step: shared.stride.as_ref().map_or(1, |stride| stride.modulus),
            coincident: self.coincident(next),
            body,
        });
        if let Some(jam) = self.jam_of(next)? {
            self.jams.insert(node, jam);
        }
        Ok(vec![Graft { guard: self.conjunction(hoisted, idle)?, node }])
    }

    /// Finds the conditions on parameters without which a loop has iterations in which nothing runs:
    /// those that its bounds do not say.
    fn idle(
        &self,
        shared: &Shared,
        known: &BasicSet,
        depth: usize,
    ) -> Result<Option<BasicSet>, Error> {
        if !self.options.guard_idle_loops {
            return Ok(None);
        }
        let col = self.col(depth);
        let rows = shared.cell.part.inequalities.iter();
        let rows: Vec<&Vec<i128>> =
            rows.filter(|row| self.is_of_params(&shared.cell, row)).collect();
        if rows.is_empty() {
            return Ok(None);
        }
        let mut bounds = shared.cell.clone();
        bounds.part.inequalities.retain(|row| row[col] != 0);
        let mut runs = known.widened(self.vars(depth + 1));
        runs.join(&bounds);
        let mut relaxation = runs.relaxation(self.budget)?;
        let plain = 1 + self.params.len();
        let mut idle = shared.cell.clone();
        idle.part.equalities.clear();
        idle.part.inequalities.clear();
        for row in rows {
            // Divisions of the two have columns of their own: a row that has some is not looked for.
            let is_said = row[plain..].iter().all(|value| *value == 0) && {
                let mut row = row[..plain].to_vec();
                row.resize(runs.cols(), 0);
                relaxation.implies(&row, self.budget)?
            };
            if !is_said {
                idle.part.inequalities.push(row.clone());
            }
        }
        let idle = idle.without_idle_divisions().shortened(self.vars(depth));
        Ok((!idle.part.inequalities.is_empty()).then_some(idle))
    }

    /// Whether a row of a cell says something of parameters alone, also by divisions of these.
    fn is_of_params(&self, cell: &BasicSet, row: &[i128]) -> bool {
        let (params, first) = (1 + self.params.len(), 1 + cell.vars);
        let mut open = vec![row];
        while let Some(row) = open.pop() {
            if row[params..first].iter().any(|value| *value != 0) {
                return false;
            }
            let used =
                row[first..].iter().zip(&cell.part.divisions).filter(|(value, _)| **value != 0);
            open.extend(used.map(|(_, division)| division.numerator.as_slice()));
        }
        true
    }

    fn no_first_value(&self, depth: usize, executed: &Executed) -> Error {
        let mut names: Vec<String> =
            executed.iter().map(|map| format!("`{}`", map.space().output.name)).collect();
        names.dedup();
        let iterator = self.ast.iterator(depth as u32);
        Error::NoFirstValue { iterator, statements: names.join(", ") }
    }

    /// Takes the rows that the conditions of all grafts have, or imply where `known` facts hold, and
    /// that do not use the iterator: a loop runs through none of its iterations in vain.
    fn hoist(
        &self,
        grafts: &mut [Graft],
        known: &BasicSet,
        depth: usize,
    ) -> Result<Option<Relation>, Error> {
        let mut cells = Vec::new();
        for graft in grafts.iter() {
            let Some(guard) = &graft.guard else { return Ok(None) };
            let mut parts = BasicSet::all_of(&guard.align_params(&self.params)?)?;
            let (Some(cell), true) = (parts.pop(), parts.is_empty()) else {
                return self.hoist_whole(grafts, depth);
            };
            cells.push(cell);
        }
        share_divisions(&mut cells);
        let Some(mut common) = cells.first().cloned() else { return Ok(None) };
        let depends = common.dependent(self.col(depth));
        let outer = |row: &Vec<i128>| row.iter().zip(&depends).all(|(v, d)| *v == 0 || !*d);
        common.part.equalities.retain(|row| {
            outer(row) && cells.iter().all(|cell| cell.part.equalities.contains(row))
        });
        let rows = cells.iter().flat_map(|cell| &cell.part.inequalities).filter(|row| outer(row));
        common.part.inequalities = self.shared_rows(rows, &cells, known)?;
        if common.part.equalities.is_empty() && common.part.inequalities.is_empty() {
            return Ok(None);
        }
        let context = common.clone().without_idle_divisions().relation(self.space(depth + 1))?;
        for (graft, mut cell) in grafts.iter_mut().zip(cells) {
            let has = |row: &Vec<i128>| cell.parallel(row).next().is_some();
            let implied = !common.part.inequalities.iter().all(has);
            cell.part.equalities.retain(|row| !common.part.equalities.contains(row));
            cell.part.inequalities.retain(|row| !common.part.inequalities.contains(row));
            let mut rest = cell.without_idle_divisions().relation(self.space(depth + 1))?;
            if implied {
                rest = self.needed(&rest, &context)?;
            }
            graft.guard = self.conjunction(Some(rest), None)?;
        }
        let common = common.without_idle_divisions().shortened(self.vars(depth));
        Ok(Some(common.relation(self.space(depth))?))
    }

    /// Returns those of some rows that all cells have or imply, each as its weakest parallel one.
    fn shared_rows<'r>(
        &self,
        rows: impl Iterator<Item = &'r Vec<i128>>,
        cells: &[BasicSet],
        known: &BasicSet,
    ) -> Result<Vec<Vec<i128>>, Error> {
        let relaxed = |cell: &BasicSet| {
            let mut cell = cell.clone();
            cell.join(known);
            cell.relaxation(self.budget)
        };
        let mut relaxations = match cells {
            [_] => Vec::new(),
            _ => cells.iter().map(relaxed).collect::<Result<_, _>>()?,
        };
        let mut found: Vec<Vec<i128>> = Vec::new();
        'rows: for row in rows {
            let parallel = |cell: &BasicSet| cell.parallel(row).map(|row| row[0]).max();
            let constants: Vec<Option<i128>> = cells.iter().map(parallel).collect();
            let mut row = row.clone();
            row[0] = constants.iter().flatten().fold(row[0], |most, own| most.max(*own));
            if found.contains(&row) {
                continue;
            }
            for (relaxation, constant) in relaxations.iter_mut().zip(&constants) {
                if constant.is_none() && !relaxation.implies(&row, self.budget)? {
                    continue 'rows;
                }
            }
            found.push(row);
        }
        Ok(found)
    }

    /// Takes a condition of several disjuncts that all grafts have, if none uses the iterator.
    fn hoist_whole(&self, grafts: &mut [Graft], depth: usize) -> Result<Option<Relation>, Error> {
        let Some(first) = grafts.first().and_then(|graft| graft.guard.clone()) else {
            return Ok(None);
        };
        let parts = first.conjunctions();
        let same =
            |graft: &Graft| graft.guard.as_ref().is_some_and(|guard| guard.conjunctions() == parts);
        let cells = BasicSet::all_of(&first)?;
        let col = self.col(depth);
        let outer = |cell: &BasicSet| {
            let divisions = cell.part.divisions.iter().map(|division| &division.numerator);
            let mut rows =
                cell.part.equalities.iter().chain(&cell.part.inequalities).chain(divisions);
            rows.all(|row| row[col] == 0)
        };
        if first.space().params != self.params
            || !cells.iter().all(outer)
            || !grafts.iter().all(same)
        {
            return Ok(None);
        }
        let cells: Vec<BasicSet> =
            cells.into_iter().map(|cell| cell.shortened(self.vars(depth))).collect();
        let hoisted = self.set(&cells, depth)?;
        grafts.iter_mut().for_each(|graft| graft.guard = None);
        Ok(Some(hoisted))
    }

    /// Writes the first or last value of a loop; nothing if there is none.
    fn bound(
        &mut self,
        shared: &Shared,
        levels: &[Level],
        place: &Surroundings,
        lower: bool,
    ) -> Result<Option<Expr>, Error> {
        let col = self.col(place.depth);
        let sides = |cell: &BasicSet| -> Vec<Vec<i128>> {
            let equations = cell.part.equalities.iter().filter(|row| row[col] != 0);
            let both = equations.flat_map(|row| [row.clone(), negated(row)]);
            let rows = cell.part.inequalities.iter().cloned().chain(both);
            rows.filter(|row| if lower { row[col] > 0 } else { row[col] < 0 }).collect()
        };
        let mut candidates = vec![(shared.cell.clone(), sides(&shared.cell))];
        if candidates[0].1.is_empty() {
            candidates = levels.iter().map(|l| (l.cell.clone(), sides(&l.cell))).collect();
        }
        let mut each = Vec::new();
        for (cell, rows) in &candidates {
            if rows.is_empty() {
                return Ok(None);
            }
            let mut values = Vec::new();
            for row in rows {
                values.push(self.bound_of(cell, row, shared, place, lower)?);
            }
            each.push(if lower { self.maximum(values) } else { self.minimum(values) });
        }
        Ok(Some(if lower { self.minimum(each) } else { self.maximum(each) }))
    }

    fn bound_of(
        &mut self,
        cell: &BasicSet,
        row: &[i128],
        shared: &Shared,
        place: &Surroundings,
        lower: bool,
    ) -> Result<Expr, Error> {
        let col = self.col(place.depth);
        let value = if lower {
            first(cell, shared.stride.as_ref(), row, col)
        } else {
            last(cell, row, col)
        };
        self.linear(&value, &place.known.widened(self.vars(place.depth + 1)))
    }
}

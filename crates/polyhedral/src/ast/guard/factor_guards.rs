//! Conditions that neighbours share, around all of them.

use crate::Error;
use crate::ast::basic_set::{BasicSet, share_divisions};
use crate::ast::generate::build::{Builder, Graft, Surroundings};

impl Builder<'_> {
    /// Puts neighbours whose conditions hold that of one of them under that one.
    pub fn nested(
        &mut self,
        grafts: Vec<Graft>,
        place: &Surroundings,
    ) -> Result<Vec<Graft>, Error> {
        if grafts.len() < 2 || grafts.iter().all(|graft| graft.guard.is_none()) {
            return Ok(grafts);
        }
        let mut cells = Vec::new();
        for graft in &grafts {
            // Something that shares nothing with its neighbours: no rows, or many disjuncts.
            let mut cell = BasicSet::universe(place.known.vars);
            if let Some(guard) = &graft.guard
                && let [one] = &BasicSet::all_of(&guard.align_params(&self.params)?)?[..]
                && one.vars == cell.vars
            {
                cell = one.clone();
            }
            cells.push(cell);
        }
        share_divisions(&mut cells);
        let mut result = Vec::new();
        let mut start = 0;
        let mut rest = grafts.into_iter();
        while start < cells.len() {
            let choices = [start, start + 1];
            let lengths = choices.into_iter().filter(|at| *at < cells.len()).map(|at| {
                let held = cells[start..].iter().take_while(|cell| holds(cell, &cells[at]));
                (held.count(), at)
            });
            let (length, at) =
                lengths.max_by_key(|(length, at)| (*length, start + 1 - at)).unwrap_or((0, start));
            let run = start..start + length;
            if length < 2 || cells[run.clone()].iter().all(|cell| cell.part == cells[at].part) {
                result.extend(rest.next());
                start += 1;
                continue;
            }
            let common = cells[at].clone();
            let mut inner = Vec::new();
            for (cell, graft) in cells[run].iter().zip(rest.by_ref()) {
                let mut cell = cell.clone();
                cell.part.equalities.retain(|row| !common.part.equalities.contains(row));
                cell.part.inequalities.retain(|row| !common.part.inequalities.contains(row));
                let own = cell.without_idle_divisions().relation(self.space(place.depth))?;
                inner.push(Graft { guard: self.conjunction(Some(own), None)?, node: graft.node });
            }
            let common = common.without_idle_divisions();
            let mut place = place.clone();
            place.known.join(&common);
            let guard = Some(common.relation(self.space(place.depth))?);
            if let Some(node) = self.assemble(inner, &place)? {
                result.push(Graft { guard, node });
            }
            start += length;
        }
        Ok(result)
    }
}

/// Returns whether a condition has all rows of another, or tighter ones; it must have some.
fn holds(cell: &BasicSet, other: &BasicSet) -> bool {
    let (own, rows) = (&cell.part, &other.part);
    rows.equalities.len() + rows.inequalities.len() > 0
        && rows.equalities.iter().all(|row| own.equalities.contains(row))
        && rows.inequalities.iter().all(|row| cell.parallel(row).any(|own| own[0] <= row[0]))
}

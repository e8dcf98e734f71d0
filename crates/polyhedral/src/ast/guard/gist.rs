//! Conditions without what is known already.

use crate::Conjunction;
use tangram_presburger::Relation;

use crate::Error;
use crate::ast::basic_set::{BasicSet, negated};
use crate::ast::generate::build::Builder;

impl Builder<'_> {
    /// Drops what `context` implies from a condition.
    ///
    /// A gist compares rows; that a stride, or a sum of rows over integers, implies another
    /// row is found here, by an emptiness test for each row that is left.
    pub fn needed(&self, set: &Relation, context: &Relation) -> Result<Relation, Error> {
        let gist = set.gist(context, self.budget)?;
        let mut parts = Vec::new();
        let mut changed = false;
        for cell in BasicSet::all_of(&gist)? {
            let reduced = cell.reduced()?;
            changed |= reduced != cell;
            let mut part = reduced.part;
            changed |= self.lighten(&mut part, &gist, context)?;
            parts.push(part);
        }
        match changed {
            true => Ok(Relation::from_conjunctions(gist.space().clone(), &parts)?),
            false => Ok(gist),
        }
    }

    /// Removes rows that the context and the other rows imply; says whether there are any.
    fn lighten(
        &self,
        part: &mut Conjunction,
        gist: &Relation,
        context: &Relation,
    ) -> Result<bool, Error> {
        let before = part.equalities.len() + part.inequalities.len();
        for index in (0..part.inequalities.len()).rev() {
            let mut rest = part.clone();
            let row = rest.inequalities.remove(index);
            if self.excludes(&rest, context, gist, &below(&row))? {
                *part = rest;
            }
        }
        for index in (0..part.equalities.len()).rev() {
            let mut rest = part.clone();
            let row = rest.equalities.remove(index);
            if self.excludes(&rest, context, gist, &below(&row))?
                && self.excludes(&rest, context, gist, &below(&negated(&row)))?
            {
                *part = rest;
            }
        }
        Ok(part.equalities.len() + part.inequalities.len() < before)
    }

    /// Returns whether no point of `context` keeps to `rest` and to `row >= 0`.
    fn excludes(
        &self,
        rest: &Conjunction,
        context: &Relation,
        gist: &Relation,
        row: &[i128],
    ) -> Result<bool, Error> {
        let mut trial = rest.clone();
        trial.inequalities.push(row.to_vec());
        let trial = Relation::from_conjunctions(gist.space().clone(), &[trial])?;
        Ok(trial.intersect(context, self.budget)?.is_empty(self.budget)?)
    }
}

/// Returns the row that is not negative where `row` is.
fn below(row: &[i128]) -> Vec<i128> {
    let mut row = negated(row);
    row[0] -= 1;
    row
}

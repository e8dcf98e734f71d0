//! Forms made shorter by equations that hold where the code runs.
//!
//! Where `c0 = m - 1`, the sum `c0 - m + 2` is 1.

use tangram_presburger::Error;

use crate::ast::basic_set::{BasicSet, combine};

/// Equations between parameters, loops and divisions of them.
pub(in crate::ast) struct Equal<'a> {
    known: &'a BasicSet,
    /// Whether a column has a name in the code: a dimension without a loop has none.
    named: &'a dyn Fn(usize) -> bool,
}

impl<'a> Equal<'a> {
    /// Takes the equations of `known`; nothing if there are none.
    pub fn of(known: &'a BasicSet, named: &'a dyn Fn(usize) -> bool) -> Option<Self> {
        (!known.part.equalities.is_empty()).then_some(Self { known, named })
    }

    /// Rewrites divisions and equations of `cell`; nothing if none gets shorter.
    pub fn shortened(&self, cell: &BasicSet) -> Result<Option<BasicSet>, Error> {
        let mut result = cell.clone();
        let own = result.part.equalities.len();
        let mut facts = BasicSet::universe(self.known.vars);
        facts.part.divisions.clone_from(&self.known.part.divisions);
        facts.part.equalities.clone_from(&self.known.part.equalities);
        result.join(&facts.widened(cell.vars));
        let facts = result.part.equalities.split_off(own);
        let first = 1 + cell.vars;
        let mut any = false;
        let divisions = result.part.divisions.iter_mut().map(|division| &mut division.numerator);
        for (at, row) in divisions.take(cell.part.divisions.len()).enumerate() {
            // A division is over those before it.
            let fits = |fact: &&Vec<i128>| fact[first + at..].iter().all(|v| *v == 0);
            let facts: Vec<&Vec<i128>> = facts.iter().filter(fits).collect();
            any |= self.shorten(row, first, &facts)?;
        }
        let facts: Vec<&Vec<i128>> = facts.iter().collect();
        for row in &mut result.part.equalities {
            any |= self.shorten(row, first, &facts)?;
        }
        if !any {
            return Ok(None);
        }
        // Divisions may have become the same.
        let mut joined = BasicSet::universe(cell.vars);
        joined.join(&result);
        Ok(Some(joined.without_idle_divisions()))
    }

    /// Adds multiples of equations as long as that makes a form shorter; says whether it does.
    fn shorten(
        &self,
        row: &mut Vec<i128>,
        first: usize,
        facts: &[&Vec<i128>],
    ) -> Result<bool, Error> {
        let before = length(row, first);
        let mut least = before;
        loop {
            let mut best = None;
            for fact in facts {
                for col in 1..fact.len().min(row.len()) {
                    if row[col] == 0 || fact[col] == 0 || row[col] % fact[col] != 0 {
                        continue;
                    }
                    let mut other = combine(1, row, -(row[col] / fact[col]), fact)?;
                    let named = |col: usize| other[col] == 0 || (self.named)(col);
                    let length = length(&other, first);
                    if length < least && (1..first).all(named) {
                        least = length;
                        // Numerators have no columns for the divisions after them.
                        other.truncate(row.len());
                        best = Some(other);
                    }
                }
            }
            let Some(shorter) = best else { return Ok(least < before) };
            *row = shorter;
        }
    }
}

/// How long a sum is: its terms, those with a factor twice, and divisions, from column `first`
/// on, twice as well.
fn length(row: &[i128], first: usize) -> usize {
    let term = |v: &i128| usize::from(*v != 0) + usize::from(v.abs() > 1);
    let divisions = row.iter().skip(first).filter(|v| **v != 0).count();
    usize::from(row[0] != 0) + row[1..].iter().map(term).sum::<usize>() + 2 * divisions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Conjunction;

    /// `[m] -> [c0, c1]` with one equation.
    fn cell(row: [i128; 4]) -> BasicSet {
        let part = Conjunction { equalities: vec![row.to_vec()], ..Conjunction::default() };
        BasicSet { vars: 3, part }
    }

    #[test]
    fn a_sum_takes_the_value_that_is_known() {
        // c0 = m - 1
        let known = cell([-1, 1, -1, 0]);
        let equal = Equal::of(&known, &|_| true).expect("an equation");
        let short = |row: [i128; 4]| {
            let found = equal.shortened(&cell(row)).expect("small");
            found.map(|mut cell| cell.part.equalities.remove(0))
        };
        assert_eq!(short([2, -1, 1, 0]), Some(vec![1, 0, 0, 0]));
        assert_eq!(short([1, 0, 1, 0]), Some(vec![0, 1, 0, 0]));
        assert_eq!(short([0, 0, 1, 1]), None, "m - 1 is longer");
    }

    #[test]
    fn a_dimension_without_a_loop_is_not_used() {
        // c1 = c0 - m, of which c1 is written nowhere.
        let known = cell([0, -1, 1, -1]);
        let form = cell([0, -1, 1, 0]);
        let equal = Equal::of(&known, &|col| col != 3).expect("an equation");
        assert_eq!(equal.shortened(&form).expect("small"), None);
        let equal = Equal::of(&known, &|_| true).expect("an equation");
        assert!(equal.shortened(&form).expect("small").is_some());
    }
}

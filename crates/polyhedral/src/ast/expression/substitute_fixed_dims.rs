//! Rows in what code can refer to: a dimension without a loop has a value but no name.
//!
//! A value is put in where a dimension is fixed, but options of a band, and simplification by
//! the equation `c0 = m - 3` itself, can bring `c0` back.

use crate::Error;
use crate::ast::basic_set::{BasicSet, Linear};
use crate::ast::generate::build::Builder;

impl Builder<'_> {
    /// Returns whether code can refer to a column: not to a dimension without a loop.
    pub fn is_named(&self, col: usize) -> bool {
        let dim = col.checked_sub(1 + self.params.len());
        dim.is_none_or(|dim| self.loops.get(dim).is_some_and(|is_loop| *is_loop))
    }

    /// Puts values in the place of dimensions of `known` that have no loop.
    pub fn in_names(&self, mut cell: BasicSet, known: &BasicSet) -> Result<BasicSet, Error> {
        if cell.vars < known.vars {
            return Ok(cell);
        }
        for col in (self.col(0)..=known.vars).rev() {
            if self.is_named(col) || !cell.uses(col) {
                continue;
            }
            if let Some(value) = self.value_of(known, col) {
                cell = cell.substitute(col, &self.spread(&value, cell.vars))?;
            }
        }
        Ok(cell)
    }

    /// Finds an equation that says a dimension by outer ones or by those with a name.
    fn value_of(&self, known: &BasicSet, col: usize) -> Option<Linear> {
        let mut values = known.part.equalities.iter().filter_map(|row| {
            let mut one = BasicSet::universe(known.vars);
            one.part.divisions.clone_from(&known.part.divisions);
            one.part.equalities.push(row.clone());
            one.without_idle_divisions().solved(col)
        });
        // Outer dimensions are looked at after inner ones: what has no name goes then.
        let fits = |value: &Linear| {
            let vars = value.row.len() - value.divisions.len();
            let rows = std::iter::once(&value.row);
            let mut rows = rows.chain(value.divisions.iter().map(|division| &division.numerator));
            rows.all(|row| (col..vars).all(|c| row[c] == 0 || self.is_named(c)))
        };
        values.find(fits)
    }
}

impl BasicSet {
    /// Returns whether a row or a division has a variable column.
    fn uses(&self, col: usize) -> bool {
        let divisions = self.part.divisions.iter().map(|division| &division.numerator);
        let mut rows = self.part.equalities.iter().chain(&self.part.inequalities).chain(divisions);
        rows.any(|row| row[col] != 0)
    }
}

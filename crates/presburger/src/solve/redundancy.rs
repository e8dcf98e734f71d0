//! Inequalities that follow from the others.

use super::number::{Number, fit, widening};
use super::simplex::Simplex;
use crate::system::System;
use crate::{Budget, Error};

/// Drops the inequalities that the rest implies, the later of two first.
///
/// `bounds` hold as well, but are not part of the system.
pub(crate) fn remove_redundant_given(
    system: &mut System,
    bounds: &System,
    budget: &Budget,
) -> Result<(), Error> {
    let kept = widening!(T => essential::<T>(system, bounds, budget))?;
    let mut result = System::new(system.cols() - 1);
    result.eqs = system.eqs.clone();
    for (row, _) in system.ineqs.rows().zip(kept).filter(|(_, kept)| *kept) {
        result.ineqs.push(row);
    }
    *system = result;
    Ok(())
}

/// Drops the inequalities that the rest implies.
pub(crate) fn remove_redundant(system: &mut System, budget: &Budget) -> Result<(), Error> {
    remove_redundant_given(system, &System::new(system.cols() - 1), budget)
}

fn essential<T: Number>(
    system: &System,
    bounds: &System,
    budget: &Budget,
) -> Result<Vec<bool>, Error> {
    let rows: Vec<Vec<T>> = system.ineqs.rows().map(narrowed).collect::<Result<_, _>>()?;
    let mut kept = vec![true; rows.len()];
    let mut fixed = Simplex::new(system.cols() - 1);
    add_rows(&mut fixed, system, bounds, budget)?;
    // The rows after the one in question; each test starts from the nearest tableau.
    let mut suffix = vec![fixed.clone()];
    for row in rows.iter().rev() {
        let mut next = suffix[suffix.len() - 1].clone();
        next.add_inequality(row, budget)?;
        suffix.push(next);
    }
    if suffix[rows.len()].is_empty() {
        return Ok(kept);
    }
    for index in 0..rows.len() {
        // Rows before `index` that were kept are in `fixed`, rows after it in `suffix`.
        let mut others = suffix[rows.len() - 1 - index].clone();
        for row in (0..index).filter(|i| kept[*i]) {
            others.add_inequality(&rows[row], budget)?;
        }
        kept[index] = !others.implies(&rows[index], budget)?;
    }
    Ok(kept)
}

/// Adds the equations of `system` and everything in `bounds`.
pub(crate) fn add_rows<T: Number>(
    simplex: &mut Simplex<T>,
    system: &System,
    bounds: &System,
    budget: &Budget,
) -> Result<(), Error> {
    for row in system.eqs.rows().chain(bounds.eqs.rows()) {
        simplex.add_equation(&narrowed(row)?, budget)?;
    }
    for row in bounds.ineqs.rows() {
        simplex.add_inequality(&narrowed(row)?, budget)?;
    }
    Ok(())
}

/// Takes a row to integers of the width at hand.
pub(crate) fn narrowed<T: Number>(row: &[i128]) -> Result<Vec<T>, Error> {
    row.iter().map(|v| fit(T::of(*v))).collect()
}

//! Inequalities that follow from the others.

use super::number::{Number, fit, widening};
use super::simplex::{Optimum, Simplex};
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

/// Marks the rows that the kept ones and `given` do not imply over the rationals.
pub(crate) fn rationally_essential(
    rows: &[Vec<i128>],
    given: &[Vec<i128>],
    vars: usize,
    budget: &Budget,
) -> Result<Vec<bool>, Error> {
    widening!(T => {
        let rows: Vec<Vec<T>> = rows.iter().map(|r| narrowed(r)).collect::<Result<_, _>>()?;
        let mut fixed = Simplex::new(vars);
        for row in given {
            fixed.add_inequality(&narrowed::<T>(row)?, budget)?;
        }
        sieve(&rows, fixed, false, budget)
    })
}

fn essential<T: Number>(
    system: &System,
    bounds: &System,
    budget: &Budget,
) -> Result<Vec<bool>, Error> {
    let rows: Vec<Vec<T>> = system.ineqs.rows().map(narrowed).collect::<Result<_, _>>()?;
    let mut fixed = Simplex::new(system.cols() - 1);
    add_rows(&mut fixed, system, bounds, budget)?;
    sieve(&rows, fixed, true, budget)
}

/// Tests each row against those kept before it and all after it; `fixed` holds anyway.
fn sieve<T: Number>(
    rows: &[Vec<T>],
    fixed: Simplex<T>,
    integers: bool,
    budget: &Budget,
) -> Result<Vec<bool>, Error> {
    let mut kept = vec![true; rows.len()];
    // The rows after the one in question; each test starts from the nearest tableau.
    let mut suffix = vec![fixed];
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
        kept[index] = match others.optimum(&rows[index], -1, budget)? {
            Optimum::Unbounded => true,
            // Over the integers, a value above -1 is at least 0.
            Optimum::Value(num, den) if integers => fit(num.plus(&den))?.sign() <= 0,
            Optimum::Value(num, _) => num.sign() < 0,
        };
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

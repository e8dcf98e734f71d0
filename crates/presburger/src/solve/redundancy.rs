//! Inequalities that follow from the others.

use super::number::{Number, fit, widening};
use super::simplex::Simplex;
use crate::system::System;
use crate::{Budget, Error, Integer};

/// Drops the inequalities that the rest implies, the later of two first.
///
/// `bounds` hold as well, but are not part of the system.
pub(crate) fn remove_redundant_given(
    system: &mut System,
    bounds: &System,
    budget: &Budget,
) -> Result<(), Error> {
    let kept = widening!(T => Ok(essential::<T>(system, bounds, budget)?.0))?;
    system.ineqs.retain(&kept);
    Ok(())
}

/// As [`remove_redundant_given`]; says whether a row that stays is 0 wherever all hold.
pub(crate) fn remove_redundant_and_flat(
    system: &mut System,
    bounds: &System,
    budget: &Budget,
) -> Result<bool, Error> {
    let (kept, flat) = widening!(T => {
        let (kept, mut simplex) = essential::<T>(system, bounds, budget)?;
        let mut flat = simplex.is_empty();
        for (row, _) in system.ineqs.rows().zip(&kept).filter(|(_, kept)| **kept) {
            flat = flat || !simplex.exceeds(&narrowed(row)?, budget)?;
        }
        Ok((kept, flat))
    })?;
    system.ineqs.retain(&kept);
    Ok(flat)
}

/// Drops the inequalities that the rest implies.
pub(crate) fn remove_redundant(system: &mut System, budget: &Budget) -> Result<(), Error> {
    remove_redundant_given(system, &System::new(system.cols() - 1), budget)
}

/// Marks the rows that the kept ones and `given` do not imply over the rationals.
pub(crate) fn rationally_essential(
    rows: &[Vec<Integer>],
    given: &[Vec<Integer>],
    vars: usize,
    budget: &Budget,
) -> Result<Vec<bool>, Error> {
    widening!(T => {
        let rows: Vec<Vec<T>> = rows.iter().map(|r| narrowed(r)).collect::<Result<_, _>>()?;
        let mut fixed = Simplex::new(vars);
        for row in given {
            fixed.add_inequality(&narrowed::<T>(row)?, budget)?;
        }
        Ok(sieve(&rows, fixed, false, budget)?.0)
    })
}

fn essential<T: Number>(
    system: &System,
    bounds: &System,
    budget: &Budget,
) -> Result<(Vec<bool>, Simplex<T>), Error> {
    let rows: Vec<Vec<T>> = system.ineqs.rows().map(narrowed).collect::<Result<_, _>>()?;
    let mut fixed = Simplex::new(system.cols() - 1);
    add_rows(&mut fixed, system, bounds, budget)?;
    sieve(&rows, fixed, true, budget)
}

/// Tests each row against those kept before it and all after it; what `all` holds already stays.
/// Returns which rows are kept, and `all` with them.
fn sieve<T: Number>(
    rows: &[Vec<T>],
    mut all: Simplex<T>,
    integers: bool,
    budget: &Budget,
) -> Result<(Vec<bool>, Simplex<T>), Error> {
    let first = all.next_id();
    for row in rows {
        all.add_inequality(row, budget)?;
        if all.is_empty() {
            return Ok((vec![true; rows.len()], all));
        }
    }
    let kept = (0..rows.len()).map(|i| Ok(!all.drop_implied(first + i, integers, budget)?));
    Ok((kept.collect::<Result<_, Error>>()?, all))
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
pub(crate) fn narrowed<T: Number>(row: &[Integer]) -> Result<Vec<T>, Error> {
    let mut result = Vec::with_capacity(row.len());
    refill(&mut result, row)?;
    Ok(result)
}

/// As [`narrowed`], into memory that is there.
pub(crate) fn refill<T: Number>(result: &mut Vec<T>, row: &[Integer]) -> Result<(), Error> {
    result.clear();
    // Collecting results would not know how many there are.
    for value in row {
        result.push(fit(T::of(value))?);
    }
    Ok(())
}

//! Least and greatest values of linear forms.

use super::number::{Number, fit, widening};
use super::redundancy::{add_rows, narrowed};
use super::simplex::{Optimum, Simplex};
use crate::system::System;
use crate::{Budget, Error, Integer};

/// Least and greatest integer values, where there are any.
pub(crate) type Bounds = (Option<Integer>, Option<Integer>);

/// Bounds `form` on the rational points of `system`; nothing if there are none.
pub(crate) fn bounds(
    form: &[Integer],
    system: &System,
    budget: &Budget,
) -> Result<Option<Bounds>, Error> {
    widening!(T => bounds_in::<T>(form, system, budget))
}

fn bounds_in<T: Number>(
    form: &[Integer],
    system: &System,
    budget: &Budget,
) -> Result<Option<Bounds>, Error> {
    let mut simplex = Simplex::<T>::new(system.cols() - 1);
    let none = System::new(system.cols() - 1);
    add_rows(&mut simplex, &none, system, budget)?;
    if simplex.is_empty() {
        return Ok(None);
    }
    extremes(&mut simplex, form, budget).map(Some)
}

/// Returns the least value of a form, rounded up, and the greatest, rounded down.
pub(crate) fn extremes<T: Number>(
    simplex: &mut Simplex<T>,
    form: &[Integer],
    budget: &Budget,
) -> Result<Bounds, Error> {
    let low = least(simplex, form, budget)?;
    let high = match simplex.optimum(&narrowed(form)?, 1, budget)? {
        Optimum::Unbounded => None,
        Optimum::Value(num, den) => Some(num.floor_div(&den).integer()),
    };
    Ok((low, high))
}

/// Finds the least value of each form, rounded up; one tableau serves all.
///
/// Nothing if there are no points; nothing for a form without a least value.
pub(crate) fn reaches(
    forms: &[Vec<Integer>],
    system: &System,
    budget: &Budget,
) -> Result<Option<Vec<Option<Integer>>>, Error> {
    widening!(T => {
        let mut simplex = Simplex::<T>::new(system.cols() - 1);
        let none = System::new(system.cols() - 1);
        add_rows(&mut simplex, &none, system, budget)?;
        if simplex.is_empty() {
            return Ok(None);
        }
        let least = forms.iter().map(|form| least(&mut simplex, form, budget));
        least.collect::<Result<_, _>>().map(Some)
    })
}

/// Returns the least value of a form, rounded up, if there is one.
pub(crate) fn least<T: Number>(
    simplex: &mut Simplex<T>,
    form: &[Integer],
    budget: &Budget,
) -> Result<Option<Integer>, Error> {
    match simplex.optimum(&narrowed::<T>(form)?, -1, budget)? {
        Optimum::Unbounded => Ok(None),
        Optimum::Value(num, den) => Ok(Some(-fit(num.opposite())?.floor_div(&den).integer())),
    }
}

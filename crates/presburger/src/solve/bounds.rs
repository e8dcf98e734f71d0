//! Least and greatest values of linear forms.

use super::number::{Number, fit, widening};
use super::redundancy::{add_rows, narrowed};
use super::simplex::{Optimum, Simplex};
use crate::system::System;
use crate::{Budget, Error};

/// Least and greatest integer values, where there are any.
pub(crate) type Bounds = (Option<i128>, Option<i128>);

/// Bounds `form` on the rational points of `system`; nothing if there are none.
///
/// # Errors
/// [`Error::Overflow`] if a bound does not fit into 128 bits.
pub(crate) fn bounds(
    form: &[i128],
    system: &System,
    budget: &Budget,
) -> Result<Option<Bounds>, Error> {
    widening!(T => bounds_in::<T>(form, system, budget))
}

fn bounds_in<T: Number>(
    form: &[i128],
    system: &System,
    budget: &Budget,
) -> Result<Option<Bounds>, Error> {
    let mut simplex = Simplex::<T>::new(system.cols() - 1);
    let none = System::new(system.cols() - 1);
    add_rows(&mut simplex, &none, system, budget)?;
    if simplex.is_empty() {
        return Ok(None);
    }
    let low = least(&mut simplex, form, budget)?;
    let high = match simplex.optimum(&narrowed(form)?, 1, budget)? {
        Optimum::Unbounded => None,
        Optimum::Value(num, den) => Some(fit(num.floor_div(&den).wide())?),
    };
    Ok(Some((low, high)))
}

/// Finds the least value of each form, rounded up; one tableau serves all.
///
/// Nothing if there are no points; nothing for a form without a least value.
pub(crate) fn reaches(
    forms: &[Vec<i128>],
    system: &System,
    budget: &Budget,
) -> Result<Option<Vec<Option<i128>>>, Error> {
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
    form: &[i128],
    budget: &Budget,
) -> Result<Option<i128>, Error> {
    match simplex.optimum(&narrowed::<T>(form)?, -1, budget)? {
        Optimum::Unbounded => Ok(None),
        Optimum::Value(num, den) => {
            let above = fit(num.opposite())?.floor_div(&den);
            Ok(Some(fit(fit(above.opposite())?.wide())?))
        }
    }
}

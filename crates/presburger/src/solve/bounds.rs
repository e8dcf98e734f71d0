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
    let form = narrowed::<T>(form)?;
    let mut simplex = Simplex::new(system.cols() - 1);
    let none = System::new(system.cols() - 1);
    add_rows(&mut simplex, &none, system, budget)?;
    if simplex.is_empty() {
        return Ok(None);
    }
    let low = match simplex.optimum(&form, -1, budget)? {
        Optimum::Unbounded => None,
        Optimum::Value(num, den) => {
            let above = fit(num.opposite())?.floor_div(&den);
            Some(fit(fit(above.opposite())?.wide())?)
        }
    };
    let high = match simplex.optimum(&form, 1, budget)? {
        Optimum::Unbounded => None,
        Optimum::Value(num, den) => Some(fit(num.floor_div(&den).wide())?),
    };
    Ok(Some((low, high)))
}

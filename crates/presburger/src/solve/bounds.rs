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

/// Where a linear form lies on the rational points of a polyhedron.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The least value, rounded up; nothing if there is none.
    pub low: Option<i128>,
    /// Whether the greatest value is below -1.
    pub apart: bool,
}

/// Finds where each form lies; one tableau serves all. Nothing if there are no points.
pub(crate) fn reaches(
    forms: &[Vec<i128>],
    system: &System,
    budget: &Budget,
) -> Result<Option<Vec<Reach>>, Error> {
    widening!(T => reaches_in::<T>(forms, system, budget))
}

fn reaches_in<T: Number>(
    forms: &[Vec<i128>],
    system: &System,
    budget: &Budget,
) -> Result<Option<Vec<Reach>>, Error> {
    let mut simplex = Simplex::new(system.cols() - 1);
    let none = System::new(system.cols() - 1);
    add_rows(&mut simplex, &none, system, budget)?;
    if simplex.is_empty() {
        return Ok(None);
    }
    let mut result = Vec::with_capacity(forms.len());
    for form in forms {
        let form = narrowed::<T>(form)?;
        let low = match simplex.optimum(&form, -1, budget)? {
            Optimum::Unbounded => None,
            Optimum::Value(num, den) => {
                let above = fit(num.opposite())?.floor_div(&den);
                Some(fit(fit(above.opposite())?.wide())?)
            }
        };
        // What is not negative somewhere is not apart, and needs no second optimum.
        let apart = low.is_none_or(|low| low < 0)
            && match simplex.optimum(&form, 1, budget)? {
                Optimum::Unbounded => false,
                Optimum::Value(num, den) => fit(num.plus(&den))?.sign() < 0,
            };
        result.push(Reach { low, apart });
    }
    Ok(Some(result))
}

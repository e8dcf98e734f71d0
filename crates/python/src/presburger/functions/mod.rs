//! Quasi-affine functions for Python: of one value, of tuples, and of several spaces.

mod multi_union_pw_aff;
mod pw_aff;
mod pw_multi_aff;
mod union_pw_aff;
mod union_pw_multi_aff;

use pyo3::prelude::*;
use tangram::presburger::{Integer, Rational};

pub(crate) use self::multi_union_pw_aff::PyMultiUnionPwAff;
pub(crate) use self::pw_aff::PyPwAff;
pub(crate) use self::pw_multi_aff::PyPwMultiAff;
pub(crate) use self::union_pw_aff::PyUnionPwAff;
pub(crate) use self::union_pw_multi_aff::PyUnionPwMultiAff;
use super::number;
use crate::integer::Number;

/// Numerator and denominator.
type Fraction = (Number, Number);

fn fraction(value: &Rational) -> Fraction {
    (Number(value.numer().clone()), Number(value.denom().clone()))
}

/// The number as it may stand in an expression.
fn checked(numerator: Number, denominator: Number) -> PyResult<(Integer, Integer)> {
    let value = number(numerator, denominator)?;
    Ok((value.numer().clone(), value.denom().clone()))
}

//! Quotients rounded down, as columns of rows have them.
//!
//! The one form of `floor(num / den)` below relations: of the divisions of a
//! [`BasicMap`](crate::basic_map::BasicMap), of those that integer programming and elimination
//! add, and of the floors that polynomials and their guards share. [`Division`](crate::Division)
//! is the same on the way in and out, with words for names.
//!
//! Two others are terms of expressions and no columns: [`Atom::Floor`](crate::formula::Atom) over
//! names, before a space gives them columns, and the `floordiv` of `tangram_affine`, below this
//! crate's sets.

use crate::matrix::evaluate;
use crate::solve::number::{Number, fit};
use crate::solve::redundancy::narrowed;
use crate::{Division, Error, Integer};

/// `floor(num / den)`, where `num` ranges over constant, dimensions and earlier divisions, and
/// `den` is positive.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Div<T = Integer> {
    pub num: Vec<T>,
    pub den: T,
}

impl Div {
    /// Returns the value where dimensions and earlier divisions have these.
    pub fn value(&self, values: &[Integer]) -> Integer {
        evaluate(&self.num, values).div_floor(&self.den)
    }

    /// Returns it over so many columns, those of the constant and of later divisions among them.
    pub fn widened(&self, columns: usize) -> Self {
        let mut num = self.num.clone();
        num.resize(columns, Integer::ZERO);
        Self { num, den: self.den.clone() }
    }

    /// Returns it in numbers of another width.
    ///
    /// # Errors
    /// [`Error::Overflow`] if a number does not fit.
    pub fn narrowed<T: Number>(&self) -> Result<Div<T>, Error> {
        Ok(Div { num: narrowed(&self.num)?, den: fit(T::of(&self.den))? })
    }
}

impl<T: Number> Div<T> {
    /// Returns it in integers of any size.
    pub fn exact(&self) -> Div {
        Div { num: self.num.iter().map(Number::integer).collect(), den: self.den.integer() }
    }
}

impl From<&Div> for Division {
    fn from(div: &Div) -> Self {
        Self { numerator: div.num.clone(), denominator: div.den.clone() }
    }
}

//! Expressions by pieces, of points in different tuples.

use std::fmt;
use std::str::FromStr;

use super::{PwAff, PwMultiAff, UnionPwMultiAff};
use crate::parse::token::Tokens;
use crate::{Budget, Error, Integer, Tuple, Union};

/// A quasi-affine expression by pieces for each of several tuples; immutable.
///
/// `{ S[i] -> [(i)]; T[i, j] -> [(j)] : i >= 0 }`.
#[derive(Debug, Clone, Default)]
pub struct UnionPwAff(pub(super) UnionPwMultiAff);

impl UnionPwAff {
    /// Parses pieces of any tuples, in one output without a name.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column; [`Error::Space`] for other outputs.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        UnionPwMultiAff::parse(text, budget)?.try_into()
    }

    /// Parses pieces that another notation holds.
    pub(super) fn read(tokens: Tokens, budget: &Budget) -> Result<Self, Error> {
        UnionPwMultiAff::read(tokens, budget)?.try_into()
    }

    /// Makes the union of functions; of two of the same tuple, the first one counts.
    pub fn collect(functions: impl IntoIterator<Item = PwAff>) -> Result<Self, Error> {
        UnionPwMultiAff::collect(functions.into_iter().map(PwMultiAff::from)).map(Self)
    }

    /// Returns the functions in the order of their tuples.
    pub fn functions(&self) -> impl Iterator<Item = PwAff> {
        self.0.functions().map(|function| PwAff(function.0.clone()))
    }

    /// Returns the parameters of all functions.
    pub fn parameters(&self) -> Vec<String> {
        self.0.parameters()
    }

    /// Returns the arguments that have a value.
    pub fn domain(&self) -> Result<Union, Error> {
        self.0.domain()
    }

    fn each(&self, f: impl Fn(PwAff) -> Result<PwAff, Error>) -> Result<Self, Error> {
        Self::collect(self.functions().map(f).collect::<Result<Vec<_>, _>>()?)
    }

    /// Adds where both have values.
    pub fn add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.0.add(&other.0, budget).map(Self)
    }

    /// Subtracts where both have values.
    pub fn sub(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.0.sub(&other.0, budget).map(Self)
    }

    /// Returns the values of either; where both have some, their sum.
    pub fn union_add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.0.union_add(&other.0, budget).map(Self)
    }

    /// Negates.
    pub fn neg(&self) -> Result<Self, Error> {
        self.each(|function| function.neg())
    }

    /// Rounds down.
    pub fn floor(&self) -> Result<Self, Error> {
        self.each(|function| function.floor())
    }

    /// Multiplies with `num / den`.
    ///
    /// # Errors
    /// [`Error::Row`] if `den` is 0.
    pub fn scale(&self, num: impl Into<Integer>, den: impl Into<Integer>) -> Result<Self, Error> {
        let (num, den) = (num.into(), den.into());
        self.each(|function| function.scale(num.clone(), den.clone()))
    }

    /// Keeps the values of arguments in `sets`.
    pub fn intersect_domain(&self, sets: &Union, budget: &Budget) -> Result<Self, Error> {
        self.0.intersect_domain(sets, budget).map(Self)
    }

    /// Returns `x -> self(inner(x))` for all functions whose tuples fit.
    pub fn pullback(&self, inner: &UnionPwMultiAff, budget: &Budget) -> Result<Self, Error> {
        self.0.pullback(inner, budget).map(Self)
    }

    /// Returns whether both have the same values at the same arguments.
    pub fn is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        self.0.is_equal(&other.0, budget)
    }

    /// Relates each argument to its value where that is an integer.
    pub fn to_union(&self) -> Result<Union, Error> {
        self.0.to_union()
    }
}

impl TryFrom<UnionPwMultiAff> for UnionPwAff {
    type Error = Error;

    fn try_from(functions: UnionPwMultiAff) -> Result<Self, Error> {
        let number = Tuple::anonymous(1);
        let other = functions.functions().find(|function| function.space().output != number);
        if let Some(other) = other {
            let expected = "one output without a name".into();
            return Err(Error::Space { expected, found: other.space().to_string() });
        }
        Ok(Self(functions))
    }
}

impl From<UnionPwAff> for UnionPwMultiAff {
    fn from(functions: UnionPwAff) -> Self {
        functions.0
    }
}

impl FromStr for UnionPwAff {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text, &Budget::unlimited())
    }
}

impl fmt::Display for UnionPwAff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

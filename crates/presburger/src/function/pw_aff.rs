//! Quasi-affine expressions by pieces.

use super::affine::Affine;
use super::pieces::Pieces;
use super::{Aff, PwMultiAff};
use crate::basic_map::BasicMap;
use crate::count::Rational;
use crate::{Budget, Error, Integer, Relation, Space};

/// A quasi-affine expression on each of some parts of a domain, which do not overlap.
///
/// `{ [i] -> [(i)] : i >= 0; [i] -> [(-i)] : i < 0 }`. Immutable; a clone shares everything.
/// An operation on two functions has values where both have.
#[derive(Debug, Clone)]
pub struct PwAff(pub(crate) Pieces);

type Cases = Result<Vec<(Option<BasicMap>, Vec<Affine>)>, Error>;

impl PwAff {
    /// Parameters, inputs and the one output.
    pub fn space(&self) -> &Space {
        &self.0.space
    }

    /// Returns the arguments that have a value; of a function of the parameters, a set of `[]`.
    pub fn domain(&self) -> Relation {
        self.0.domain()
    }

    /// Returns each conjunction of the domain with its expression.
    pub fn pieces(&self) -> Vec<(Relation, Aff)> {
        let piece = |piece: &super::pieces::Piece| {
            let domain = Relation::new(self.0.domain_space(), vec![piece.domain.clone()]);
            (domain, Aff::of(self.0.space.clone(), piece.forms[0].clone()))
        };
        self.0.all.iter().map(piece).collect()
    }

    /// Makes the function that is `value` on `domain`.
    ///
    /// # Errors
    /// [`Error::Space`] unless `domain` is a set of arguments of `value`.
    pub fn on(domain: &Relation, value: &Aff, budget: &Budget) -> Result<Self, Error> {
        Self::from(value.clone()).intersect_domain(domain, budget)
    }

    fn zipped(
        &self,
        other: &Self,
        budget: &Budget,
        f: impl Fn(&Affine, &Affine) -> Result<Affine, Error>,
    ) -> Result<Self, Error> {
        self.0.zipped(&other.0, budget, f).map(Self)
    }

    fn mapped(&self, f: impl Fn(&Affine) -> Affine) -> Self {
        Self(self.0.mapped(f))
    }

    /// Adds.
    ///
    /// # Errors
    /// [`Error::Space`] if the inputs differ, as in all operations on two functions.
    pub fn add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.zipped(other, budget, |a, b| Ok(a.plus(b)))
    }

    /// Subtracts.
    pub fn sub(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.zipped(other, budget, |a, b| Ok(a.minus(b)))
    }

    /// Negates.
    pub fn neg(&self) -> Result<Self, Error> {
        Ok(self.mapped(Affine::negated))
    }

    /// Multiplies; where both have values, one must be constant.
    ///
    /// # Errors
    /// [`Error::NotAffine`] where neither is.
    pub fn mul(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.zipped(other, budget, super::aff::times)
    }

    /// Divides by a function whose pieces are constants; where it is 0, the result is NaN.
    ///
    /// # Errors
    /// [`Error::NotAffine`] if they are not.
    pub fn div(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.zipped(other, budget, super::aff::over)
    }

    /// Multiplies with `num / den`.
    ///
    /// # Errors
    /// [`Error::Row`] if `den` is 0.
    pub fn scale(&self, num: impl Into<Integer>, den: impl Into<Integer>) -> Result<Self, Error> {
        let (num, den) = super::aff::positive(num.into(), den.into())?;
        Ok(self.mapped(|form| form.scaled(&num, &den)))
    }

    /// Rounds down.
    pub fn floor(&self) -> Result<Self, Error> {
        Ok(self.mapped(Affine::floor))
    }

    /// Rounds up.
    pub fn ceil(&self) -> Result<Self, Error> {
        self.neg()?.floor()?.neg()
    }

    /// Returns `self - modulus * floor(self / modulus)`.
    ///
    /// # Errors
    /// [`Error::Row`] unless `modulus` is positive.
    pub fn modulo(&self, modulus: impl Into<Integer>) -> Result<Self, Error> {
        let modulus = modulus.into();
        if modulus.sign() <= 0 {
            return Err(Error::Row { expected: 1, found: 0 });
        }
        Ok(self.mapped(|form| form.modulo(&modulus)))
    }

    fn chosen(&self, other: &Self, least: bool, budget: &Budget) -> Result<Self, Error> {
        self.0.alike(&other.0)?;
        let choose = |a: &[Affine], b: &[Affine]| -> Cases {
            let (low, high) = if least { (&a[0], &b[0]) } else { (&b[0], &a[0]) };
            if low.is_nan() || high.is_nan() {
                return Ok(vec![(None, vec![Affine::nan(low.dims)])]);
            }
            let mut cases = Vec::new();
            // At a tie the first function is taken.
            for (when, forms) in [(high.at_least(low, false), a), (low.at_least(high, true), b)] {
                cases.extend(when.map(|when| (Some(when), forms.to_vec())));
            }
            Ok(cases)
        };
        let output = self.space().output.clone();
        self.0.joined(&other.0, output, budget, choose)?.coalesce(budget).map(Self)
    }

    /// Returns the lesser value where both have one.
    pub fn min(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.chosen(other, true, budget)
    }

    /// Returns the greater value where both have one.
    pub fn max(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.chosen(other, false, budget)
    }

    /// Returns the value of either; where both have one, their sum.
    pub fn union_add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.united(other, budget, |a, b| a.add(b, budget))
    }

    /// Returns the value of either; where both have one, the lesser.
    pub fn union_min(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.united(other, budget, |a, b| a.min(b, budget))
    }

    /// Returns the value of either; where both have one, the greater.
    pub fn union_max(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.united(other, budget, |a, b| a.max(b, budget))
    }

    fn united(
        &self,
        other: &Self,
        budget: &Budget,
        both: impl FnOnce(&Self, &Self) -> Result<Self, Error>,
    ) -> Result<Self, Error> {
        let common = |a: &Pieces, b: &Pieces| both(&Self(a.clone()), &Self(b.clone())).map(|r| r.0);
        self.0.union_with(&other.0, budget, common).map(Self)
    }

    /// Returns `yes` where `self` is not 0, `no` where it is, NaN where it is NaN.
    pub fn cond(&self, yes: &Self, no: &Self, budget: &Budget) -> Result<Self, Error> {
        let yes = yes.intersect_domain(&self.non_zero_set(budget)?, budget)?;
        let no = no.intersect_domain(&self.zero_set(budget)?, budget)?;
        let nan = self.0.all.iter().filter(|piece| piece.forms[0].is_nan()).cloned();
        yes.union_add(&no, budget)?.union_add(&Self(self.0.with(nan.collect())), budget)
    }

    /// Keeps the values of arguments in `set`.
    ///
    /// # Errors
    /// [`Error::Space`] unless `set` is a set of arguments.
    pub fn intersect_domain(&self, set: &Relation, budget: &Budget) -> Result<Self, Error> {
        self.0.restricted(set, true, budget).map(Self)
    }

    /// Drops the values of arguments in `set`.
    ///
    /// # Errors
    /// [`Error::Space`] unless `set` is a set of arguments.
    pub fn subtract_domain(&self, set: &Relation, budget: &Budget) -> Result<Self, Error> {
        self.0.restricted(set, false, budget).map(Self)
    }

    /// Simplifies the conditions under the assumption that arguments are in `context`.
    pub fn gist(&self, context: &Relation, budget: &Budget) -> Result<Self, Error> {
        self.0.gist(context, budget).map(Self)
    }

    /// Merges pieces where that is exact.
    pub fn coalesce(&self, budget: &Budget) -> Result<Self, Error> {
        self.0.coalesce(budget).map(Self)
    }

    /// Returns `x -> self(inner(x))`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the outputs of `inner` are the inputs of `self`.
    pub fn pullback(&self, inner: &PwMultiAff, budget: &Budget) -> Result<Self, Error> {
        self.0.pullback(&inner.0, budget).map(Self)
    }

    /// Returns whether a value may be NaN, not a number.
    pub fn involves_nan(&self) -> bool {
        self.0.involves_nan()
    }

    /// Returns whether both have the same values at the same arguments; NaN equals nothing.
    pub fn is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        self.0.is_equal(&other.0, budget)
    }

    /// Returns the value at a point, parameters first; nothing where there is none.
    ///
    /// # Errors
    /// [`Error::Row`] if the number of coordinates is not that of parameters and inputs,
    /// [`Error::NotANumber`] where the value is NaN.
    pub fn eval<T: Clone + Into<Integer>>(&self, point: &[T]) -> Result<Option<Rational>, Error> {
        Ok(self.0.evaluate(point)?.map(|mut values| values.swap_remove(0)))
    }

    /// Relates each argument to its value where that is an integer.
    pub fn to_relation(&self) -> Result<Relation, Error> {
        self.0.graph()
    }
}

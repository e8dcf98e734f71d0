//! One quasi-affine expression.

use std::sync::Arc;

use super::affine::Affine;
use super::pieces::{Pieces, domain_dims};
use super::{MultiAff, PwAff};
use crate::count::{Integer, Rational};
use crate::{Division, Error, Space, Tuple};

/// An affine expression in parameters, inputs and integer divisions of such expressions,
/// with rational coefficients; immutable.
///
/// `{ [i] -> [(1 + floor((i)/2))] }`. It has a value everywhere, or is `NaN`, not a number, as
/// after a division by 0: so is all that is computed from it, and no comparison holds for it.
#[derive(Debug, Clone)]
pub struct Aff {
    pub(crate) space: Arc<Space>,
    pub(crate) form: Affine,
}

impl Aff {
    pub(super) fn of(space: Arc<Space>, form: Affine) -> Self {
        Self { space, form }
    }

    /// Makes the expression `num / den` on the points of the set space `domain`.
    ///
    /// # Errors
    /// [`Error::Row`] unless `den` is positive.
    pub fn constant(
        domain: &Space,
        num: impl Into<Integer>,
        den: impl Into<Integer>,
    ) -> Result<Self, Error> {
        Self::constant_in(scalar(domain).0, num, den)
    }

    /// Makes the expression `num / den` with this space of its own: an input tuple, which may be
    /// the empty one, or none, and an output without a name.
    ///
    /// # Errors
    /// [`Error::Row`] unless `den` is positive; [`Error::Space`] for another output.
    pub fn constant_in(
        space: Space,
        num: impl Into<Integer>,
        den: impl Into<Integer>,
    ) -> Result<Self, Error> {
        let den = den.into();
        if den.sign() <= 0 {
            return Err(Error::Row { expected: 1, found: 0 });
        }
        if space.output != Tuple::anonymous(1) {
            let expected = "one output without a name".into();
            return Err(Error::Space { expected, found: space.to_string() });
        }
        let form = Affine { den, ..Affine::constant(num.into(), domain_dims(&space)) };
        Ok(Self::of(space.into(), form.tidied()))
    }

    /// Makes the expression that is not a number, on the points of the set space `domain`.
    pub fn nan(domain: &Space) -> Self {
        let (space, dims) = scalar(domain);
        Self::of(space.into(), Affine::nan(dims))
    }

    /// Returns whether the expression is not a number.
    pub fn is_nan(&self) -> bool {
        self.form.is_nan()
    }

    /// Makes the value of one coordinate, counted from the parameters on.
    ///
    /// # Errors
    /// [`Error::Row`] if `domain` has fewer coordinates.
    pub fn coordinate(domain: &Space, dim: usize) -> Result<Self, Error> {
        let (space, dims) = scalar(domain);
        if dim >= dims {
            return Err(Error::Row { expected: dims, found: dim });
        }
        Ok(Self::of(space.into(), Affine::dim(dim, dims)))
    }

    /// Parameters, inputs and the one output.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Returns the numbers `[constant, parameters.., inputs.., divisions..]`, the positive
    /// number that divides them all, and the divisions; of NaN, all numbers are 0.
    pub fn coefficients(&self) -> (Vec<Integer>, Integer, Vec<Division>) {
        let divisions = self.form.divs.iter().map(Division::from).collect();
        (self.form.row.clone(), self.form.den.clone(), divisions)
    }

    fn pieces(&self) -> Pieces {
        Pieces::total((*self.space).clone(), vec![self.form.clone()])
    }

    fn pair(&self, other: &Self) -> Result<(Self, Self), Error> {
        let (a, b) = self.pieces().alike(&other.pieces())?;
        let aff = |pieces: &Pieces| Self::of(pieces.space.clone(), pieces.all[0].forms[0].clone());
        Ok((aff(&a), aff(&b)))
    }

    /// Adds.
    ///
    /// # Errors
    /// [`Error::Space`] if the inputs differ.
    pub fn add(&self, other: &Self) -> Result<Self, Error> {
        let (a, b) = self.pair(other)?;
        Ok(Self::of(a.space, a.form.plus(&b.form)))
    }

    /// Subtracts.
    ///
    /// # Errors
    /// [`Error::Space`] if the inputs differ.
    pub fn sub(&self, other: &Self) -> Result<Self, Error> {
        let (a, b) = self.pair(other)?;
        Ok(Self::of(a.space, a.form.minus(&b.form)))
    }

    /// Negates.
    pub fn neg(&self) -> Result<Self, Error> {
        Ok(Self::of(self.space.clone(), self.form.negated()))
    }

    /// Multiplies with `num / den`.
    ///
    /// # Errors
    /// [`Error::Row`] if `den` is 0.
    pub fn scale(&self, num: impl Into<Integer>, den: impl Into<Integer>) -> Result<Self, Error> {
        let (num, den) = positive(num.into(), den.into())?;
        Ok(Self::of(self.space.clone(), self.form.scaled(&num, &den)))
    }

    /// Multiplies; one of both must be constant.
    ///
    /// # Errors
    /// [`Error::NotAffine`] if neither is.
    pub fn mul(&self, other: &Self) -> Result<Self, Error> {
        let (a, b) = self.pair(other)?;
        Ok(Self::of(a.space, times(&a.form, &b.form)?))
    }

    /// Divides by a constant; by 0, the result is NaN.
    ///
    /// # Errors
    /// [`Error::NotAffine`] if `other` is not constant.
    pub fn div(&self, other: &Self) -> Result<Self, Error> {
        let (a, b) = self.pair(other)?;
        Ok(Self::of(a.space, over(&a.form, &b.form)?))
    }

    /// Rounds down.
    pub fn floor(&self) -> Result<Self, Error> {
        Ok(Self::of(self.space.clone(), self.form.floor()))
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
        Ok(Self::of(self.space.clone(), self.form.modulo(&modulus)))
    }

    /// Returns `x -> self(inner(x))`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the outputs of `inner` are the inputs of `self`.
    pub fn pullback(&self, inner: &MultiAff) -> Result<Self, Error> {
        let outer = MultiAff { space: self.space.clone(), forms: vec![self.form.clone()].into() };
        let result = outer.pullback(inner)?;
        Ok(Self::of(result.space, result.forms[0].clone()))
    }

    /// Returns whether the expressions are written alike, which equal ones mostly are; NaN equals
    /// nothing.
    pub fn is_plainly_equal(&self, other: &Self) -> bool {
        // Divisions may come in another order.
        let same = |(a, b): (Self, Self)| a.form.minus(&b.form).row.iter().all(Integer::is_zero);
        !self.is_nan() && !other.is_nan() && self.pair(other).is_ok_and(same)
    }

    /// Returns the value at a point, parameters first.
    ///
    /// # Errors
    /// [`Error::Row`] if the number of coordinates is not that of parameters and inputs,
    /// [`Error::NotANumber`] of NaN.
    pub fn eval<T: Clone + Into<Integer>>(&self, point: &[T]) -> Result<Rational, Error> {
        let expected = domain_dims(&self.space);
        if point.len() != expected {
            return Err(Error::Row { expected, found: point.len() });
        }
        let point: Vec<Integer> = point.iter().cloned().map(T::into).collect();
        self.form.evaluate(&point)
    }
}

impl From<Aff> for PwAff {
    fn from(aff: Aff) -> Self {
        Self(aff.pieces())
    }
}

/// Makes the space of functions from the points of a set to one number.
pub(super) fn scalar(domain: &Space) -> (Space, usize) {
    let input = match &domain.input {
        Some(input) => Some(Tuple::wrapping(input.clone(), domain.output.clone())),
        None if domain.output == Tuple::default() => None,
        None => Some(domain.output.clone()),
    };
    let space = Space { params: domain.params.clone(), input, output: Tuple::anonymous(1) };
    let dims = domain_dims(&space);
    (space, dims)
}

/// Moves the sign of a fraction to its numerator.
pub(super) fn positive(num: Integer, den: Integer) -> Result<(Integer, Integer), Error> {
    match den.sign() {
        1 => Ok((num, den)),
        -1 => Ok((-num, -den)),
        _ => Err(Error::Row { expected: 1, found: 0 }),
    }
}

pub(super) fn times(a: &Affine, b: &Affine) -> Result<Affine, Error> {
    if a.is_nan() || b.is_nan() {
        return Ok(Affine::nan(a.dims));
    }
    match (a.is_constant(), b.is_constant()) {
        (true, _) => Ok(b.scaled(&a.row[0], &a.den)),
        (_, true) => Ok(a.scaled(&b.row[0], &b.den)),
        _ => Err(Error::NotAffine),
    }
}

pub(super) fn over(a: &Affine, b: &Affine) -> Result<Affine, Error> {
    if a.is_nan() || b.is_nan() || b.is_constant() && b.row[0].is_zero() {
        return Ok(Affine::nan(a.dims));
    }
    if !b.is_constant() {
        return Err(Error::NotAffine);
    }
    let (num, den) = positive(b.den.clone(), b.row[0].clone())?;
    Ok(a.scaled(&num, &den))
}

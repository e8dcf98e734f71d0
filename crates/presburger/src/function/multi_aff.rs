//! Tuples of quasi-affine expressions.

use std::sync::Arc;

use super::affine::Affine;
use super::pieces::{Pieces, domain_dims};
use super::{Aff, PwMultiAff};
use crate::count::Rational;
use crate::{Error, Integer, Relation, Space, Tuple};

/// A quasi-affine expression for each dimension of an output tuple; immutable.
///
/// `{ S[i, j] -> A[(i + j), (j)] }`. It has a value everywhere.
#[derive(Debug, Clone)]
pub struct MultiAff {
    pub(super) space: Arc<Space>,
    pub(super) forms: Arc<[Affine]>,
}

impl MultiAff {
    /// Makes the function that maps each point of `tuple` to itself.
    pub fn identity(params: Vec<String>, tuple: Tuple) -> Self {
        let (p, n) = (params.len(), tuple.dims.len());
        let space = Space::map(params, tuple.clone(), tuple);
        let forms = (0..n).map(|i| Affine::dim(p + i, p + n)).collect();
        Self { space: space.into(), forms }
    }

    /// Makes the tuple of `members`, which must have the same inputs.
    ///
    /// # Errors
    /// [`Error::Space`] if inputs differ, or `output` has not as many dimensions.
    pub fn of(domain: &Space, output: Tuple, members: &[Aff]) -> Result<Self, Error> {
        let (scalar, _) = super::aff::scalar(domain);
        let mut params = scalar.params.clone();
        for member in members {
            if member.space.input != scalar.input || output.dims.len() != members.len() {
                return Err(scalar.mismatch(&member.space));
            }
            params = Space { params, ..scalar.clone() }.joint_params(&member.space);
        }
        let space = Space { params: params.clone(), input: scalar.input, output };
        let align = |aff: &Aff| {
            Pieces::total((*aff.space).clone(), vec![aff.form.clone()]).aligned(&params)
        };
        let forms = members.iter().map(|aff| align(aff).all[0].forms[0].clone()).collect();
        Ok(Self { space: space.into(), forms })
    }

    /// Parameters, inputs and outputs.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Returns the expression of each output.
    pub fn members(&self) -> Vec<Aff> {
        let space = Space { output: Tuple::anonymous(1), ..(*self.space).clone() };
        let space = Arc::new(space);
        self.forms.iter().map(|form| Aff::of(space.clone(), form.clone())).collect()
    }

    pub(super) fn pieces(&self) -> Pieces {
        Pieces::total((*self.space).clone(), self.forms.to_vec())
    }

    fn from_pieces(pieces: Pieces) -> Self {
        let forms = pieces.all[0].forms.clone().into();
        Self { space: pieces.space, forms }
    }

    fn zipped(
        &self,
        other: &Self,
        f: impl Fn(&Affine, &Affine) -> Result<Affine, Error>,
    ) -> Result<Self, Error> {
        let (a, b) = self.pieces().alike(&other.pieces())?;
        let pairs = a.all[0].forms.iter().zip(&b.all[0].forms);
        let forms = pairs.map(|(a, b)| f(a, b)).collect::<Result<_, _>>()?;
        Ok(Self { space: a.space, forms })
    }

    fn mapped(&self, f: impl Fn(&Affine) -> Affine) -> Self {
        Self { space: self.space.clone(), forms: self.forms.iter().map(f).collect() }
    }

    /// Adds, output by output.
    ///
    /// # Errors
    /// [`Error::Space`] if inputs or outputs differ.
    pub fn add(&self, other: &Self) -> Result<Self, Error> {
        self.zipped(other, |a, b| Ok(a.plus(b)))
    }

    /// Subtracts, output by output.
    ///
    /// # Errors
    /// [`Error::Space`] if inputs or outputs differ.
    pub fn sub(&self, other: &Self) -> Result<Self, Error> {
        self.zipped(other, |a, b| Ok(a.minus(b)))
    }

    /// Negates all outputs.
    pub fn neg(&self) -> Result<Self, Error> {
        Ok(self.mapped(Affine::negated))
    }

    /// Rounds all outputs down.
    pub fn floor(&self) -> Result<Self, Error> {
        Ok(self.mapped(Affine::floor))
    }

    /// Multiplies all outputs with `num / den`.
    ///
    /// # Errors
    /// [`Error::Row`] if `den` is 0.
    pub fn scale(&self, num: impl Into<Integer>, den: impl Into<Integer>) -> Result<Self, Error> {
        let (num, den) = super::aff::positive(num.into(), den.into())?;
        Ok(self.mapped(|form| form.scaled(&num, &den)))
    }

    /// Returns `x -> self(inner(x))`, where fractional outputs of `inner` are taken as they are.
    ///
    /// # Errors
    /// [`Error::Space`] unless the outputs of `inner` are the inputs of `self`.
    pub fn pullback(&self, inner: &Self) -> Result<Self, Error> {
        if self.space.input.as_ref() != Some(&inner.space.output) {
            return Err(self.space.mismatch(&inner.space));
        }
        let params = self.space.joint_params(&inner.space);
        let (outer, inner) = (self.pieces().aligned(&params), inner.pieces().aligned(&params));
        let dims = inner.dims();
        let mut values: Vec<Affine> = (0..params.len()).map(|i| Affine::dim(i, dims)).collect();
        values.extend(inner.all[0].forms.iter().cloned());
        let substituted = |form: &Affine| form.substitute(&values, dims);
        let forms = outer.all[0].forms.iter().map(substituted).collect();
        let input = inner.space.input.clone();
        let space = Space { params, input, output: outer.space.output.clone() };
        Ok(Self { space: space.into(), forms })
    }

    /// Appends the outputs of `other` to those of `self`, in one nameless tuple.
    ///
    /// # Errors
    /// [`Error::Space`] if the inputs differ.
    pub fn flat_range_product(&self, other: &Self) -> Result<Self, Error> {
        let (a, b) = self.pieces().pair(&other.pieces())?;
        let names = a.space.output.dims.iter().chain(&b.space.output.dims).cloned();
        let output = Tuple::new("", names);
        let forms = [&a.all[0].forms[..], &b.all[0].forms[..]].concat();
        let space = Space { output, ..(*a.space).clone() };
        Ok(Self::from_pieces(Pieces::total(space, forms)))
    }

    /// Pairs the outputs, `x -> [self(x) -> other(x)]`.
    ///
    /// # Errors
    /// [`Error::Space`] if the inputs differ.
    pub fn range_product(&self, other: &Self) -> Result<Self, Error> {
        let flat = self.flat_range_product(other)?;
        let output = Tuple::wrapping(self.space.output.clone(), other.space.output.clone());
        let space = Space { output, ..(*flat.space).clone() };
        Ok(Self { space: space.into(), forms: flat.forms })
    }

    /// Returns whether an output is NaN, not a number.
    pub fn involves_nan(&self) -> bool {
        self.forms.iter().any(Affine::is_nan)
    }

    /// Returns the outputs at a point, parameters first.
    ///
    /// # Errors
    /// [`Error::Row`] if the number of coordinates is not that of parameters and inputs,
    /// [`Error::NotANumber`] if an output is NaN.
    pub fn eval<T: Clone + Into<Integer>>(&self, point: &[T]) -> Result<Vec<Rational>, Error> {
        let (expected, found) = (domain_dims(&self.space), point.len());
        self.pieces().evaluate(point)?.ok_or(Error::Row { expected, found })
    }

    /// Relates each argument to its value where that is an integer point.
    pub fn to_relation(&self) -> Result<Relation, Error> {
        PwMultiAff::from(self.clone()).to_relation()
    }
}

impl From<MultiAff> for PwMultiAff {
    fn from(function: MultiAff) -> Self {
        Self(function.pieces())
    }
}

impl From<Aff> for MultiAff {
    fn from(aff: Aff) -> Self {
        Self { space: aff.space, forms: vec![aff.form].into() }
    }
}

//! Tuples of quasi-affine expressions, by common pieces.

use super::affine::Affine;
use super::pieces::{Piece, Pieces};
use super::{MultiAff, PwAff};
use crate::count::Rational;
use crate::{Budget, Error, Integer, Relation, Space, Tuple};

/// A tuple of expressions on each of some parts of a domain, which do not overlap.
///
/// `{ S[i] -> A[(i), (0)] : i >= 0; S[i] -> A[(-i), (1)] : i < 0 }`. Immutable; a clone
/// shares everything. An operation on two functions has values where both have.
#[derive(Debug, Clone)]
pub struct PwMultiAff(pub(crate) Pieces);

impl PwMultiAff {
    /// Parameters, inputs and outputs.
    pub fn space(&self) -> &Space {
        &self.0.space
    }

    /// Returns the arguments that have a value; of a function of the parameters, a set of `[]`.
    pub fn domain(&self) -> Relation {
        self.0.domain()
    }

    /// Returns each conjunction of the domain with its expressions.
    pub fn pieces(&self) -> Vec<(Relation, MultiAff)> {
        let piece = |piece: &Piece| {
            let domain = Relation::new(self.0.domain_space(), vec![piece.domain.clone()]);
            let forms = piece.forms.clone().into();
            (domain, MultiAff { space: self.0.space.clone(), forms })
        };
        self.0.all.iter().map(piece).collect()
    }

    /// Returns one output as a function of its own.
    ///
    /// # Errors
    /// [`Error::Row`] if there are fewer outputs.
    pub fn member(&self, output: usize) -> Result<PwAff, Error> {
        let outputs = self.space().output.dims.len();
        if output >= outputs {
            return Err(Error::Row { expected: outputs, found: output });
        }
        let piece = |piece: &Piece| Piece {
            domain: piece.domain.clone(),
            forms: vec![piece.forms[output].clone()],
        };
        let space = Space { output: Tuple::anonymous(1), ..self.space().clone() };
        Ok(PwAff(Pieces::new(space, self.0.all.iter().map(piece).collect())))
    }

    /// Adds, output by output.
    ///
    /// # Errors
    /// [`Error::Space`] if inputs or outputs differ, as in all operations on two functions.
    pub fn add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.0.zipped(&other.0, budget, |a, b| Ok(a.plus(b))).map(Self)
    }

    /// Subtracts, output by output.
    pub fn sub(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.0.zipped(&other.0, budget, |a, b| Ok(a.minus(b))).map(Self)
    }

    /// Negates all outputs.
    pub fn neg(&self) -> Result<Self, Error> {
        Ok(Self(self.0.mapped(Affine::negated)))
    }

    /// Rounds all outputs down.
    pub fn floor(&self) -> Result<Self, Error> {
        Ok(Self(self.0.mapped(Affine::floor)))
    }

    /// Multiplies all outputs with `num / den`.
    ///
    /// # Errors
    /// [`Error::Row`] if `den` is 0.
    pub fn scale(&self, num: impl Into<Integer>, den: impl Into<Integer>) -> Result<Self, Error> {
        let (num, den) = super::aff::positive(num.into(), den.into())?;
        Ok(Self(self.0.mapped(|form| form.scaled(&num, &den))))
    }

    /// Returns the values of either; where both have some, their sum.
    pub fn union_add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.0
            .union_with(&other.0, budget, |a, b| a.zipped(b, budget, |a, b| Ok(a.plus(b))))
            .map(Self)
    }

    /// Appends the outputs of `other` to those of `self`, in one nameless tuple.
    ///
    /// # Errors
    /// [`Error::Space`] if the inputs differ.
    pub fn flat_range_product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let dims = self.space().output.dims.iter().chain(&other.space().output.dims).cloned();
        self.side_by_side(other, Tuple::new("", dims), budget)
    }

    /// Pairs the outputs, `x -> [self(x) -> other(x)]`.
    ///
    /// # Errors
    /// [`Error::Space`] if the inputs differ.
    pub fn range_product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let output = Tuple::wrapping(self.space().output.clone(), other.space().output.clone());
        self.side_by_side(other, output, budget)
    }

    fn side_by_side(&self, other: &Self, output: Tuple, budget: &Budget) -> Result<Self, Error> {
        let append = |a: &[Affine], b: &[Affine]| Ok(vec![(None, [a, b].concat())]);
        self.0.joined(&other.0, output, budget, append).map(Self)
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
    pub fn pullback(&self, inner: &Self, budget: &Budget) -> Result<Self, Error> {
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

    /// Returns the outputs at a point, parameters first; nothing where there are none.
    ///
    /// # Errors
    /// [`Error::Row`] if the number of coordinates is not that of parameters and inputs,
    /// [`Error::NotANumber`] where the value is NaN.
    pub fn eval<T: Clone + Into<Integer>>(
        &self,
        point: &[T],
    ) -> Result<Option<Vec<Rational>>, Error> {
        self.0.evaluate(point)
    }

    /// Relates each argument to its value where that is an integer point.
    pub fn to_relation(&self) -> Result<Relation, Error> {
        self.0.graph()
    }
}

impl From<PwAff> for PwMultiAff {
    fn from(function: PwAff) -> Self {
        Self(function.0)
    }
}

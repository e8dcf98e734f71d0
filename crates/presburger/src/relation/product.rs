//! Products of relations.

use crate::relation::intersect_parts;
use crate::{Budget, Error, Relation, Space, Tuple};

impl Relation {
    /// Pairs every point of `self` with every point of `other`.
    ///
    /// Sets give a set of wrapped pairs; relations relate wrapped inputs to wrapped outputs.
    ///
    /// # Errors
    /// [`Error::Space`] for a set and a relation.
    pub fn product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let output = Tuple::wrapping(self.space.output.clone(), other.space.output.clone());
        let input = match (&self.space.input, &other.space.input) {
            (None, None) => None,
            (Some(a), Some(b)) => Some(Tuple::wrapping(a.clone(), b.clone())),
            _ => return Err(self.space.mismatch(&other.space)),
        };
        self.joined(other, input, output, false, budget)
    }

    /// Relates `x` to `[y -> z]` where `self` relates it to `y` and `other` to `z`.
    ///
    /// # Errors
    /// [`Error::Space`] unless both are relations with the same input tuple.
    pub fn range_product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        if self.input()? != other.input()? {
            return Err(self.space.mismatch(&other.space));
        }
        let output = Tuple::wrapping(self.space.output.clone(), other.space.output.clone());
        self.joined(other, self.space.input.clone(), output, true, budget)
    }

    /// Relates `x` to `(y, z)`, flattened, where `self` relates it to `y` and `other` to `z`.
    ///
    /// # Errors
    /// [`Error::Space`] unless both are relations with the same input tuple.
    pub fn flat_range_product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let pairs = self.range_product(other, budget)?;
        let output = Tuple::new("", pairs.space.output.dims.clone());
        let space = Space { output, ..(*pairs.space).clone() };
        Ok(pairs.respaced(space))
    }

    /// Relates `[x -> y]` to `z` where `self` relates `x` to `z` and `other` relates `y` to it.
    ///
    /// # Errors
    /// [`Error::Space`] unless both are relations with the same output tuple.
    pub fn domain_product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.inverse()?.range_product(&other.inverse()?, budget)?.inverse()
    }

    fn joined(
        &self,
        other: &Self,
        input: Option<Tuple>,
        output: Tuple,
        share: bool,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let params = self.space.joint_params(&other.space);
        let (a, b) = (self.aligned(&params), other.aligned(&params));
        let space = Space { params, input, output };
        let (p, all) = (space.params.len(), space.dims());
        let (ins, outs) = (space.inputs(), self.space.output.dims.len());
        let a_ins = self.space.inputs();
        let shift = if share { 0 } else { a_ins };
        let to_a = (0..p + a_ins).chain((0..outs).map(|i| p + ins + i)).collect::<Vec<_>>();
        let mut to_b: Vec<usize> = (0..p).collect();
        to_b.extend((0..other.space.inputs()).map(|i| p + shift + i));
        to_b.extend(p + ins + outs..all);
        let (a, b) = (a.moved(space.clone(), &to_a), b.moved(space.clone(), &to_b));
        Ok(Self::new(space, intersect_parts(&a.parts, &b.parts, budget)?))
    }
}

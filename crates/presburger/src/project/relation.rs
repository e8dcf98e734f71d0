//! Projections of relations: exact ones, and supersets that cost less.

use std::ops::Range;

use super::eliminate::Relaxed;
use crate::{Budget, Error, Relation, Space, Tuple};

impl Relation {
    /// Returns the values of the parameters for which there is a point, as a set of
    /// parameters alone.
    pub fn params(&self, budget: &Budget) -> Result<Self, Error> {
        let p = self.space.params.len();
        let space = Space::set(self.space.params.clone(), Tuple::params());
        self.projected(space, p..self.space.dims(), budget)
    }

    /// Projects parameters away: keeps the points that some value of them allows.
    pub fn project_params(&self, names: &[&str], budget: &Budget) -> Result<Self, Error> {
        let (gone, kept): (Vec<String>, Vec<String>) =
            self.space.params.iter().cloned().partition(|p| names.contains(&p.as_str()));
        let count = gone.len();
        let order = self.aligned(&[gone, kept.clone()].concat());
        let space = Space { params: kept, ..(*self.space).clone() };
        order.projected(space, 0..count, budget)
    }

    /// Projects output dimensions away, exactly; the output tuple loses its name.
    ///
    /// # Errors
    /// [`Error::Space`] if the range is not one of output dimensions.
    pub fn project_out(&self, dims: Range<usize>, budget: &Budget) -> Result<Self, Error> {
        let (space, range) = self.without_dims(dims)?;
        self.projected(space, range, budget)
    }

    /// Frees output dimensions, exactly: keeps the points that agree with one of `self` in all
    /// others.
    ///
    /// # Errors
    /// [`Error::Space`] if the range is not one of output dimensions.
    pub fn eliminate(&self, dims: Range<usize>, budget: &Budget) -> Result<Self, Error> {
        let rest = self.project_out(dims.clone(), budget)?;
        let first = self.space.params.len() + self.space.inputs();
        let kept = |dim: &usize| *dim < first + dims.start || *dim >= first + dims.end;
        let to: Vec<usize> = (0..self.space.dims()).filter(kept).collect();
        Ok(rest.moved((*self.space).clone(), &to))
    }

    /// Returns the space without the output dimensions `dims`, and where those are.
    fn without_dims(&self, dims: Range<usize>) -> Result<(Space, Range<usize>), Error> {
        let outs = &self.space.output.dims;
        if dims.start > dims.end || dims.end > outs.len() {
            return Err(self.lacks(&format!("a tuple with dimensions {dims:?}")));
        }
        let mut kept = outs.clone();
        kept.drain(dims.clone());
        let space = Space { output: Tuple::new("", kept), ..(*self.space).clone() };
        let first = self.space.params.len() + self.space.inputs();
        Ok((space, first + dims.start..first + dims.end))
    }

    /// Returns a superset of [`Self::project_out`] with a disjunct for each of `self`.
    ///
    /// Strides are kept exactly; where inequalities alone bound what is projected away, a
    /// rational value of it is enough: a step of Fourier and Motzkin for each dimension, and no
    /// split into cases.
    ///
    /// # Errors
    /// As [`Self::project_out`].
    pub fn real_shadow(&self, dims: Range<usize>, budget: &Budget) -> Result<Self, Error> {
        self.relaxed(dims, Relaxed::Combined, budget)
    }

    /// Returns a superset of [`Self::real_shadow`]: what the rows say without the dimensions.
    ///
    /// Rows that still use one after equations have been put in are left out: of
    /// `{ [i, j] : 0 <= i <= j <= n }`, `{ [i] : 0 <= i }` is left without `j`.
    ///
    /// # Errors
    /// As [`Self::project_out`].
    pub fn explicit_bounds(&self, dims: Range<usize>, budget: &Budget) -> Result<Self, Error> {
        self.relaxed(dims, Relaxed::Dropped, budget)
    }

    fn relaxed(&self, dims: Range<usize>, how: Relaxed, budget: &Budget) -> Result<Self, Error> {
        let (space, range) = self.without_dims(dims)?;
        let mut parts = Vec::new();
        for part in self.parts.iter() {
            parts.extend(part.relaxed(range.clone(), how, budget)?);
        }
        Ok(Self::new(space, parts))
    }
}

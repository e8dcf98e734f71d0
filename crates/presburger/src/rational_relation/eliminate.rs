//! Projection over the rationals, and what follows from it.
//!
//! Elimination here keeps cones and strict rows apart, which [`Inequalities`](crate::Inequalities)
//! do not have (`project/fourier_motzkin`), and rounds nothing, as the elimination over the integers
//! does (`project/eliminate`).

use std::ops::Range;

use super::{RationalRelation, marked};
use crate::basic_map::BasicMap;
use crate::matrix::combine;
use crate::system::System;
use crate::{Budget, Error, Integer, Relation, Space};

impl Relation {
    /// Reads the constraints over the rationals: all rational points that satisfy them.
    ///
    /// A division may have any value between the bounds that define it: where there are some,
    /// the result depends on how they are written. Constraints are those that are stored,
    /// tightened for integers.
    pub fn rational(&self, budget: &Budget) -> Result<RationalRelation, Error> {
        let dims = self.space().dims();
        let mut cones = Vec::new();
        for part in self.parts.iter() {
            let all = BasicMap { dims: part.cols() - 1, divs: [].into(), system: part.unfolded() };
            cones.extend(super::cone(&all).eliminated(1 + dims..part.cols(), budget)?);
        }
        let space = super::cone_space(self.space());
        let integers = Self::empty(self.space().clone());
        Ok(RationalRelation { cones: Self::new(space, cones), integers })
    }
}

impl RationalRelation {
    /// Returns the inputs; a set is its own domain.
    pub fn domain(&self, budget: &Budget) -> Result<Self, Error> {
        let integers = self.integers.domain(budget)?;
        self.shadow(integers, |old, new| new.dims()..old.dims(), budget)
    }

    /// Returns the outputs.
    pub fn range(&self, budget: &Budget) -> Result<Self, Error> {
        let integers = self.integers.range(budget)?;
        let inputs = |old: &Space, _: &Space| old.params.len()..old.params.len() + old.inputs();
        self.shadow(integers, inputs, budget)
    }

    /// Returns the values of the parameters for which there is a point, as a set of `[]`.
    pub fn params(&self, budget: &Budget) -> Result<Self, Error> {
        let integers = self.integers.params(budget)?;
        self.shadow(integers, |old, _| old.params.len()..old.dims(), budget)
    }

    /// Projects output dimensions away: a rational value is enough for rational points.
    ///
    /// # Errors
    /// [`Error::Space`] if the range is not one of output dimensions.
    pub fn project_out(&self, dims: Range<usize>, budget: &Budget) -> Result<Self, Error> {
        let integers = self.integers.project_out(dims.clone(), budget)?;
        let place = |old: &Space, _: &Space| {
            let first = old.params.len() + old.inputs();
            first + dims.start..first + dims.end
        };
        self.shadow(integers, place, budget)
    }

    /// Eliminates the dimensions in `range` of all cones; `integers` is without them already.
    fn shadow(
        &self,
        integers: Relation,
        range: impl Fn(&Space, &Space) -> Range<usize>,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let range = range(self.space(), integers.space());
        let mut cones = Vec::new();
        for part in self.cones.parts.iter() {
            cones.extend(part.eliminated(1 + range.start..1 + range.end, budget)?);
        }
        let cones = Relation::new(super::cone_space(integers.space()), cones);
        Ok(Self { cones, integers })
    }

    /// Relates each input to its lexicographically least output, where there is one.
    ///
    /// There is none where values go on without bound or a least one is not reached.
    ///
    /// # Errors
    /// [`Error::Space`] if there are disjuncts of integer points.
    pub fn lexmin(&self, budget: &Budget) -> Result<Self, Error> {
        self.extremal(false, budget)
    }

    /// Relates each input to its lexicographically greatest output, where there is one.
    ///
    /// # Errors
    /// [`Error::Space`] if there are disjuncts of integer points.
    pub fn lexmax(&self, budget: &Budget) -> Result<Self, Error> {
        self.extremal(true, budget)
    }

    /// Takes those points away that another one precedes.
    fn extremal(&self, greatest: bool, budget: &Budget) -> Result<Self, Error> {
        if !self.integers.is_empty(budget)? {
            return Err(self.integers.lacks("rational points alone"));
        }
        let (all, outs) = (self.cones.space().dims(), self.space().output.dims.len());
        // Columns: the point, then the outputs of the one that precedes it.
        let other: Vec<usize> = (0..all - outs).chain(all..all + outs).collect();
        let sign = if greatest { -1 } else { 1 };
        let mut worse = Vec::new();
        for part in self.cones.parts.iter() {
            let mut same = part.place(all + outs, &other);
            for dim in 0..outs {
                let mut row = vec![Integer::ZERO; same.cols()];
                row[1 + all - outs + dim] = Integer::from(sign);
                row[1 + all + dim] = Integer::from(-sign);
                let mut before = same.clone();
                same.system.eqs.push(&row);
                row[0] = Integer::MINUS_ONE;
                before.system.ineqs.push(&row);
                worse.extend(before.eliminated(all..all + outs, budget)?);
            }
        }
        let worse = Relation::new(self.cones.space().clone(), worse);
        let cones = self.cones.subtract(&worse, budget)?;
        Ok(Self { cones, integers: self.integers.clone() })
    }
}

impl BasicMap {
    /// Eliminates dimensions of a cone over the rationals; nothing is left of what is empty.
    ///
    /// Rows have the constant -1 if they are strict, else 0; so have their combinations.
    pub(crate) fn eliminated(
        &self,
        range: Range<usize>,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let mut part = marked(self);
        for dim in range.clone().rev() {
            let Some(next) = part.without_column(1 + dim, budget)?.tidied() else {
                return Ok(None);
            };
            part = marked(&next.without_redundancy(budget)?);
        }
        let kept = |col: usize| (col <= range.start || col > range.end).then_some(col);
        let shift = |col: usize| if col > range.end { col - range.len() } else { col };
        let to: Vec<Option<usize>> = (0..part.cols()).map(|col| kept(col).map(shift)).collect();
        let cols = part.cols() - range.len();
        let system = part.system.remap(cols, &to);
        Ok(Some(Self { dims: part.dims - range.len(), divs: [].into(), system }))
    }

    fn without_column(&self, col: usize, budget: &Budget) -> Result<Self, Error> {
        let mut system = System::new(self.cols() - 1);
        let solved = self.system.eqs.rows().position(|row| !row[col].is_zero());
        if let Some(solved) = solved {
            let equation = self.system.eqs.row(solved);
            let freed = |row: &[Integer]| {
                let factor = -&row[col] * Integer::from(equation[col].sign());
                combine(&equation[col].abs(), row, &factor, equation)
            };
            let others = self.system.eqs.rows().enumerate().filter(|(index, _)| *index != solved);
            others.for_each(|(_, row)| system.eqs.push(&freed(row)));
            self.system.ineqs.rows().for_each(|row| system.ineqs.push(&freed(row)));
        } else {
            self.system.eqs.rows().for_each(|row| system.eqs.push(row));
            let side = |sign: i32| self.system.ineqs.rows().filter(move |r| r[col].sign() == sign);
            side(0).for_each(|row| system.ineqs.push(row));
            for (low, high) in side(1).flat_map(|low| side(-1).map(move |high| (low, high))) {
                budget.spend(1)?;
                system.ineqs.push(&combine(&-&high[col], low, &low[col], high));
            }
        }
        let part = Self { dims: self.dims, divs: [].into(), system };
        Ok(marked(&part))
    }
}

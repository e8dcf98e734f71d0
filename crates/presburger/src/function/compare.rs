//! Where one expression is less than another.

use super::affine::Affine;
use super::{Aff, PwAff};
use crate::basic_map::BasicMap;
use crate::relation::intersect_parts;
use crate::{Budget, Error, Integer, Relation};

impl PwAff {
    /// Returns the arguments at which both have values that satisfy `fact`, which NaN never does.
    fn compared(
        &self,
        other: &Self,
        budget: &Budget,
        fact: impl Fn(&Affine, &Affine) -> Vec<BasicMap>,
    ) -> Result<Relation, Error> {
        let (a, b) = self.0.alike(&other.0)?;
        let mut parts = Vec::new();
        for (x, y) in a.all.iter().flat_map(|x| b.all.iter().map(move |y| (x, y))) {
            let Some(both) = x.domain.intersect(&y.domain) else { continue };
            let facts = fact(&x.forms[0], &y.forms[0]);
            parts.extend(intersect_parts(&[both], &facts, budget)?);
        }
        Ok(Relation::of_inhabited(a.domain_space(), parts))
    }

    /// Returns the arguments with `self <= other`.
    ///
    /// # Errors
    /// [`Error::Space`] if the inputs differ, as in all comparisons.
    pub fn le_set(&self, other: &Self, budget: &Budget) -> Result<Relation, Error> {
        self.compared(other, budget, |a, b| b.at_least(a, false).into_iter().collect())
    }

    /// Returns the arguments with `self < other`.
    pub fn lt_set(&self, other: &Self, budget: &Budget) -> Result<Relation, Error> {
        self.compared(other, budget, |a, b| b.at_least(a, true).into_iter().collect())
    }

    /// Returns the arguments with `self >= other`.
    pub fn ge_set(&self, other: &Self, budget: &Budget) -> Result<Relation, Error> {
        other.le_set(self, budget)
    }

    /// Returns the arguments with `self > other`.
    pub fn gt_set(&self, other: &Self, budget: &Budget) -> Result<Relation, Error> {
        other.lt_set(self, budget)
    }

    /// Returns the arguments with `self = other`.
    pub fn eq_set(&self, other: &Self, budget: &Budget) -> Result<Relation, Error> {
        self.compared(other, budget, |a, b| a.minus(b).holds(true).into_iter().collect())
    }

    /// Returns the arguments at which both have values, different ones.
    pub fn ne_set(&self, other: &Self, budget: &Budget) -> Result<Relation, Error> {
        self.compared(other, budget, |a, b| {
            a.at_least(b, true).into_iter().chain(b.at_least(a, true)).collect()
        })
    }

    fn zero(&self) -> Self {
        Self(self.0.mapped(|form| Affine::constant(Integer::ZERO, form.dims)))
    }

    /// Returns the arguments with the value 0.
    pub fn zero_set(&self, budget: &Budget) -> Result<Relation, Error> {
        self.eq_set(&self.zero(), budget)
    }

    /// Returns the arguments with a value other than 0.
    pub fn non_zero_set(&self, budget: &Budget) -> Result<Relation, Error> {
        self.ne_set(&self.zero(), budget)
    }

    /// Returns the arguments with a value of at least 0.
    pub fn nonneg_set(&self, budget: &Budget) -> Result<Relation, Error> {
        self.ge_set(&self.zero(), budget)
    }

    /// Returns the arguments with a positive value.
    pub fn pos_set(&self, budget: &Budget) -> Result<Relation, Error> {
        self.gt_set(&self.zero(), budget)
    }
}

macro_rules! compare_expressions {
    ($($name:ident),*) => {
        impl Aff {$(
            /// Compares as [`PwAff`] does; returns arguments.
            ///
            /// # Errors
            /// [`Error::Space`] if the inputs differ.
            pub fn $name(&self, other: &Self, budget: &Budget) -> Result<Relation, Error> {
                PwAff::from(self.clone()).$name(&other.clone().into(), budget)
            }
        )*}
    };
}

compare_expressions!(le_set, lt_set, ge_set, gt_set, eq_set, ne_set);

//! Functions of different spaces.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::PwMultiAff;
use super::pieces::Pieces;
use crate::union::{Key, tuple_key};
use crate::{Budget, Error, Space, Union};

/// Functions between different tuples, one for each pair of tuples; immutable.
///
/// `{ S[i] -> A[(i)]; T[i, j] -> B[(j)] : i >= 0 }`.
#[derive(Debug, Clone, Default)]
pub struct UnionPwMultiAff {
    all: Arc<BTreeMap<Key, PwMultiAff>>,
}

impl UnionPwMultiAff {
    /// Makes the union of functions; of two between the same tuples, the first one counts.
    pub fn collect(functions: impl IntoIterator<Item = PwMultiAff>) -> Result<Self, Error> {
        let mut all: BTreeMap<Key, PwMultiAff> = BTreeMap::new();
        let budget = Budget::unlimited();
        for function in functions {
            let key = Key::of(function.space());
            let united = match all.get(&key) {
                Some(old) => old.0.union_with(&function.0, &budget, |a, b| {
                    a.restricted(&b.domain(), true, &budget)
                })?,
                None => function.0,
            };
            all.insert(key, PwMultiAff(united));
        }
        Ok(Self { all: all.into() })
    }

    /// Returns the functions in the order of their tuples.
    pub fn functions(&self) -> impl Iterator<Item = &PwMultiAff> {
        self.all.values()
    }

    /// Returns the parameters of all functions.
    pub fn parameters(&self) -> Vec<String> {
        let mut params = Space::default().params;
        for function in self.all.values() {
            params = Space { params, ..Space::default() }.joint_params(function.space());
        }
        params
    }

    /// Returns whether a value may be NaN.
    pub fn involves_nan(&self) -> bool {
        self.all.values().any(PwMultiAff::involves_nan)
    }

    /// Returns whether a value or a condition contains an integer division.
    pub fn involves_locals(&self) -> bool {
        self.all.values().flat_map(|function| function.0.all.iter()).any(|piece| {
            !piece.domain.divs.is_empty() || piece.forms.iter().any(|form| !form.divs.is_empty())
        })
    }

    /// Returns the arguments that have a value.
    pub fn domain(&self) -> Result<Union, Error> {
        Union::collect(self.all.values().map(PwMultiAff::domain))
    }

    fn united(
        &self,
        other: &Self,
        budget: &Budget,
        both: impl Fn(&Pieces, &Pieces) -> Result<Pieces, Error>,
    ) -> Result<Self, Error> {
        let mut all = (*self.all).clone();
        for (key, b) in other.all.iter() {
            let united = match all.get(key) {
                Some(a) => PwMultiAff(a.0.union_with(&b.0, budget, &both)?),
                None => b.clone(),
            };
            all.insert(key.clone(), united);
        }
        Ok(Self { all: all.into() })
    }

    /// Returns the values of either; where both have some, their sum.
    ///
    /// # Errors
    /// [`Error::NotSingleValued`] if an argument has values in two tuples then.
    pub fn union_add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        for (a, b) in self.all.values().flat_map(|a| other.all.values().map(move |b| (a, b))) {
            let (one, two) = (a.space(), b.space());
            if one.input == two.input
                && one.output != two.output
                && !a.domain().is_disjoint(&b.domain(), budget)?
            {
                return Err(Error::NotSingleValued);
            }
        }
        self.united(other, budget, |a, b| a.zipped(b, budget, |a, b| Ok(a.plus(b))))
    }

    /// Adds where both have values.
    pub fn add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.matched(other, |a, b| a.add(b, budget))
    }

    /// Subtracts where both have values.
    pub fn sub(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.matched(other, |a, b| a.sub(b, budget))
    }

    fn matched(
        &self,
        other: &Self,
        f: impl Fn(&PwMultiAff, &PwMultiAff) -> Result<PwMultiAff, Error>,
    ) -> Result<Self, Error> {
        let mut all = BTreeMap::new();
        for (key, a) in self.all.iter() {
            if let Some(b) = other.all.get(key) {
                all.insert(key.clone(), f(a, b)?);
            }
        }
        Ok(Self { all: all.into() })
    }

    /// Keeps the values of arguments in `sets`.
    pub fn intersect_domain(&self, sets: &Union, budget: &Budget) -> Result<Self, Error> {
        let mut all = BTreeMap::new();
        for (key, function) in self.all.iter() {
            let space = function.0.domain_space();
            if let Some(params) = sets.as_params() {
                let set = params.params_of(&space, budget)?;
                all.insert(key.clone(), function.intersect_domain(&set, budget)?);
            } else if let Some(set) = sets.get(&space) {
                all.insert(key.clone(), function.intersect_domain(set, budget)?);
            }
        }
        Ok(Self { all: all.into() })
    }

    /// Returns `x -> self(inner(x))` for all functions whose tuples fit.
    pub fn pullback(&self, inner: &Self, budget: &Budget) -> Result<Self, Error> {
        let mut results = Vec::new();
        for (outer, inner) in
            self.all.values().flat_map(|o| inner.all.values().map(move |i| (o, i)))
        {
            let input = outer.space().input.as_ref().map(tuple_key);
            if input == Some(tuple_key(&inner.space().output)) {
                results.push(outer.pullback(inner, budget)?);
            }
        }
        Self::collect(results)
    }

    /// Returns whether both have the same values at the same arguments.
    pub fn is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        for (one, two) in [(self, other), (other, self)] {
            for (key, a) in one.all.iter() {
                let equal = match two.all.get(key) {
                    Some(b) => a.is_equal(b, budget)?,
                    None => a.domain().is_empty(budget)?,
                };
                if !equal {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Merges pieces where that is exact.
    pub fn coalesce(&self, budget: &Budget) -> Result<Self, Error> {
        let each = self.all.values().map(|function| function.coalesce(budget));
        Self::collect(each.collect::<Result<Vec<_>, _>>()?)
    }

    /// Relates each argument to its value where that is an integer point.
    pub fn to_union(&self) -> Result<Union, Error> {
        let graphs = self.all.values().map(PwMultiAff::to_relation);
        Union::collect(graphs.collect::<Result<Vec<_>, _>>()?)
    }

    /// Reads a union of single-valued relations as functions.
    ///
    /// # Errors
    /// [`Error::NotSingleValued`] if an argument has two values between the same tuples.
    pub fn from_union(union: &Union, budget: &Budget) -> Result<Self, Error> {
        let functions = union.relations().map(|piece| piece.to_pw_multi_aff(budget));
        Self::collect(functions.collect::<Result<Vec<_>, _>>()?)
    }
}

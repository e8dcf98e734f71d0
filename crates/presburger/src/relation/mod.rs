//! Sets and relations: finite unions of conjunctions in one space.
//!
//! A set is a relation without an input tuple. All operations are exact over the
//! integers; operands may name different parameters.

mod algebra;
mod compose;
mod conjunction;
mod extremal;
mod lift;
mod ordered;
mod pairs;
mod placement;
mod points;
mod product;
mod rows;
mod subtract;

pub use algebra::Order;
pub(crate) use algebra::difference;
pub(crate) use conjunction::divisions;
pub use conjunction::{Conjunction, Division, narrow};
pub(crate) use placement::check as check_places;
pub use rows::Rows;
pub(crate) use subtract::{covers, subtract_parts};

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::basic_map::BasicMap;
use crate::space::joint;
use crate::{Budget, Error, Integer, Space, Tuple};
use points::scan;

/// Up to how many parts are compared with each other instead of hashed.
const FEW: usize = 8;

/// An immutable set or relation; a clone shares everything.
#[derive(Debug, Clone)]
pub struct Relation {
    pub(crate) space: Arc<Space>,
    pub(crate) parts: Arc<[BasicMap]>,
    /// Whether every part is known to hold a point.
    pub(crate) inhabited: bool,
}

impl Relation {
    pub(crate) fn new(space: impl Into<Arc<Space>>, parts: Vec<BasicMap>) -> Self {
        Self { space: space.into(), parts: distinct(parts).into(), inhabited: false }
    }

    /// As `new`, for parts that are known to hold a point each.
    pub(crate) fn of_inhabited(space: impl Into<Arc<Space>>, parts: Vec<BasicMap>) -> Self {
        Self { inhabited: true, ..Self::new(space, parts) }
    }

    /// The same parts over other tuples with as many dimensions.
    pub(crate) fn respaced(&self, space: Space) -> Self {
        Self { space: Arc::new(space), ..self.clone() }
    }

    /// Returns the space of all points.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Makes the relation of all points of `space`.
    pub fn universe(space: Space) -> Self {
        let part = BasicMap::universe(space.dims());
        Self::new(space, vec![part])
    }

    /// Returns whether both are written alike, which is cheap and implies that they are equal; isl's
    /// `plain_is_equal`.
    pub fn plain_is_equal(&self, other: &Self) -> bool {
        self.space == other.space
            && (Arc::ptr_eq(&self.parts, &other.parts) || self.parts == other.parts)
    }

    /// Rewrites over `params`, which must hold all parameters of `self`.
    pub(crate) fn aligned(&self, params: &[String]) -> Self {
        if self.space.params == params {
            return self.clone();
        }
        let old = self.space.params.len();
        let find = |name: &String| params.iter().position(|p| p == name).unwrap_or(0);
        let mut to: Vec<usize> = self.space.params.iter().map(find).collect();
        to.extend((old..self.space.dims()).map(|i| i - old + params.len()));
        let space = Space { params: params.to_vec(), ..(*self.space).clone() };
        let parts = self.parts.iter().map(|part| part.place(space.dims(), &to)).collect();
        Self::new(space, parts)
    }

    pub(crate) fn pair(&self, other: &Self) -> Result<(Self, Self), Error> {
        if !self.space.same_tuples(&other.space) {
            return Err(self.space.mismatch(&other.space));
        }
        if self.space.params == other.space.params {
            return Ok((self.clone(), other.clone()));
        }
        let params = self.space.joint_params(&other.space);
        Ok((self.aligned(&params), other.aligned(&params)))
    }

    /// Unites two relations of one space.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn union(&self, other: &Self) -> Result<Self, Error> {
        let (a, b) = self.pair(other)?;
        Ok(Self::new(a.space.clone(), [&a.parts[..], &b.parts[..]].concat()))
    }

    /// Unites relations of one space, of which there is at least one.
    pub(crate) fn unite<'a>(all: impl Iterator<Item = &'a Self> + Clone) -> Result<Self, Error> {
        let mut others = all.clone();
        let Some(first) = others.next() else { return Ok(Self::empty(Space::default())) };
        let mut params = first.space.params.clone();
        for other in others {
            if !first.space.same_tuples(&other.space) {
                return Err(first.space.mismatch(&other.space));
            }
            if other.space.params != params {
                params = joint(&params, &other.space.params);
            }
        }
        let parts = all.flat_map(|piece| piece.aligned(&params).parts.to_vec());
        let space = first.aligned(&params).space;
        Ok(Self::new(space, parts.collect()))
    }

    /// Intersects two relations of one space.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn intersect(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let (a, b) = self.pair(other)?;
        let parts = intersect_parts(&a.parts, &b.parts, budget)?;
        Ok(Self::of_inhabited(a.space.clone(), parts))
    }

    /// Returns the points of `self` that are not in `other`.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn subtract(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let (a, b) = self.pair(other)?;
        let parts = subtract_parts(&a.parts, &b.parts, budget)?;
        let inhabited = self.inhabited;
        Ok(Self { inhabited, ..Self::new(a.space.clone(), parts) })
    }

    /// Returns the points of the space that are not in `self`.
    pub fn complement(&self, budget: &Budget) -> Result<Self, Error> {
        Self::universe((*self.space).clone()).subtract(self, budget)
    }

    /// Returns whether there is no point for any value of the parameters.
    pub fn is_empty(&self, budget: &Budget) -> Result<bool, Error> {
        if self.inhabited {
            return Ok(self.parts.is_empty());
        }
        for part in self.parts.iter() {
            if !part.is_empty(budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether every point of `self` is in `other`.
    pub fn is_subset(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        let (a, b) = self.pair(other)?;
        covers(&b.parts, &a.parts, budget)
    }

    /// Returns whether both hold the same points.
    pub fn is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        Ok(self.is_subset(other, budget)? && other.is_subset(self, budget)?)
    }

    /// Returns whether no point is in both.
    pub fn is_disjoint(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        self.intersect(other, budget)?.is_empty(budget)
    }

    pub(crate) fn projected(
        &self,
        space: Space,
        range: std::ops::Range<usize>,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let mut parts = Vec::new();
        for part in self.parts.iter() {
            parts.extend(part.project(range.clone(), budget)?);
        }
        Ok(Self { inhabited: self.inhabited, ..Self::new(space, parts) })
    }

    /// Returns the set of inputs; a set is its own domain.
    pub fn domain(&self, budget: &Budget) -> Result<Self, Error> {
        let Some(input) = self.space.input.clone() else { return Ok(self.clone()) };
        let space = Space { params: self.space.params.clone(), input: None, output: input };
        self.projected(space.clone(), space.dims()..self.space.dims(), budget)
    }

    /// Returns the set of outputs.
    pub fn range(&self, budget: &Budget) -> Result<Self, Error> {
        let first = self.space.params.len();
        let space = Space { input: None, ..(*self.space).clone() };
        self.projected(space, first..first + self.space.inputs(), budget)
    }

    /// Swaps input and output.
    ///
    /// # Errors
    /// [`Error::Space`] for a set.
    pub fn inverse(&self) -> Result<Self, Error> {
        let Some(input) = &self.space.input else { return Err(self.not_a_relation()) };
        let (params, ins) = (self.space.params.len(), input.dims.len());
        let outs = self.space.output.dims.len();
        let mut to: Vec<usize> = (0..params).collect();
        to.extend((0..ins).map(|i| params + outs + i));
        to.extend((0..outs).map(|i| params + i));
        let space = Space {
            params: self.space.params.clone(),
            input: Some(self.space.output.clone()),
            output: input.clone(),
        };
        let parts = self.parts.iter().map(|part| part.place(space.dims(), &to)).collect();
        Ok(Self::new(space, parts))
    }

    pub(crate) fn not_a_relation(&self) -> Error {
        Error::Space { expected: "[..] -> [..]".into(), found: self.space.to_string() }
    }

    /// Returns whether no input has two outputs.
    pub fn is_single_valued(&self, budget: &Budget) -> Result<bool, Error> {
        let (all, outs) = (self.space.dims(), self.space.output.dims.len());
        let to: Vec<usize> = (0..all - outs).chain(all..all + outs).collect();
        let parts: Vec<BasicMap> = self
            .parts
            .iter()
            .map(|part| part.place(all + outs, &(0..all).collect::<Vec<_>>()))
            .collect();
        let others: Vec<BasicMap> = self.parts.iter().map(|p| p.place(all + outs, &to)).collect();
        for (index, part) in parts.iter().enumerate() {
            for (later, other) in others[index..].iter().enumerate() {
                let Some(pair) = part.intersect(other) else { continue };
                for (dim, sign) in (0..outs).flat_map(|dim| [(dim, 1), (dim, -1)]) {
                    // A part and its own copy are symmetric.
                    if later == 0 && sign < 0 {
                        continue;
                    }
                    let mut row = vec![Integer::ZERO; pair.cols()];
                    row[0] = Integer::MINUS_ONE;
                    (row[1 + all - outs + dim], row[1 + all + dim]) =
                        (Integer::from(sign), Integer::from(-sign));
                    let mut apart = pair.clone();
                    apart.system.ineqs.push(&row);
                    if !apart.is_empty(budget)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Returns whether no output has two inputs.
    ///
    /// # Errors
    /// [`Error::Space`] for a set.
    pub fn is_injective(&self, budget: &Budget) -> Result<bool, Error> {
        self.inverse()?.is_single_valued(budget)
    }

    /// Returns whether every point of `codomain` is an output.
    ///
    /// # Errors
    /// [`Error::Space`] if `codomain` is not a set in the output's space.
    pub fn is_surjective_onto(&self, codomain: &Self, budget: &Budget) -> Result<bool, Error> {
        codomain.is_subset(&self.range(budget)?, budget)
    }

    /// Returns whether the relation is single-valued and injective.
    ///
    /// # Errors
    /// [`Error::Space`] for a set.
    pub fn is_bijective(&self, budget: &Budget) -> Result<bool, Error> {
        Ok(self.is_injective(budget)? && self.is_single_valued(budget)?)
    }

    /// Returns whether the point, parameters first, then input, then output, is in `self`.
    ///
    /// # Errors
    /// [`Error::Space`] if the number of coordinates is not that of the space.
    pub fn contains<T: Clone + Into<Integer>>(&self, point: &[T]) -> Result<bool, Error> {
        let point: Vec<Integer> = point.iter().cloned().map(T::into).collect();
        if point.len() != self.space.dims() {
            let found = Tuple::new("", point.iter().map(Integer::to_string));
            return Err(Error::Space {
                expected: self.space.to_string(),
                found: found.to_string(),
            });
        }
        Ok(self.parts.iter().any(|part| part.contains(&point)))
    }

    /// Lists all points in lexicographic order; parameters count as dimensions.
    ///
    /// # Errors
    /// [`Error::Unbounded`] for an infinite set, [`Error::UnboundedParameter`] where it is the
    /// parameters that have infinitely many values.
    pub fn points(&self, budget: &Budget) -> Result<Vec<Vec<Integer>>, Error> {
        let mut points = BTreeSet::new();
        for part in self.parts.iter() {
            scan(part, &mut points, budget).map_err(|error| match error {
                Error::Unbounded { dim } if dim < self.space.params.len() => {
                    Error::UnboundedParameter { name: self.space.params[dim].clone() }
                }
                error => error,
            })?;
        }
        Ok(points.into_iter().collect())
    }

    /// Finds a point: parameters first, then input, then output.
    pub fn sample(&self, budget: &Budget) -> Result<Option<Vec<Integer>>, Error> {
        for part in self.parts.iter() {
            if let Some(point) = part.sample(budget)? {
                return Ok(Some(point));
            }
        }
        Ok(None)
    }
}

/// Keeps the first of equal parts.
fn distinct(mut parts: Vec<BasicMap>) -> Vec<BasicMap> {
    if parts.len() <= FEW {
        let mut next = 0;
        while next < parts.len() {
            if parts[..next].contains(&parts[next]) {
                parts.remove(next);
            } else {
                next += 1;
            }
        }
        return parts;
    }
    let mut known = FxHashSet::default();
    let new: Vec<bool> = parts.iter().map(|part| known.insert(part)).collect();
    let mut new = new.into_iter();
    parts.retain(|_| new.next() == Some(true));
    parts
}

pub(crate) fn intersect_parts(
    a: &[BasicMap],
    b: &[BasicMap],
    budget: &Budget,
) -> Result<Vec<BasicMap>, Error> {
    let mut parts = Vec::new();
    for (left, right) in a.iter().flat_map(|l| b.iter().map(move |r| (l, r))) {
        budget.spend(left.system.size() + right.system.size())?;
        if let Some(part) = left.intersect(right)
            && !part.is_empty(budget)?
        {
            parts.push(part);
        }
    }
    Ok(parts)
}

//! Relations made from spaces and points, and restrictions of inputs, outputs and parameters.

use crate::basic_map::BasicMap;
use crate::{Budget, Error, Integer, Relation, Space, Tuple};

/// Whether outputs are compared to find the lesser or the greater point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Input before output.
    Less,
    /// Input before or the same as output.
    LessOrEqual,
    /// Input after output.
    Greater,
    /// Input after or the same as output.
    GreaterOrEqual,
}

impl Relation {
    /// Makes the relation without points in `space`.
    pub fn empty(space: Space) -> Self {
        Self::new(space, Vec::new())
    }

    /// Makes the relation of one point: parameters, then input, then output.
    ///
    /// # Errors
    /// [`Error::Row`] if the number of coordinates is not that of the space.
    pub fn point<T: Clone + Into<Integer>>(space: Space, point: &[T]) -> Result<Self, Error> {
        if point.len() != space.dims() {
            return Err(Error::Row { expected: space.dims(), found: point.len() });
        }
        let mut part = BasicMap::universe(space.dims());
        for (dim, value) in point.iter().enumerate() {
            let mut row = vec![Integer::ZERO; 1 + space.dims()];
            row[0] = -value.clone().into();
            row[1 + dim] = Integer::ONE;
            part.system.eqs.push(&row);
        }
        Ok(Self::new(space, vec![part]))
    }

    /// Makes the relation of one point of each tuple to itself.
    pub fn identity(params: Vec<String>, tuple: Tuple) -> Self {
        let (p, n) = (params.len(), tuple.dims.len());
        let space = Space::map(params, tuple.clone(), tuple);
        let mut part = BasicMap::universe(space.dims());
        for i in 0..n {
            part.system.eqs.push(&difference(p + i, p + n + i, space.dims()));
        }
        Self::new(space, vec![part])
    }

    /// Relates the points of `tuple` by lexicographic order.
    pub fn lexicographic(params: Vec<String>, tuple: Tuple, order: Order) -> Self {
        let (p, n) = (params.len(), tuple.dims.len());
        let space = Space::map(params, tuple.clone(), tuple);
        let sign = if matches!(order, Order::Less | Order::LessOrEqual) { -1 } else { 1 };
        let mut parts = Vec::new();
        let mut same = BasicMap::universe(space.dims());
        for i in 0..n {
            let mut row = difference(p + i, p + n + i, space.dims());
            let mut part = same.clone();
            same.system.eqs.push(&row);
            row.iter_mut().for_each(|v| *v *= sign);
            row[0] = Integer::MINUS_ONE;
            part.system.ineqs.push(&row);
            parts.push(part);
        }
        if matches!(order, Order::LessOrEqual | Order::GreaterOrEqual) {
            parts.push(same);
        }
        Self::new(space, parts)
    }

    /// Returns whether this is a set.
    pub fn is_set(&self) -> bool {
        self.space.is_set()
    }

    /// Rewrites over `params`, in that order; parameters that are new are free.
    ///
    /// # Errors
    /// [`Error::Space`] if `params` lacks a parameter of `self`.
    pub fn align_params(&self, params: &[String]) -> Result<Self, Error> {
        if let Some(missing) = self.space.params.iter().find(|p| !params.contains(p)) {
            let expected = format!("a list of parameters with {missing}");
            return Err(Error::Space { expected, found: params.join(", ") });
        }
        Ok(self.aligned(params))
    }

    /// Replaces the tuples by others with the same numbers of dimensions.
    ///
    /// # Errors
    /// [`Error::Space`] if the numbers of dimensions differ.
    pub fn cast(&self, input: Option<Tuple>, output: Tuple) -> Result<Self, Error> {
        let space = Space { params: self.space.params.clone(), input, output };
        if space.dims() != self.space.dims() || space.is_set() && self.space.inputs() > 0 {
            return Err(self.space.mismatch(&space));
        }
        Ok(self.respaced(space))
    }

    pub(crate) fn input(&self) -> Result<&Tuple, Error> {
        self.space.input.as_ref().ok_or_else(|| self.not_a_relation())
    }

    /// Applies `map` to every input: relates `map(x)` to `y` where `self` relates `x` to `y`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the input of `self` is the input of `map`.
    pub fn apply_domain(&self, map: &Self, budget: &Budget) -> Result<Self, Error> {
        self.inverse()?.apply_range(map, budget)?.inverse()
    }

    /// Keeps the pairs whose input is in `set`.
    ///
    /// # Errors
    /// [`Error::Space`] unless `set` is a set in the space of the inputs.
    pub fn intersect_domain(&self, set: &Self, budget: &Budget) -> Result<Self, Error> {
        self.intersect(&self.over_inputs(set)?, budget)
    }

    /// Keeps the pairs whose output is in `set`.
    ///
    /// # Errors
    /// [`Error::Space`] unless `set` is a set in the space of the outputs.
    pub fn intersect_range(&self, set: &Self, budget: &Budget) -> Result<Self, Error> {
        self.intersect(&self.over_outputs(set)?, budget)
    }

    /// Drops the pairs whose input is in `set`.
    ///
    /// # Errors
    /// [`Error::Space`] unless `set` is a set in the space of the inputs.
    pub fn subtract_domain(&self, set: &Self, budget: &Budget) -> Result<Self, Error> {
        self.subtract(&self.over_inputs(set)?, budget)
    }

    /// Drops the pairs whose output is in `set`.
    ///
    /// # Errors
    /// [`Error::Space`] unless `set` is a set in the space of the outputs.
    pub fn subtract_range(&self, set: &Self, budget: &Budget) -> Result<Self, Error> {
        self.subtract(&self.over_outputs(set)?, budget)
    }

    /// Keeps the points whose parameters are in the parameter set `set`.
    ///
    /// # Errors
    /// [`Error::Space`] if `set` has dimensions.
    pub fn intersect_params(&self, set: &Self, budget: &Budget) -> Result<Self, Error> {
        if !set.is_set() || !set.space.output.dims.is_empty() {
            return Err(Error::Space { expected: "[]".into(), found: set.space.to_string() });
        }
        let p = set.space.params.len();
        let space = Space { params: set.space.params.clone(), ..(*self.space).clone() };
        let to: Vec<usize> = (0..p).collect();
        self.intersect(&set.moved(space, &to), budget)
    }

    /// Makes all points of `space` whose parameters are in this parameter set.
    pub(crate) fn params_of(&self, space: &Space, budget: &Budget) -> Result<Self, Error> {
        Self::universe(space.clone()).intersect_params(self, budget)
    }

    pub(crate) fn moved(&self, space: Space, to: &[usize]) -> Self {
        let parts = self.parts.iter().map(|part| part.place(space.dims(), to)).collect();
        Self::new(space, parts)
    }

    /// Makes all pairs over the tuples of `self` whose input is in `set`.
    fn over_inputs(&self, set: &Self) -> Result<Self, Error> {
        if !set.is_set() || *self.input()? != set.space.output {
            return Err(Error::Space {
                expected: self.input()?.to_string(),
                found: set.space.to_string(),
            });
        }
        let space = Space { params: set.space.params.clone(), ..(*self.space).clone() };
        let to: Vec<usize> = (0..set.space.dims()).collect();
        Ok(set.moved(space, &to))
    }

    fn over_outputs(&self, set: &Self) -> Result<Self, Error> {
        if !set.is_set() || self.space.output != set.space.output {
            return Err(Error::Space {
                expected: self.space.output.to_string(),
                found: set.space.to_string(),
            });
        }
        let space = Space { params: set.space.params.clone(), ..(*self.space).clone() };
        let p = space.params.len();
        let ins = self.space.inputs();
        let to: Vec<usize> = (0..p).chain((p..set.space.dims()).map(|i| i + ins)).collect();
        Ok(set.moved(space, &to))
    }

    pub(crate) fn lacks(&self, expected: &str) -> Error {
        Error::Space { expected: expected.into(), found: self.space.to_string() }
    }

    /// Keeps the points in neither or only one of both.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn symmetric_difference(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.subtract(other, budget)?.union(&other.subtract(self, budget)?)
    }

    /// Returns whether `self` is a subset of `other` and not equal to it.
    pub fn is_strict_subset(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        Ok(self.is_subset(other, budget)? && !other.is_subset(self, budget)?)
    }
}

/// Makes the row `x_a - x_b` over `dims` dimensions.
pub(crate) fn difference(a: usize, b: usize, dims: usize) -> Vec<Integer> {
    let mut row = vec![Integer::ZERO; 1 + dims];
    row[1 + a] = Integer::ONE;
    row[1 + b] = Integer::MINUS_ONE;
    row
}

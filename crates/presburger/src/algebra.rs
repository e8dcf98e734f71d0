//! Operations that rearrange the tuples of relations.

use std::ops::Range;

use crate::basic::Basic;
use crate::eliminate::Relaxed;
use crate::relation::intersect_parts;
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
        let mut part = Basic::universe(space.dims());
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
        let mut part = Basic::universe(space.dims());
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
        let mut same = Basic::universe(space.dims());
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

    /// Says whether this is a set.
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

    fn input(&self) -> Result<&Tuple, Error> {
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

    /// Returns the differences `y - x` of related points.
    ///
    /// # Errors
    /// [`Error::Space`] unless input and output are the same tuple.
    pub fn deltas(&self, budget: &Budget) -> Result<Self, Error> {
        self.deltas_map(budget)?.range(budget)
    }

    /// Relates each pair `[x -> y]` of `self` to `y - x`.
    ///
    /// # Errors
    /// [`Error::Space`] unless input and output are the same tuple.
    pub fn deltas_map(&self, budget: &Budget) -> Result<Self, Error> {
        if *self.input()? != self.space.output {
            return Err(self.space.mismatch(&Space {
                input: Some(self.space.output.clone()),
                ..(*self.space).clone()
            }));
        }
        let (p, n) = (self.space.params.len(), self.space.inputs());
        let pairs = self.wrap()?;
        let space = Space::map(
            self.space.params.clone(),
            pairs.space.output.clone(),
            self.space.output.clone(),
        );
        let to: Vec<usize> = (0..pairs.space.dims()).collect();
        let mut law = Basic::universe(space.dims());
        for i in 0..n {
            let mut row = difference(p + i, p + n + i, space.dims());
            row[1 + p + 2 * n + i] = Integer::ONE;
            law.system.eqs.push(&row);
        }
        let moved = pairs.moved(space.clone(), &to);
        Ok(Self::new(space, intersect_parts(&moved.parts, &[law], budget)?))
    }

    /// Turns a relation into the set of its pairs `[x -> y]`.
    ///
    /// # Errors
    /// [`Error::Space`] for a set.
    pub fn wrap(&self) -> Result<Self, Error> {
        let tuple = Tuple::wrapping(self.input()?.clone(), self.space.output.clone());
        Ok(self.respaced(Space::set(self.space.params.clone(), tuple)))
    }

    /// Turns a set of pairs `[x -> y]` into a relation.
    ///
    /// # Errors
    /// [`Error::Space`] unless this is a set of pairs.
    pub fn unwrap(&self) -> Result<Self, Error> {
        match self.space.output.sides() {
            Some((a, b)) if self.is_set() => {
                Ok(self.respaced(Space::map(self.space.params.clone(), a, b)))
            }
            _ => Err(self.lacks("[[..] -> [..]]")),
        }
    }

    fn lacks(&self, expected: &str) -> Error {
        Error::Space { expected: expected.into(), found: self.space.to_string() }
    }

    /// Turns `[a -> b] -> [c -> d]` into `[a -> c] -> [b -> d]`.
    ///
    /// # Errors
    /// [`Error::Space`] unless input and output are pairs.
    pub fn zip(&self) -> Result<Self, Error> {
        let sides = self.input()?.sides().zip(self.space.output.sides());
        let Some(((a, b), (c, d))) = sides else {
            return Err(self.lacks("[[..] -> [..]] -> [[..] -> [..]]"));
        };
        let starts = [a.dims.len(), c.dims.len(), b.dims.len(), d.dims.len()];
        let space =
            Space::map(self.space.params.clone(), Tuple::wrapping(a, c), Tuple::wrapping(b, d));
        let p = self.space.params.len();
        let [a, c, b, d] = starts;
        let mut to: Vec<usize> = (0..p + a).collect();
        to.extend((0..b).map(|i| p + a + c + i));
        to.extend((0..c).map(|i| p + a + i));
        to.extend((0..d).map(|i| p + a + c + b + i));
        Ok(self.moved(space, &to))
    }

    /// Turns `[a -> b] -> c` into `a -> [b -> c]`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the input is a pair.
    pub fn curry(&self) -> Result<Self, Error> {
        let Some((a, b)) = self.input()?.sides() else {
            return Err(self.lacks("[[..] -> [..]] -> [..]"));
        };
        let output = Tuple::wrapping(b, self.space.output.clone());
        Ok(self.respaced(Space::map(self.space.params.clone(), a, output)))
    }

    /// Turns `a -> [b -> c]` into `[a -> b] -> c`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the output is a pair.
    pub fn uncurry(&self) -> Result<Self, Error> {
        let (a, sides) = (self.input()?.clone(), self.space.output.sides());
        let Some((b, c)) = sides else { return Err(self.lacks("[..] -> [[..] -> [..]]")) };
        Ok(self.respaced(Space::map(self.space.params.clone(), Tuple::wrapping(a, b), c)))
    }

    /// Relates each pair `[x -> y]` of `self` to `x`.
    ///
    /// # Errors
    /// [`Error::Space`] for a set.
    pub fn domain_map(&self) -> Result<Self, Error> {
        self.side_map(self.input()?.clone(), 0..self.space.inputs())
    }

    /// Relates each pair `[x -> y]` of `self` to `y`.
    ///
    /// # Errors
    /// [`Error::Space`] for a set.
    pub fn range_map(&self) -> Result<Self, Error> {
        let (ins, outs) = (self.space.inputs(), self.space.output.dims.len());
        self.side_map(self.space.output.clone(), ins..ins + outs)
    }

    fn side_map(&self, output: Tuple, side: Range<usize>) -> Result<Self, Error> {
        let pairs = self.wrap()?;
        let (p, from) = (self.space.params.len(), pairs.space.dims());
        let input = pairs.space.output.clone();
        let space = Space::map(self.space.params.clone(), input, output);
        let to: Vec<usize> = (0..from).collect();
        let parts = self.parts.iter().map(|part| {
            let mut part = part.place(space.dims(), &to);
            for (i, dim) in side.clone().enumerate() {
                let mut row = difference(p + dim, from + i, space.dims());
                row.resize(part.system.cols(), Integer::ZERO);
                part.system.eqs.push(&row);
            }
            part
        });
        Ok(Self::new(space.clone(), parts.collect()))
    }

    /// Returns the values of the parameters for which there is a point, as a set of `[]`.
    pub fn params(&self, budget: &Budget) -> Result<Self, Error> {
        let p = self.space.params.len();
        let space = Space::set(self.space.params.clone(), Tuple::default());
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

    /// Keeps the points in neither or only one of both.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn symmetric_difference(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.subtract(other, budget)?.union(&other.subtract(self, budget)?)
    }

    /// Says whether `self` is a subset of `other` and not equal to it.
    pub fn is_strict_subset(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        Ok(self.is_subset(other, budget)? && !other.is_subset(self, budget)?)
    }
}

/// Makes the row `x_a - x_b` over `dims` dimensions.
fn difference(a: usize, b: usize, dims: usize) -> Vec<Integer> {
    let mut row = vec![Integer::ZERO; 1 + dims];
    row[1 + a] = Integer::ONE;
    row[1 + b] = Integer::MINUS_ONE;
    row
}

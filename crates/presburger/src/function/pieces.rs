//! What all piecewise functions share: forms on parts of a domain that do not overlap.

use std::sync::Arc;

use super::affine::Affine;
use crate::basic_map::BasicMap;
use crate::count::{Integer, Rational};
use crate::relation::intersect_parts;
use crate::relation::subtract_parts;
use crate::{Budget, Error, Relation, Space, Tuple};

/// One form per output, on one conjunction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub domain: BasicMap,
    pub forms: Vec<Affine>,
}

/// A function from the parameters and inputs of `space` to its outputs.
#[derive(Debug, Clone)]
pub(crate) struct Pieces {
    pub space: Arc<Space>,
    pub all: Arc<[Piece]>,
}

impl Pieces {
    /// Makes a function of pieces that are known not to overlap.
    pub fn new(space: Space, all: Vec<Piece>) -> Self {
        Self { space: Arc::new(space), all: all.into() }
    }

    /// Makes a function that has one value per output everywhere.
    pub fn total(space: Space, forms: Vec<Affine>) -> Self {
        let domain = BasicMap::universe(domain_dims(&space));
        Self::new(space, vec![Piece { domain, forms }])
    }

    pub fn dims(&self) -> usize {
        domain_dims(&self.space)
    }

    pub fn domain_space(&self) -> Space {
        let output = self.space.input.clone().unwrap_or_else(Tuple::params);
        Space::set(self.space.params.clone(), output)
    }

    pub fn with(&self, all: Vec<Piece>) -> Self {
        Self { space: self.space.clone(), all: all.into() }
    }

    pub fn respaced(&self, space: Space) -> Self {
        Self { space: Arc::new(space), all: self.all.clone() }
    }

    pub fn domain(&self) -> Relation {
        let parts = self.all.iter().map(|piece| piece.domain.clone()).collect();
        Relation::new(self.domain_space(), parts)
    }

    /// Rewrites over `params`, which must hold all parameters of `self`.
    pub fn aligned(&self, params: &[String]) -> Self {
        if self.space.params == params {
            return self.clone();
        }
        let old = self.space.params.len();
        let find = |name: &String| params.iter().position(|p| p == name).unwrap_or(0);
        let mut to: Vec<usize> = self.space.params.iter().map(find).collect();
        to.extend((0..self.space.inputs()).map(|i| params.len() + i));
        let dims = self.dims() - old + params.len();
        let place = |piece: &Piece| Piece {
            domain: piece.domain.place(dims, &to),
            forms: piece.forms.iter().map(|form| form.place(dims, &to)).collect(),
        };
        let space = Space { params: params.to_vec(), ..(*self.space).clone() };
        Self::new(space, self.all.iter().map(place).collect())
    }

    /// Writes both over the same parameters.
    ///
    /// # Errors
    /// [`Error::Space`] if the inputs differ.
    pub fn pair(&self, other: &Self) -> Result<(Self, Self), Error> {
        if self.space.input != other.space.input {
            return Err(self.space.mismatch(&other.space));
        }
        let params = self.space.joint_params(&other.space);
        Ok((self.aligned(&params), other.aligned(&params)))
    }

    /// As [`Self::pair`], for functions that also have the same outputs.
    pub fn alike(&self, other: &Self) -> Result<(Self, Self), Error> {
        if self.space.output != other.space.output {
            return Err(self.space.mismatch(&other.space));
        }
        self.pair(other)
    }

    /// Applies `f` to the forms of each piece.
    pub fn mapped(&self, f: impl Fn(&Affine) -> Affine) -> Self {
        let piece = |piece: &Piece| {
            let forms = piece.forms.iter().map(&f).collect();
            Piece { domain: piece.domain.clone(), forms }
        };
        self.with(self.all.iter().map(piece).collect())
    }

    /// Joins the pieces of two functions of the same inputs where both have values.
    pub fn joined(
        &self,
        other: &Self,
        output: Tuple,
        budget: &Budget,
        join: impl Fn(&[Affine], &[Affine]) -> Result<Vec<(Option<BasicMap>, Vec<Affine>)>, Error>,
    ) -> Result<Self, Error> {
        let (a, b) = self.pair(other)?;
        let mut all = Vec::new();
        for (x, y) in a.all.iter().flat_map(|x| b.all.iter().map(move |y| (x, y))) {
            let one = std::slice::from_ref(&x.domain);
            for domain in intersect_parts(one, std::slice::from_ref(&y.domain), budget)? {
                for (when, forms) in join(&x.forms, &y.forms)? {
                    let Some(when) = when else {
                        all.push(Piece { domain: domain.clone(), forms });
                        continue;
                    };
                    let parts = intersect_parts(std::slice::from_ref(&domain), &[when], budget)?;
                    all.extend(
                        parts.into_iter().map(|domain| Piece { domain, forms: forms.clone() }),
                    );
                }
            }
        }
        Ok(Self::new(Space { output, ..(*a.space).clone() }, all))
    }

    /// As [`Self::joined`], output by output.
    pub fn zipped(
        &self,
        other: &Self,
        budget: &Budget,
        f: impl Fn(&Affine, &Affine) -> Result<Affine, Error>,
    ) -> Result<Self, Error> {
        self.alike(other)?;
        self.joined(other, self.space.output.clone(), budget, |a, b| {
            let forms = a.iter().zip(b).map(|(a, b)| f(a, b)).collect::<Result<_, _>>()?;
            Ok(vec![(None, forms)])
        })
    }

    /// Keeps what has its arguments in `set`, or what has not.
    ///
    /// # Errors
    /// [`Error::Space`] unless `set` is a set of arguments.
    pub fn restricted(&self, set: &Relation, keep: bool, budget: &Budget) -> Result<Self, Error> {
        let (space, found) = (self.domain_space(), set.space());
        if !space.same_tuples(found) {
            return Err(space.mismatch(found));
        }
        let params = space.joint_params(found);
        let (function, set) = (self.aligned(&params), set.aligned(&params));
        let mut all = Vec::new();
        for piece in function.all.iter() {
            let one = std::slice::from_ref(&piece.domain);
            let parts = if keep {
                // Disjuncts of a set may overlap, pieces may not.
                let outside = subtract_parts(one, &set.parts, budget)?;
                match outside.is_empty() {
                    true => one.to_vec(),
                    false if set.parts.len() < 2 => intersect_parts(one, &set.parts, budget)?,
                    false => subtract_parts(one, &outside, budget)?,
                }
            } else {
                subtract_parts(one, &set.parts, budget)?
            };
            all.extend(
                parts.into_iter().map(|domain| Piece { domain, forms: piece.forms.clone() }),
            );
        }
        Ok(function.with(all))
    }

    /// Takes the values of both functions, and their sum where both have one.
    pub fn union_with(
        &self,
        other: &Self,
        budget: &Budget,
        both: impl FnOnce(&Self, &Self) -> Result<Self, Error>,
    ) -> Result<Self, Error> {
        let (a, b) = self.alike(other)?;
        let common = both(&a, &b)?;
        let left = a.restricted(&b.domain(), false, budget)?;
        let right = b.restricted(&a.domain(), false, budget)?;
        Ok(a.with([&common.all[..], &left.all[..], &right.all[..]].concat()))
    }

    /// Merges pieces where that is exact.
    pub fn coalesce(&self, budget: &Budget) -> Result<Self, Error> {
        let mut all = Vec::new();
        let mut seen: Vec<&[Affine]> = Vec::new();
        for piece in self.all.iter() {
            if seen.contains(&&piece.forms[..]) {
                continue;
            }
            seen.push(&piece.forms);
            let alike = self.all.iter().filter(|other| other.forms == piece.forms);
            let parts = alike.map(|piece| piece.domain.clone()).collect();
            let merged = Relation::new(self.domain_space(), parts).coalesce(budget)?;
            all.extend(
                merged
                    .parts
                    .iter()
                    .map(|domain| Piece { domain: domain.clone(), forms: piece.forms.clone() }),
            );
        }
        Ok(self.with(all))
    }

    /// Simplifies the domains under the assumption that only arguments in `context` matter.
    pub fn gist(&self, context: &Relation, budget: &Budget) -> Result<Self, Error> {
        let space = self.domain_space();
        let params = space.joint_params(context.space());
        let function = self.aligned(&params);
        let mut all = Vec::new();
        for piece in function.all.iter() {
            let domain = Relation::new(function.domain_space(), vec![piece.domain.clone()]);
            for domain in domain.gist(context, budget)?.parts.iter() {
                all.push(Piece { domain: domain.clone(), forms: piece.forms.clone() });
            }
        }
        Ok(function.with(all))
    }

    /// Returns `x -> self(inner(x))`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the outputs of `inner` are the inputs of `self`.
    pub fn pullback(&self, inner: &Self, budget: &Budget) -> Result<Self, Error> {
        if self.space.input.as_ref() != Some(&inner.space.output) {
            return Err(self.domain_space().mismatch(&inner.space));
        }
        let params = self.space.joint_params(&inner.space);
        let (outer, inner) = (self.aligned(&params), inner.aligned(&params));
        let dims = inner.dims();
        let mut all = Vec::new();
        'pair: for (x, y) in inner.all.iter().flat_map(|x| outer.all.iter().map(move |y| (x, y))) {
            let mut values: Vec<Affine> = (0..params.len()).map(|i| Affine::dim(i, dims)).collect();
            values.extend(x.forms.iter().cloned());
            // A value that is no integer is no point of the outer domain.
            let mut whole = x.domain.clone();
            for form in x.forms.iter().filter(|form| form.den != 1) {
                let integral = form.modulo(&Integer::ONE).holds(true);
                let both = integral.and_then(|integral| whole.intersect(&integral));
                match both {
                    Some(both) => whole = both,
                    None => continue 'pair,
                }
            }
            let Some(image) = y.domain.preimage(&values, dims) else { continue };
            let parts = intersect_parts(&[whole], &[image], budget)?;
            if parts.is_empty() {
                continue;
            }
            let substituted = |form: &Affine| form.substitute(&values, dims);
            let forms = y.forms.iter().map(substituted).collect::<Vec<_>>();
            all.extend(parts.into_iter().map(|domain| Piece { domain, forms: forms.clone() }));
        }
        let space =
            Space { params, input: inner.space.input.clone(), output: outer.space.output.clone() };
        Ok(Self::new(space, all))
    }

    /// Returns whether a value may be NaN.
    pub fn involves_nan(&self) -> bool {
        self.all.iter().any(|piece| piece.forms.iter().any(Affine::is_nan))
    }

    /// Returns whether both have the same values at the same arguments; NaN equals nothing.
    pub fn is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        let (a, b) = self.alike(other)?;
        if a.involves_nan() || b.involves_nan() {
            return Ok(false);
        }
        if !a.domain().is_equal(&b.domain(), budget)? {
            return Ok(false);
        }
        a.agrees(&b.all, budget)
    }

    /// Returns whether values are the same, or all NaN, where both have some; over the same
    /// parameters.
    pub fn agrees(&self, other: &[Piece], budget: &Budget) -> Result<bool, Error> {
        for (x, y) in self.all.iter().flat_map(|x| other.iter().map(move |y| (x, y))) {
            if x.forms == y.forms {
                continue;
            }
            let Some(both) = x.domain.intersect(&y.domain) else { continue };
            for (left, right) in x.forms.iter().zip(&y.forms).filter(|(a, b)| a != b) {
                if (left.is_nan() || right.is_nan()) && !both.is_empty(budget)? {
                    return Ok(false);
                }
                for (high, low) in [(left, right), (right, left)] {
                    let apart = high.at_least(low, true);
                    let apart = apart.and_then(|apart| both.intersect(&apart));
                    if let Some(apart) = apart
                        && !apart.is_empty(budget)?
                    {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Returns the outputs at a point, parameters first; nothing where there is no value.
    ///
    /// # Errors
    /// [`Error::Row`] if the number of coordinates is not that of parameters and inputs,
    /// [`Error::NotANumber`] if an output is NaN.
    pub fn evaluate<T: Clone + Into<Integer>>(
        &self,
        point: &[T],
    ) -> Result<Option<Vec<Rational>>, Error> {
        if point.len() != self.dims() {
            return Err(Error::Row { expected: self.dims(), found: point.len() });
        }
        let point: Vec<Integer> = point.iter().cloned().map(T::into).collect();
        let piece = self.all.iter().find(|piece| piece.domain.contains(&point));
        let values = |piece: &Piece| piece.forms.iter().map(|form| form.evaluate(&point)).collect();
        piece.map(values).transpose()
    }
}

/// Counts parameters and inputs.
pub(crate) fn domain_dims(space: &Space) -> usize {
    space.params.len() + space.inputs()
}

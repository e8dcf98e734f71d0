//! Products of tuples of piecewise expressions, their factors, and composition.

use super::pieces::{Piece, Pieces};
use super::{MultiPwAff, PwAff};
use crate::{Budget, Error, Relation, Space, Tuple};

impl MultiPwAff {
    /// Keeps the values of arguments in `set`.
    ///
    /// # Errors
    /// [`Error::Space`] unless `set` is a set of arguments.
    pub fn intersect_domain(&self, set: &Relation, budget: &Budget) -> Result<Self, Error> {
        if let Some(domain) = &self.explicit {
            let domain = domain.intersect(set, budget)?;
            let space = Space { params: domain.space().params.clone(), ..self.space.clone() };
            return Ok(Self { space, members: Vec::new(), explicit: Some(domain) });
        }
        let kept = self.members.iter().map(|member| member.intersect_domain(set, budget));
        Self::of(self.space.output.clone(), &kept.collect::<Result<Vec<_>, _>>()?)
    }

    /// Pairs the outputs, `x -> [self(x) -> other(x)]`.
    ///
    /// # Errors
    /// [`Error::Space`] if the inputs differ.
    pub fn range_product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        if self.space.input != other.space.input {
            return Err(self.space.mismatch(&other.space));
        }
        let output = Tuple::wrapping(self.space.output.clone(), other.space.output.clone());
        let (mut left, mut right) = (self.clone(), other.clone());
        if let Some(domain) = &self.explicit {
            right = right.intersect_domain(domain, budget)?;
        }
        if let Some(domain) = &other.explicit {
            left = left.intersect_domain(domain, budget)?;
        }
        match right.explicit {
            Some(domain) if left.members.is_empty() => {
                let params = domain.space().params.clone();
                let space = Space { params, output, ..self.space.clone() };
                Ok(Self { space, members: Vec::new(), explicit: Some(domain) })
            }
            _ => Self::of(output, &[left.members, right.members].concat()),
        }
    }

    /// Applies both side by side, `[x -> y] -> [self(x) -> other(y)]`.
    ///
    /// # Errors
    /// [`Error::Space`] if one has inputs and the other has none.
    pub fn product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let (Some(a), Some(b)) = (&self.space.input, &other.space.input) else {
            return self.range_product(other, budget);
        };
        let input = Tuple::wrapping(a.clone(), b.clone());
        let params = self.space.joint_params(&other.space);
        let left = self.over(&params, &input, 0);
        let right = other.over(&params, &input, a.dims.len());
        left.range_product(&right, budget)
    }

    /// Rewrites as a function of `input`, of which the dimensions from `at` on are its own.
    fn over(&self, params: &[String], input: &Tuple, at: usize) -> Self {
        let space =
            Space { params: params.to_vec(), input: Some(input.clone()), ..self.space.clone() };
        let dims = params.len() + input.dims.len();
        let to: Vec<usize> = (0..params.len())
            .chain((0..self.space.inputs()).map(|i| params.len() + at + i))
            .collect();
        let member = |member: &PwAff| {
            let member = member.0.aligned(params);
            let placed = |piece: &Piece| Piece {
                domain: piece.domain.place(dims, &to),
                forms: piece.forms.iter().map(|form| form.place(dims, &to)).collect(),
            };
            let space = Space { output: member.space.output.clone(), ..space.clone() };
            PwAff(Pieces::new(space, member.all.iter().map(placed).collect()))
        };
        let members = self.members.iter().map(member).collect();
        let explicit = self.explicit.as_ref().map(|domain| {
            domain.aligned(params).moved(Space::set(params.to_vec(), input.clone()), &to)
        });
        Self { space, members, explicit }
    }

    /// Returns the first half of a wrapped output, `x -> y` for `x -> [y -> z]`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the output is a wrapped pair.
    pub fn range_factor_domain(&self, budget: &Budget) -> Result<Self, Error> {
        self.factor(true, budget)
    }

    /// Returns the second half of a wrapped output, `x -> z` for `x -> [y -> z]`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the output is a wrapped pair.
    pub fn range_factor_range(&self, budget: &Budget) -> Result<Self, Error> {
        self.factor(false, budget)
    }

    /// A half without members has a value wherever the whole may have one.
    fn factor(&self, first: bool, budget: &Budget) -> Result<Self, Error> {
        let Some((left, right)) = self.space.output.sides() else {
            let (expected, found) = ("[..] -> [[..] -> [..]]".into(), self.space.to_string());
            return Err(Error::Space { expected, found });
        };
        let (a, b) = self.members.split_at(left.dims.len());
        let (output, members) = if first { (left, a) } else { (right, b) };
        let space = Space { output, ..self.space.clone() };
        let everywhere = Self { space: space.clone(), members: Vec::new(), explicit: None };
        let domain = match &self.explicit {
            Some(domain) => domain.clone(),
            None => everywhere.domain(budget)?,
        };
        Ok(Self::of_members(space, members.to_vec(), domain))
    }

    /// Returns `x -> self(inner(x))`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the outputs of `inner` are the inputs of `self`.
    pub fn pullback(&self, inner: &Self, budget: &Budget) -> Result<Self, Error> {
        let function = inner.to_pw_multi_aff(budget)?;
        if let Some(domain) = &self.explicit {
            let domain = match self.space.input {
                Some(_) => domain.preimage(&function, budget)?,
                None => domain.clone(),
            };
            let params = domain.space().params.clone();
            let space = Space { params, input: inner.space.input.clone(), ..self.space.clone() };
            return Ok(Self { space, members: Vec::new(), explicit: Some(domain) });
        }
        let pulled = self.members.iter().map(|member| member.pullback(&function, budget));
        Self::of(self.space.output.clone(), &pulled.collect::<Result<Vec<_>, _>>()?)
    }
}

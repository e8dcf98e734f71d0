//! Tuples of piecewise expressions, each with pieces of its own.

use super::pieces::Pieces;
use super::{PwAff, PwMultiAff};
use crate::basic_map::BasicMap;
use crate::{Budget, Error, Relation, Space, Tuple};

/// A [`PwAff`] for each dimension of an output tuple; immutable.
///
/// `{ S[i] -> A[(i : i >= 0; 0 : i < 0), (1)] }`. A tuple without dimensions has a domain
/// of its own.
#[derive(Debug, Clone)]
pub struct MultiPwAff {
    pub(super) space: Space,
    pub(super) members: Vec<PwAff>,
    /// The domain where there is no member that could have it.
    pub(super) explicit: Option<Relation>,
}

impl MultiPwAff {
    pub(super) fn of_members(space: Space, members: Vec<PwAff>, domain: Relation) -> Self {
        let explicit = members.is_empty().then_some(domain);
        Self { space, members, explicit }
    }

    /// Makes the tuple of `members`, which must have the same inputs.
    ///
    /// # Errors
    /// [`Error::Space`] if they do not, or `output` has not as many dimensions, or none.
    pub fn of(output: Tuple, members: &[PwAff]) -> Result<Self, Error> {
        let Some(first) = members.first() else {
            return Err(Error::Space { expected: "a member".into(), found: output.to_string() });
        };
        let mut params = first.space().params.clone();
        for member in members {
            if member.space().input != first.space().input || output.dims.len() != members.len() {
                return Err(first.space().mismatch(member.space()));
            }
            params = Space { params, ..first.space().clone() }.joint_params(member.space());
        }
        let members = members.iter().map(|member| PwAff(member.0.aligned(&params))).collect();
        let space = Space { params, input: first.space().input.clone(), output };
        Ok(Self { space, members, explicit: None })
    }

    /// Parameters, inputs and outputs.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Returns the function of each output.
    pub fn members(&self) -> &[PwAff] {
        &self.members
    }

    /// Splits the tuple into its outputs.
    pub fn from_pw_multi_aff(function: &PwMultiAff) -> Result<Self, Error> {
        let outputs = 0..function.space().output.dims.len();
        let members = outputs.map(|i| function.member(i)).collect::<Result<_, _>>()?;
        Ok(Self::of_members(function.space().clone(), members, function.domain()))
    }

    /// Splits the domain into parts on which each output is one expression.
    pub fn to_pw_multi_aff(&self, budget: &Budget) -> Result<PwMultiAff, Error> {
        let empty = Space { output: Tuple::default(), ..self.space.clone() };
        let mut all = PwMultiAff(Pieces::total(empty, Vec::new()));
        if let Some(domain) = &self.explicit {
            all = all.intersect_domain(domain, budget)?;
        }
        for member in &self.members {
            all = all.flat_range_product(&member.clone().into(), budget)?;
        }
        Ok(PwMultiAff(
            all.0.respaced(Space { params: all.space().params.clone(), ..self.space.clone() }),
        ))
    }

    /// Returns the arguments for which all outputs have values.
    pub fn domain(&self, budget: &Budget) -> Result<Relation, Error> {
        if let Some(domain) = &self.explicit {
            return Ok(domain.clone());
        }
        let input = self.space.input.clone().unwrap_or_default();
        let space = Space::set(self.space.params.clone(), input);
        let mut domain = Relation::new(space.clone(), vec![BasicMap::universe(space.dims())]);
        for member in &self.members {
            domain = domain.intersect(&member.domain(), budget)?;
        }
        Ok(domain)
    }

    fn zipped(
        &self,
        other: &Self,
        f: impl Fn(&PwAff, &PwAff) -> Result<PwAff, Error>,
        budget: &Budget,
    ) -> Result<Self, Error> {
        if !self.space.same_tuples(&other.space) {
            return Err(self.space.mismatch(&other.space));
        }
        if let (Some(a), Some(b)) = (&self.explicit, &other.explicit) {
            let domain = a.intersect(b, budget)?;
            let space = Space { params: domain.space().params.clone(), ..self.space.clone() };
            return Ok(Self { space, members: Vec::new(), explicit: Some(domain) });
        }
        let pairs = self.members.iter().zip(&other.members);
        let members: Vec<PwAff> = pairs.map(|(a, b)| f(a, b)).collect::<Result<_, _>>()?;
        Self::of(self.space.output.clone(), &members)
    }

    /// Adds, output by output.
    ///
    /// # Errors
    /// [`Error::Space`] if inputs or outputs differ, as in all operations on two functions.
    pub fn add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.zipped(other, |a, b| a.add(b, budget), budget)
    }

    /// Subtracts, output by output.
    pub fn sub(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.zipped(other, |a, b| a.sub(b, budget), budget)
    }

    /// Returns the lesser values, output by output.
    pub fn min(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.zipped(other, |a, b| a.min(b, budget), budget)
    }

    /// Returns the greater values, output by output.
    pub fn max(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.zipped(other, |a, b| a.max(b, budget), budget)
    }

    /// Returns whether each output has the same values at the same arguments.
    pub fn is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        if !self.space.same_tuples(&other.space) {
            return Err(self.space.mismatch(&other.space));
        }
        for (a, b) in self.members.iter().zip(&other.members) {
            if !a.is_equal(b, budget)? {
                return Ok(false);
            }
        }
        match (&self.explicit, &other.explicit) {
            (Some(a), Some(b)) => a.is_equal(b, budget),
            _ => Ok(true),
        }
    }

    /// Relates each argument to its value where that is an integer point.
    pub fn to_relation(&self, budget: &Budget) -> Result<Relation, Error> {
        self.to_pw_multi_aff(budget)?.to_relation()
    }
}

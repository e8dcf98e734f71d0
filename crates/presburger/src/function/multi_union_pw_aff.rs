//! Tuples of expressions that are defined on several tuples each.

use super::{PwAff, PwMultiAff, UnionPwAff, UnionPwMultiAff};
use crate::{Budget, Error, Relation, Space, Tuple, Union};

/// A [`UnionPwAff`] for each dimension of one output tuple; immutable.
///
/// `C[{ A[i] -> [(i)]; B[j] -> [(j)] }, { A[i] -> [(0)]; B[j] -> [(1)] }]` is how schedules of
/// several statements are written. A tuple without dimensions has a domain of its own,
/// `(C[] : { A[i] : i >= 0 })`, or has a value everywhere that its parameters allow.
#[derive(Debug, Clone)]
pub struct MultiUnionPwAff {
    pub(super) output: Tuple,
    pub(super) members: Vec<UnionPwAff>,
    /// Where a tuple without members has a value; of no matter to others.
    pub(super) domain: Domain,
}

/// Where a tuple without members has its value.
#[derive(Debug, Clone)]
pub(super) enum Domain {
    /// At all arguments, for these parameters: a set of `[]`.
    Parameters(Relation),
    /// At these arguments.
    Points(Union),
}

impl Domain {
    pub fn everywhere() -> Self {
        Self::Parameters(Relation::universe(Space::default()))
    }

    fn intersect(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        Ok(match (self, other) {
            (Self::Parameters(a), Self::Parameters(b)) => Self::Parameters(a.intersect(b, budget)?),
            (Self::Points(a), Self::Points(b)) => Self::Points(a.intersect(b, budget)?),
            (Self::Parameters(given), Self::Points(points))
            | (Self::Points(points), Self::Parameters(given)) => {
                Self::Points(points.intersect_params(given, budget)?)
            }
        })
    }

    /// All arguments hold all points.
    fn union(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let all = |given: &Relation| given.complement(budget)?.is_empty(budget);
        match (self, other) {
            (Self::Parameters(a), Self::Parameters(b)) => Ok(Self::Parameters(a.union(b)?)),
            (Self::Points(a), Self::Points(b)) => Ok(Self::Points(a.union(b)?)),
            (Self::Parameters(given), _) | (_, Self::Parameters(given)) if all(given)? => {
                Ok(Self::Parameters(given.clone()))
            }
            (Self::Parameters(given), _) | (_, Self::Parameters(given)) => Err(Error::Space {
                expected: "two domains of points, or of parameters".into(),
                found: given.to_string(),
            }),
        }
    }

    fn is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        match (self, other) {
            (Self::Parameters(a), Self::Parameters(b)) => a.is_equal(b, budget),
            (Self::Points(a), Self::Points(b)) => a.is_equal(b, budget),
            _ => Ok(false),
        }
    }
}

impl MultiUnionPwAff {
    /// Makes the tuple of `members`; without any, it has a value everywhere.
    ///
    /// # Errors
    /// [`Error::Row`] if `output` has not as many dimensions.
    pub fn of(output: Tuple, members: Vec<UnionPwAff>) -> Result<Self, Error> {
        if output.dims.len() != members.len() {
            return Err(Error::Row { expected: output.dims.len(), found: members.len() });
        }
        Ok(Self { output, members, domain: Domain::everywhere() })
    }

    /// The output tuple.
    pub fn output(&self) -> &Tuple {
        &self.output
    }

    /// Returns the function of each output.
    pub fn members(&self) -> &[UnionPwAff] {
        &self.members
    }

    /// Returns the arguments for which all outputs have values; nothing if these are all there are.
    pub fn domain(&self, budget: &Budget) -> Result<Option<Union>, Error> {
        let Some((first, rest)) = self.members.split_first() else {
            return Ok(match &self.domain {
                Domain::Points(points) => Some(points.clone()),
                Domain::Parameters(_) => None,
            });
        };
        let mut domain = first.domain()?;
        for member in rest {
            domain = domain.intersect(&member.domain()?, budget)?;
        }
        Ok(Some(domain))
    }

    fn zipped(
        &self,
        other: &Self,
        f: impl Fn(&UnionPwAff, &UnionPwAff) -> Result<UnionPwAff, Error>,
        domain: Domain,
    ) -> Result<Self, Error> {
        self.same_output(&other.output)?;
        let pairs = self.members.iter().zip(&other.members);
        let members = pairs.map(|(a, b)| f(a, b)).collect::<Result<_, _>>()?;
        Ok(Self { output: self.output.clone(), members, domain })
    }

    fn same_output(&self, other: &Tuple) -> Result<(), Error> {
        if self.output == *other {
            return Ok(());
        }
        Err(Error::Space { expected: self.output.to_string(), found: other.to_string() })
    }

    /// Adds where both have values.
    ///
    /// # Errors
    /// [`Error::Space`] if the outputs differ, as in all operations on two functions.
    pub fn add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let domain = self.domain.intersect(&other.domain, budget)?;
        self.zipped(other, |a, b| a.add(b, budget), domain)
    }

    /// Subtracts where both have values.
    pub fn sub(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let domain = self.domain.intersect(&other.domain, budget)?;
        self.zipped(other, |a, b| a.sub(b, budget), domain)
    }

    /// Returns the values of either; where both have some, their sum.
    pub fn union_add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let domain = match self.members.is_empty() {
            true => self.domain.union(&other.domain, budget)?,
            false => Domain::everywhere(),
        };
        self.zipped(other, |a, b| a.union_add(b, budget), domain)
    }

    /// Keeps what `domain` allows.
    fn within(&self, domain: &Domain, budget: &Budget) -> Result<Self, Error> {
        let keep = |member: &UnionPwAff| match domain {
            Domain::Points(points) => member.intersect_domain(points, budget),
            Domain::Parameters(given) => {
                let points = member.domain()?.intersect_params(given, budget)?;
                member.intersect_domain(&points, budget)
            }
        };
        let members: Vec<UnionPwAff> = self.members.iter().map(keep).collect::<Result<_, _>>()?;
        let domain = match members.is_empty() {
            true => self.domain.intersect(domain, budget)?,
            false => Domain::everywhere(),
        };
        Ok(Self { output: self.output.clone(), members, domain })
    }

    /// Keeps the values of arguments in `sets`.
    pub fn intersect_domain(&self, sets: &Union, budget: &Budget) -> Result<Self, Error> {
        match sets.as_params() {
            Some(params) => self.intersect_params(params, budget),
            None => self.within(&Domain::Points(sets.clone()), budget),
        }
    }

    /// Keeps the values for parameters in `set`, a set of `[]`.
    ///
    /// # Errors
    /// [`Error::Space`] if `set` has dimensions.
    pub fn intersect_params(&self, set: &Relation, budget: &Budget) -> Result<Self, Error> {
        if !set.is_set() || *set.space() != Space::set(set.space().params.clone(), Tuple::default())
        {
            return Err(set.lacks("[]"));
        }
        self.within(&Domain::Parameters(set.clone()), budget)
    }

    /// Keeps the arguments whose values are in `set`.
    ///
    /// # Errors
    /// [`Error::Space`] unless `set` is a set of outputs.
    pub fn intersect_range(&self, set: &Relation, budget: &Budget) -> Result<Self, Error> {
        self.same_output(&set.space().output)?;
        if self.members.is_empty() {
            return self.within(&Domain::Parameters(set.params(budget)?), budget);
        }
        let mut points = Vec::new();
        for function in self.functions(budget)? {
            points.push(set.preimage(&function, budget)?);
        }
        self.within(&Domain::Points(Union::collect(points)?), budget)
    }

    /// Pairs the outputs, `x -> [self(x) -> other(x)]`, where both have values.
    pub fn range_product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let output = Tuple::wrapping(self.output.clone(), other.output.clone());
        let (mut left, mut right) = (self.clone(), other.clone());
        if self.members.is_empty() {
            right = right.within(&self.domain, budget)?;
        }
        if other.members.is_empty() {
            left = left.within(&other.domain, budget)?;
        }
        // Of two tuples without members, either has the domain of both now.
        let domain = left.domain.clone();
        Ok(Self { output, members: [left.members, right.members].concat(), domain })
    }

    /// Returns the second half of a wrapped output, `x -> z` for `x -> [y -> z]`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the output is a wrapped pair.
    pub fn range_factor_range(&self) -> Result<Self, Error> {
        self.factor(false)
    }

    /// Returns the first half of a wrapped output, `x -> y` for `x -> [y -> z]`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the output is a wrapped pair.
    pub fn range_factor_domain(&self) -> Result<Self, Error> {
        self.factor(true)
    }

    fn factor(&self, first: bool) -> Result<Self, Error> {
        let Some((left, right)) = self.output.sides() else {
            let found = self.output.to_string();
            return Err(Error::Space { expected: "[[..] -> [..]]".into(), found });
        };
        let (a, b) = self.members.split_at(left.dims.len());
        let (output, members) = if first { (left, a) } else { (right, b) };
        Ok(Self { output, members: members.to_vec(), domain: self.domain.clone() })
    }

    /// Returns the function of each tuple of arguments; there must be members.
    fn functions(&self, budget: &Budget) -> Result<Vec<PwMultiAff>, Error> {
        let Some((first, rest)) = self.members.split_first() else { return Ok(Vec::new()) };
        let mut result = Vec::new();
        for function in first.functions() {
            let mut whole = PwMultiAff::from(function);
            let input = whole.space().input.clone();
            let mut complete = true;
            for member in rest {
                match member.functions().find(|other| other.space().input == input) {
                    Some(other) => whole = whole.flat_range_product(&other.into(), budget)?,
                    None => complete = false,
                }
            }
            if complete {
                let space = Space { output: self.output.clone(), ..whole.space().clone() };
                result.push(PwMultiAff(whole.0.respaced(space)));
            }
        }
        Ok(result)
    }

    /// Returns the functions of all tuples of arguments.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a value everywhere, whatever the arguments.
    pub fn to_union_pw_multi_aff(&self, budget: &Budget) -> Result<UnionPwMultiAff, Error> {
        if !self.members.is_empty() {
            return UnionPwMultiAff::collect(self.functions(budget)?);
        }
        let Domain::Points(points) = &self.domain else {
            let (expected, found) = ("a domain of points".into(), self.to_string());
            return Err(Error::Space { expected, found });
        };
        let constant = |set: &Relation| -> Result<PwMultiAff, Error> {
            let space = set.space();
            let input = Some(space.output.clone());
            let space = Space { params: space.params.clone(), input, output: self.output.clone() };
            let all = super::pieces::Pieces::total(space, Vec::new());
            PwMultiAff(all).intersect_domain(set, budget)
        };
        let functions = points.relations().map(constant).collect::<Result<Vec<_>, _>>()?;
        UnionPwMultiAff::collect(functions)
    }

    /// Splits functions into their outputs.
    ///
    /// # Errors
    /// [`Error::Space`] unless all have the same output tuple.
    pub fn from_union_pw_multi_aff(functions: &UnionPwMultiAff) -> Result<Self, Error> {
        let mut all = functions.functions();
        let Some(first) = all.next() else {
            let (expected, found) = ("a function".into(), functions.to_string());
            return Err(Error::Space { expected, found });
        };
        let output = first.space().output.clone();
        if let Some(other) = all.find(|other| other.space().output != output) {
            return Err(first.space().mismatch(other.space()));
        }
        let member = |index: usize| {
            let parts = functions.functions().map(|function| function.member(index));
            UnionPwAff::collect(parts.collect::<Result<Vec<_>, _>>()?)
        };
        let members = (0..output.dims.len()).map(member).collect::<Result<Vec<_>, _>>()?;
        let domain = match members.is_empty() {
            true => Domain::Points(functions.domain()?),
            false => Domain::everywhere(),
        };
        Ok(Self { output, members, domain })
    }

    /// Returns `x -> function(self(x))`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the outputs are the inputs of `function`.
    pub fn apply(&self, function: &PwMultiAff, budget: &Budget) -> Result<Self, Error> {
        match &function.space().input {
            Some(input) => self.same_output(input)?,
            None => self.same_output(&Tuple::default())?,
        }
        let output = function.space().output.clone();
        let mut results = Vec::new();
        if self.members.is_empty()
            && let Domain::Parameters(given) = &self.domain
        {
            // Only the parameters decide about the value.
            let space = Space { input: None, ..function.space().clone() };
            let bare = PwMultiAff(function.0.respaced(space)).intersect_domain(given, budget)?;
            if output.dims.is_empty() {
                let given = Domain::Parameters(bare.domain());
                return Ok(Self { output, members: Vec::new(), domain: given });
            }
            results.push(bare);
        } else {
            for inner in self.to_union_pw_multi_aff(budget)?.functions() {
                results.push(function.pullback(inner, budget)?);
            }
        }
        let results = UnionPwMultiAff::collect(results)?;
        match results.functions().next() {
            Some(_) => Self::from_union_pw_multi_aff(&results),
            None => {
                let members = vec![UnionPwAff::default(); output.dims.len()];
                Ok(Self { output, members, domain: Domain::Points(Union::empty()) })
            }
        }
    }

    /// Returns `x -> function(self(x))` for a function with one output.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub fn apply_pw_aff(&self, function: &PwAff, budget: &Budget) -> Result<UnionPwAff, Error> {
        let applied = self.apply(&function.clone().into(), budget)?;
        Ok(applied.members.into_iter().next().unwrap_or_default())
    }

    /// Returns `x -> self(inner(x))`.
    pub fn pullback(&self, inner: &UnionPwMultiAff, budget: &Budget) -> Result<Self, Error> {
        let pulled = |member: &UnionPwAff| member.pullback(inner, budget);
        let members: Vec<UnionPwAff> = self.members.iter().map(pulled).collect::<Result<_, _>>()?;
        let domain = match &self.domain {
            _ if !members.is_empty() => Domain::everywhere(),
            Domain::Points(points) => {
                let mut all = Vec::new();
                for function in inner.functions() {
                    let space = Space::set(Vec::new(), function.space().output.clone());
                    if let Some(set) = points.get(&space) {
                        all.push(set.preimage(function, budget)?);
                    }
                }
                Domain::Points(Union::collect(all)?)
            }
            Domain::Parameters(given) => {
                let mut allowed = Relation::empty(Space::default());
                for function in inner.functions() {
                    allowed = allowed.union(&function.domain().params(budget)?)?;
                }
                Domain::Parameters(given.intersect(&allowed, budget)?)
            }
        };
        Ok(Self { output: self.output.clone(), members, domain })
    }

    /// Returns whether both have the same values at the same arguments.
    pub fn is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        self.same_output(&other.output)?;
        for (a, b) in self.members.iter().zip(&other.members) {
            if !a.is_equal(b, budget)? {
                return Ok(false);
            }
        }
        Ok(!self.members.is_empty() || self.domain.is_equal(&other.domain, budget)?)
    }
}

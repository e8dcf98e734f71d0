//! Functions after relations, sums over one side of pairs, and where functions have values.

use super::Pieces;
use super::card::disjoint;
use super::pw_qpolynomial::PwQPolynomial;
use crate::count::polytope::cone::Row;
use crate::count::quasi_polynomial::QPolynomial;
use crate::count::quasi_polynomial::guard::Guard;
use crate::space::joint;
use crate::{Budget, Conjunction, Division, Error, Integer, Rational, Relation, Space, Tuple};

impl PwQPolynomial {
    /// Makes the function that is `value` on the points of a set.
    ///
    /// # Errors
    /// [`Error::Space`] for a relation.
    pub fn constant(set: &Relation, value: &Rational, budget: &Budget) -> Result<Self, Error> {
        let space = set.space();
        if !set.is_set() {
            return Err(Error::Space { expected: "a set".into(), found: space.to_string() });
        }
        let vars = space.params.len() + space.output.dims.len();
        let mut pieces = Pieces::zero(vars);
        for part in disjoint(set, budget)? {
            let value = QPolynomial::constant(vars, value.clone());
            pieces.push(Guard::from_conjunction(vars, &part), value);
        }
        Ok(Self::new(space.params.clone(), Some(space.output.clone()), pieces))
    }

    /// Returns the function of `x` that adds up the values at all `y` that `map` relates `x` to.
    ///
    /// Inputs become parameters of one sum, so it costs as much as [`Self::sum`].
    ///
    /// # Errors
    /// [`Error::Space`] unless the outputs of `map` are the points of this function.
    ///
    /// # Source
    /// barvinok `isl_map_apply_pw_qpolynomial`.
    pub fn apply(&self, map: &Relation, budget: &Budget) -> Result<Self, Error> {
        let (params, input, outputs) = outputs_by_input(map, &self.params, &self.domain)?;
        let own = self.aligned(&outputs.space().params);
        let sum = own.intersect_domain(&outputs, budget)?.sum(budget)?;
        Ok(Self::new(params, Some(input), sum.pieces))
    }

    /// Returns, for a function of pairs `[x -> y]`, the function of `x` that adds up over `y`.
    ///
    /// A function of anything else is summed up over all its points.
    ///
    /// # Errors
    /// As [`Self::sum`].
    pub fn sum_second(&self, budget: &Budget) -> Result<Self, Error> {
        let Some((left, right)) = self.domain.as_ref().and_then(Tuple::sides) else {
            return self.sum(budget);
        };
        let wide = with_dimensions(&self.params, &left);
        let sum = Self::new(wide, Some(right), self.pieces.clone()).sum(budget)?;
        Ok(Self::new(self.params.clone(), Some(left), sum.pieces))
    }

    /// Returns the points for which a piece holds; elsewhere the value is 0.
    ///
    /// # Errors
    /// Those of [`Relation::from_conjunctions`].
    pub fn support(&self) -> Result<Relation, Error> {
        let tuple = self.domain.clone().unwrap_or_else(Tuple::params);
        let guards = self.pieces.all.iter().map(|(guard, _)| guard);
        support(Space::set(self.params.clone(), tuple), guards)
    }

    /// Leaves out of the pieces what holds on `context`; values there stay.
    ///
    /// # Errors
    /// [`Error::Space`] if `context` is not a set on the same tuple.
    pub fn gist(&self, context: &Relation, budget: &Budget) -> Result<Self, Error> {
        let tuple = self.domain.clone().unwrap_or_else(Tuple::params);
        let space = Space::set(self.params.clone(), tuple);
        let space = Space { params: space.joint_params(context.space()), ..space };
        let aligned = self.aligned(&space.params);
        let mut pieces = Pieces::zero(aligned.pieces.vars());
        for (guard, value) in &aligned.pieces.all {
            let short = support(space.clone(), [guard])?.gist(context, budget)?;
            for part in short.align_params(&space.params)?.conjunctions() {
                pieces.push(Guard::from_conjunction(pieces.vars(), &part), value.clone());
            }
        }
        Ok(Self { pieces, ..aligned })
    }
}

/// Rewrites a relation to the points of `domain` as the set of its outputs, with its inputs as
/// further parameters; returns the parameters without those, the input, and the set.
pub(in crate::count) fn outputs_by_input(
    map: &Relation,
    own: &[String],
    domain: &Option<Tuple>,
) -> Result<(Vec<String>, Tuple, Relation), Error> {
    let space = map.space();
    let domain = domain.clone().unwrap_or_default();
    let (Some(input), true) = (&space.input, space.output == domain) else {
        let expected = format!("[..] -> {domain}");
        return Err(Error::Space { expected, found: space.to_string() });
    };
    let params = joint(own, &space.params);
    let wide = with_dimensions(&params, input);
    let outputs = map.align_params(&params)?.respaced(Space::set(wide, space.output.clone()));
    Ok((params, input.clone(), outputs))
}

/// Names the dimensions of a tuple as further parameters.
pub(in crate::count) fn with_dimensions(params: &[String], tuple: &Tuple) -> Vec<String> {
    let mut names = params.to_vec();
    for dim in &tuple.dims {
        let mut name = dim.clone();
        while names.contains(&name) {
            name.push('\'');
        }
        names.push(name);
    }
    names
}

/// Returns where one of the guards holds.
pub(in crate::count) fn support<'a>(
    space: Space,
    guards: impl IntoIterator<Item = &'a Guard>,
) -> Result<Relation, Error> {
    let parts: Vec<Conjunction> = guards.into_iter().map(conjunction).collect();
    Relation::from_conjunctions(space, &parts)
}

/// Writes a guard as rows.
fn conjunction(guard: &Guard) -> Conjunction {
    let columns = 1 + guard.floors.vars + guard.floors.all.len();
    let padded = |row: &Row| {
        let mut row = row.clone();
        row.resize(columns, Integer::ZERO);
        row
    };
    let rows = |rows: &[Row]| rows.iter().map(padded).collect();
    Conjunction {
        divisions: guard.floors.divisions().map(|div| Division::from(&div)).collect(),
        equalities: rows(&guard.eqs),
        inequalities: rows(&guard.ineqs),
    }
}

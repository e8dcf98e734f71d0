//! What has to hold for control to be what its affine expressions say.
//!
//! Expressions are read as numbers without limits. C's unsigned types wrap around, and conversions keep
//! what fits:
//!
//! ```c
//! for (unsigned i = 0; i < n - 1; i++)         // runs 4294967295 times for n = 0
//! for (int i = -1; i < u; i++)                 // runs never: -1 is the greatest `unsigned` here
//! for (short i = 0; i < n; i++)                // runs forever for n = 40000
//! ```
//!
//! So each value that could wrap around or be changed is noted, with the instances for which it is
//! computed. Where types and conditions do not show that it fits, it does so for some parameters only:
//! code tests them (`Scop::context`), and the source's loops run for others. What overflows in a type with
//! a sign has no meaning in C, and is left alone. Subscripts are looked at for themselves
//! ([`wraps`](super::wraps)).

use lang_c::ast::Expression;
use lang_c::span::Node;
use tangram_presburger::formula::{Comparison, Expr, Formula};
use tangram_presburger::{Budget, Error, Relation};

use super::Builder;
use super::relations::Relations;
use crate::Problem;
use crate::affine::{Case, Claim};
use crate::c_integer::Range;

/// Steps for one claim.
pub(super) const STEPS: u64 = 300_000;
/// More pieces of a set of parameters than this are not tested.
pub(super) const MOST_PIECES: usize = 12;

/// A claim and the instances that it is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Claimed {
    at: usize,
    loops: Vec<String>,
    conditions: Vec<Formula>,
    claim: Claim,
}

impl Builder<'_> {
    /// Notes what has to hold at the place that is read.
    pub(super) fn note_claims<T>(&mut self, node: &Node<T>, claims: Vec<Claim>) {
        for claim in claims {
            let (loops, conditions) = (self.loops.clone(), self.all_conditions());
            let new = Claimed { at: node.span.start, loops, conditions, claim };
            let is_new = |old: &Claimed| Claimed { at: new.at, ..old.clone() } != new;
            if self.claims.iter().all(is_new) {
                self.claims.push(new);
            }
        }
    }

    /// Counts what was noted so far.
    pub(crate) fn claims(&self) -> usize {
        self.claims.len()
    }

    /// Forgets what was noted behind.
    pub(crate) fn keep_claims(&mut self, count: usize) {
        self.claims.truncate(count);
    }

    /// Says that a variable has, in each iteration and behind its last step, a value of its type.
    pub(super) fn step_claims(&self, name: &str, element: &str, by: i128) -> Vec<Claim> {
        let own = Range::of(&self.names.resolved(element));
        // What overflows has no meaning.
        if own.least < 0 && own.promoted() == own {
            return Vec::new();
        }
        let value = Expr::name(name).plus(&Expr::constant(by));
        vec![Claim { condition: Formula::always(), value, range: own.kept() }]
    }

    /// Says that values are those of a type.
    pub(super) fn claims_of(
        &self,
        node: &Node<Expression>,
        cases: &[Case],
        to: Range,
    ) -> Vec<Claim> {
        match self.range_of(node) {
            Some(own) if to.keeps(own) => Vec::new(),
            _ => Claim::of(cases, to),
        }
    }

    /// Finds the parameters for which all claims hold: nothing if these are all.
    ///
    /// # Errors
    /// [`Problem`] if they hold for none, or if it is not known for which.
    pub(super) fn proven(&self, params: &[String]) -> Result<Option<Relation>, Problem> {
        let mut valid: Option<Relation> = None;
        for claimed in &self.claims {
            let budget = Budget::steps(STEPS);
            let relations = Relations { params: params.to_vec(), budget: &budget };
            let message = "may wrap around or change in its type: use a type with a sign, or one \
                           that holds it";
            let problem = || self.source.problem(claimed.at, format!("a value here {message}"));
            let Some(right) = self.right(claimed, &relations).map_err(|_| problem())? else {
                continue;
            };
            let joined = match &valid {
                Some(valid) => {
                    valid.intersect(&right, &budget).and_then(|all| all.coalesce(&budget))
                }
                None => Ok(right),
            };
            let joined = joined.map_err(|_| problem())?;
            let runs = self.has_instances(&joined, &relations).map_err(|_| problem())?;
            if !runs || joined.conjunctions().len() > MOST_PIECES {
                return Err(problem());
            }
            valid = Some(joined);
        }
        Ok(valid)
    }

    /// Finds the parameters for which a claim holds.
    fn right(&self, claimed: &Claimed, relations: &Relations) -> Result<Option<Relation>, Error> {
        let Claimed { loops, conditions, claim, .. } = claimed;
        self.right_where((loops, conditions), claim, relations)
    }

    /// Finds the parameters for which a claim about instances holds; nothing if these are all.
    pub(super) fn right_where(
        &self,
        (loops, conditions): (&[String], &[Formula]),
        claim: &Claim,
        relations: &Relations,
    ) -> Result<Option<Relation>, Error> {
        let budget = relations.budget;
        let such = |more: &[Formula]| {
            let types = self.type_facts(&relations.params);
            let all = conditions.iter().chain(&self.facts).chain(&types).chain(more).cloned();
            relations.instances("", loops, all)?.params(budget)
        };
        let outside = Formula::any([
            claim.value.clone().compared(Comparison::Below, Expr::constant(claim.range.least)),
            claim.value.clone().compared(Comparison::Above, Expr::constant(claim.range.greatest)),
        ]);
        let wrong = such(&[claim.condition.clone(), outside])?;
        if wrong.is_empty(budget)? {
            return Ok(None);
        }
        let all = such(&[])?;
        all.subtract(&wrong, budget)?.gist(&all, budget).map(Some)
    }

    /// Says which values parameters have by their types.
    fn type_facts(&self, params: &[String]) -> Vec<Formula> {
        let mut facts = Vec::new();
        for name in params {
            let Some(range) = self.type_of_name(name) else { continue };
            let own = || Expr::name(name);
            facts.push(own().compared(Comparison::AtLeast, Expr::constant(range.least)));
            facts.push(own().compared(Comparison::AtMost, Expr::constant(range.greatest)));
        }
        facts
    }
}

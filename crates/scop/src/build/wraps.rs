//! Which subscripts are what they are read as, whatever wraps around.

use tangram_presburger::formula::Formula;
use tangram_presburger::{Budget, Error, Relation};

use super::Builder;
use super::claims::{MOST_PIECES, STEPS};
use super::relations::Relations;
use crate::access::Access;
use crate::affine::{Claim, both};

/// What was found of claims about the instances of one statement.
type Known = Vec<((Claim, Formula), Option<Option<Relation>>)>;

impl Builder<'_> {
    /// Adds the conditions under which an expression is computed.
    pub(crate) fn assuming(&self, claim: Claim) -> Claim {
        let condition = self.assumed.iter().fold(claim.condition, |all, own| both(&all, own));
        Claim { condition, ..claim }
    }

    /// Looks at the claims of all subscripts: what holds for some parameters becomes a condition of the
    /// part, and an access that claims what may never hold, or is not decided, may be one of any element.
    pub(super) fn settle_wraps(&mut self) {
        let params: Vec<String> = self.params.iter().cloned().collect();
        let mut valid = None;
        for at in 0..self.statements.len() {
            let mut known = Known::new();
            let open: Vec<bool> = self.statements[at]
                .accesses
                .all()
                .map(|access| !self.holds(at, access, (&mut known, &mut valid), &params))
                .collect();
            if !open.contains(&true) {
                continue;
            }
            let raw = &mut self.statements[at];
            for (access, open) in raw.accesses.all_mut().zip(open) {
                if open {
                    access.subscripts.fill(None);
                    (access.exact, access.pending, access.linear) = (false, false, None);
                }
            }
            if let Some(typed) = raw.typed.take() {
                raw.text = typed;
            }
        }
        self.unwrapped = valid;
    }

    /// Returns whether all that an access claims holds, for the parameters in `valid`.
    fn holds(
        &self,
        at: usize,
        access: &Access,
        (known, valid): (&mut Known, &mut Option<Relation>),
        params: &[String],
    ) -> bool {
        access.wraps.claims.iter().all(|claim| {
            let key = (claim.clone(), access.condition.clone());
            let found = known.iter().find(|(own, _)| *own == key).map(|(_, found)| found.clone());
            let found = found.unwrap_or_else(|| {
                let budget = Budget::steps(STEPS);
                let relations = Relations { params: params.to_vec(), budget: &budget };
                let raw = &self.statements[at];
                let conditions: Vec<Formula> =
                    raw.conditions.iter().chain([&access.condition]).cloned().collect();
                let right = self.right_where((&raw.loops, &conditions), claim, &relations);
                let found = right.and_then(|right| self.narrowed(right, valid, &relations));
                let found = found.unwrap_or_default();
                known.push((key, found.clone()));
                found
            });
            match found {
                Some(None) => true,
                Some(joined) => {
                    *valid = joined;
                    true
                }
                None => false,
            }
        })
    }

    /// Intersects the parameters for which claims hold, if code can test them and something runs for what
    /// is left: `Some` of nothing if these are all.
    fn narrowed(
        &self,
        right: Option<Relation>,
        valid: &Option<Relation>,
        relations: &Relations,
    ) -> Result<Option<Option<Relation>>, Error> {
        let Some(right) = right else { return Ok(Some(None)) };
        // There are no loops of the source beside the new ones.
        if !self.kept.is_empty() {
            return Ok(None);
        }
        let budget = relations.budget;
        let joined = match valid {
            Some(valid) => valid.intersect(&right, budget)?.coalesce(budget)?,
            None => right,
        };
        let few = joined.conjunctions().len() <= MOST_PIECES;
        Ok((few && self.has_instances(&joined, relations)?).then_some(Some(joined)))
    }
}

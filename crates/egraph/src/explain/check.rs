//! Replaying proofs: each step of an explanation is applied again and compared.

use super::{Explanation, FlatTerm};
use crate::{Analysis, Language, Rewrite, Symbol};
use rustc_hash::FxHashMap;
use thiserror::Error;

/// Why a proof does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The proof has no terms.
    #[error("the proof is empty")]
    Empty,
    /// The first term comes from nowhere.
    #[error("the first term carries a rule")]
    RuleAtStart,
    /// A term has no rule, or more than one.
    #[error("step {step} carries {rules} rules, expected one")]
    RuleCount {
        /// The number of the term.
        step: usize,
        /// How many rules it has.
        rules: usize,
    },
    /// Applying the rule to the last term gives another term than the next one.
    #[error("step {step}: rule `{rule}` does not lead from the last term to this one")]
    WrongStep {
        /// The number of the term.
        step: usize,
        /// The rule.
        rule: Symbol,
    },
}

impl<L: Language> Explanation<L> {
    /// Replays the proof with the given rules; a rule that is not given, or is code, is believed.
    ///
    /// # Errors
    /// With the first step that does not hold.
    pub fn replay<'a, R, N>(&mut self, rules: R) -> Result<(), ProofError>
    where
        R: IntoIterator<Item = &'a Rewrite<L, N>>,
        L: 'a,
        N: Analysis<L> + 'a,
    {
        let rules: FxHashMap<Symbol, &Rewrite<L, N>> =
            rules.into_iter().map(|rule| (rule.name, rule)).collect();
        let terms = self.make_flat_explanation();
        let first = terms.first().ok_or(ProofError::Empty)?;
        if first.has_rewrite() {
            return Err(ProofError::RuleAtStart);
        }
        for (number, pair) in terms.windows(2).enumerate() {
            let step = number + 1;
            let mut places = Vec::new();
            if !changed(&pair[0], &pair[1], &mut places) {
                places.clear();
            }
            let [(before, after)] = places.as_slice() else {
                return Err(ProofError::RuleCount { step, rules: places.len() });
            };
            if let Some(rule) = wrong(before, after, &rules) {
                return Err(ProofError::WrongStep { step, rule });
            }
        }
        Ok(())
    }

    /// Replays the proof like [`replay`](Explanation::replay).
    ///
    /// # Panics
    /// If a step does not hold.
    pub fn check_proof<'a, R, N>(&mut self, rules: R)
    where
        R: IntoIterator<Item = &'a Rewrite<L, N>>,
        L: 'a,
        N: Analysis<L> + 'a,
    {
        if let Err(error) = self.replay(rules) {
            panic!("the proof does not hold: {error}");
        }
    }
}

/// Finds the places where `after` carries a rule; false if the terms differ anywhere else.
fn changed<'a, L: Language>(
    before: &'a FlatTerm<L>,
    after: &'a FlatTerm<L>,
    places: &mut Vec<(&'a FlatTerm<L>, &'a FlatTerm<L>)>,
) -> bool {
    let mut todo = vec![(before, after)];
    while let Some((before, after)) = todo.pop() {
        if after.forward_rule.is_some() || after.backward_rule.is_some() {
            places.push((before, after));
        } else if before.node.matches(&after.node) {
            todo.extend(before.children.iter().zip(&after.children));
        } else {
            return false;
        }
    }
    true
}

/// Returns the rule of a step that does not hold.
fn wrong<L: Language, N: Analysis<L>>(
    before: &FlatTerm<L>,
    after: &FlatTerm<L>,
    rules: &FxHashMap<Symbol, &Rewrite<L, N>>,
) -> Option<Symbol> {
    let (name, from, to) = match (after.forward_rule, after.backward_rule) {
        (Some(name), _) => (name, before, after),
        (None, name) => (name?, after, before),
    };
    let rule = rules.get(&name)?;
    let (left, right) = (rule.searcher.get_pattern_ast()?, rule.applier.get_pattern_ast()?);
    let holds = from.try_rewrite(left, right).is_some_and(|made| made == *to);
    (!holds).then_some(name)
}

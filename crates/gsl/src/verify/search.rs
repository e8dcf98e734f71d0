//! The search for a counterexample, and what it makes of what it saw.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashSet;
use tangram_ir::{Context, Module};
use tangram_tensor::DType;

use super::branches::Branches;
use super::compare::Gap;
use super::condition::{self, Features};
use super::coverage::{Covering, Pairs};
use super::instance::Instance;
use super::sampler::Sampler;
use super::trial::{self, Compared, Outcome, try_instance};
use super::verdict::{Counterexample, Doubt, Evidence, Verdict};
use super::{Effort, driver, symbolic};
use crate::ast::{Exactness, OpChoice};
use crate::eval::steps_taken;
use crate::rules::{CompiledRule, Natives};

/// Steps that an attempt takes beside the evaluation.
const ATTEMPT: u64 = 5_000;
/// An instance of a chain of equal operations is looked at from each of them: attempts take longer
/// with the square of the size of a rule, over this.
const LONG: u64 = 5_000;
/// A step of the evaluation of conditions and attributes takes as long as so many of a program's.
const EVALUATED: u64 = 16;
/// One in so many instances is also tried with symbols for extents.
const SYMBOLIC_SHARE: usize = 4;
/// Fewer different instances say too little, if there may be others.
const ENOUGH: usize = 24;
/// Fewer say too little in any case.
const FEWEST: usize = 4;
/// If there are more matches refused by their types than one for so many that are not, the rule
/// says too little about when it is meant.
const LOST: usize = 3;
/// After so many instances without a new pair there are no others.
const STALE: usize = 500;
/// How many times as long rules with two casts are tried: they depend on three types at once, of
/// which pairs say little.
const CASTS: usize = 4;
/// How many instances are given to the driver to see the rule fire.
const DRIVEN: usize = 60;
/// How many conditions are verified before one is proposed.
const PROPOSED: usize = 3;

/// What is known of a rule so far.
pub(super) struct Search<'a> {
    rule: &'a CompiledRule,
    natives: &'a Natives,
    effort: &'a Effort,
    /// The search ends at the first counterexample, whatever it breaks.
    pub to_first: bool,
    /// Hashes of the programs that were tried.
    seen: FxHashSet<u64>,
    good: Vec<Features>,
    bad: Vec<Features>,
    refused: Vec<Features>,
    pub evidence: Evidence,
    pub counterexample: Option<Counterexample>,
    /// The smallest instance on which no more than the promise of the rule is broken.
    broken: Option<Counterexample>,
    /// The greatest difference that some promise allows.
    gap: Gap,
    /// The greatest one where inputs and constants are finite numbers.
    finite: Gap,
    pairs: Pairs,
    covering: Covering,
    /// How many times as long as others the rule is tried.
    patience: usize,
    /// How many instances were made since one with a new pair was compared.
    stale: usize,
    branches: Branches,
    /// Instances that were tried before, or bring nothing new together.
    repeated: usize,
    /// The first difference where extents are symbols.
    pub symbolic_failure: Option<Counterexample>,
    /// Apart from the other, so that what is tried does not depend on it.
    symbolic_rng: fastrand::Rng,
    built: usize,
    matched: usize,
    /// How many instances that matched were given to the driver without effect.
    idle: usize,
    /// How many steps were spent.
    spent: u64,
}

impl<'a> Search<'a> {
    pub fn new(rule: &'a CompiledRule, natives: &'a Natives, effort: &'a Effort) -> Self {
        Self {
            rule,
            natives,
            effort,
            to_first: false,
            seen: FxHashSet::default(),
            good: Vec::new(),
            bad: Vec::new(),
            refused: Vec::new(),
            evidence: Evidence::default(),
            counterexample: None,
            broken: None,
            gap: Gap::None,
            finite: Gap::None,
            pairs: Pairs::default(),
            covering: Covering::default(),
            patience: 1,
            stale: 0,
            branches: Branches::default(),
            repeated: 0,
            symbolic_failure: None,
            symbolic_rng: fastrand::Rng::with_seed(effort.seed ^ 0x5EED),
            built: 0,
            matched: 0,
            idle: 0,
            spent: 0,
        }
    }

    pub fn run(&mut self, context: &Arc<Context>) {
        let mut sampler = Sampler::new(self.rule, self.natives, self.effort);
        self.patience = if sampler.hints.casts() > 1 { CASTS } else { 1 };
        let size = super::size(self.rule.rule()) as u64;
        let attempt = ATTEMPT * (1 + size * size / LONG);
        let mut evaluated = steps_taken();
        while !self.is_enough() && !self.is_interrupted() && self.spent < self.effort.work {
            let steps =
                steps_taken().wrapping_sub(std::mem::replace(&mut evaluated, steps_taken()));
            self.spent = self.spent.saturating_add(attempt + EVALUATED.saturating_mul(steps));
            let Some(made) = sampler.next(context) else {
                // What rarely matches is tried longer.
                if self.good.len() < ENOUGH && self.matched > 0 && sampler.goes_on() {
                    continue;
                }
                break;
            };
            let Some(made) = made else { continue };
            self.built += 1;
            let hash = trial::hash(&made);
            if self.seen.contains(&hash) {
                self.repeated += 1;
                continue;
            }
            self.stale += 1;
            let seen = self.is_base_compared().then(|| self.facts(&made));
            if seen.as_ref().is_some_and(|(_, pairs)| !self.covering.is_new(pairs)) {
                continue;
            }
            let twin = match self.built % SYMBOLIC_SHARE {
                // What a constant that is no number may change is told apart with numbers only.
                0 if trial::all_finite(&made.module, &made.free) => {
                    symbolic::generalise(&made.module, &mut self.symbolic_rng)
                }
                _ => None,
            };
            if let Some(twin) = twin {
                self.note_symbolic(twin);
            }
            // Most programs do not match, and what they are need not be known.
            let Some(site) = trial::find(self.rule, &made.module) else { continue };
            let (facts, pairs) = seen.unwrap_or_else(|| self.facts(&made));
            let features = condition::features(self.rule.rule(), &made);
            let work = trial::work(&made);
            let mut rng = sampler.rng.clone();
            let driven = self.is_driven().then(|| made.module.clone());
            let wider = || sampler.again(context, DType::F64);
            match try_instance(self.rule, self.natives, made, site, &wider, &mut rng) {
                // A branch that leaves the source as it is cannot be wrong.
                Outcome::Unchanged(branches) => {
                    self.branches.add(&branches);
                    continue;
                }
                outcome => {
                    self.spent = self.spent.saturating_add(work);
                    self.note_driver(driven.as_ref());
                    let compared = matches!(outcome, Outcome::Compared(_) | Outcome::Different(_));
                    if compared && self.covering.is_new(&pairs) {
                        self.stale = 0;
                    }
                    self.covering.note(&pairs, compared);
                    self.note(outcome, features, &facts);
                }
            }
            self.seen.insert(hash);
        }
    }

    /// What an instance covers, and the pairs of that.
    fn facts(&self, made: &Instance) -> (Features, Vec<u64>) {
        let facts = condition::facts(self.rule.rule(), made);
        let pairs = Covering::pairs(&facts);
        (facts, pairs)
    }

    fn is_interrupted(&self) -> bool {
        let set = self.effort.interrupted.as_ref();
        set.is_some_and(|interrupted| interrupted.load(Ordering::Relaxed))
    }

    /// Whether as many instances were compared as without a search for pairs that are left.
    fn is_base_compared(&self) -> bool {
        self.good.len() + self.bad.len() >= self.effort.instances
    }

    /// Whether an instance was seen on which the rule is wrong, or promises too much.
    fn is_refuted(&self) -> bool {
        self.counterexample.is_some() || self.symbolic_failure.is_some() || self.broken.is_some()
    }

    /// Whether no pair is left, or as many instances were compared as there may be.
    fn is_enough(&self) -> bool {
        if self.to_first && self.is_refuted() {
            return true;
        }
        let most = self.effort.instances + self.effort.covering * self.patience;
        let compared = self.good.len() + self.bad.len();
        compared >= most || self.is_base_compared() && self.stale > STALE * self.patience
    }

    /// Whether the driver is still to be seen to fire the rule.
    fn is_driven(&self) -> bool {
        !self.evidence.fires && self.idle < DRIVEN
    }

    /// Gives an instance that matches to the driver.
    fn note_driver(&mut self, module: Option<&Module>) {
        let Some(module) = module else { return };
        self.evidence.fires = driver::fires(self.rule, module);
        self.idle += 1;
    }

    /// Tries the rule where extents are symbols.
    fn note_symbolic(&mut self, twin: Module) {
        match symbolic::try_symbolic(self.rule, twin, &mut self.symbolic_rng) {
            symbolic::Outcome::Void => {}
            symbolic::Outcome::Equal => self.evidence.symbolic += 1,
            symbolic::Outcome::Guarded => self.evidence.guarded += 1,
            symbolic::Outcome::Different(found) => {
                self.symbolic_failure.get_or_insert(found);
            }
        }
    }

    fn note(&mut self, outcome: Outcome, features: Features, facts: &Features) {
        self.matched += 1;
        match outcome {
            Outcome::Compared(compared) => self.note_compared(compared, features, facts),
            Outcome::Refused { code, why } => {
                self.evidence.refused += 1;
                // Later, what is compared has to bring something new, and what is refused has not.
                let typed = matches!(code, "target-type" | "inference");
                self.evidence.ill_typed += usize::from(typed && !self.is_base_compared());
                self.evidence.refusal.get_or_insert(why);
                self.refused.push(features);
            }
            Outcome::Different(found) => {
                self.bad.push(features);
                keep_smallest(&mut self.counterexample, found);
            }
            Outcome::Unchanged(_) | Outcome::Void => {}
        }
    }

    fn note_compared(&mut self, compared: Compared, features: Features, facts: &Features) {
        // What brings nothing new together is as good as seen.
        if self.pairs.add(facts) == 0 && compared.gap <= self.gap && compared.finite <= self.finite
        {
            self.repeated += 1;
            return;
        }
        let evidence = &mut self.evidence;
        if compared.empty {
            evidence.empty += 1;
            self.good.push(features);
            return;
        }
        evidence.coverage.add(facts);
        evidence.coverage.values.extend(compared.profiles.iter().map(|profile| profile.name()));
        self.branches.add(&compared.branches);
        match compared.field {
            Some(degree) => {
                evidence.field += 1;
                evidence.degree = evidence.degree.max(degree);
            }
            None if compared.exact => evidence.integers += 1,
            None => evidence.rounded += 1,
        }
        self.gap = self.gap.max(compared.gap);
        self.finite = self.finite.max(compared.finite);
        if compared.gap.promise() > self.promised()
            && let Some(found) = compared.counterexample
        {
            keep_smallest(&mut self.broken, found);
        }
        self.good.push(features);
    }

    /// What the rule promises; what it means where it says nothing.
    fn promised(&self) -> Exactness {
        self.rule.rule().exactness().unwrap_or(Exactness::Reassociates)
    }

    /// Why what was compared says too little, if it does.
    fn thin(&self) -> Option<(Doubt, String)> {
        let thin = |why: String| Some((Doubt::Thin, why));
        let count = self.evidence.count();
        if self.spent >= self.effort.work && !self.is_base_compared() {
            let work = self.effort.work / 1_000_000;
            return thin(format!(
                "its budget of {work} million steps was spent on {count} instances"
            ));
        }
        // Where many more were made, there are no others.
        let exhausted = count >= FEWEST && self.repeated >= 8 * count;
        if count < ENOUGH && !exhausted {
            return thin(format!("only {count} different instances could be compared"));
        }
        // Both before pairs were sought.
        let ill_typed = self.evidence.ill_typed;
        let count = count.min(self.effort.instances);
        if ill_typed * LOST > count {
            let why = self.evidence.refusal.as_deref().unwrap_or_default();
            let guard = self.evidence_guard().map(|guard| format!(", all but where {guard}"));
            let why = format!(
                "{ill_typed} matches, beside {count} that were compared, have a target of another \
                 type or none and are refused{}; a `where` that says when the rule is meant \
                 decides it ({why})",
                guard.unwrap_or_default(),
            );
            return Some((Doubt::Refused, why));
        }
        let (taken, all) = self.branches.counts();
        if taken < all {
            return thin(format!("{taken} of {all} branches of its conditionals were taken"));
        }
        let compared = &self.evidence.coverage.operators;
        let rest: Vec<&str> =
            self.operators().into_iter().filter(|name| !compared.contains(*name)).collect();
        if !rest.is_empty() {
            return thin(format!("no instance with `{}` could be compared", rest.join("`, `")));
        }
        None
    }

    /// A condition that tells the refused instances from the others.
    fn evidence_guard(&self) -> Option<String> {
        condition::separate(&self.good, &self.refused).into_iter().next()
    }

    /// The operators that the rule names as alternatives.
    fn operators(&self) -> Vec<&str> {
        let named = self.rule.rule().ops().filter_map(|(_, op)| match &op.choice {
            OpChoice::OneOf(names) => Some(names.iter().map(String::as_str)),
            _ => None,
        });
        named.flatten().collect()
    }

    pub fn verdict(&self, holds: &dyn Fn(&str) -> bool) -> Verdict {
        let mut evidence = self.evidence.clone();
        evidence.guard = self.evidence_guard();
        evidence.promise = Some(self.gap.promise());
        evidence.tolerance = self.rule.rule().tolerance();
        evidence.coverage.pairs = self.covering.counts();
        evidence.coverage.branches = self.branches.counts();
        if let Some(counterexample) = self.counterexample.clone() {
            let proposed = condition::separate(&self.good, &self.bad).into_iter().take(PROPOSED);
            let enough = condition::suffice(&self.good, &self.bad).into_iter().take(PROPOSED);
            return match proposed.chain(enough).find(|condition| holds(condition)) {
                Some(condition) => Verdict::HoldsIf { condition, counterexample, evidence },
                None => Verdict::Wrong { counterexample, evidence },
            };
        }
        if let Some(counterexample) = self.symbolic_failure.clone() {
            return Verdict::Wrong { counterexample, evidence };
        }
        if let Some(counterexample) = self.broken.clone() {
            let promise = self.gap.promise();
            let finite = self.finite.promise() <= self.promised();
            return Verdict::HoldsAs { promise, finite, counterexample, evidence };
        }
        if evidence.count() > 0 {
            return match self.thin() {
                Some((doubt, why)) => Verdict::Unknown { doubt, why },
                None => Verdict::Holds(evidence),
            };
        }
        let (doubt, why) = match (self.built, self.matched, evidence.refusal) {
            (0, ..) => (Doubt::NeverMatches, "no instance of the source could be made".to_owned()),
            (_, 0, _) => (Doubt::NeverMatches, "no instance that was made matches".to_owned()),
            (_, _, Some(why)) => (Doubt::Refused, format!("every match is refused: {why}")),
            _ if evidence.empty > 0 => (Doubt::Thin, "no result has an element".to_owned()),
            _ => (Doubt::Thin, "no instance could be evaluated".to_owned()),
        };
        Verdict::Unknown { doubt, why }
    }
}

fn keep_smallest(known: &mut Option<Counterexample>, found: Counterexample) {
    if known.as_ref().is_none_or(|known| found.size < known.size) {
        *known = Some(found);
    }
}

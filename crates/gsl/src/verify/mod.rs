//! Verification of rules by exact evaluation of many small instances.
//!
//! ```text
//! rule --instance--> small program --match and rewrite, as ever--> small program
//!                         |                                             |
//!                         +----------- evaluated and compared ----------+
//! ```
//!
//! Instances are programs that the source matches (`instance`): each attribute, extent, rank,
//! element type and operator takes the values at which an operation may behave otherwise
//! ([`sample`](tangram_dialects::nn::sample)), and one is evaluated only if it brings two such values together that
//! were not together before (`coverage`). The rule is matched and applied to them by the same code
//! that applies it to models, so that what is verified is what runs. Both programs are then
//! evaluated on numbers of every kind (`values`): fractions, ties, large ones, the limits of the
//! type, NaN. How far results may differ is what the rule promises ([`Exactness`], `compare`);
//! what happens on the way tells rounding from overflow (`trace`), and the same program in
//! `float64` tells both from another function. Over a prime field random inputs tell different
//! polynomials apart with a probability that is stated ([`field`](tangram_dialects::field)). Branches of conditionals are
//! counted (`branches`), and a part of the instances is tried with symbols for extents
//! (`symbolic`). A rule that is wrong is shown with its smallest counterexample, and with the
//! condition that mends it if there is a simple one (`condition`), which is verified first.
//!
//! A verdict names what was tried. It is evidence, not a proof, and where little was tried the
//! verdict is *unknown*.

mod branches;
mod compare;
mod condition;
mod coverage;
mod domains;
mod driver;
mod hints;
mod inputs;
mod instance;
mod marks;
pub mod mutate;
mod nudge;
mod real;
mod steps;
mod symbolic;
mod ties;
mod trace;
mod trial;
mod values;
mod verdict;
mod wide;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashSet;
use tangram_ir::{Context, Module};
use tangram_tensor::DType;

use crate::ast::{Exactness, OpChoice, Rule};
use crate::rules::{CompileError, CompiledRule, Natives, Options, UnknownExtents};
use crate::schema::NnSchema;
use crate::text;
use branches::Branches;
use compare::Gap;
use condition::Features;
use coverage::{Covering, Pairs};
use hints::Hints;
use instance::{Draft, Instance};
use trial::{Compared, Outcome, try_instance};

pub use coverage::Coverage;
pub use domains::{Domain, Space, domains};
pub use verdict::{Counterexample, Doubt, Evidence, Leaf, Verdict};

/// How thoroughly rules are verified.
#[derive(Clone, Debug)]
pub struct Effort {
    /// How many different instances are enough.
    pub instances: usize,
    /// How many are tried at most, of which many do not match.
    pub attempts: usize,
    /// How many more at most where pairs of types, ranks, extents and attribute values are left
    /// that were not compared together.
    pub covering: usize,
    /// Where random choices start; the same seed gives the same verdict.
    pub seed: u64,
    /// How many elementary steps evaluation may take in all, as far as they can be estimated.
    pub work: u64,
    /// The search ends soon after someone sets this; its verdict then says nothing.
    pub interrupted: Option<Arc<AtomicBool>>,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            instances: 150,
            attempts: 8000,
            covering: 250,
            seed: 0,
            work: WORK,
            interrupted: None,
        }
    }
}

/// Steps of evaluation for one rule: a minute or so.
const WORK: u64 = 4_000_000_000;
/// Steps that an attempt takes beside the evaluation.
const ATTEMPT: u64 = 5_000;
/// One in so many instances is also tried with symbols for extents.
const SYMBOLIC_SHARE: usize = 4;
/// Fewer different instances say too little, if there may be others.
const ENOUGH: usize = 24;
/// Fewer say too little in any case.
const FEWEST: usize = 4;
/// If there are more matches refused by their types than one for so many that are not, the rule
/// says too little about when it is meant.
const LOST: usize = 3;
/// How many times the usual attempts are made where few instances match.
const LONGEST: usize = 4;
/// After so many instances without a new pair there are no others.
const STALE: usize = 500;
/// How many times as long rules with two casts are tried: they depend on three types at once, of
/// which pairs say little.
const CASTS: usize = 4;
/// How many instances are given to the driver to see the rule fire.
const DRIVEN: usize = 60;
/// How many conditions are verified before one is proposed.
const PROPOSED: usize = 3;

/// Verifies a rule.
///
/// Deterministic; takes time in proportion to `effort.attempts`, at most a second or so for the
/// default.
///
/// # Errors
/// The rule cannot be compiled.
pub fn verify(
    rule: &Rule,
    context: &Arc<Context>,
    natives: &Arc<Natives>,
    effort: &Effort,
) -> Result<Verdict, CompileError> {
    guarded(|| search(rule, context, natives, effort))
}

/// A defect in what makes, runs or compares instances of one rule is a verdict on that rule alone.
fn guarded(
    search: impl FnOnce() -> Result<Verdict, CompileError>,
) -> Result<Verdict, CompileError> {
    catch_unwind(AssertUnwindSafe(search)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        let why = format!("a defect of the verifier, please report it with the rule: {text}");
        Ok(Verdict::Unknown { doubt: Doubt::Defect, why })
    })
}

fn search(
    rule: &Rule,
    context: &Arc<Context>,
    natives: &Arc<Natives>,
    effort: &Effort,
) -> Result<Verdict, CompileError> {
    let compiled = compile(rule, context, natives)?;
    let mut search = Search::new(&compiled, natives, effort);
    search.run(context);
    let holds = |condition: &str| {
        let mended = with_condition(rule, condition)?;
        let compiled = compile(&mended, context, natives).ok()?;
        let mut search = Search::new(&compiled, natives, effort);
        search.run(context);
        Some(search.verdict(&|_| false).holds())
    };
    Ok(search.verdict(&|condition| holds(condition) == Some(true)))
}

/// Verifies a rule up to its first counterexample, for which no condition is sought: whether the
/// verdict is one of those that say the rule is wrong is as with [`verify`], in less time.
fn refute(
    rule: &Rule,
    context: &Arc<Context>,
    natives: &Arc<Natives>,
    effort: &Effort,
) -> Result<Verdict, CompileError> {
    guarded(|| {
        let compiled = compile(rule, context, natives)?;
        let mut search = Search::new(&compiled, natives, effort);
        search.to_first = true;
        search.run(context);
        Ok(search.verdict(&|_| false))
    })
}

/// The rule with one condition more.
fn with_condition(rule: &Rule, condition: &str) -> Option<Rule> {
    let text = text::print(rule);
    let at = text.rfind("\n  rewrite")?;
    let mended = format!("{}\n  where {condition};{}", &text[..at], &text[at..]);
    text::parse(&mended).ok()?.pop()
}

/// Whether no instance was seen on which a rule is wrong, or its target has another type or is not
/// defined: it may be relied on where extents are unknown.
///
/// Takes a part of what [`verify`] takes with the usual effort. What the rule promises does not
/// matter here, only extents do.
pub(crate) fn keeps_extents(rule: &Rule, natives: &Arc<Natives>) -> bool {
    catch_unwind(AssertUnwindSafe(|| extents_are_kept(rule, natives))).unwrap_or(false)
}

fn extents_are_kept(rule: &Rule, natives: &Arc<Natives>) -> bool {
    let context = tangram_dialects::context();
    natives.define_in(&context);
    let effort = Effort { instances: 60, attempts: 2000, covering: 0, ..Effort::default() };
    let Ok(compiled) = compile(rule, &context, natives) else { return false };
    let mut search = Search::new(&compiled, natives, &effort);
    search.run(&context);
    let evidence = &search.evidence;
    let right = search.counterexample.is_none() && search.symbolic_failure.is_none();
    right
        && evidence.count() + evidence.empty > 0
        && evidence.guarded == 0
        && evidence.ill_typed == 0
}

fn compile(
    rule: &Rule,
    context: &Arc<Context>,
    natives: &Arc<Natives>,
) -> Result<CompiledRule, CompileError> {
    // Where extents are unknown, what the rule does is seen once they are known.
    let unknown_extents = UnknownExtents::Accept;
    let options = Options {
        natives: natives.clone(),
        fold: false,
        unknown_extents,
        guarded: false,
        ..Options::default()
    };
    CompiledRule::new(rule, context, &NnSchema::new(context), &options, &|_| true)
}

/// What is known of a rule so far.
struct Search<'a> {
    rule: &'a CompiledRule,
    natives: &'a Natives,
    effort: &'a Effort,
    /// The search ends at the first counterexample, whatever it breaks.
    to_first: bool,
    /// Hashes of the programs that were tried.
    seen: FxHashSet<u64>,
    good: Vec<Features>,
    bad: Vec<Features>,
    refused: Vec<Features>,
    evidence: Evidence,
    counterexample: Option<Counterexample>,
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
    symbolic_failure: Option<Counterexample>,
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
    fn new(rule: &'a CompiledRule, natives: &'a Natives, effort: &'a Effort) -> Self {
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

    fn run(&mut self, context: &Arc<Context>) {
        let mut sampler = Sampler::new(self.rule, self.natives, self.effort);
        self.patience = if sampler.hints.casts() > 1 { CASTS } else { 1 };
        while !self.is_enough() && !self.is_interrupted() && self.spent < self.effort.work {
            self.spent += ATTEMPT;
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

    fn verdict(&self, holds: &dyn Fn(&str) -> bool) -> Verdict {
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

/// Makes instances of the source of a rule, small ones first: they make the better
/// counterexamples.
pub(crate) struct Sampler<'a> {
    rule: &'a CompiledRule,
    natives: &'a Natives,
    effort: &'a Effort,
    hints: Hints,
    rng: fastrand::Rng,
    attempt: usize,
    limit: usize,
    /// Where the choices of the last instance started, and how great its extents may be.
    last: (fastrand::Rng, usize),
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(rule: &'a CompiledRule, natives: &'a Natives, effort: &'a Effort) -> Self {
        let hints = Hints::new(rule.rule());
        let rng = fastrand::Rng::with_seed(effort.seed);
        let last = (rng.clone(), 2);
        let limit = effort.attempts;
        Self { rule, natives, effort, hints, rng, attempt: 0, limit, last }
    }

    /// Makes one more; nothing once all attempts are spent, and nothing inside where one failed.
    fn next(&mut self, context: &Arc<Context>) -> Option<Option<Instance>> {
        if self.attempt >= self.limit {
            return None;
        }
        let cap = match self.attempt % 8 {
            7 => 8,
            5 => 5,
            n => 2 + n / 2,
        };
        self.attempt += 1;
        let dtype = hints::element_type(&mut self.rng, self.attempt, &self.hints);
        self.last = (self.rng.clone(), cap);
        let parts = (self.rule.plan(), self.natives, &self.hints);
        let module = Module::new(context.clone());
        Some(Draft::new(parts, module, &mut self.rng, cap, dtype).build())
    }

    /// Allows as many attempts again, some times. Returns whether it did.
    fn goes_on(&mut self) -> bool {
        let more = self.limit < self.effort.attempts.saturating_mul(LONGEST);
        self.limit += if more { self.effort.attempts } else { 0 };
        more
    }

    /// Makes the last instance again with another element type.
    fn again(&self, context: &Arc<Context>, dtype: DType) -> Option<Instance> {
        let (mut rng, cap) = self.last.clone();
        let parts = (self.rule.plan(), self.natives, &self.hints);
        Draft::new(parts, Module::new(context.clone()), &mut rng, cap, dtype).widened().build()
    }

    /// Makes the next program twice, the same values and operations in both; nothing once all
    /// attempts are spent.
    pub(crate) fn twins(&mut self, context: &Arc<Context>) -> Option<(Module, Module)> {
        loop {
            let (rng, attempt) = (self.rng.clone(), self.attempt);
            let Some(first) = self.next(context)? else { continue };
            self.rng = rng;
            self.attempt = attempt;
            let Some(second) = self.next(context)? else { continue };
            return Some((first.module, second.module));
        }
    }
}

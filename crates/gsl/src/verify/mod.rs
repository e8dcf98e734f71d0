//! Verification of rules by exact evaluation of many small instances.
//!
//! ```text
//! rule --instance--> small program --match and rewrite, as ever--> small program
//!                         |                                             |
//!                         +----------- evaluated and compared ----------+
//! ```
//!
//! Instances are programs that the source matches, over many small extents and attribute values
//! (`instance`). The rule is matched and applied to them by the same code that applies it to
//! models, so that what is verified is what runs. Both programs are then evaluated: over a prime
//! field, where random inputs tell different polynomials apart with a probability that is stated
//! (`field`); where that leaves a doubt, on small integers (`real`). A rule that is wrong is
//! shown with its smallest counterexample, and with the condition that tells the good instances
//! from the bad ones if there is a simple one (`condition`). A part of the instances is also tried
//! with symbols for extents (`symbolic`).
//!
//! A verdict is about the extents and attributes that were tried: evidence, not a proof. What is
//! undefined in the source (a division by zero) may be anything in the target.

mod attributes;
mod condition;
mod field;
mod hints;
mod instance;
mod prime;
mod real;
mod shapes;
mod symbolic;
mod trial;
mod verdict;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use tangram_ir::{Context, Module};
use tangram_tensor::DType;

use crate::ast::Rule;
use crate::rules::{CompileError, CompiledRule, Natives, Options, UnknownExtents};
use crate::schema::NnSchema;
use condition::Features;
use hints::Hints;
use instance::{Draft, Instance};
use trial::{Outcome, try_instance};

pub use verdict::{Counterexample, Evidence, Leaf, Verdict};

/// How thoroughly rules are verified.
#[derive(Clone, Debug)]
pub struct Effort {
    /// How many different instances are enough.
    pub instances: usize,
    /// How many are tried at most, of which many do not match.
    pub attempts: usize,
    /// Where random choices start; the same seed gives the same verdict.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { instances: 150, attempts: 5000, seed: 0 }
    }
}

/// One in so many instances is also tried with symbols for extents.
const SYMBOLIC_SHARE: usize = 4;

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
    // Where extents are unknown, what the rule does is seen once they are known.
    let unknown_extents = UnknownExtents::Accept;
    let options =
        Options { natives: natives.clone(), fold: false, unknown_extents, ..Options::default() };
    let schema = NnSchema::new(context);
    let compiled = CompiledRule::new(rule, context, &schema, &options, &|_| true)?;
    let mut search = Search::new(&compiled, natives, effort);
    search.run(context);
    Ok(search.verdict())
}

/// Whether a rule holds, and no instance was seen where its target has another type or is not
/// defined: it may be relied on where extents are unknown.
///
/// Takes as long as [`verify`] with the usual effort.
pub(crate) fn keeps_extents(rule: &Rule, natives: &Arc<Natives>) -> bool {
    match verify(rule, &tangram_dialects::context(), natives, &Effort::default()) {
        Ok(Verdict::Holds(evidence)) => evidence.guarded == 0 && evidence.ill_typed == 0,
        _ => false,
    }
}

/// What is known of a rule so far.
struct Search<'a> {
    rule: &'a CompiledRule,
    natives: &'a Natives,
    effort: &'a Effort,
    seen: FxHashSet<String>,
    good: Vec<Features>,
    bad: Vec<Features>,
    refused: Vec<Features>,
    evidence: Evidence,
    counterexample: Option<Counterexample>,
    /// The first difference where extents are symbols.
    symbolic_failure: Option<Counterexample>,
    /// Apart from the other, so that what is tried does not depend on it.
    symbolic_rng: fastrand::Rng,
    built: usize,
    matched: usize,
}

impl<'a> Search<'a> {
    fn new(rule: &'a CompiledRule, natives: &'a Natives, effort: &'a Effort) -> Self {
        Self {
            rule,
            natives,
            effort,
            seen: FxHashSet::default(),
            good: Vec::new(),
            bad: Vec::new(),
            refused: Vec::new(),
            evidence: Evidence::default(),
            counterexample: None,
            symbolic_failure: None,
            symbolic_rng: fastrand::Rng::with_seed(effort.seed ^ 0x5EED),
            built: 0,
            matched: 0,
        }
    }

    fn run(&mut self, context: &Arc<Context>) {
        let mut sampler = Sampler::new(self.rule, self.natives, self.effort);
        while self.good.len() + self.bad.len() < self.effort.instances {
            let Some(made) = sampler.next(context) else { break };
            let Some(made) = made else { continue };
            self.built += 1;
            let description = trial::describe(&made);
            if self.seen.contains(&description) {
                continue;
            }
            let features = condition::features(self.rule.rule(), &made);
            let twin = match self.built % SYMBOLIC_SHARE {
                0 => symbolic::generalise(&made.module, &mut self.symbolic_rng),
                _ => None,
            };
            if let Some(twin) = twin {
                self.note_symbolic(twin);
            }
            match try_instance(self.rule, made, &mut sampler.rng) {
                Outcome::NoMatch => continue,
                outcome => self.note(outcome, features),
            }
            self.seen.insert(description);
        }
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

    fn note(&mut self, outcome: Outcome, features: Features) {
        self.matched += 1;
        match outcome {
            Outcome::Field(degree) => {
                self.evidence.field += 1;
                self.evidence.degree = self.evidence.degree.max(degree);
                self.good.push(features);
            }
            Outcome::Integers => {
                self.evidence.integers += 1;
                self.good.push(features);
            }
            Outcome::Rounded => {
                self.evidence.rounded += 1;
                self.good.push(features);
            }
            Outcome::Refused { code, why } => {
                self.evidence.refused += 1;
                self.evidence.ill_typed += usize::from(matches!(code, "target-type" | "inference"));
                self.evidence.refusal.get_or_insert(why);
                self.refused.push(features);
            }
            Outcome::Different(found) => {
                self.bad.push(features);
                if self.counterexample.as_ref().is_none_or(|known| found.size < known.size) {
                    self.counterexample = Some(found);
                }
            }
            Outcome::NoMatch | Outcome::Void => {}
        }
    }

    fn verdict(mut self) -> Verdict {
        self.evidence.guard = condition::separate(&self.good, &self.refused);
        let evidence = self.evidence;
        if let (None, Some(counterexample)) = (&self.counterexample, &self.symbolic_failure) {
            let counterexample = counterexample.clone();
            return Verdict::Wrong { counterexample, evidence };
        }
        match self.counterexample {
            Some(counterexample) => match condition::separate(&self.good, &self.bad)
                .or_else(|| condition::suffice(&self.good, &self.bad))
            {
                Some(condition) => Verdict::HoldsIf { condition, counterexample, evidence },
                None => Verdict::Wrong { counterexample, evidence },
            },
            None if evidence.count() > 0 => Verdict::Holds(evidence),
            None => Verdict::Unknown {
                why: match (self.built, self.matched, evidence.refusal) {
                    (0, ..) => "no instance of the source could be made".to_owned(),
                    (_, 0, _) => "no instance that was made matches".to_owned(),
                    (_, _, Some(why)) => format!("every match is refused: {why}"),
                    _ => "no instance could be evaluated".to_owned(),
                },
            },
        }
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
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(rule: &'a CompiledRule, natives: &'a Natives, effort: &'a Effort) -> Self {
        let hints = Hints::new(rule.rule());
        let rng = fastrand::Rng::with_seed(effort.seed);
        Self { rule, natives, effort, hints, rng, attempt: 0 }
    }

    /// Makes one more; nothing once all attempts are spent, and nothing inside where one failed.
    fn next(&mut self, context: &Arc<Context>) -> Option<Option<Instance>> {
        if self.attempt >= self.effort.attempts {
            return None;
        }
        let cap = 2 + self.attempt * 3 / self.effort.attempts.max(1);
        self.attempt += 1;
        let dtype = element_type(&mut self.rng, self.hints.types());
        let parts = (self.rule.plan(), self.natives, &self.hints);
        let module = Module::new(context.clone());
        Some(Draft::new(parts, module, &mut self.rng, cap, dtype).build())
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

/// Doubles most of the time; now and then integers, or a type that the rule names.
fn element_type(rng: &mut fastrand::Rng, named: &[String]) -> DType {
    let named =
        rng.choice(named).and_then(|name| DType::ALL.into_iter().find(|d| d.name() == name));
    match (rng.u8(0..10), named) {
        (0..4, Some(dtype)) => dtype,
        (4, _) => DType::I64,
        (5, _) => DType::F32,
        _ => DType::F64,
    }
}

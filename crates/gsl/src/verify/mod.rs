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
//! type, NaN. How far results may differ is what the rule promises ([`Exactness`](crate::ast::Exactness), `compare`);
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
mod sampler;
mod search;
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
use std::sync::atomic::AtomicBool;

use tangram_ir::Context;

use crate::ast::Rule;
use crate::rules::{CompileError, CompiledRule, Natives, Options, UnknownExtents};
use crate::schema::NnSchema;
use crate::text;
use instance::Instance;
use search::Search;

pub(crate) use sampler::Sampler;

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

/// Of a rule that has more patterns, expressions and places in them, nothing is tried: each of
/// thousands of attempts takes time in proportion. The largest that is shipped has a third.
const LARGEST: usize = 1_000;

/// Steps of evaluation for one rule: a minute or so.
const WORK: u64 = 4_000_000_000;

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
    too_large(rule).map_or_else(|| guarded(|| search(rule, context, natives, effort)), Ok)
}

/// Counts the patterns and expressions of a rule, each with what it refers to.
fn size(rule: &Rule) -> usize {
    let patterns = rule.patterns().map(|(_, pattern)| 1 + pattern.references().len());
    let exprs = rule.exprs().map(|(_, expr)| 1 + expr.references().len());
    patterns.chain(exprs).sum()
}

/// The verdict on a rule that is too large for verification.
fn too_large(rule: &Rule) -> Option<Verdict> {
    let size = size(rule);
    let why = || {
        format!(
            "unverified: its patterns and expressions have {size} places, and verification takes \
             rules of up to {LARGEST}"
        )
    };
    (size > LARGEST).then(|| Verdict::Unknown { doubt: Doubt::Thin, why: why() })
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
    let search = || {
        let compiled = compile(rule, context, natives)?;
        let mut search = Search::new(&compiled, natives, effort);
        search.to_first = true;
        search.run(context);
        Ok(search.verdict(&|_| false))
    };
    too_large(rule).map_or_else(|| guarded(search), Ok)
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
    let kept = || catch_unwind(AssertUnwindSafe(|| extents_are_kept(rule, natives)));
    size(rule) <= LARGEST && kept().unwrap_or(false)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shipped_is_far_from_too_large() -> std::io::Result<()> {
        let mut sizes = Vec::new();
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "gsl") {
                let rules = text::parse(&std::fs::read_to_string(path)?).unwrap_or_default();
                sizes.extend(rules.iter().map(|rule| (size(rule), rule.name().to_owned())));
            }
        }
        let largest = sizes.iter().max();
        assert!(sizes.len() > 100, "{} rules", sizes.len());
        assert!(largest.is_some_and(|(size, _)| size * 2 < LARGEST), "{largest:?}");
        Ok(())
    }
}

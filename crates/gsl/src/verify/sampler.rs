//! Instances of the source of a rule, one after the other.

use std::sync::Arc;

use tangram_ir::{Context, Module};
use tangram_tensor::DType;

use super::Effort;
use super::hints::{self, Hints};
use super::instance::{Draft, Instance};
use crate::rules::{CompiledRule, Natives};

/// How many times the usual attempts are made where few instances match.
const LONGEST: usize = 4;

/// Makes instances of the source of a rule, small ones first: they make the better
/// counterexamples.
pub(crate) struct Sampler<'a> {
    rule: &'a CompiledRule,
    natives: &'a Natives,
    effort: &'a Effort,
    pub(super) hints: Hints,
    pub(super) rng: fastrand::Rng,
    attempt: usize,
    limit: usize,
    /// Where the choices of the last instance started, and how great its extents may be.
    last: (fastrand::Rng, usize),
}

impl<'a> Sampler<'a> {
    pub fn new(rule: &'a CompiledRule, natives: &'a Natives, effort: &'a Effort) -> Self {
        let hints = Hints::new(rule.rule());
        let rng = fastrand::Rng::with_seed(effort.seed);
        let last = (rng.clone(), 2);
        let limit = effort.attempts;
        Self { rule, natives, effort, hints, rng, attempt: 0, limit, last }
    }

    /// Makes one more; nothing once all attempts are spent, and nothing inside where one failed.
    pub(super) fn next(&mut self, context: &Arc<Context>) -> Option<Option<Instance>> {
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
    pub(super) fn goes_on(&mut self) -> bool {
        let more = self.limit < self.effort.attempts.saturating_mul(LONGEST);
        self.limit += if more { self.effort.attempts } else { 0 };
        more
    }

    /// Makes the last instance again with another element type.
    pub(super) fn again(&self, context: &Arc<Context>, dtype: DType) -> Option<Instance> {
        let (mut rng, cap) = self.last.clone();
        let parts = (self.rule.plan(), self.natives, &self.hints);
        Draft::new(parts, Module::new(context.clone()), &mut rng, cap, dtype).widened().build()
    }

    /// Makes the next program twice, the same values and operations in both; nothing once all
    /// attempts are spent.
    pub fn twins(&mut self, context: &Arc<Context>) -> Option<(Module, Module)> {
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

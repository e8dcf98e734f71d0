//! Which branches of its conditionals a rewrite takes.
//!
//! A rule with `if` or `case` in its target is several rules. Each is verified by itself, so what a
//! match takes is noted: patterns from the outputs on, branch by branch, and the attribute
//! expressions they read, with every step of their loops.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use tangram_ir::Module;

use crate::ast::{ExprId, PatId, PatternKind, Reference};
use crate::check::{LengthSource, target_length};
use crate::eval::{AttrValue, evaluate};
use crate::matching::{Bindings, Bound, Frame, Match, Scope};
use crate::rules::{CompiledRule, Natives};

/// Branches beyond these take no other arms.
const MOST_BRANCHES: usize = 16;

/// A conditional of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Conditional {
    Pattern(PatId),
    Expr(ExprId),
}

/// The arms that instances took, and how many arms there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Branches {
    taken: BTreeMap<Conditional, (usize, BTreeSet<usize>)>,
}

impl Branches {
    /// Notes what an instance took.
    pub(super) fn add(&mut self, found: &[(Conditional, usize, usize)]) {
        for (place, count, arm) in found {
            self.taken.entry(*place).or_insert((*count, BTreeSet::new())).1.insert(*arm);
        }
    }

    /// How many arms were taken, of how many.
    pub(super) fn counts(&self) -> (usize, usize) {
        let each = self.taken.values();
        each.fold((0, 0), |(taken, all), (count, arms)| (taken + arms.len(), all + count))
    }
}

/// Lists the conditionals on the way of a match: place, number of arms, the one taken. One in a
/// loop over an index may go every way.
pub(super) fn taken(
    rule: &CompiledRule,
    natives: &Natives,
    module: &Module,
    found: &Match,
) -> Vec<(Conditional, usize, usize)> {
    let bindings = found.bindings.clone();
    let mut walk = Walk { rule, natives, module, bindings, out: Vec::new() };
    let mut seen = FxHashSet::default();
    let targets = rule.rule().targets().iter();
    let mut patterns: Vec<(Frame, PatId)> = targets.map(|id| (Frame::ROOT, *id)).collect();
    while let Some(place) = patterns.pop() {
        if seen.insert(place) && !rule.plan().in_source(place.1) {
            walk.pattern(place, &mut patterns);
        }
    }
    walk.out
}

struct Walk<'a> {
    rule: &'a CompiledRule,
    natives: &'a Natives,
    module: &'a Module,
    bindings: Bindings,
    out: Vec<(Conditional, usize, usize)>,
}

impl Walk<'_> {
    fn pattern(&mut self, (frame, id): (Frame, PatId), next: &mut Vec<(Frame, PatId)>) {
        let pattern = self.rule.rule().pattern(id);
        match &pattern.kind {
            PatternKind::Cond { condition, then, otherwise } => {
                let Some(AttrValue::Bool(holds)) = self.evaluate(frame, *condition) else { return };
                self.out.push((Conditional::Pattern(id), 2, usize::from(!holds)));
                next.push((frame, if holds { *then } else { *otherwise }));
            }
            PatternKind::Case { subject, arms } => {
                let bound = self.bindings.find(self.rule.plan(), frame, *subject);
                if let Some(Bound::Option(option, _)) = bound
                    && let Some(arm) = arms.get(option as usize)
                {
                    self.out.push((Conditional::Pattern(id), arms.len(), option as usize));
                    next.push((frame, *arm));
                }
            }
            PatternKind::Variadic { field, .. } => {
                let count = self.branch_count(frame, id);
                let inner = (0..count).map(|i| (self.bindings.open(id, i, frame), *field));
                next.extend(inner);
            }
            _ => {
                next.extend(pattern.parts().into_iter().map(|part| (frame, part)));
                for reference in pattern.references() {
                    if let Reference::Expr(expr) = reference {
                        self.evaluate(frame, expr);
                    }
                }
            }
        }
    }

    fn branch_count(&mut self, frame: Frame, id: PatId) -> usize {
        let count = match target_length(self.rule.rule(), id) {
            Some(LengthSource::Expr(expr)) => match self.evaluate(frame, expr) {
                Some(AttrValue::Int(n)) => usize::try_from(n).unwrap_or(0),
                _ => 0,
            },
            Some(LengthSource::Variadic(variadic)) => {
                let bound = self.bindings.find(self.rule.plan(), frame, variadic);
                bound.map_or(0, |bound| self.bindings.frames_of(bound).len())
            }
            None => 0,
        };
        count.min(MOST_BRANCHES)
    }

    /// Evaluates an expression, and notes which ways the conditionals in it go.
    fn evaluate(&mut self, frame: Frame, expr: ExprId) -> Option<AttrValue> {
        let decisions = RefCell::default();
        let parts = (self.rule.plan(), self.module, self.natives);
        let mut scope = Scope::new(parts, &self.bindings, frame).noting(&decisions);
        let value = evaluate(self.rule.rule(), expr, &mut scope).ok();
        let arm =
            |(place, holds): (ExprId, bool)| (Conditional::Expr(place), 2, usize::from(!holds));
        self.out.extend(decisions.take().into_iter().map(arm));
        value
    }
}

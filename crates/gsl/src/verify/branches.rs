//! Which branches of its conditionals a rewrite takes.
//!
//! A rule with `if` or `case` in its target is several rules. Each is verified by itself, so what a
//! match takes is noted: patterns from the outputs on, and the attribute expressions they read.

use std::collections::{BTreeMap, BTreeSet};

use tangram_ir::Module;

use crate::ast::{ExprId, ExprKind, PatId, PatternKind};
use crate::eval::{AttrValue, evaluate};
use crate::matching::{Bound, Frame, Match, Scope};
use crate::rules::{CompiledRule, Natives};

/// A conditional of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Pattern(PatId),
    Expr(ExprId),
}

/// The arms that instances took, and how many arms there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Branches {
    taken: BTreeMap<Place, (usize, BTreeSet<usize>)>,
}

impl Branches {
    /// Notes what an instance took.
    pub(super) fn add(&mut self, found: &[(Place, usize, usize)]) {
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

/// Lists the conditionals on the way of a match: place, number of arms, the one taken.
pub(super) fn taken(
    rule: &CompiledRule,
    natives: &Natives,
    module: &Module,
    found: &Match,
) -> Vec<(Place, usize, usize)> {
    let mut walk = Walk { rule, natives, module, found, seen: BTreeSet::new(), out: Vec::new() };
    let mut patterns: Vec<PatId> = rule.rule().targets().to_vec();
    while let Some(id) = patterns.pop() {
        if walk.seen.insert(Place::Pattern(id)) {
            walk.pattern(id, &mut patterns);
        }
    }
    walk.out
}

struct Walk<'a> {
    rule: &'a CompiledRule,
    natives: &'a Natives,
    module: &'a Module,
    found: &'a Match,
    seen: BTreeSet<Place>,
    out: Vec<(Place, usize, usize)>,
}

impl Walk<'_> {
    fn pattern(&mut self, id: PatId, next: &mut Vec<PatId>) {
        let rule = self.rule.rule();
        if self.rule.plan().in_source(id) {
            return;
        }
        match &rule.pattern(id).kind {
            PatternKind::Cond { condition, then, otherwise } => {
                if let Some(arm) = self.arm(Place::Pattern(id), *condition) {
                    next.push([*then, *otherwise][arm]);
                }
            }
            PatternKind::Case { subject, arms } => {
                let bindings = &self.found.bindings;
                if let Some(Bound::Option(option, _)) =
                    bindings.find(self.rule.plan(), Frame::ROOT, *subject)
                    && let Some(arm) = arms.get(option as usize)
                {
                    self.out.push((Place::Pattern(id), arms.len(), option as usize));
                    next.push(*arm);
                }
            }
            kind => {
                next.extend(rule.pattern(id).parts());
                if let PatternKind::Call { attrs, .. } | PatternKind::Native { attrs, .. } = kind {
                    attrs.iter().for_each(|field| self.expression(field.value));
                }
            }
        }
    }

    /// Follows conditionals at the top of an expression; inside loops over indices there is no
    /// single arm.
    fn expression(&mut self, expr: ExprId) {
        let mut at = expr;
        while let ExprKind::Cond { condition, then, otherwise } = &self.rule.rule().expr(at).kind {
            match self.arm(Place::Expr(at), *condition) {
                Some(arm) => at = [*then, *otherwise][arm],
                None => return,
            }
        }
    }

    fn arm(&mut self, place: Place, condition: ExprId) -> Option<usize> {
        let parts = (self.rule.plan(), self.module, self.natives);
        let mut scope = Scope::new(parts, &self.found.bindings, Frame::ROOT);
        let AttrValue::Bool(holds) = evaluate(self.rule.rule(), condition, &mut scope).ok()? else {
            return None;
        };
        self.out.push((place, 2, usize::from(!holds)));
        Some(usize::from(!holds))
    }
}

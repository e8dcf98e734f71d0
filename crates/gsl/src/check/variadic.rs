//! Variadic patterns: their templates and the lengths of new ones.

use rustc_hash::FxHashSet;

use super::Checker;
use crate::ast::{ExprId, ExprKind, PatId, PatternKind, Rule, SymId, subexpressions};
use crate::diagnostic::Diagnostic;
use crate::eval::variadic_of;

/// Where the length of a variadic target comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthSource {
    /// The value of an expression.
    Expr(ExprId),
    /// The number of branches of a matched variadic pattern.
    Variadic(PatId),
}

/// Finds the length of a variadic pattern of the target.
///
/// It is the one given; else that of the variadic whose instances it enumerates; else, for an
/// output, that of the source output.
pub fn target_length(rule: &Rule, variadic: PatId) -> Option<LengthSource> {
    let PatternKind::Variadic { field, index, length, .. } = &rule.pattern(variadic).kind else {
        return None;
    };
    if let Some(length) = length {
        return Some(LengthSource::Expr(*length));
    }
    let enumerated =
        subexpressions(rule, &[*field]).into_iter().find_map(|id| match rule.pattern(id).kind {
            PatternKind::Inst { variadic, index: at, .. } if reads(rule, at, *index) => {
                Some(LengthSource::Variadic(variadic))
            }
            _ => None,
        });
    let output = match (rule.sources(), rule.targets()) {
        (&[source], &[target]) if target == variadic => {
            let variadic = matches!(rule.pattern(source).kind, PatternKind::Variadic { .. });
            variadic.then_some(LengthSource::Variadic(source))
        }
        _ => None,
    };
    enumerated.or(output)
}

fn reads(rule: &Rule, expr: ExprId, symbol: Option<SymId>) -> bool {
    matches!(rule.expr(expr).kind, ExprKind::Symbol(id) if Some(id) == symbol)
}

impl Checker<'_> {
    pub(super) fn variadics(&mut self) {
        self.instances();
        for (id, pattern) in self.rule.patterns() {
            if let PatternKind::Variadic { field, templates, .. } = &pattern.kind {
                let templates: Vec<_> = templates.iter().map(|t| t.pattern).collect();
                self.templates(id, *field, &templates);
            }
        }
        for id in self.built() {
            let variadic = matches!(self.rule.pattern(id).kind, PatternKind::Variadic { .. });
            if variadic && target_length(self.rule, id).is_none() {
                let message = "the number of branches cannot be computed".to_owned();
                let hint = "give it: `for i < src.length`";
                self.error("unknown-length", self.spans.pattern(id), message, hint);
            }
        }
    }

    /// An instance is one of a template of a variadic pattern.
    fn instances(&mut self) {
        let rule = self.rule;
        for (id, pattern) in rule.patterns() {
            let PatternKind::Inst { variadic, template, .. } = pattern.kind else { continue };
            let outer = variadic_of(rule, variadic);
            let span = self.spans.pattern(id);
            let PatternKind::Variadic { templates, .. } = &rule.pattern(outer).kind else {
                let message =
                    format!("{} is not variadic and has no instances", self.describe(outer));
                let hint = "instances are those of the templates of a `variadic` pattern";
                self.error("not-variadic", span, message, hint);
                continue;
            };
            if templates.iter().all(|known| known.pattern != template) {
                let names = templates.iter().map(|known| self.describe(known.pattern));
                let hint = format!("its templates are: {}", names.collect::<Vec<_>>().join(", "));
                let message = format!(
                    "{} is no template of {}",
                    self.describe(template),
                    self.describe(outer)
                );
                self.error("not-a-template", span, message, &hint);
            }
        }
    }

    fn templates(&mut self, variadic: PatId, field: PatId, templates: &[PatId]) {
        let inside: FxHashSet<_> = subexpressions(self.rule, &[field]).into_iter().collect();
        let all: FxHashSet<_> = templates.iter().copied().collect();
        let reached = self.reached_through(field, &all);
        let span = self.spans.pattern(variadic);
        for (i, template) in templates.iter().enumerate() {
            let name = self.describe(*template);
            let (code, message, hint) = if !inside.contains(template) {
                let message = format!("{name} is not part of the field {}", self.describe(field));
                ("template-not-in-field", message, "remove it from `over (...)`")
            } else if !reached.contains(template) {
                let message = format!("{name} is reached only through a pattern that is shared");
                ("template-behind-shared", message, "make the patterns above it templates too")
            } else if templates[..i].contains(template) {
                let message = format!("{name} is a template twice");
                ("duplicate-name", message, "write it once")
            } else {
                continue;
            };
            let found = Diagnostic::error(code, span, message)
                .label(self.spans.pattern(*template), "the template")
                .hint(hint);
            self.found.push(found);
        }
    }

    /// Lists the templates that instantiation reaches: it copies templates and stops at the rest.
    fn reached_through(&self, field: PatId, templates: &FxHashSet<PatId>) -> FxHashSet<PatId> {
        let mut reached = FxHashSet::default();
        let mut stack = vec![field];
        while let Some(id) = stack.pop() {
            if templates.contains(&id) && reached.insert(id) {
                stack.extend(self.rule.pattern(id).parts());
            }
        }
        reached
    }
}

//! The shape of a rule: its outputs, how they hang together, and which forms stand on which side.

use rustc_hash::FxHashSet;

use super::Checker;
use crate::ast::{OpChoice, PatId, PatternKind, subexpressions};
use crate::diagnostic::Diagnostic;

impl Checker<'_> {
    pub(super) fn structure(&mut self) {
        self.outputs();
        self.connected_branches();
        self.tuples();
        self.sides();
        self.unused();
    }

    fn is_variadic(&self, id: PatId) -> bool {
        matches!(self.rule.pattern(id).kind, PatternKind::Variadic { .. })
    }

    fn outputs(&mut self) {
        let (sources, targets) = (self.rule.sources(), self.rule.targets());
        let name = self.spans.name;
        if sources.is_empty() {
            let hint = "add `match ...;`";
            return self.error("no-source", name, "the rule matches nothing".into(), hint);
        }
        if targets.is_empty() {
            let hint = "add `rewrite ...;`";
            return self.error("no-target", name, "the rule rewrites to nothing".into(), hint);
        }
        let variadic = sources.iter().chain(targets).find(|id| self.is_variadic(**id)).copied();
        let alone = |ids: &[PatId]| ids.len() == 1 && self.is_variadic(ids[0]);
        if let Some(id) = variadic
            && !(alone(sources) && alone(targets))
        {
            let message = "a variadic output must be the only one on both sides".to_owned();
            let hint = "write one `variadic` after `match` and one after `rewrite`";
            return self.error("variadic-output", self.spans.pattern(id), message, hint);
        }
        if sources.len() != targets.len() {
            let message =
                format!("{} outputs are matched, {} rewritten", sources.len(), targets.len());
            let hint = "each matched output is replaced by the rewritten one of the same position";
            self.error("output-count", name, message, hint);
        }
        for &id in sources {
            if let PatternKind::Wildcard | PatternKind::Variable(_) = self.rule.pattern(id).kind {
                let message = "the rule would match every value".to_owned();
                let hint = "match an operator call";
                self.error("bare-output", self.spans.pattern(id), message, hint);
            }
        }
    }

    /// The branches of a variadic output hang together by what is not a template.
    fn connected_branches(&mut self) {
        let &[output] = self.rule.sources() else { return };
        let PatternKind::Variadic { field, templates, .. } = &self.rule.pattern(output).kind else {
            return;
        };
        let templates: FxHashSet<_> = templates.iter().map(|template| template.pattern).collect();
        let inside = subexpressions(self.rule, &[*field]);
        if inside.iter().all(|id| templates.contains(id)) {
            let message = "the branches share no value".to_owned();
            let hint = "leave a pattern that all branches read out of `over (...)`";
            let span = self.spans.pattern(output);
            self.error("disconnected-outputs", span, message, hint);
        }
    }

    /// A tuple stands for operands: nothing else is one.
    fn tuples(&mut self) {
        let rule = self.rule;
        let is_tuple = |id: &PatId| matches!(rule.pattern(*id).kind, PatternKind::Tuple(_));
        let outputs = rule.sources().iter().chain(rule.targets()).copied();
        let mut found: Vec<PatId> = outputs.filter(is_tuple).collect();
        for &id in &self.source {
            let kind = &rule.pattern(id).kind;
            if !matches!(kind, PatternKind::Call { .. } | PatternKind::Tuple(_)) {
                found.extend(rule.pattern(id).parts().into_iter().filter(is_tuple));
            }
        }
        found.sort_unstable();
        found.dedup();
        for id in found {
            let message = "a tuple stands among the operands of a call, and is no value".to_owned();
            let hint = "list outputs one by one: `match s[0], s[1]`, `rewrite x, y`";
            self.error("tuple-value", self.spans.pattern(id), message, hint);
        }
    }

    /// Source-only and target-only forms, and new inputs in the target.
    fn sides(&mut self) {
        for id in subexpressions(self.rule, self.rule.sources()) {
            let form = match self.rule.pattern(id).kind {
                PatternKind::Cond { .. } => "`if`",
                PatternKind::Case { .. } => "`case`",
                PatternKind::Native { .. } => "`native`",
                _ => continue,
            };
            let message = format!("{form} chooses what is made, it cannot be matched");
            let hint = "use `a | b` or a `where` condition";
            self.error("target-only", self.spans.pattern(id), message, hint);
        }
        for id in self.built() {
            self.built_form(id);
        }
    }

    /// Lists the target patterns that are made anew: what was matched is reached, not entered.
    pub(super) fn built(&self) -> Vec<PatId> {
        let mut seen = FxHashSet::default();
        let mut stack: Vec<_> = self.rule.targets().iter().rev().copied().collect();
        let mut built = Vec::new();
        while let Some(id) = stack.pop() {
            if !self.source.contains(&id) && seen.insert(id) {
                built.push(id);
                stack.extend(self.rule.pattern(id).parts().into_iter().rev());
            }
        }
        built
    }

    fn built_form(&mut self, id: PatId) {
        let span = self.spans.pattern(id);
        let pattern = self.rule.pattern(id);
        let (code, what, hint) = match &pattern.kind {
            PatternKind::Wildcard => {
                ("new-wildcard", "a new wildcard", "use a pattern that the source matches")
            }
            PatternKind::Variable(_) => {
                ("new-variable", "a new variable", "use a pattern that the source matches")
            }
            PatternKind::Const { value: None, .. } => {
                ("const-without-value", "a constant without value", "give its value: `const(1.0)`")
            }
            PatternKind::Alt(_) => ("source-only", "an alternative", "use `if` or `case`"),
            PatternKind::Not(_) => ("source-only", "a negation", "state it in the source"),
            PatternKind::Call { op, .. } if self.invents_operator(*op) => (
                "source-only",
                "a choice of operators",
                "call an operator by name, or one that the source matched",
            ),
            _ if pattern.only => ("source-only", "`only` on a new value", "write it in the source"),
            _ => return,
        };
        let message = format!("the target cannot make {what}");
        self.error(code, span, message, hint);
    }

    /// A choice of operators in the target must have been decided by the source.
    fn invents_operator(&self, op: crate::ast::OpId) -> bool {
        let decided = self.sure.iter().any(|id| {
            matches!(self.rule.pattern(*id).kind, PatternKind::Call { op: other, .. } if other == op)
        });
        let single = match &self.rule.op(op).choice {
            OpChoice::Name(_) => true,
            OpChoice::OneOf(names) => names.len() == 1,
            OpChoice::Trait(_) => false,
        };
        !decided && !single
    }

    fn unused(&mut self) {
        let mut used: FxHashSet<PatId> = FxHashSet::default();
        let patterns = self.rule.patterns().flat_map(|(_, p)| p.references());
        let exprs = self.rule.exprs().flat_map(|(_, e)| e.references());
        for reference in patterns.chain(exprs) {
            if let crate::ast::Reference::Part(id) | crate::ast::Reference::Mention(id) = reference
            {
                used.insert(id);
            }
        }
        used.extend(self.rule.sources().iter().chain(self.rule.targets()));
        for (id, pattern) in self.rule.patterns() {
            if let (Some(name), false) = (&pattern.name, used.contains(&id)) {
                let message = format!("`{name}` is never used");
                let found = Diagnostic::warning("unused", self.spans.pattern(id), message)
                    .hint("remove it, or use it in `match`");
                self.found.push(found);
            }
        }
    }
}

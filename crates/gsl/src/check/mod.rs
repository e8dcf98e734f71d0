//! Checks rules at their definition: each finding is located and says what to do.

pub(crate) mod operators;
mod references;
mod schema;
mod structure;
pub(crate) mod suggest;
mod types;
mod variadic;

use std::cell::RefCell;
use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{ExprId, PatId, PatternKind, Rule, subexpressions};
use crate::definition::{self, Definition};
use crate::diagnostic::{Diagnostic, Severity, Sources, Span};
use crate::text::{LocatedRule, RuleFile, RuleSpans, parse_file};

pub use schema::{
    AttrKind, AttrSchema, OpSchema, OperandCount, OperandSchema, Results, Schema, TableSchema,
};
pub use variadic::{LengthSource, target_length};

/// Checks one rule.
pub fn check_rule(located: &LocatedRule, schema: &dyn Schema) -> Vec<Diagnostic> {
    let rule = &located.rule;
    let mut checker = Checker {
        rule,
        spans: &located.spans,
        schema,
        source: subexpressions(rule, rule.sources()).into_iter().collect(),
        sure: surely_matched(rule, rule.sources()),
        kinds: RefCell::default(),
        found: Vec::new(),
    };
    checker.structure();
    checker.variadics();
    checker.references();
    checker.operators();
    checker.types();
    checker.definition();
    let mut found = checker.found;
    found.sort_by_key(|d| d.span());
    found.dedup();
    found
}

/// Checks every rule of a file, that no two share a name or define one operator, and that no
/// definition comes back to itself.
pub fn check_file(file: &mut RuleFile, schema: &dyn Schema, sources: &Sources) {
    let mut names: HashMap<&str, Span> = HashMap::new();
    let mut found = Vec::new();
    for located in &file.rules {
        found.extend(check_rule(located, schema));
        let name = located.spans.name;
        if let Some(first) = names.insert(located.rule.name(), name) {
            let message = format!("two rules are named `{}`", located.rule.name());
            found.push(
                Diagnostic::error("duplicate-rule", name, message).label(first, "the first one"),
            );
        }
    }
    found.extend(definition::conflicts(&file.rules, sources));
    file.diagnostics.extend(found);
    file.diagnostics.sort_by_key(|d| d.span());
}

/// Checks a rule that was built without a text: its printed form is what the findings point into.
pub fn check_built(rule: &Rule, schema: &dyn Schema) -> (Sources, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let file = sources.add(rule.name(), crate::text::print(rule));
    let mut parsed = parse_file(&sources, file);
    check_file(&mut parsed, schema, &sources);
    (sources, parsed.diagnostics)
}

/// Returns whether one of the findings is an error.
pub fn has_errors(found: &[Diagnostic]) -> bool {
    found.iter().any(|d| d.severity == Severity::Error)
}

struct Checker<'r> {
    rule: &'r Rule,
    spans: &'r RuleSpans,
    schema: &'r dyn Schema,
    /// Every pattern of the source.
    source: FxHashSet<PatId>,
    /// The patterns of the source that have a value whenever the source matches.
    sure: FxHashSet<PatId>,
    /// The kinds of expressions, as far as they were asked for.
    kinds: RefCell<FxHashMap<ExprId, types::Kind>>,
    found: Vec<Diagnostic>,
}

impl Checker<'_> {
    /// A definition says what one operator of the caller's computes, whatever its operands are.
    fn definition(&mut self) {
        if !definition::is_definition(self.rule) {
            return;
        }
        let ours = |name: &str| match self.schema.operator(name) {
            Some(known) => !known.is_defined,
            None => !operators::is_foreign(name, self.schema),
        };
        let operator = Definition::new(self.rule);
        if operator.is_some_and(|defined| !ours(defined.operator())) {
            self.unread_attributes();
            return;
        }
        let message = "a definition matches one call of an operator of your own, on values `*`, \
                       and rewrites it to what it computes";
        let hint = "for example `let x = *; match acme.Twice(x); rewrite x + x;`";
        self.error("bad-definition", self.spans.name, message.to_owned(), hint);
    }

    /// An attribute that a definition declares belongs to the operator, whether or not it is read: it
    /// may say how, and not what. It may also be a mistake.
    fn unread_attributes(&mut self) {
        for (id, name) in definition::unread(self.rule) {
            let message =
                format!("`{name}` is declared, and what the operator computes is without it");
            let warning = Diagnostic::warning("unread-attribute", self.spans.expr(id), message);
            let hint = "read it in `rewrite`, unless it says how to compute and not what";
            self.found.push(warning.hint(hint));
        }
    }

    fn error(&mut self, code: &'static str, span: Span, message: String, hint: &str) {
        self.found.push(Diagnostic::error(code, span, message).hint(hint));
    }

    /// Returns how to call a pattern in a message.
    fn describe(&self, id: PatId) -> String {
        let pattern = self.rule.pattern(id);
        match (&pattern.name, &pattern.kind) {
            (Some(name), _) => format!("`{name}`"),
            (None, PatternKind::Call { op, .. }) => match &self.rule.op(*op).choice {
                crate::ast::OpChoice::Name(name) => format!("this `{name}`"),
                _ => "this call".to_owned(),
            },
            _ => "this pattern".to_owned(),
        }
    }
}

/// Lists what has a value whenever `roots` match: nothing negated, and of several options only what
/// all of them share.
fn surely_matched(rule: &Rule, roots: &[PatId]) -> FxHashSet<PatId> {
    let mut sets: HashMap<PatId, FxHashSet<PatId>> = HashMap::new();
    for id in subexpressions(rule, roots) {
        let pattern = rule.pattern(id);
        let parts = pattern.parts();
        let mut below = parts.iter().filter_map(|part| sets.get(part));
        let mut sure: FxHashSet<PatId> = match pattern.kind {
            PatternKind::Not(_) => FxHashSet::default(),
            PatternKind::Alt(_) => {
                let first = below.next().cloned().unwrap_or_default();
                below.fold(first, |all, option| all.intersection(option).copied().collect())
            }
            _ => below.flatten().copied().collect(),
        };
        sure.insert(id);
        sets.insert(id, sure);
    }
    roots.iter().filter_map(|root| sets.get(root)).flatten().copied().collect()
}

//! Rules as a set: what is listed, switched on and off, and run.

use tangram_ir::Context;

use super::compiled::{CompileError, CompiledRule, Options};
use crate::ast::Rule;
use crate::schema::NnSchema;
use crate::text;

/// A rule of a set, whether it can be used or not.
#[derive(Clone)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// Its doc comment.
    pub doc: String,
    /// Its text in canonical form.
    pub text: String,
    /// The compiled rule, or why there is none.
    pub rule: Result<CompiledRule, CompileError>,
}

/// Rules in the order in which equal benefits are tried.
#[derive(Clone, Default)]
pub struct RuleSet {
    entries: Vec<Entry>,
}

impl RuleSet {
    /// Compiles rules; those that cannot be used stay listed with the reason.
    pub fn new(
        rules: &[Rule],
        context: &Context,
        options: &Options,
        expressible: &dyn Fn(&str) -> bool,
    ) -> Self {
        let schema = NnSchema::new(context);
        let entry = |rule: &Rule| Entry {
            name: rule.name().to_owned(),
            labels: rule.labels().to_vec(),
            doc: rule.doc().to_owned(),
            text: text::print(rule),
            rule: CompiledRule::new(rule, context, &schema, options, expressible),
        };
        Self { entries: rules.iter().map(entry).collect() }
    }

    /// Lists all rules.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Finds a rule by name.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Lists the rules that can be used.
    pub fn compiled(&self) -> impl Iterator<Item = &CompiledRule> {
        self.entries.iter().filter_map(|entry| entry.rule.as_ref().ok())
    }

    /// Lists the rules that cannot be used, with the reason.
    pub fn disabled(&self) -> impl Iterator<Item = (&str, &CompileError)> {
        self.entries
            .iter()
            .filter_map(|entry| Some((entry.name.as_str(), entry.rule.as_ref().err()?)))
    }
}

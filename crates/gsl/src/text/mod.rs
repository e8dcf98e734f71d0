//! The text form of rules: `.gsl` files. The grammar is written down in `docs/gsl-grammar.md`.
//!
//! Text becomes tokens (`lexer`), a syntax tree with names and sugar (`syntax`, `parser`), and
//! abstract syntax (`lower`); abstract syntax goes back over `raise` to the tree, and the tree to
//! text (`print`). Formatting stops at the tree, so that it keeps comments and sugar.

mod import;
mod layout;
mod lexer;
mod lower;
pub mod outline;
mod parse_expr;
mod parse_pattern;
mod parser;
mod print;
mod raise;
mod syntax;

use crate::ast::Rule;
use crate::diagnostic::{Diagnostic, Severity, Sources, Span};

pub use import::{Loader, NoImports, load};
pub use lower::RuleSpans;

/// A rule and where its parts stand.
#[derive(Clone, Debug)]
pub struct LocatedRule {
    /// The rule.
    pub rule: Rule,
    /// Its places.
    pub spans: RuleSpans,
}

/// What a rule file says, as far as it could be read.
#[derive(Clone, Debug, Default)]
pub struct RuleFile {
    /// Its rules in order.
    pub rules: Vec<LocatedRule>,
    /// The files it uses, with the place of each.
    pub uses: Vec<(String, Span)>,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

impl RuleFile {
    /// Returns whether something is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }
}

/// Reads the rule file that `sources` holds as number `file`.
///
/// Reports every error it can; what it returns beside errors is only fit for looking at.
pub fn parse_file(sources: &Sources, file: u32) -> RuleFile {
    let text = sources.text(file).unwrap_or_default();
    let mut out = RuleFile::default();
    let tokens = lexer::lex(file, text, &mut out.diagnostics);
    for item in parser::parse_items(&tokens.tokens, &mut out.diagnostics) {
        match item {
            syntax::Item::Use(item) => out.uses.push((item.path.text, item.path.span)),
            syntax::Item::Rule(item) => {
                let lowered = lower::lower_rule(&item, &mut out.diagnostics);
                let lowered = lowered.filter(|_| !item.broken);
                out.rules.extend(lowered.map(|(rule, spans)| LocatedRule { rule, spans }));
            }
        }
    }
    out.diagnostics.sort_by_key(|d| d.span());
    out
}

/// Reads rules from a text without imports.
///
/// # Errors
/// Everything that is wrong, as it would be shown.
pub fn parse(text: &str) -> Result<Vec<Rule>, String> {
    let mut sources = Sources::default();
    let file = sources.add("rules.gsl", text);
    let parsed = parse_file(&sources, file);
    if parsed.has_errors() {
        return Err(sources.render(&parsed.diagnostics));
    }
    Ok(parsed.rules.into_iter().map(|located| located.rule).collect())
}

/// Writes a rule as text, in canonical form.
///
/// Reading it gives an equal rule.
pub fn print(rule: &Rule) -> String {
    print::print_items(&[syntax::Item::Rule(raise::raise(rule))], &[], "")
}

/// Returns the text of a condition of a rule, on one line; nothing if there are fewer.
pub(crate) fn condition(rule: &Rule, index: usize) -> Option<String> {
    let statements = raise::raise(rule).statements;
    let conditions = statements.into_iter().filter_map(|statement| match statement.kind {
        syntax::StatementKind::Where(exps) => exps.into_iter().next(),
        _ => None,
    });
    let text = print::expression_text(&conditions.into_iter().nth(index)?);
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Brings a rule file into canonical form; comments, sugar and blank lines between items stay.
///
/// # Errors
/// The syntax errors, as they would be shown.
pub fn format(name: &str, text: &str) -> Result<String, String> {
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let mut found = Vec::new();
    let tokens = lexer::lex(file, text, &mut found);
    let items = parser::parse_items(&tokens.tokens, &mut found);
    if found.is_empty() {
        Ok(print::print_items(&items, &tokens.comments, text))
    } else {
        Err(sources.render(&found))
    }
}

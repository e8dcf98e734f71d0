//! What a word of a rule means.

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};
use tangram::dialects::nn::{describe, describe_attribute};
use tangram::gsl::check::Schema;
use tangram::gsl::schema::{onnx_names, operation_name, operations_with};
use tangram::gsl::text::outline::{Word, WordKind};
use tangram::ir::OpDef;

use super::complete::STATEMENTS;
use super::{Analysis, range};
use crate::document::Document;

/// So many operations of a trait are listed.
const LISTED: usize = 60;

/// Says what the word at byte `at` means.
pub(crate) fn hover(document: &Document, at: u32) -> Option<Hover> {
    let analysis = document.rules();
    let word = analysis.outline.word(at)?;
    let text = match word.kind {
        WordKind::Operator => operators(analysis, word),
        WordKind::Attribute => attribute(analysis, word),
        WordKind::Name | WordKind::Binding => statement(document, analysis, word),
        WordKind::Trait => traits(analysis, &word.text),
        WordKind::Rule => rule(analysis, &word.text),
        _ => None,
    }?;
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: text };
    Some(Hover {
        contents: HoverContents::Markup(contents),
        range: Some(range(document, word.span)),
    })
}

/// The definition of an operation by the name that a rule gives it, ONNX's name included.
pub(super) fn definition(analysis: &Analysis, name: &str) -> Option<&'static OpDef> {
    let known = |name: &str| analysis.schema.operator(name).is_some();
    let spelled = onnx_names::operation(name, &known).filter(|_| !known(name));
    let name = operation_name(spelled.as_deref().unwrap_or(name));
    analysis.context.def(analysis.context.find_name(&name)?)
}

fn operators(analysis: &Analysis, word: &Word) -> Option<String> {
    let described = word.operators.iter().filter_map(|name| {
        let def = definition(analysis, name)?;
        Some(format!("### {}\n\n{}", def.name, describe(def)))
    });
    let all: Vec<String> = described.collect();
    (!all.is_empty()).then(|| all.join("\n\n---\n\n"))
}

fn attribute(analysis: &Analysis, word: &Word) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    for name in &word.operators {
        let Some(def) = definition(analysis, name) else { continue };
        let Some(attr) = def.attr(&word.text) else { continue };
        lines.push(format!("**{}**\n\n{}", def.name, describe_attribute(attr)));
    }
    (!lines.is_empty()).then(|| lines.join("\n\n"))
}

/// The statement that binds a name.
fn statement(document: &Document, analysis: &Analysis, word: &Word) -> Option<String> {
    let at = word.binding?.start;
    let begins = |other: &&Word| {
        other.kind == WordKind::Keyword
            && other.span.start <= at
            && STATEMENTS.contains(&other.text.as_str())
    };
    let start = analysis.outline.words.iter().rfind(begins)?.span.start as usize;
    let rest = document.text.get(start..)?;
    let end = rest.find(';').map_or(rest.len(), |found| found + 1);
    let mut shown = format!("```gsl\n{}\n```", rest.get(..end)?);
    if !word.operators.is_empty() {
        let names = word.operators.iter().map(|name| format!("`{}`", operation_name(name)));
        shown += &format!("\n\n{}", names.collect::<Vec<_>>().join(", "));
    }
    Some(shown)
}

fn traits(analysis: &Analysis, name: &str) -> Option<String> {
    let all = operations_with(&analysis.context, name);
    let names = all.iter().take(LISTED).map(|&op| analysis.context.name_text(op));
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let more = all.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!all.is_empty()).then(|| format!("{} operations: {}{more}", all.len(), names.join(", ")))
}

fn rule(analysis: &Analysis, name: &str) -> Option<String> {
    let rule = analysis.file.rules.iter().find(|located| located.rule.name() == name)?;
    let labels = rule.rule.labels().join("`, `");
    let labels = if labels.is_empty() { labels } else { format!("\n\nlabels: `{labels}`") };
    Some(format!("{}{labels}", rule.rule.doc()))
}

//! Rules: what is wrong with them, what their words mean, and what they are worth.

mod complete;
mod hover;
mod imports;
mod verdict;

use std::sync::Arc;

use lsp_types::{
    CodeActionOrCommand, Command, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    DocumentSymbol, Location, NumberOrString, Range, SymbolKind, TextEdit,
};
use tangram::gsl::check::check_file;
use tangram::gsl::definition::Definition;
use tangram::gsl::diagnostic::{Diagnostic as Finding, Severity, Sources, Span};
use tangram::gsl::schema::NnSchema;
use tangram::gsl::text::outline::{Outline, WordKind};
use tangram::gsl::text::{self, RuleFile};
use tangram::ir::Context;

use crate::document::Document;
use crate::paths;

pub(crate) use complete::complete;
pub(crate) use hover::hover;
pub(crate) use verdict::{VERDICT, verify};

/// What is found in a rule file.
pub(crate) struct Analysis {
    outline: Outline,
    context: Arc<Context>,
    schema: NnSchema,
    sources: Sources,
    file: RuleFile,
}

impl Analysis {
    /// Reads and checks the rules of a document, and those of the files that it uses.
    pub(crate) fn new(document: &Document) -> Analysis {
        let mut sources = Sources::default();
        let name = document
            .path()
            .map_or_else(|| document.uri.clone(), |path| path.to_string_lossy().into_owned());
        let mut file = text::load(&name, &document.text, &mut imports::Files, &mut sources);
        let context = tangram::dialects::context();
        let definitions = file.rules.iter().filter_map(|located| Definition::new(&located.rule));
        definitions.for_each(|definition| definition.define_in(&context));
        let schema = NnSchema::new(&context);
        check_file(&mut file, &schema, &sources);
        let outline = Outline::new(0, &document.text);
        Analysis { outline, context, schema, sources, file }
    }
}

fn range(document: &Document, span: Span) -> Range {
    document.lines.range(&document.text, span.start as usize, span.end as usize)
}

/// What parser and checker find, of this file.
pub(crate) fn diagnostics(document: &Document) -> Vec<Diagnostic> {
    let analysis = document.rules();
    let own = analysis.file.diagnostics.iter().filter(|found| found.span().file == 0);
    own.map(|found| shown(document, analysis, found)).collect()
}

fn shown(document: &Document, analysis: &Analysis, found: &Finding) -> Diagnostic {
    let mut message = found.message.clone();
    found.notes.iter().for_each(|note| message += &format!("\n{note}"));
    found.hint.iter().for_each(|hint| message += &format!("\nhint: {hint}"));
    let label = found.labels.first().map_or("", |label| label.message.as_str());
    if !label.is_empty() {
        message += &format!("\n{label}");
    }
    let more: Vec<_> = found
        .labels
        .iter()
        .skip(1)
        .filter_map(|label| {
            let location = location(document, analysis, label.span)?;
            Some(DiagnosticRelatedInformation { location, message: label.message.clone() })
        })
        .collect();
    Diagnostic {
        range: range(document, found.span()),
        severity: Some(match found.severity {
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Error => DiagnosticSeverity::ERROR,
        }),
        code: Some(NumberOrString::String(found.code.to_owned())),
        source: Some("tangram".to_owned()),
        message,
        related_information: (!more.is_empty()).then_some(more),
        ..Diagnostic::default()
    }
}

/// The place of a span, of this file or one that it uses.
fn location(document: &Document, analysis: &Analysis, span: Span) -> Option<Location> {
    if span.file == 0 {
        return Some(Location::new(document.uri.parse().ok()?, range(document, span)));
    }
    let uri = paths::to_uri(analysis.sources.name(span.file)?.as_ref());
    let text = analysis.sources.text(span.file)?;
    let lines = crate::positions::Lines::new(text);
    let range = lines.range(text, span.start as usize, span.end as usize);
    Some(Location::new(uri.parse().ok()?, range))
}

/// Where what the word at byte `at` means is said: a name where it is bound, a file in a file, an
/// operator in its definition.
pub(crate) fn definition(document: &Document, at: u32) -> Option<Location> {
    let analysis = document.rules();
    let word = analysis.outline.word(at)?;
    if let Some(binding) = word.binding {
        return location(document, analysis, binding);
    }
    match word.kind {
        WordKind::File => {
            let path = imports::beside(&document.path()?, word.text.trim_matches('"'))?;
            path.is_file().then_some(())?;
            let uri = paths::to_uri(&path).parse().ok()?;
            Some(Location::new(uri, Range::default()))
        }
        WordKind::Operator => {
            let defines = |rule: &&text::LocatedRule| {
                Definition::new(&rule.rule).is_some_and(|found| found.operator() == word.text)
            };
            let rule = analysis.file.rules.iter().find(defines)?;
            location(document, analysis, rule.spans.name)
        }
        _ => None,
    }
}

/// The rules, for a list.
pub(crate) fn symbols(document: &Document) -> Vec<DocumentSymbol> {
    let outline = &document.rules().outline;
    let named = outline.words.iter().filter(|word| word.kind == WordKind::Rule);
    let around = |span: Span| {
        let holds = |rule: &&Span| rule.start <= span.start && span.end <= rule.end;
        outline.rules.iter().find(holds).copied().unwrap_or(span)
    };
    #[expect(deprecated, reason = "the type has the field, and no other way to be made")]
    let symbol = |name: &str, span: Span| DocumentSymbol {
        name: name.to_owned(),
        detail: None,
        kind: SymbolKind::FUNCTION,
        tags: None,
        deprecated: None,
        range: range(document, around(span)),
        selection_range: range(document, span),
        children: None,
    };
    named.map(|word| symbol(&word.text, word.span)).collect()
}

/// What changes the text into canonical form: nothing where it has errors.
pub(crate) fn format(document: &Document) -> Vec<TextEdit> {
    let old = &document.text;
    let Ok(new) = text::format(&document.uri, old) else { return Vec::new() };
    if new == *old {
        return Vec::new();
    }
    // Only what differs, so that cursors stay where they are.
    let start = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let start = (0..=start).rev().find(|&at| old.is_char_boundary(at)).unwrap_or(0);
    let ends = old[start..].bytes().rev().zip(new[start..].bytes().rev());
    let same = ends.take_while(|(a, b)| a == b).count();
    let whole =
        |&n: &usize| old.is_char_boundary(old.len() - n) && new.is_char_boundary(new.len() - n);
    let same = (0..=same).rev().find(whole).unwrap_or(0);
    let range = document.lines.range(old, start, old.len() - same);
    vec![TextEdit::new(range, new[start..new.len() - same].to_owned())]
}

/// What can be done at a place: the verdict on the rule there.
pub(crate) fn actions(document: &Document, at: u32) -> Vec<CodeActionOrCommand> {
    let outline = &document.rules().outline;
    let around = |rule: &&Span| rule.start <= at && at <= rule.end;
    let Some(rule) = outline.rules.iter().rfind(around) else { return Vec::new() };
    let inside = |span: Span| rule.start <= span.start && span.end <= rule.end;
    let is_name = |kind: WordKind, span: Span| kind == WordKind::Rule && inside(span);
    let Some(name) = outline.words.iter().find(|word| is_name(word.kind, word.span)) else {
        return Vec::new();
    };
    let title = format!("Verify the rule `{}`", name.text);
    let arguments = vec![document.uri.clone().into(), name.text.clone().into()];
    vec![CodeActionOrCommand::Command(Command::new(title, VERDICT.to_owned(), Some(arguments)))]
}

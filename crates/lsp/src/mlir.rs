//! Programs in MLIR's text: what is wrong with them, and what their names mean.

use lsp_types::{
    Diagnostic as Shown, DiagnosticSeverity, Hover, HoverContents, Location, MarkupContent,
    MarkupKind, NumberOrString,
};
use tangram::dialects::nn::describe;
use tangram::ir::text::{self, Occurrences};
use tangram::ir::{Diagnostic, LocData, Module, Severity, verify};

use crate::document::Document;

/// What is found in a program.
pub(crate) struct Analysis {
    /// The module as far as types are printed with it: an empty one where the text has errors.
    module: Module,
    names: Occurrences,
    wrong: Vec<Diagnostic>,
}

impl Analysis {
    /// Reads and verifies the program of a document.
    pub(crate) fn new(document: &Document) -> Analysis {
        let context = tangram::dialects::context();
        let read = text::parse_with_occurrences(&document.text, &document.uri, context.clone());
        match read {
            (Ok(module), names) => {
                let wrong = verify(&module).err().unwrap_or_default();
                Analysis { module, names, wrong }
            }
            (Err(wrong), names) => Analysis { module: Module::new(context), names, wrong },
        }
    }
}

/// What parser and verifier find.
pub(crate) fn diagnostics(document: &Document) -> Vec<Shown> {
    let analysis = document.program();
    analysis.wrong.iter().map(|found| shown(document, analysis, found)).collect()
}

fn shown(document: &Document, analysis: &Analysis, found: &Diagnostic) -> Shown {
    let (text, lines) = (&document.text, &document.lines);
    let start = place(document, analysis, found);
    let end = text::token_end(text, start);
    let mut message = found.message.clone();
    found.notes.iter().for_each(|note| message += &format!("\n{note}"));
    found.hint.iter().for_each(|hint| message += &format!("\nhint: {hint}"));
    Shown {
        range: lines.range(text, start, end),
        severity: Some(match found.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Note => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(found.code.to_owned())),
        source: Some("tangram".to_owned()),
        message,
        ..Shown::default()
    }
}

/// The byte that a diagnostic is about; the first one where its location is in no text.
fn place(document: &Document, analysis: &Analysis, found: &Diagnostic) -> usize {
    let context = analysis.module.context();
    match context.loc_data(found.loc) {
        LocData::File { file, line, column }
        | LocData::Range { file, start: (line, column), .. }
            if context.text(*file) == document.uri =>
        {
            let before = document.text.split_inclusive('\n').take(*line as usize - 1);
            before.map(str::len).sum::<usize>() + *column as usize - 1
        }
        _ => 0,
    }
}

/// Says what the name at byte `at` is: the documentation of an operation, the type of a value.
pub(crate) fn hover(document: &Document, at: u32) -> Option<Hover> {
    let analysis = document.program();
    let (value, place) = match analysis.names.operation(at) {
        Some((place, name)) => (operation(analysis, *name), place.clone()),
        None => value(analysis, at)?,
    };
    let contents = MarkupContent { kind: MarkupKind::Markdown, value };
    let range = document.lines.range(&document.text, place.start as usize, place.end as usize);
    Some(Hover { contents: HoverContents::Markup(contents), range: Some(range) })
}

fn operation(analysis: &Analysis, name: tangram::ir::Name) -> String {
    let context = analysis.module.context();
    match context.def(name) {
        Some(def) => format!("### {}\n\n{}", def.name, describe(def)),
        None => format!("`{}` is no registered operation", context.name_text(name)),
    }
}

/// The types of a value, and what makes it.
fn value(analysis: &Analysis, at: u32) -> Option<(String, text::Bytes)> {
    let (named, index) = analysis.names.value(at)?;
    let all = match index {
        Some(index) => named.types.get(index as usize..)?.get(..1)?,
        None => &named.types[..],
    };
    let types: Vec<String> = all.iter().map(|&ty| text::type_text(&analysis.module, ty)).collect();
    let context = analysis.module.context();
    let maker = match named.operation {
        Some(name) => format!("result of `{}`", context.name_text(name)),
        None => "argument".to_owned(),
    };
    let used = analysis.names.uses.iter().find(|used| used.at.start <= at && at <= used.at.end);
    let place = used.map_or_else(|| named.at.clone(), |used| used.at.clone());
    Some((format!("```mlir\n{}\n```\n\n{maker}", types.join(", ")), place))
}

/// Where the value or symbol at byte `at` is defined.
pub(crate) fn definition(document: &Document, at: u32) -> Option<Location> {
    let place = document.program().names.definition(at)?;
    let range = document.lines.range(&document.text, place.start as usize, place.end as usize);
    Some(Location::new(document.uri.parse().ok()?, range))
}

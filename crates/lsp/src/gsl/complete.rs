//! What may be written at a place of a rule.

use lsp_types::{CompletionItem, CompletionItemKind, Documentation, MarkupContent, MarkupKind};
use tangram::dialects::nn::{describe, describe_attribute};
use tangram::gsl::check::Schema;
use tangram::gsl::schema::{self, onnx_names};
use tangram::gsl::text::outline::{Expected, expected};

use super::{Analysis, hover};
use crate::document::Document;

/// What begins a statement.
pub(super) const STATEMENTS: [&str; 7] =
    ["let", "attr", "op", "index", "match", "where", "rewrite"];
/// What begins a pattern beside operators and names.
const PATTERNS: [&str; 10] = [
    "const",
    "variable",
    "only",
    "not",
    "alias",
    "commutative",
    "associative",
    "variadic",
    "if",
    "native",
];
/// Functions and words of attribute expressions.
const EXPRESSIONS: [&str; 32] = [
    "sum", "product", "max", "min", "mean", "all", "any", "sqrt", "rsqrt", "exp", "log", "tanh",
    "sin", "cos", "pow", "abs", "floor", "ceil", "round", "float", "len", "reverse", "zip",
    "range", "remap", "true", "false", "floordiv", "ceildiv", "mod", "native", "if",
];
/// What every value has.
const PROPERTIES: [(&str, &str); 4] = [
    ("shape", "the extents, a tuple"),
    ("dtype", "the element type"),
    ("ndim", "the number of dimensions"),
    ("value", "the elements of a constant"),
];

/// Lists what may be written at byte `at`.
pub(crate) fn complete(document: &Document, at: u32) -> Vec<CompletionItem> {
    let analysis = document.rules();
    let Some(expected) = expected(&document.text, at) else { return Vec::new() };
    match expected {
        Expected::Item => words(&["rule", "use"]),
        Expected::Statement => words(&STATEMENTS),
        Expected::NewName => Vec::new(),
        Expected::Pattern => {
            let mut all = names(analysis, at);
            all.extend(words(&PATTERNS));
            all.extend(operators(analysis));
            all
        }
        Expected::Operator => {
            let mut all = words(&["trait"]);
            all.extend(operators(analysis));
            all
        }
        Expected::Expression => {
            let mut all = names(analysis, at);
            all.extend(words(&EXPRESSIONS));
            all
        }
        Expected::Attribute(of) => attributes(analysis, &of),
        Expected::Field(of) => {
            let property = |&(name, detail): &(&str, &str)| {
                item(name, CompletionItemKind::PROPERTY, Some(detail.to_owned()))
            };
            let mut all = attributes(analysis, &of);
            all.extend(PROPERTIES.iter().map(property));
            all
        }
        Expected::Native => {
            let natives = tangram::natives();
            let names = natives.names();
            names.map(|name| item(name, CompletionItemKind::FUNCTION, None)).collect()
        }
        Expected::Trait => {
            schema::traits().map(|name| item(name, CompletionItemKind::INTERFACE, None)).collect()
        }
    }
}

fn item(label: &str, kind: CompletionItemKind, detail: Option<String>) -> CompletionItem {
    CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        detail,
        ..CompletionItem::default()
    }
}

fn words(all: &[&str]) -> Vec<CompletionItem> {
    all.iter().map(|word| item(word, CompletionItemKind::KEYWORD, None)).collect()
}

/// The names of the rule around.
fn names(analysis: &Analysis, at: u32) -> Vec<CompletionItem> {
    let bound = analysis.outline.names_around(at);
    let mut all: Vec<&str> = bound.iter().map(|word| word.text.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(|name| item(name, CompletionItemKind::VARIABLE, None)).collect()
}

/// All operations by their own names, and by those of ONNX, which write the operation.
fn operators(analysis: &Analysis) -> Vec<CompletionItem> {
    let own = analysis.schema.operators().filter_map(|op| {
        let def = hover::definition(analysis, &op.name)?;
        let mut item = item(&op.name, CompletionItemKind::FUNCTION, Some(def.summary.to_owned()));
        item.documentation = Some(markdown(describe(def)));
        Some(item)
    });
    let known = |name: &str| analysis.schema.operator(name).is_some();
    let of_onnx = tangram::onnx::schema::operators().into_iter().filter_map(|name| {
        let operation = onnx_names::operation(name, &known)?;
        let mut item =
            item(name, CompletionItemKind::FUNCTION, Some(format!("ONNX's name of {operation}")));
        item.insert_text = Some(operation);
        Some(item)
    });
    own.chain(of_onnx).collect()
}

/// The attributes of operations, each once.
fn attributes(analysis: &Analysis, operators: &[String]) -> Vec<CompletionItem> {
    let mut all: Vec<CompletionItem> = Vec::new();
    for name in operators {
        let Some(def) = hover::definition(analysis, name) else { continue };
        for attr in def.attrs {
            if all.iter().all(|item| item.label != attr.name) {
                let mut item =
                    item(attr.name, CompletionItemKind::FIELD, Some(attr.kind.to_string()));
                item.documentation = Some(markdown(describe_attribute(attr)));
                all.push(item);
            }
        }
    }
    all
}

fn markdown(value: String) -> Documentation {
    Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value })
}

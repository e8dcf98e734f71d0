//! Requests that look at a text, and their answers.

use std::sync::Arc;

use lsp_types::{
    CodeActionParams, CompletionParams, DocumentFormattingParams, DocumentSymbolParams,
    GotoDefinitionParams, HoverParams, Position,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::document::{Document, Language};
use crate::{gsl, mlir};

/// Finds the answer in a document.
type Answer = Box<dyn FnOnce(&Arc<Document>) -> Value + Send>;

/// A request that is understood: about which document, and how it is answered from that.
pub(crate) struct Question {
    pub(crate) uri: String,
    pub(crate) answer: Answer,
}

/// Reads a request.
///
/// # Errors
/// Its parameters are others than those of its method. `None` for a method that is not known.
pub(crate) fn question(method: &str, params: Value) -> Option<Result<Question, String>> {
    Some(match method {
        "textDocument/hover" => read(params, |p: HoverParams| {
            let place = p.text_document_position_params;
            about(place.text_document.uri.as_str(), move |document| {
                let at = offset(document, place.position);
                match document.language {
                    Language::Gsl => gsl::hover(document, at),
                    Language::Mlir => mlir::hover(document, at),
                }
            })
        }),
        "textDocument/definition" => read(params, |p: GotoDefinitionParams| {
            let place = p.text_document_position_params;
            about(place.text_document.uri.as_str(), move |document| {
                let at = offset(document, place.position);
                match document.language {
                    Language::Gsl => gsl::definition(document, at),
                    Language::Mlir => mlir::definition(document, at),
                }
            })
        }),
        "textDocument/completion" => read(params, |p: CompletionParams| {
            let place = p.text_document_position;
            about(place.text_document.uri.as_str(), move |document| {
                rules_only(document, |document| {
                    gsl::complete(document, offset(document, place.position))
                })
            })
        }),
        "textDocument/documentSymbol" => read(params, |p: DocumentSymbolParams| {
            about(p.text_document.uri.as_str(), |document| rules_only(document, gsl::symbols))
        }),
        "textDocument/formatting" => read(params, |p: DocumentFormattingParams| {
            about(p.text_document.uri.as_str(), |document| rules_only(document, gsl::format))
        }),
        "textDocument/codeAction" => read(params, |p: CodeActionParams| {
            about(p.text_document.uri.as_str(), move |document| {
                rules_only(document, |document| {
                    gsl::actions(document, offset(document, p.range.start))
                })
            })
        }),
        _ => return None,
    })
}

fn read<P: DeserializeOwned>(
    params: Value,
    make: impl FnOnce(P) -> Question,
) -> Result<Question, String> {
    serde_json::from_value(params).map(make).map_err(|error| error.to_string())
}

fn about<T: Serialize>(
    uri: &str,
    answer: impl FnOnce(&Document) -> T + Send + 'static,
) -> Question {
    let answer = move |document: &Arc<Document>| {
        serde_json::to_value(answer(document)).unwrap_or(Value::Null)
    };
    Question { uri: uri.to_owned(), answer: Box::new(answer) }
}

fn rules_only<T: Default>(document: &Document, answer: impl FnOnce(&Document) -> T) -> T {
    match document.language {
        Language::Gsl => answer(document),
        Language::Mlir => T::default(),
    }
}

fn offset(document: &Document, position: Position) -> u32 {
    u32::try_from(document.lines.offset(&document.text, position)).unwrap_or(u32::MAX)
}

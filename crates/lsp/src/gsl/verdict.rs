//! The verdict on a rule, when someone asks for it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lsp_types::{Diagnostic, DiagnosticSeverity, NumberOrString};
use tangram::Library;
use tangram::gsl::check::has_errors;
use tangram::gsl::text::outline::WordKind;
use tangram::gsl::verify::{Effort, Verdict};

use super::range;
use crate::document::Document;

/// The command that verifies a rule: arguments are the URI and the name of the rule.
pub(crate) const VERDICT: &str = "tangram.verdict";

/// A verdict, for the client's command and for its list of diagnostics.
pub(crate) struct Verified {
    pub(crate) json: serde_json::Value,
    pub(crate) diagnostic: Diagnostic,
}

/// Verifies the rule `name`; takes up to seconds, and ends early once `interrupted` is set.
///
/// # Errors
/// Why there is nothing to verify.
pub(crate) fn verify(
    document: &Document,
    name: &str,
    interrupted: Arc<AtomicBool>,
) -> Result<Verified, String> {
    let analysis = document.rules();
    let words = analysis.outline.words.iter();
    let mut named = words.filter(|word| word.kind == WordKind::Rule && word.text == name);
    let word = named.next().ok_or_else(|| format!("there is no rule `{name}` here"))?;
    if has_errors(&analysis.file.diagnostics) {
        return Err("the file has errors: they come first".to_owned());
    }
    let library = Library::of(analysis.file.rules.clone(), analysis.sources.clone());
    let effort = Effort { interrupted: Some(interrupted), ..Effort::default() };
    let verdicts = library.named(name).verify(&effort);
    let (_, verdict) = verdicts
        .into_iter()
        .next()
        .ok_or_else(|| format!("`{name}` defines an operator, and has no verdict"))?;
    let severity = match &verdict {
        found if found.is_wrong() => DiagnosticSeverity::ERROR,
        Verdict::Holds(_) => DiagnosticSeverity::INFORMATION,
        _ => DiagnosticSeverity::WARNING,
    };
    let diagnostic = Diagnostic {
        range: range(document, word.span),
        severity: Some(severity),
        code: Some(NumberOrString::String("verdict".to_owned())),
        source: Some("tangram".to_owned()),
        message: verdict.to_string(),
        ..Diagnostic::default()
    };
    Ok(Verified { json: tangram::verdict_json(name, &verdict), diagnostic })
}

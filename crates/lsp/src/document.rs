//! Texts that a client has open.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use lsp_types::{Diagnostic, TextDocumentContentChangeEvent};

use crate::positions::Lines;
use crate::{gsl, mlir, paths};

/// The languages that are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    /// Rules.
    Gsl,
    /// MLIR's text.
    Mlir,
}

impl Language {
    /// The language by its name in the protocol, or by how the URI ends.
    fn of(id: &str, uri: &str) -> Language {
        match id {
            "mlir" => Language::Mlir,
            "gsl" => Language::Gsl,
            _ if uri.ends_with(".mlir") => Language::Mlir,
            _ => Language::Gsl,
        }
    }
}

/// A text in one version; what is found in it is found once, by whoever asks first.
pub(crate) struct Document {
    pub(crate) uri: String,
    pub(crate) version: i32,
    pub(crate) language: Language,
    pub(crate) text: String,
    pub(crate) lines: Lines,
    /// What verdicts said of this version.
    pub(crate) verdicts: Mutex<Vec<Diagnostic>>,
    rules: OnceLock<gsl::Analysis>,
    program: OnceLock<mlir::Analysis>,
}

impl Document {
    /// A text as the client opened it.
    pub(crate) fn new(uri: String, language_id: &str, version: i32, text: String) -> Document {
        let language = Language::of(language_id, &uri);
        Document::with(uri, language, version, text)
    }

    fn with(uri: String, language: Language, version: i32, text: String) -> Document {
        Document {
            uri,
            version,
            language,
            lines: Lines::new(&text),
            text,
            verdicts: Mutex::default(),
            rules: OnceLock::new(),
            program: OnceLock::new(),
        }
    }

    /// The text after changes, which follow each other.
    pub(crate) fn changed(
        &self,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) -> Document {
        let mut text = self.text.clone();
        for change in changes {
            let Some(range) = change.range else {
                text = change.text;
                continue;
            };
            let lines = Lines::new(&text);
            let (start, end) = (lines.offset(&text, range.start), lines.offset(&text, range.end));
            text.replace_range(start..end.max(start), &change.text);
        }
        Document::with(self.uri.clone(), self.language, version, text)
    }

    /// The file, where it is one.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        paths::of_uri(&self.uri)
    }

    /// What is found in rules.
    pub(crate) fn rules(&self) -> &gsl::Analysis {
        self.rules.get_or_init(|| gsl::Analysis::new(self))
    }

    /// What is found in a program in MLIR's text.
    pub(crate) fn program(&self) -> &mlir::Analysis {
        self.program.get_or_init(|| mlir::Analysis::new(self))
    }

    /// Everything that is wrong with it.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = match self.language {
            Language::Gsl => gsl::diagnostics(self),
            Language::Mlir => mlir::diagnostics(self),
        };
        let verdicts = self.verdicts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.extend(verdicts.iter().cloned());
        found
    }
}

//! What is wrong with a rule file, where, and what to do about it.
//!
//! Places are byte ranges of texts that are at hand, so that lines can be shown with marks under them.
//! Operations have a [`Loc`](tangram_ir::Loc), which outlives its text: their diagnostics are
//! [`tangram_ir::Diagnostic`].

use codespan_reporting::diagnostic as report;
use codespan_reporting::files::SimpleFiles;
use codespan_reporting::term;
use rustc_hash::FxHashSet;
use serde::Serialize;

/// A place in a source text: byte offsets into file number `file`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Span {
    /// The file, a position in [`Sources`].
    pub file: u32,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span from the start of this one to the end of `other`.
    pub fn to(self, other: Self) -> Self {
        Self { end: other.end.max(self.start), ..self }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The rule works, but is not what it seems.
    Warning,
    /// The rule cannot be used.
    Error,
}

/// A place with a remark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// The remark, possibly empty.
    pub message: String,
}

/// One finding about a rule file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A kebab-case name for the kind of finding.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where; the first label is the place itself, the others explain it.
    pub labels: Vec<Label>,
    /// More about it.
    pub notes: Vec<String>,
    /// What to do.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Makes an error at a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: shortened(message.into()),
            labels: vec![Label { span, message: String::new() }],
            notes: Vec::new(),
            hint: None,
        }
    }

    /// Makes a warning at a place.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// Adds a second place.
    #[must_use]
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: shortened(message.into()) });
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(shortened(note.into()));
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(shortened(hint.into()));
        self
    }

    /// Says what to do, if anything is known.
    #[must_use]
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = self.hint.or(hint.map(shortened));
        self
    }

    /// Returns where it is.
    pub fn span(&self) -> Span {
        self.labels.first().map(|label| label.span).unwrap_or_default()
    }

    /// What may be said of a text of which nothing is quoted: what was expected, and not what stands
    /// there, nor what stands near it.
    fn without_quotes(&self) -> Self {
        let expected = self.message.strip_prefix("expected ").filter(|_| self.code == "syntax");
        let expected = expected.and_then(|rest| rest.split(", found ").next());
        let message = match expected {
            Some(expected) => format!("expected {expected}"),
            None => "this is not right in a rule file".to_owned(),
        };
        let labels = self.labels.iter().take(1);
        let labels = labels.map(|label| Label { span: label.span, message: String::new() });
        Self { message, labels: labels.collect(), notes: Vec::new(), hint: None, ..*self }
    }

    fn report(&self) -> report::Diagnostic<usize> {
        let severity = match self.severity {
            Severity::Warning => report::Severity::Warning,
            Severity::Error => report::Severity::Error,
        };
        let label = |(i, label): (usize, &Label)| {
            let range = label.span.start as usize..label.span.end as usize;
            let style =
                if i == 0 { report::LabelStyle::Primary } else { report::LabelStyle::Secondary };
            report::Label::new(style, label.span.file as usize, range)
                .with_message(label.message.clone())
        };
        let hint = self.hint.iter().map(|hint| format!("hint: {hint}"));
        report::Diagnostic::new(severity)
            .with_code(self.code)
            .with_message(self.message.clone())
            .with_labels(self.labels.iter().enumerate().map(label).collect())
            .with_notes(self.notes.iter().cloned().chain(hint).collect())
    }
}

/// What stands between backquotes is cut where it has more bytes: a name may have any length.
const LONGEST_QUOTE: usize = 200;
/// This much of it is kept, in characters.
const KEPT: usize = 60;
/// No message has more characters.
const LONGEST_MESSAGE: usize = 4_000;

/// A message with the start of what it quotes, where that is long.
fn shortened(message: String) -> String {
    if message.len() <= LONGEST_QUOTE {
        return message;
    }
    let start = |text: &str, length: usize| match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    };
    let cut = |(at, part): (usize, &str)| {
        let length = if at % 2 == 1 && part.len() > LONGEST_QUOTE { KEPT } else { LONGEST_MESSAGE };
        start(part, length)
    };
    // More parts are not wanted in any case.
    let parts = message.split('`').take(LONGEST_MESSAGE).enumerate();
    start(&parts.map(cut).collect::<Vec<_>>().join("`"), LONGEST_MESSAGE)
}

/// So many diagnostics are written; the rest is counted.
const MOST_SHOWN: usize = 100;
/// Lines of more bytes are not shown.
const LONGEST_LINE: usize = 2_000;

/// The texts that spans point into.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<(String, String)>,
    /// The files of which messages quote nothing.
    unquoted: FxHashSet<u32>,
}

impl Sources {
    /// Adds a text under a name and returns its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        self.files.push((name.into(), text.into()));
        u32::try_from(self.files.len() - 1).expect("fewer than 2^32 rule files")
    }

    /// Adds a text as [`Sources::add`] does; what is rendered quotes nothing of it.
    pub fn add_unquoted(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        let file = self.add(name, text);
        self.unquoted.insert(file);
        file
    }

    /// Returns whether messages may quote a file.
    pub fn is_quoted(&self, file: u32) -> bool {
        !self.unquoted.contains(&file)
    }

    /// Returns the diagnostic as it may be shown: without what it quotes of files that are not to be
    /// quoted.
    #[must_use]
    pub fn fit_to_show(&self, diagnostic: &Diagnostic) -> Diagnostic {
        if !self.is_quoted(diagnostic.span().file) {
            return diagnostic.without_quotes();
        }
        let mut shown = diagnostic.clone();
        shown.labels.retain(|label| self.is_quoted(label.span.file));
        shown
    }

    /// Returns the name of a file.
    pub fn name(&self, file: u32) -> Option<&str> {
        self.files.get(file as usize).map(|(name, _)| name.as_str())
    }

    /// Returns the text of a file.
    pub fn text(&self, file: u32) -> Option<&str> {
        self.files.get(file as usize).map(|(_, text)| text.as_str())
    }

    /// Returns line and column of the start of a span, both from 1.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let text = self.text(span.file).unwrap_or_default();
        let before = text.get(..span.start as usize).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// Writes diagnostics with the lines they point at: the first of many, and no line that nobody
    /// could read.
    pub fn render(&self, diagnostics: &[Diagnostic]) -> String {
        let mut files = SimpleFiles::new();
        for (name, text) in &self.files {
            files.add(name, text);
        }
        let config = term::Config::default();
        let mut out = String::new();
        for diagnostic in diagnostics.iter().take(MOST_SHOWN) {
            let diagnostic = self.fit_to_show(diagnostic);
            let quoted = self.is_quoted(diagnostic.span().file);
            let shown = if quoted && !self.points_at_long_lines(&diagnostic) {
                term::emit_into_string(&config, &files, &diagnostic.report()).ok()
            } else {
                None
            };
            // A span outside its text still leaves the message readable.
            out.push_str(&shown.unwrap_or_else(|| self.in_one_line(&diagnostic)));
        }
        match diagnostics.len().saturating_sub(MOST_SHOWN) {
            0 => out,
            more => out + &format!("... and {more} more\n"),
        }
    }

    fn points_at_long_lines(&self, diagnostic: &Diagnostic) -> bool {
        diagnostic.labels.iter().any(|label| {
            let text = self.text(label.span.file).unwrap_or_default();
            let at = (label.span.start as usize).min(text.len());
            let (before, after) = text.as_bytes().split_at(at);
            let length = |bytes: &mut dyn Iterator<Item = &u8>| {
                bytes.take(LONGEST_LINE + 1).take_while(|&&byte| byte != b'\n').count()
            };
            length(&mut before.iter().rev()) + length(&mut after.iter()) > LONGEST_LINE
        })
    }

    fn in_one_line(&self, diagnostic: &Diagnostic) -> String {
        let Diagnostic { code, message, .. } = diagnostic;
        let Some(label) = diagnostic.labels.first() else { return format!("{code}: {message}\n") };
        let (line, column) = self.line_column(label.span);
        let name = self.name(label.span.file).unwrap_or_default();
        format!("{name}:{line}:{column}: {code}: {message}\n")
    }
}

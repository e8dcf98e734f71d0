//! Splits rule text into tokens and comments.

use crate::diagnostic::{Diagnostic, Span};

/// The kinds of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    Int,
    Float,
    Str,
    Doc,
    Punct,
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub kind: TokenKind,
    pub text: &'t str,
    pub span: Span,
}

/// The tokens of a file, the last of kind `End`, and its comments.
pub(crate) struct Tokens<'t> {
    pub tokens: Vec<Token<'t>>,
    pub comments: Vec<Token<'t>>,
}

/// Returns the length of the punctuation that `rest` starts with.
fn punctuation(rest: &[u8]) -> Option<usize> {
    match rest {
        [b'=', b'>' | b'=', ..] | [b'!' | b'<' | b'>', b'=', ..] => Some(2),
        [b'&', b'&', ..] | [b'|', b'|', ..] | [b'.', b'.', ..] => Some(2),
        [b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b';' | b':' | b'.', ..] => Some(1),
        [b'=' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'!' | b'|', ..] => Some(1),
        _ => None,
    }
}

/// Splits `text`; what is no token is reported and skipped.
pub(crate) fn lex<'t>(file: u32, text: &'t str, found: &mut Vec<Diagnostic>) -> Tokens<'t> {
    let mut lexer = Lexer { file, text, at: 0, found };
    let mut all = Vec::new();
    while let Some(token) = lexer.next() {
        all.push(token);
    }
    let documents = documenting(&all);
    let (mut tokens, mut comments) = (Vec::new(), Vec::new());
    for (token, documents) in all.into_iter().zip(documents) {
        let comment = token.kind == TokenKind::Doc && !documents;
        if comment { &mut comments } else { &mut tokens }.push(token);
    }
    tokens.push(Token { kind: TokenKind::End, text: "", span: lexer.span(text.len()) });
    Tokens { tokens, comments }
}

/// Says of each token whether it is one of the `///` lines right before a rule.
///
/// From the last token to the first, so that a long comment is not read again from each of its
/// lines.
fn documenting(tokens: &[Token<'_>]) -> Vec<bool> {
    let mut before_rule = false;
    let mut found: Vec<bool> = Vec::with_capacity(tokens.len());
    for token in tokens.iter().rev() {
        let is_doc = token.kind == TokenKind::Doc && token.text.starts_with("///");
        let is_rule = token.kind == TokenKind::Word && token.text == "rule";
        found.push(is_doc && before_rule);
        before_rule = is_rule || is_doc && before_rule;
    }
    found.reverse();
    found
}

struct Lexer<'t, 'd> {
    file: u32,
    text: &'t str,
    at: usize,
    found: &'d mut Vec<Diagnostic>,
}

impl<'t> Lexer<'t, '_> {
    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start().len();
            let rest = &self.text[self.at..];
            let first = rest.chars().next()?;
            let (kind, length) = match first {
                '/' if rest.starts_with("//") => {
                    (TokenKind::Doc, rest.find('\n').unwrap_or(rest.len()))
                }
                '"' => (TokenKind::Str, self.string_length(rest)),
                c if c.is_ascii_digit() => number(rest),
                c if c.is_ascii_alphabetic() || c == '_' => (TokenKind::Word, word_length(rest)),
                _ => match punctuation(rest.as_bytes()) {
                    Some(length) => (TokenKind::Punct, length),
                    None => {
                        self.unknown(first);
                        continue;
                    }
                },
            };
            let start = self.at;
            self.at += length;
            let text = self.text[start..self.at].trim_end();
            return Some(Token { kind, text, span: self.span(start) });
        }
    }

    fn span(&self, start: usize) -> Span {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { file: self.file, start: offset(start), end: offset(self.at) }
    }

    fn unknown(&mut self, first: char) {
        let start = self.at;
        self.at += first.len_utf8();
        let message = format!("`{}` has no meaning here", first.escape_default());
        let hint = (first == '#').then(|| "comments start with `//`".to_owned());
        self.found.push(Diagnostic::error("syntax", self.span(start), message).maybe_hint(hint));
    }

    /// Returns the length of a string literal, which ends on its line.
    fn string_length(&mut self, rest: &str) -> usize {
        let mut escaped = false;
        for (i, c) in rest.char_indices().skip(1) {
            match c {
                '"' if !escaped => return i + 1,
                '\n' => return self.open_string(i),
                _ => escaped = c == '\\' && !escaped,
            }
        }
        self.open_string(rest.len())
    }

    fn open_string(&mut self, length: usize) -> usize {
        let span = Span { end: self.span(self.at).start + length as u32, ..self.span(self.at) };
        let message = "the string is not closed on its line";
        self.found.push(Diagnostic::error("syntax", span, message).hint("add `\"`"));
        length
    }
}

fn word_length(rest: &str) -> usize {
    let ends = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_';
    rest.as_bytes().iter().position(ends).unwrap_or(rest.len())
}

/// Digits, then a fraction and an exponent if digits follow; `1.shape` is no float.
fn number(rest: &str) -> (TokenKind, usize) {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = digits(0);
    let mut kind = TokenKind::Int;
    if bytes.get(at) == Some(&b'.') && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
        kind = TokenKind::Float;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if at + 1 + sign < bytes.len() && digits(at + 1 + sign) > 0 {
            at += 1 + sign + digits(at + 1 + sign);
            kind = TokenKind::Float;
        }
    }
    (kind, at)
}

/// Reads the value of a string literal.
pub(crate) fn unquote(literal: &str) -> String {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            _ => out.push(c),
        }
    }
    out
}

/// Writes a string literal.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '"' | '\\' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out + "\""
}

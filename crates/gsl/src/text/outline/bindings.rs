//! The names that the rules of a file bind.

use super::super::lexer::{Token, TokenKind};
use crate::ast::RESERVED;
use crate::diagnostic::Span;

/// A name that is bound.
pub(super) struct Binding<'t> {
    pub(super) name: &'t str,
    pub(super) span: Span,
    /// The rule and the statement that bind it, counted through the file.
    place: (usize, usize),
    /// The operators whose results it stands for, or that it stands for itself.
    pub(super) operators: Vec<String>,
}

/// The bindings of a file, in order.
#[derive(Default)]
pub(super) struct Bindings<'t> {
    all: Vec<Binding<'t>>,
}

impl<'t> Bindings<'t> {
    /// Finds all bindings: behind `let`, `attr`, `op`, `index`, `as`, `for` and `first`.
    pub(super) fn new(tokens: &[Token<'t>]) -> Self {
        let (mut all, mut place, mut in_index) = (Vec::new(), (0, 0), false);
        let mut before = "";
        for token in tokens {
            let is_word = token.kind == TokenKind::Word;
            match token.text {
                "rule" if is_word => place = (place.0 + 1, place.1 + 1),
                ";" => (place.1, in_index) = (place.1 + 1, false),
                "index" if is_word => in_index = true,
                _ => {}
            }
            let binds = matches!(before, "let" | "attr" | "op" | "as" | "for" | "first");
            let is_new = is_word && !RESERVED.contains(&token.text);
            if is_new && (binds || in_index) {
                let (name, span) = (token.text, token.span);
                all.push(Binding { name, span, place, operators: Vec::new() });
            }
            before = if is_word { token.text } else { "" };
        }
        Self { all }
    }

    /// The binding that stands at `span`.
    pub(super) fn at(&mut self, span: Span) -> Option<&mut Binding<'t>> {
        let at = self.all.binary_search_by_key(&span.start, |binding| binding.span.start).ok()?;
        self.all.get_mut(at)
    }

    /// What `name` stands for in a statement: what that binds, else the last binding before, else
    /// the next one of the rule.
    pub(super) fn find(&self, name: &str, place: (usize, usize)) -> Option<&Binding<'t>> {
        let first = self.all.partition_point(|binding| binding.place.0 < place.0);
        let rule = self.all[first..].iter().take_while(|binding| binding.place.0 == place.0);
        let mut found: Option<&Binding<'t>> = None;
        for binding in rule.filter(|binding| binding.name == name) {
            if binding.place.1 > place.1 && found.is_some() {
                break;
            }
            found = Some(binding);
        }
        found
    }
}

//! One walk over the tokens of a rule file.

use super::super::lexer::{Token, TokenKind};
use super::bindings::Bindings;
use super::{Expected, Outline, Word, WordKind};
use crate::ast::RESERVED;
use crate::diagnostic::Span;

/// Words that are names in other places.
const CONTEXTUAL: [&str; 3] = ["over", "first", "splat"];

/// What stands between brackets.
#[derive(Clone, Debug, PartialEq)]
enum Inside {
    /// Labels of a rule.
    Labels,
    /// Statements of a rule.
    Rule,
    /// Operands of a call of one of these.
    Operands(Vec<String>),
    /// `{ a = 1 }` behind a call, `c.{a, b}`: attributes of these operators.
    Attributes { operators: Vec<String>, copied: bool },
    /// An expression: an index, a list, the value of a constant.
    Expression,
    /// Patterns in parentheses, or the arms of a `case`.
    Grouped,
}

struct Walk<'w, 't> {
    tokens: &'w [Token<'t>],
    bindings: Bindings<'t>,
    out: Outline,
    inside: Vec<Inside>,
    /// The word that began the statement.
    statement: &'t str,
    place: (usize, usize),
    /// The binding of `let` or `op`, until its first operator is known.
    unfinished: Option<Span>,
    /// The operators of the call that was closed last.
    closed: Vec<String>,
    /// In the braces of attributes: whether the value of one is being written.
    in_value: bool,
}

/// Walks up to the token that byte `at` is in or before; returns the words, and what is expected.
pub(super) fn walk(tokens: &[Token<'_>], at: u32) -> (Outline, Expected) {
    let mut walk = Walk {
        tokens,
        bindings: Bindings::new(tokens),
        out: Outline::default(),
        inside: Vec::new(),
        statement: "",
        place: (0, 0),
        unfinished: None,
        closed: Vec::new(),
        in_value: false,
    };
    let mut i = 0;
    while let Some(token) = tokens.get(i) {
        let is_written = token.kind == TokenKind::Word && token.span.end >= at;
        if token.kind == TokenKind::End || token.span.start >= at || is_written {
            break;
        }
        i += walk.step(i).max(1);
    }
    let expected = walk.expected(i);
    (walk.out, expected)
}

impl<'t> Walk<'_, 't> {
    fn text(&self, i: usize) -> &'t str {
        self.tokens.get(i).map_or("", |token| token.text)
    }

    fn before(&self, i: usize) -> &'t str {
        i.checked_sub(1).map_or("", |i| self.text(i))
    }

    /// Takes token `i`, and those behind it that belong to its word; returns how many.
    fn step(&mut self, i: usize) -> usize {
        let token = self.tokens[i];
        if let Some(rule) = self.out.rules.last_mut().filter(|_| !self.inside.is_empty()) {
            rule.end = token.span.end;
        }
        match token.kind {
            TokenKind::Word => self.word(i),
            TokenKind::Str if self.before(i) == "use" => {
                self.add(token.span, token.text, WordKind::File);
                1
            }
            TokenKind::Punct => {
                self.punctuation(i);
                1
            }
            _ => 1,
        }
    }

    fn punctuation(&mut self, i: usize) {
        match self.text(i) {
            "(" => {
                let inside = match self.before(i) {
                    "const" => Inside::Expression,
                    _ if self.is_expression() => Inside::Expression,
                    _ => Inside::Grouped,
                };
                self.inside.push(inside);
            }
            "[" if self.inside.is_empty() => self.inside.push(Inside::Labels),
            "[" => self.inside.push(Inside::Expression),
            "{" => self.open_brace(i),
            ")" | "]" | "}" => self.close(),
            ";" => {
                self.place.1 += 1;
                self.inside.truncate(1);
                (self.statement, self.unfinished, self.in_value) = ("", None, false);
            }
            "," if matches!(self.inside.last(), Some(Inside::Attributes { .. })) => {
                self.in_value = false;
            }
            "=" if matches!(self.inside.last(), Some(Inside::Attributes { .. })) => {
                self.in_value = true;
            }
            _ => {}
        }
    }

    fn open_brace(&mut self, i: usize) {
        self.in_value = false;
        let inside = match self.before(i) {
            _ if self.inside.is_empty() => Inside::Rule,
            ")" => Inside::Attributes { operators: self.closed.clone(), copied: false },
            "const" | "variable" => Inside::Attributes { operators: Vec::new(), copied: false },
            "." => {
                let name = i.checked_sub(2).map_or("", |i| self.text(i));
                Inside::Attributes { operators: self.operators_of(name), copied: true }
            }
            _ => Inside::Grouped,
        };
        self.inside.push(inside);
    }

    fn close(&mut self) {
        match self.inside.pop() {
            Some(Inside::Operands(operators) | Inside::Attributes { operators, copied: false }) => {
                self.closed = operators;
            }
            Some(Inside::Rule) => (self.statement, self.unfinished) = ("", None),
            _ => {}
        }
        self.in_value = matches!(self.inside.last(), Some(Inside::Attributes { .. }));
    }

    fn operators_of(&self, name: &str) -> Vec<String> {
        self.bindings.find(name, self.place).map(|b| b.operators.clone()).unwrap_or_default()
    }

    /// Whether what stands here is an expression and no pattern.
    fn is_expression(&self) -> bool {
        match self.inside.last() {
            Some(Inside::Expression | Inside::Attributes { .. }) => true,
            _ => matches!(self.statement, "where" | "attr"),
        }
    }

    fn add(&mut self, span: Span, text: &str, kind: WordKind) -> &mut Word {
        let (text, operators) = (text.to_owned(), Vec::new());
        self.out.words.push(Word { text, span, kind, binding: None, operators });
        let last = self.out.words.len() - 1;
        &mut self.out.words[last]
    }

    fn word(&mut self, i: usize) -> usize {
        let Token { text, span, .. } = self.tokens[i];
        match self.before(i) {
            "." => return self.field(i),
            "native" => return self.joined(i, WordKind::Native),
            "trait" => {
                self.add(span, text, WordKind::Trait);
                return 1;
            }
            "rule" => return self.joined(i, WordKind::Rule),
            _ => {}
        }
        if text == "rule" {
            self.begin_rule(span);
        }
        if let Some(binding) = self.bindings.at(span) {
            let operators = binding.operators.clone();
            self.bound(i, operators);
            return 1;
        }
        let header = matches!(self.inside.last(), None | Some(Inside::Labels));
        if RESERVED.contains(&text) || CONTEXTUAL.contains(&text) || header {
            self.keyword(text);
            self.add(span, text, WordKind::Keyword);
            return 1;
        }
        if self.is_attribute_name(i) {
            let operators = self.attribute_operators();
            self.add(span, text, WordKind::Attribute).operators = operators;
            return 1;
        }
        let length = self.dotted(i);
        if self.is_operator(i, length) {
            return self.operator(i, length);
        }
        if self.text(i + 1) == "(" {
            self.add(span, text, WordKind::Function);
            return 1;
        }
        let found = self.bindings.find(text, self.place);
        let (binding, operators) =
            found.map_or((None, Vec::new()), |b| (Some(b.span), b.operators.clone()));
        let word = self.add(span, text, WordKind::Name);
        (word.binding, word.operators) = (binding, operators);
        1
    }

    fn begin_rule(&mut self, span: Span) {
        self.place = (self.place.0 + 1, self.place.1 + 1);
        self.inside.clear();
        (self.statement, self.unfinished) = ("", None);
        self.out.rules.push(span);
    }

    fn keyword(&mut self, text: &'t str) {
        const STATEMENTS: [&str; 7] = ["let", "attr", "op", "index", "match", "where", "rewrite"];
        if STATEMENTS.contains(&text) && self.statement.is_empty() {
            self.statement = text;
        }
    }

    /// A name where it is bound: `as` gives it to the call before, `let` to the one behind.
    fn bound(&mut self, i: usize, known: Vec<String>) {
        let Token { text, span, .. } = self.tokens[i];
        let operators = match self.before(i) {
            "as" if matches!(self.before(i - 1), ")" | "}") => self.closed.clone(),
            "let" | "op" => {
                self.unfinished = Some(span);
                known
            }
            _ => known,
        };
        if let Some(binding) = self.bindings.at(span) {
            binding.operators.clone_from(&operators);
        }
        let word = self.add(span, text, WordKind::Binding);
        (word.binding, word.operators) = (Some(span), operators);
    }

    /// How many tokens the name with dots has that begins at token `i`.
    fn dotted(&self, i: usize) -> usize {
        let is_word = |i: usize| self.tokens.get(i).is_some_and(|t| t.kind == TokenKind::Word);
        let mut length = 1;
        while self.text(i + length) == "." && is_word(i + length + 1) {
            length += 2;
        }
        length
    }

    fn is_operator(&self, i: usize, length: usize) -> bool {
        let listed = self.statement == "op";
        let called = self.text(i + length) == "(" && !self.is_expression();
        listed || called
    }

    fn operator(&mut self, i: usize, length: usize) -> usize {
        let (first, last) = (self.tokens[i], self.tokens[i + length - 1]);
        let parts = self.tokens[i..i + length].iter().map(|token| token.text);
        let name: String = parts.collect();
        let found = self.bindings.find(&name, self.place).filter(|_| length == 1);
        let binding = found.map(|binding| binding.span);
        let operators = found.map_or_else(|| vec![name.clone()], |b| b.operators.clone());
        let is_list = self.statement == "op";
        if let Some(place) = self.unfinished
            && let Some(binding) = self.bindings.at(place)
        {
            binding.operators.extend(operators.iter().cloned());
        }
        if !is_list {
            self.unfinished = None;
            self.inside.push(Inside::Operands(operators.clone()));
        }
        let word = self.add(first.span.to(last.span), &name, WordKind::Operator);
        (word.binding, word.operators) = (binding, operators);
        // The bracket is taken as well.
        if is_list { length } else { length + 1 }
    }

    /// A word behind a point: an attribute of what stands before.
    fn field(&mut self, i: usize) -> usize {
        let Token { text, span, .. } = self.tokens[i];
        let operators = self.operators_before(i);
        self.add(span, text, WordKind::Attribute).operators = operators;
        1
    }

    /// The operators of the name before the point before token `i`.
    fn operators_before(&self, i: usize) -> Vec<String> {
        let name = i.checked_sub(2).map_or("", |i| self.text(i));
        self.operators_of(name)
    }

    /// Words joined by `-`.
    fn joined(&mut self, i: usize, kind: WordKind) -> usize {
        let mut length = 1;
        while let (Some(last), Some(next)) =
            (self.tokens.get(i + length - 1), self.tokens.get(i + length))
            && last.span.end == next.span.start
            && (matches!(next.kind, TokenKind::Word | TokenKind::Int) || next.text == "-")
        {
            length += 1;
        }
        let all = &self.tokens[i..i + length];
        let text: String = all.iter().map(|token| token.text).collect();
        let span = all[0].span.to(all[length - 1].span);
        self.add(span, &text, kind);
        length
    }

    fn is_attribute_name(&self, i: usize) -> bool {
        match self.inside.last() {
            Some(Inside::Attributes { copied: true, .. }) => true,
            Some(Inside::Attributes { .. }) => {
                !self.in_value && self.text(i + 1) != "." && self.before(i) != ".."
            }
            _ => false,
        }
    }

    fn attribute_operators(&self) -> Vec<String> {
        match self.inside.last() {
            Some(Inside::Attributes { operators, .. }) => operators.clone(),
            _ => Vec::new(),
        }
    }

    /// What may stand in the place of token `i`.
    fn expected(&self, i: usize) -> Expected {
        let before = self.before(i);
        match (before, self.inside.last()) {
            ("native", _) => Expected::Native,
            ("trait", _) => Expected::Trait,
            (".", _) => Expected::Field(self.operators_before(i)),
            ("let" | "attr" | "op" | "index" | "as" | "for" | "first" | "rule", _) => {
                Expected::NewName
            }
            (_, Some(Inside::Labels)) => Expected::NewName,
            (_, None) => Expected::Item,
            (_, Some(Inside::Attributes { operators, copied })) if *copied || !self.in_value => {
                Expected::Attribute(operators.clone())
            }
            (_, Some(Inside::Rule)) if self.statement.is_empty() => Expected::Statement,
            _ if self.statement == "op" => Expected::Operator,
            _ if self.is_expression() => Expected::Expression,
            _ => Expected::Pattern,
        }
    }
}

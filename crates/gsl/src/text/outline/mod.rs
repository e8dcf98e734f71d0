//! What each word of a rule file stands for, by its tokens alone: also in a text that is being typed
//! and that no parser would take.
//!
//! In `let c = conv2d(x, w) { groups = 1 };` the word `c` is a binding, `conv2d` an operator, `x` and
//! `w` are names, and `groups` is an attribute of `conv2d`. Names are those of one rule; where a
//! statement binds a name, as `[e for i < n]` does, that binding goes before others.

mod bindings;
mod walk;

use super::lexer;
use crate::diagnostic::Span;

/// What a word stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// A word of the language.
    Keyword,
    /// The name of a rule, where it is defined.
    Rule,
    /// The file of a `use`, quotes included.
    File,
    /// A name where it is bound.
    Binding,
    /// A name where it is used.
    Name,
    /// An operator: its name, dots included.
    Operator,
    /// An attribute of an operator, or a property of a value such as `shape`.
    Attribute,
    /// A function of attribute expressions, such as `sum`.
    Function,
    /// A native function.
    Native,
    /// A trait of operators.
    Trait,
}

/// A word and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word as it is written.
    pub text: String,
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: WordKind,
    /// Where what it names is bound.
    pub binding: Option<Span>,
    /// The operators that an attribute belongs to, or that a name stands for.
    pub operators: Vec<String>,
}

/// What may be written at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Expected {
    /// A rule or `use`.
    #[default]
    Item,
    /// A statement of a rule.
    Statement,
    /// A new name, or a label: nothing that is known.
    NewName,
    /// A pattern: an operator, or a name.
    Pattern,
    /// An attribute expression.
    Expression,
    /// The name of an attribute of one of these operators, as in `{ groups = 1 }`.
    Attribute(Vec<String>),
    /// An attribute or a property of a value that one of these operators made, as behind `c.`.
    Field(Vec<String>),
    /// An operator.
    Operator,
    /// The name of a native function.
    Native,
    /// The name of a trait.
    Trait,
}

/// The words of a rule file.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// All words, in order.
    pub words: Vec<Word>,
    /// Each rule: from its first word to the end of its last.
    pub rules: Vec<Span>,
}

impl Outline {
    /// Reads `text`, whatever it is.
    pub fn new(file: u32, text: &str) -> Outline {
        let tokens = lexer::lex(file, text, &mut Vec::new());
        walk::walk(&tokens.tokens, u32::MAX).0
    }

    /// The word at byte `at`, or that ends there.
    pub fn word(&self, at: u32) -> Option<&Word> {
        let touches = |word: &&Word| word.span.start <= at && at <= word.span.end;
        let mut found = self.words.iter().filter(touches);
        // Of two that touch, the one that begins here.
        found.next_back()
    }

    /// The names that are bound in the rule that begins last before byte `at`: it may be unfinished.
    pub fn names_around(&self, at: u32) -> Vec<&Word> {
        let begun = |rule: &&Span| rule.start <= at;
        let Some(rule) = self.rules.iter().rfind(begun) else { return Vec::new() };
        let inside = |word: &&Word| rule.start <= word.span.start && word.span.end <= rule.end;
        let bound = |word: &&Word| word.kind == WordKind::Binding;
        self.words.iter().filter(inside).filter(bound).collect()
    }
}

/// Says what may be written at byte `at` of `text`; a word that ends there is being written.
/// Nothing in a comment.
pub fn expected(text: &str, at: u32) -> Option<Expected> {
    let tokens = lexer::lex(0, text, &mut Vec::new());
    let touched = |span: Span| span.start < at && at <= span.end;
    if tokens.comments.iter().any(|comment| touched(comment.span)) {
        return None;
    }
    Some(walk::walk(&tokens.tokens, at).1)
}

#[cfg(test)]
mod tests;

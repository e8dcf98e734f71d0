//! Recursive descent over the tokens: files, rules and statements. Patterns and expressions follow in
//! their own files.
//!
//! An error is reported where it is found and parsing goes on after the statement it is in. Nesting
//! is limited, so that no text can exhaust the stack.

use super::lexer::{Token, TokenKind, unquote};
use super::syntax::{
    Choice, Item, Name, Pat, PatSyntax, RuleItem, Statement, StatementKind, UseItem,
};
use crate::ast::{Exactness, MAX_DEPTH, RESERVED};
use crate::diagnostic::{Diagnostic, Span};

/// An error that has been reported.
pub(super) struct Stop;

pub(super) type Parsed<T> = Result<T, Stop>;

/// A parser over the tokens of one file.
pub(super) struct Parser<'t, 'd> {
    tokens: &'t [Token<'t>],
    at: usize,
    depth: usize,
    found: &'d mut Vec<Diagnostic>,
}

/// Parses a file as far as it can.
pub(crate) fn parse_items(tokens: &[Token<'_>], found: &mut Vec<Diagnostic>) -> Vec<Item> {
    let mut parser = Parser { tokens, at: 0, depth: 0, found };
    let mut items = Vec::new();
    while parser.peek().kind != TokenKind::End {
        match parser.item() {
            Ok(item) => items.push(item),
            Err(Stop) => parser.skip_to_item(),
        }
    }
    items
}

const STATEMENTS: [&str; 7] = ["let", "attr", "op", "index", "match", "where", "rewrite"];

impl<'t> Parser<'t, '_> {
    fn item(&mut self) -> Parsed<Item> {
        let start = self.peek().span;
        if self.eat("use") {
            let token = self.peek();
            if token.kind != TokenKind::Str {
                return Err(self.expected("a file name in quotes"));
            }
            self.at += 1;
            self.expect(";")?;
            let path = Name { text: unquote(token.text), span: token.span };
            return Ok(Item::Use(UseItem { span: start.to(self.last()), path }));
        }
        self.rule().map(Item::Rule)
    }

    fn rule(&mut self) -> Parsed<RuleItem> {
        let mut rule = RuleItem { span: self.peek().span, ..RuleItem::default() };
        while self.peek().kind == TokenKind::Doc {
            let line = self.peek().text.trim_start_matches('/');
            rule.doc.push(line.strip_prefix(' ').unwrap_or(line).to_owned());
            self.at += 1;
        }
        if !self.eat("rule") {
            return Err(self.expected("`rule` or `use`"));
        }
        rule.name = self.kebab("a rule name")?;
        if self.eat("[") {
            rule.labels = self.list("]", |p| p.kebab("a label"))?;
        }
        self.header(&mut rule)?;
        self.expect("{")?;
        while !self.is("}") && self.peek().kind != TokenKind::End {
            let stand_in = self.stand_in();
            match self.statement() {
                Ok(statement) => rule.statements.push(statement),
                Err(Stop) if self.skip_statement() => {
                    rule.broken = true;
                    rule.statements.extend(stand_in);
                }
                Err(Stop) => return Err(Stop),
            }
        }
        self.expect("}")?;
        rule.span = rule.span.to(self.last());
        Ok(rule)
    }

    fn header(&mut self, rule: &mut RuleItem) -> Parsed<()> {
        loop {
            if self.eat("benefit") {
                rule.benefit = Some(self.natural()?);
            } else if self.eat("priority") {
                let negative = self.eat("-");
                let size = i32::try_from(self.natural()?).map_err(|_| self.too_big())?;
                rule.priority = Some(if negative { -size } else { size });
            } else if self.eat("alias") {
                rule.alias = true;
            } else if self.eat("within") {
                rule.tolerance = Some(self.tolerance()?);
            } else if let Some(exactness) = self.exactness() {
                rule.exactness = Some(exactness);
            } else {
                return Ok(());
            }
        }
    }

    /// How far results may be apart beside rounding.
    fn tolerance(&mut self) -> Parsed<f64> {
        let token = self.peek();
        let number = token.text.parse().ok().filter(|number| (0.0..1.0).contains(number));
        match number.filter(|number| *number > 0.0) {
            Some(number) => {
                self.at += 1;
                Ok(number)
            }
            None => {
                let stop = self.expected("a tolerance");
                self.hint("it is a number between 0 and 1, relative to the results: `within 1e-6`");
                Err(stop)
            }
        }
    }

    /// What the rule promises of its results; these words are free elsewhere.
    fn exactness(&mut self) -> Option<Exactness> {
        Exactness::ALL.into_iter().find(|exactness| self.eat(exactness.word()))
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.peek().span;
        let word = self.peek().text;
        if !STATEMENTS.contains(&word) {
            let hint = "a statement starts with `let`, `attr`, `op`, `index`, `match`, `where` or \
                        `rewrite`";
            let stop = self.expected("a statement");
            self.hint(hint);
            return Err(stop);
        }
        self.at += 1;
        let kind = match word {
            "let" => {
                let name = self.binding("=")?;
                StatementKind::Let(name, self.pattern()?)
            }
            "attr" => {
                let name = self.binding("=")?;
                StatementKind::Attr(name, self.expression()?)
            }
            "op" => {
                let name = self.binding("=")?;
                StatementKind::Op(name, self.choice()?)
            }
            "index" => StatementKind::Index(self.until_semicolon(Self::new_name)?),
            "match" => StatementKind::Match(self.until_semicolon(Self::pattern)?),
            "where" => StatementKind::Where(self.until_semicolon(Self::expression)?),
            _ => StatementKind::Rewrite(self.until_semicolon(Self::pattern)?),
        };
        self.expect(";")?;
        Ok(Statement { span: start.to(self.last()), kind })
    }

    /// Returns what binds the name of the next statement, should it turn out wrong.
    fn stand_in(&self) -> Option<Statement> {
        let (word, name) = (self.peek(), self.peek_at(1));
        let new = name.kind == TokenKind::Word && !RESERVED.contains(&name.text);
        let name = Name { text: name.text.to_owned(), span: name.span };
        let wildcard = Pat::new(PatSyntax::Wildcard, name.span);
        let kind = StatementKind::Let(name, wildcard);
        (new && self.is("let")).then_some(Statement { span: word.span, kind })
    }

    fn choice(&mut self) -> Parsed<Choice> {
        if self.eat("trait") {
            return Ok(Choice::Trait(self.operator_name()?));
        }
        let mut names = vec![self.operator_name()?];
        while self.eat("|") {
            names.push(self.operator_name()?);
        }
        Ok(Choice::OneOf(names))
    }

    /// An operator name, possibly with dots.
    pub(super) fn operator_name(&mut self) -> Parsed<Name> {
        let mut name = self.word("an operator")?;
        while self.is(".") && self.peek_at(1).kind == TokenKind::Word {
            self.at += 1;
            let part = self.word("an operator")?;
            name.text.push('.');
            name.text.push_str(&part.text);
            name.span = name.span.to(part.span);
        }
        Ok(name)
    }

    fn binding(&mut self, after: &str) -> Parsed<Name> {
        let name = self.new_name()?;
        self.expect(after)?;
        Ok(name)
    }

    /// A name that is not a word of the language.
    pub(super) fn new_name(&mut self) -> Parsed<Name> {
        let text = self.peek().text;
        if RESERVED.contains(&text) || text == "_" {
            return Err(self.expected("a name"));
        }
        self.word("a name")
    }

    /// Any word, reserved or not.
    pub(super) fn word(&mut self, what: &str) -> Parsed<Name> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return Err(self.expected(what));
        }
        self.at += 1;
        Ok(Name { text: token.text.to_owned(), span: token.span })
    }

    /// Words and numbers joined by `-` without space.
    pub(super) fn kebab(&mut self, what: &str) -> Parsed<Name> {
        let mut name = self.word(what)?;
        loop {
            let token = self.peek();
            let part = matches!(token.kind, TokenKind::Word | TokenKind::Int) || token.text == "-";
            if !part || token.span.start != name.span.end {
                break;
            }
            name.text.push_str(token.text);
            name.span = name.span.to(token.span);
            self.at += 1;
        }
        if crate::ast::is_rule_name(&name.text) {
            return Ok(name);
        }
        let message = format!("`{}` is not {what}", name.text);
        let hint = "write words of letters and digits joined by `-`";
        self.found.push(Diagnostic::error("syntax", name.span, message).hint(hint));
        Err(Stop)
    }

    pub(super) fn natural(&mut self) -> Parsed<u32> {
        let token = self.peek();
        if token.kind != TokenKind::Int {
            return Err(self.expected("a number"));
        }
        let value = token.text.parse().map_err(|_| self.too_big())?;
        self.at += 1;
        Ok(value)
    }

    fn too_big(&mut self) -> Stop {
        let span = self.peek().span;
        self.report(Diagnostic::error("syntax", span, "the number is too big"))
    }

    fn until_semicolon<T>(&mut self, one: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![one(self)?];
        while self.eat(",") && !self.is(";") {
            items.push(one(self)?);
        }
        Ok(items)
    }

    /// Items separated by commas, to the closing bracket; the opening one has been read.
    pub(super) fn list<T>(
        &mut self,
        close: &str,
        one: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(one(self)?);
            if !self.eat(",") && !self.is(close) {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
        Ok(items)
    }

    /// Runs a nested rule of the grammar one level deeper.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        let result = if self.depth > MAX_DEPTH { Err(self.too_deep()) } else { parse(self) };
        self.depth -= 1;
        result
    }

    /// Refuses a node that has grown too deep by repetition rather than by nesting.
    pub(super) fn limit(&mut self, depth: usize) -> Parsed<()> {
        if depth > MAX_DEPTH { Err(self.too_deep()) } else { Ok(()) }
    }

    fn too_deep(&mut self) -> Stop {
        let message = format!("nested more than {MAX_DEPTH} levels deep");
        let span = self.peek().span;
        self.report(
            Diagnostic::error("too-deep", span, message).hint("name parts of it with `let`"),
        )
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Stop {
        self.found.push(diagnostic);
        Stop
    }

    /// Adds a hint to the error just reported.
    pub(super) fn hint(&mut self, hint: &str) {
        if let Some(last) = self.found.pop() {
            self.found.push(last.hint(hint));
        }
    }

    pub(super) fn expected(&mut self, what: &str) -> Stop {
        let token = self.peek();
        let found = match token.kind {
            TokenKind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", token.text),
        };
        self.report(Diagnostic::error(
            "syntax",
            token.span,
            format!("expected {what}, found {found}"),
        ))
    }

    pub(super) fn peek(&self) -> Token<'t> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Token<'t> {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)]
    }

    pub(super) fn bump(&mut self) -> Token<'t> {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// Returns the span of the token just read.
    pub(super) fn last(&self) -> Span {
        self.tokens[self.at.clamp(1, self.tokens.len()) - 1].span
    }

    pub(super) fn is(&self, text: &str) -> bool {
        let token = self.peek();
        matches!(token.kind, TokenKind::Word | TokenKind::Punct) && token.text == text
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let here = self.is(text);
        self.at += usize::from(here);
        here
    }

    pub(super) fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    /// Skips to the next statement; false when the rule ends first.
    fn skip_statement(&mut self) -> bool {
        let mut open = 0_usize;
        while self.peek().kind != TokenKind::End {
            let token = self.peek();
            match token.text {
                ";" if open == 0 => {
                    self.at += 1;
                    return true;
                }
                "}" if open == 0 => return true,
                "let" | "rewrite" | "rule" if token.kind == TokenKind::Word => {
                    return token.text != "rule";
                }
                "(" | "[" | "{" => open += 1,
                ")" | "]" | "}" => open = open.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
        false
    }

    fn skip_to_item(&mut self) {
        let first = self.at;
        while self.peek().kind != TokenKind::End {
            let token = self.peek();
            let starts = token.kind == TokenKind::Doc || self.is("rule") || self.is("use");
            if starts && self.at > first {
                return;
            }
            self.at += 1;
        }
    }
}

//! Parsing attribute expressions, by precedence.

use super::lexer::{TokenKind, unquote};
use super::parser::{Parsed, Parser};
use super::syntax::{Exp, ExpSyntax, Inst, Name, Over};
use crate::ast::{BinaryOp, RESERVED, UnaryOp};
use crate::diagnostic::Diagnostic;

/// Binary operators by precedence, loosest first.
const LEVELS: [&[BinaryOp]; 5] = [
    &[BinaryOp::Or],
    &[BinaryOp::And],
    &[BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge],
    &[BinaryOp::Add, BinaryOp::Sub],
    &[BinaryOp::Mul, BinaryOp::Div, BinaryOp::FloorDiv, BinaryOp::CeilDiv, BinaryOp::Mod],
];

const COMPARISON: usize = 2;

impl Parser<'_, '_> {
    pub(super) fn expression(&mut self) -> Parsed<Exp> {
        self.nested(|p| if p.is("if") { p.conditional() } else { p.binary(0) })
    }

    fn conditional(&mut self) -> Parsed<Exp> {
        let start = self.bump().span;
        let condition = self.expression()?;
        self.expect("then")?;
        let then = self.expression()?;
        self.expect("else")?;
        let otherwise = self.expression()?;
        let span = start.to(otherwise.span);
        Ok(Exp::new(ExpSyntax::If(condition, then, otherwise), span))
    }

    fn binary(&mut self, level: usize) -> Parsed<Exp> {
        let Some(ops) = LEVELS.get(level) else { return self.unary() };
        let mut lhs = self.binary(level + 1)?;
        let mut compared = false;
        loop {
            let op = ops.iter().copied().find(|op| self.is(op.text()));
            let member = level == COMPARISON && self.is("in");
            if op.is_none() && !member {
                return Ok(lhs);
            }
            if compared {
                let message = "comparisons do not chain";
                let stop = Diagnostic::error("syntax", self.peek().span, message)
                    .hint("join two comparisons with `&&`");
                return Err(self.report(stop));
            }
            compared = level == COMPARISON;
            self.bump();
            let rhs = self.binary(level + 1)?;
            let span = lhs.span.to(rhs.span);
            let kind = match op {
                Some(op) => ExpSyntax::Binary(op, lhs, rhs),
                None => ExpSyntax::In(lhs, rhs),
            };
            lhs = Exp::new(kind, span);
            self.limit(lhs.depth)?;
        }
    }

    fn unary(&mut self) -> Parsed<Exp> {
        let start = self.peek().span;
        if self.is("-") && matches!(self.peek_at(1).kind, TokenKind::Int | TokenKind::Float) {
            self.bump();
            return self.number(true);
        }
        for op in UnaryOp::ALL.iter().copied() {
            if self.eat(op.text()) {
                let operand = self.nested(Self::unary)?;
                let span = start.to(operand.span);
                return Ok(Exp::new(ExpSyntax::Unary(op, operand), span));
            }
        }
        self.postfix()
    }

    /// A number literal, with its sign.
    pub(super) fn number(&mut self, negative: bool) -> Parsed<Exp> {
        let token = self.bump();
        let text = format!("{}{}", if negative { "-" } else { "" }, token.text);
        let kind = if token.kind == TokenKind::Float {
            ExpSyntax::Float(text.parse().unwrap_or(f64::NAN))
        } else {
            match text.parse() {
                Ok(value) => ExpSyntax::Int(value),
                Err(_) => {
                    let message = "the integer does not fit in 64 bits";
                    let hint = "write a float: `1e20`";
                    let error = Diagnostic::error("syntax", token.span, message).hint(hint);
                    return Err(self.report(error));
                }
            }
        };
        Ok(Exp::new(kind, token.span))
    }

    fn postfix(&mut self) -> Parsed<Exp> {
        let mut exp = self.primary()?;
        loop {
            if self.eat(".") {
                let name = self.word("an attribute")?;
                let span = exp.span.to(name.span);
                exp = Exp::new(ExpSyntax::Access(exp, name), span);
            } else if self.eat("[") {
                exp = self.subscript(exp)?;
            } else {
                return Ok(exp);
            }
            self.limit(exp.depth)?;
        }
    }

    /// `[i]`, `[a:b:c]` or `[template, i]`; the bracket has been read.
    fn subscript(&mut self, base: Exp) -> Parsed<Exp> {
        let start = base.span;
        let first = if self.is(":") { None } else { Some(self.expression()?) };
        let outer = match &*base.kind {
            ExpSyntax::Name(variadic) => {
                Some(Inst { variadic: variadic.clone(), steps: Vec::new() })
            }
            ExpSyntax::Inst(inst) => Some(inst.clone()),
            _ => None,
        };
        let kind = if let (Some(mut inst), Some(first), true) = (outer, &first, self.is(",")) {
            self.bump();
            let ExpSyntax::Name(template) = &*first.kind else {
                return Err(self.expected("`]`"));
            };
            inst.steps.push((template.clone(), self.expression()?));
            ExpSyntax::Inst(inst)
        } else if self.is(":") {
            let mut bounds = [first, None, None];
            for bound in &mut bounds[1..] {
                if self.eat(":") && !self.is("]") && !self.is(":") {
                    *bound = Some(self.expression()?);
                }
            }
            ExpSyntax::Slice(base, bounds)
        } else {
            match first {
                Some(index) => ExpSyntax::Proj(base, index),
                None => return Err(self.expected("an index")),
            }
        };
        self.expect("]")?;
        Ok(Exp::new(kind, start.to(self.last())))
    }

    fn primary(&mut self) -> Parsed<Exp> {
        let token = self.peek();
        match token.kind {
            TokenKind::Int | TokenKind::Float => self.number(false),
            TokenKind::Str => {
                self.bump();
                Ok(Exp::new(ExpSyntax::Str(unquote(token.text)), token.span))
            }
            TokenKind::Punct if token.text == "(" => {
                self.bump();
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            TokenKind::Punct if token.text == "[" => {
                self.bump();
                self.brackets(token.span)
            }
            TokenKind::Word => self.word_expression(),
            _ => Err(self.expected("an attribute expression")),
        }
    }

    /// A tuple or a comprehension; the bracket has been read.
    fn brackets(&mut self, start: crate::diagnostic::Span) -> Parsed<Exp> {
        let items = self.list("]", Self::generator)?;
        let span = start.to(self.last());
        let generator = |e: &Exp| matches!(*e.kind, ExpSyntax::Generator(..));
        match <[Exp; 1]>::try_from(items) {
            Ok([one]) if generator(&one) => Ok(Exp::new(ExpSyntax::Comprehension(one), span)),
            Ok(one) => Ok(Exp::new(ExpSyntax::Tuple(one.into()), span)),
            Err(items) => Ok(Exp::new(ExpSyntax::Tuple(items), span)),
        }
    }

    /// An expression, possibly with `for i < n` or `for x in t`.
    fn generator(&mut self) -> Parsed<Exp> {
        let body = self.expression()?;
        if !self.eat("for") {
            return Ok(body);
        }
        let name = self.new_name()?;
        let over = if self.eat("<") {
            Over::Below(self.expression()?)
        } else if self.eat("in") {
            Over::Fields(self.expression()?)
        } else {
            return Err(self.expected("`<` and a bound, or `in` and a tuple"));
        };
        let span = body.span.to(self.last());
        Ok(Exp::new(ExpSyntax::Generator(body, name, over), span))
    }

    fn word_expression(&mut self) -> Parsed<Exp> {
        let token = self.bump();
        let name = Name { text: token.text.to_owned(), span: token.span };
        let kind = match token.text {
            "_" => ExpSyntax::Any,
            "true" => ExpSyntax::Bool(true),
            "false" => ExpSyntax::Bool(false),
            "inf" => ExpSyntax::Float(f64::INFINITY),
            "nan" => ExpSyntax::Float(f64::NAN),
            "native" => {
                let name = self.kebab("the name of a registered function")?;
                self.expect("(")?;
                ExpSyntax::Native(name, self.list(")", Self::expression)?)
            }
            "case" => {
                let subject = self.new_name()?;
                self.expect("{")?;
                ExpSyntax::Case(subject, self.list("}", |p| p.arm(Self::expression))?)
            }
            _ if self.is("(") && token.text != "if" => {
                self.bump();
                ExpSyntax::Call(name, self.list(")", Self::generator)?)
            }
            text if RESERVED.contains(&text) => {
                let message = format!("`{text}` is a word of the language, not a value");
                return Err(self.report(Diagnostic::error("syntax", token.span, message)));
            }
            _ => ExpSyntax::Name(name),
        };
        Ok(Exp::new(kind, token.span.to(self.last())))
    }

    /// `option => result`
    pub(super) fn arm<T>(&mut self, parse: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<(Name, T)> {
        let option = self.new_name()?;
        self.expect("=>")?;
        Ok((option, parse(self)?))
    }
}

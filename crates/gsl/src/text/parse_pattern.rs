//! Parsing patterns: calls, alternatives, tuples, operands of any number.

use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};
use super::syntax::{Attr, Exp, Inst, Modifier, Name, Pat, PatSyntax, VariadicSyntax};
use crate::ast::{BinaryOp, RESERVED};

const LEVELS: [&[BinaryOp]; 2] = [&[BinaryOp::Add, BinaryOp::Sub], &[BinaryOp::Mul, BinaryOp::Div]];

impl Parser<'_, '_> {
    /// Alternatives separated by `|`.
    pub(super) fn pattern(&mut self) -> Parsed<Pat> {
        self.nested(|p| {
            let first = p.modified()?;
            if !p.is("|") {
                return Ok(first);
            }
            let start = first.span;
            let mut options = vec![first];
            while p.eat("|") {
                options.push(p.modified()?);
            }
            Ok(Pat::new(PatSyntax::Alt(options), start.to(p.last())))
        })
    }

    /// A pattern with its modifiers before and its name behind.
    fn modified(&mut self) -> Parsed<Pat> {
        let start = self.peek().span;
        let mut pat = if self.eat("not") {
            let inner = self.nested(Self::modified)?;
            let span = start.to(inner.span);
            return Ok(Pat::new(PatSyntax::Not(inner), span));
        } else {
            let mut modifiers = Vec::new();
            while let Some(m) = Modifier::ALL.into_iter().find(|m| self.is(m.text())) {
                self.bump();
                modifiers.push(m);
            }
            let core = self.core()?;
            if modifiers.is_empty() {
                core
            } else {
                let span = start.to(core.span);
                Pat::new(PatSyntax::Modified(modifiers, core), span)
            }
        };
        while self.eat("as") {
            let name = self.new_name()?;
            pat = Pat::new(PatSyntax::As(pat, name), start.to(self.last()));
            self.limit(pat.depth)?;
        }
        Ok(pat)
    }

    fn core(&mut self) -> Parsed<Pat> {
        let start = self.peek().span;
        if self.eat("variadic") {
            let kind = PatSyntax::Variadic(self.variadic()?);
            return Ok(Pat::new(kind, start.to(self.last())));
        }
        if self.eat("if") {
            let condition = self.expression()?;
            self.expect("then")?;
            let then = self.nested(Self::modified)?;
            self.expect("else")?;
            let otherwise = self.nested(Self::modified)?;
            let span = start.to(otherwise.span);
            return Ok(Pat::new(PatSyntax::If(condition, then, otherwise), span));
        }
        if self.eat("case") {
            let subject = self.new_name()?;
            self.expect("{")?;
            let arms = self.list("}", |p| p.arm(Self::pattern))?;
            return Ok(Pat::new(PatSyntax::Case(subject, arms), start.to(self.last())));
        }
        self.sum(0)
    }

    fn variadic(&mut self) -> Parsed<VariadicSyntax> {
        let field = self.nested(Self::modified)?;
        let mut variadic =
            VariadicSyntax { field, templates: None, index: None, length: None, min: None };
        if self.eat("over") {
            self.expect("(")?;
            variadic.templates = Some(self.list(")", |p| {
                let template = p.new_name()?;
                let first = if p.eat("first") { Some(p.new_name()?) } else { None };
                Ok((template, first))
            })?);
        }
        if self.eat("for") {
            variadic.index = Some(self.new_name()?);
            if self.eat("<") {
                variadic.length = Some(self.expression()?);
            }
        } else if self.eat("length") {
            variadic.length = Some(self.expression()?);
        }
        if self.eat("min") {
            variadic.min = Some(self.natural()?);
        }
        Ok(variadic)
    }

    fn sum(&mut self, level: usize) -> Parsed<Pat> {
        let Some(ops) = LEVELS.get(level) else { return self.unary_pattern() };
        let mut lhs = self.sum(level + 1)?;
        while let Some(op) = ops.iter().copied().find(|op| self.is(op.text())) {
            self.bump();
            let rhs = self.sum(level + 1)?;
            let span = lhs.span.to(rhs.span);
            lhs = Pat::new(PatSyntax::Binary(op, lhs, rhs), span);
            self.limit(lhs.depth)?;
        }
        Ok(lhs)
    }

    fn unary_pattern(&mut self) -> Parsed<Pat> {
        let start = self.peek().span;
        let number = |kind| matches!(kind, TokenKind::Int | TokenKind::Float);
        let negative = self.is("-");
        if number(self.peek_at(usize::from(negative)).kind) {
            if negative {
                self.bump();
            }
            let literal = self.number(negative)?;
            let span = start.to(literal.span);
            return Ok(Pat::new(PatSyntax::Literal(literal), span));
        }
        if self.eat("-") {
            let operand = self.nested(Self::unary_pattern)?;
            let span = start.to(operand.span);
            return Ok(Pat::new(PatSyntax::Neg(operand), span));
        }
        self.postfix_pattern()
    }

    fn postfix_pattern(&mut self) -> Parsed<Pat> {
        let mut pat = self.primary_pattern()?;
        while self.eat("[") {
            let start = pat.span;
            let instance = self.peek_at(1).text == ",";
            let kind = match (&*pat.kind, instance) {
                (PatSyntax::Name(variadic), true) => {
                    let variadic = variadic.clone();
                    PatSyntax::Inst(Inst { variadic, steps: vec![self.instance_step()?] })
                }
                (PatSyntax::Inst(outer), true) => {
                    let mut inst = outer.clone();
                    inst.steps.push(self.instance_step()?);
                    PatSyntax::Inst(inst)
                }
                _ => PatSyntax::Proj(pat, self.expression()?),
            };
            self.expect("]")?;
            pat = Pat::new(kind, start.to(self.last()));
            self.limit(pat.depth)?;
        }
        Ok(pat)
    }

    /// `template, index`
    fn instance_step(&mut self) -> Parsed<(Name, Exp)> {
        let template = self.new_name()?;
        self.expect(",")?;
        Ok((template, self.expression()?))
    }

    fn primary_pattern(&mut self) -> Parsed<Pat> {
        let start = self.peek().span;
        let kind = if self.eat("*") {
            PatSyntax::Wildcard
        } else if self.eat("(") {
            let inner = self.pattern()?;
            if !self.is(",") {
                self.expect(")")?;
                return Ok(inner);
            }
            self.bump();
            let mut fields = vec![inner];
            fields.extend(self.list(")", Self::pattern)?);
            PatSyntax::Tuple(fields)
        } else if self.eat("const") {
            self.constant()?
        } else if self.eat("variable") {
            PatSyntax::Variable(self.attributes()?)
        } else if self.eat("native") {
            let name = self.kebab("the name of a registered function")?;
            self.expect("(")?;
            let args = self.list(")", Self::pattern)?;
            PatSyntax::Native { name, args, attrs: self.attributes()? }
        } else {
            self.name_or_call()?
        };
        Ok(Pat::new(kind, start.to(self.last())))
    }

    fn constant(&mut self) -> Parsed<PatSyntax> {
        let (mut value, mut splat) = (None, false);
        if self.eat("(") {
            splat = self.eat("splat");
            value = Some(self.expression()?);
            self.expect(")")?;
        }
        Ok(PatSyntax::Const { value, splat, attrs: self.attributes()? })
    }

    fn name_or_call(&mut self) -> Parsed<PatSyntax> {
        let token = self.peek();
        if token.kind != TokenKind::Word || RESERVED.contains(&token.text) || token.text == "_" {
            let stop = self.expected("a pattern");
            if token.text == "_" {
                self.hint("any value is written `*`; `_` is any attribute");
            }
            return Err(stop);
        }
        let name: Name = self.operator_name()?;
        if !self.eat("(") {
            return Ok(PatSyntax::Name(name));
        }
        let args = self.list(")", Self::pattern)?;
        Ok(PatSyntax::Call { op: name, args, attrs: self.attributes()? })
    }

    /// `{strides = s, c.{padding, groups}, ..c}`, or nothing.
    fn attributes(&mut self) -> Parsed<Vec<Attr>> {
        if self.eat("{") { self.list("}", Self::attribute) } else { Ok(Vec::new()) }
    }

    fn attribute(&mut self) -> Parsed<Attr> {
        if self.eat("..") {
            return Ok(Attr::Rest(self.new_name()?));
        }
        let name = self.word("an attribute")?;
        if self.eat(".") {
            self.expect("{")?;
            return Ok(Attr::Copy(name, self.list("}", |p| p.word("an attribute"))?));
        }
        self.expect("=")?;
        Ok(Attr::Field(name, self.expression()?))
    }
}

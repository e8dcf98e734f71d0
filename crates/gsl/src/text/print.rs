//! Writes a syntax tree in the canonical form, with the comments of the text it came from.

use super::layout::Doc;
use super::lexer::{Token, quote};
use super::syntax::{Attr, Choice, Exp, ExpSyntax, Inst, Item, Modifier, Name, Over, Pat};
use super::syntax::{PatSyntax, RuleItem, Statement, StatementKind, VariadicSyntax};
use crate::ast::BinaryOp;
use crate::diagnostic::Span;

/// Writes items and, between them, comments. `source` is the text that the spans point into.
pub(crate) fn print_items(items: &[Item], comments: &[Token<'_>], source: &str) -> String {
    let mut printer = Printer { out: String::new(), comments, source, end: 0 };
    for item in items {
        match item {
            Item::Use(item) => {
                printer.start(item.span, 0, false);
                printer.out.push_str(&format!("use {};", quote(&item.path.text)));
                printer.finish(item.span);
            }
            Item::Rule(rule) => printer.rule(rule),
        }
    }
    let end = u32::try_from(source.len()).unwrap_or(u32::MAX);
    printer.comments_before(end, 0);
    printer.out
}

struct Printer<'t> {
    out: String,
    comments: &'t [Token<'t>],
    source: &'t str,
    /// Where the last item written ends in the source.
    end: u32,
}

impl Printer<'_> {
    /// Writes the comments that come before an item or stand inside it, then its indentation.
    fn start(&mut self, span: Span, indent: usize, apart: bool) {
        self.comments_before(span.end, indent);
        if !self.out.is_empty() && (apart || self.blank_before(span.start)) {
            self.blank();
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    /// Writes a comment that follows on the same line, and ends the line.
    fn finish(&mut self, span: Span) {
        self.end = self.end.max(span.end);
        if let [comment, rest @ ..] = self.comments
            && comment.span.start >= span.end
            && !self.between(span.end, comment.span.start).contains('\n')
        {
            self.out.push_str(&format!(" {}", comment.text));
            self.end = comment.span.end;
            self.comments = rest;
        }
        self.out.push('\n');
    }

    fn comments_before(&mut self, position: u32, indent: usize) {
        while let [comment, rest @ ..] = self.comments
            && comment.span.start < position
        {
            if !self.out.is_empty() && self.blank_before(comment.span.start) {
                self.blank();
            }
            self.out.extend(std::iter::repeat_n(' ', indent));
            self.out.push_str(comment.text);
            self.out.push('\n');
            self.end = self.end.max(comment.span.end);
            self.comments = rest;
        }
    }

    fn blank(&mut self) {
        if !self.out.ends_with("\n\n") && !self.out.ends_with("{\n") {
            self.out.push('\n');
        }
    }

    fn between(&self, start: u32, end: u32) -> &str {
        self.source.get(start as usize..end as usize).unwrap_or_default()
    }

    fn blank_before(&self, position: u32) -> bool {
        self.between(self.end, position).matches('\n').count() > 1
    }

    fn rule(&mut self, rule: &RuleItem) {
        // Comments inside the rule belong to its statements.
        self.start(Span { end: rule.span.start, ..rule.span }, 0, true);
        for line in &rule.doc {
            self.out.push_str(format!("/// {line}").trim_end());
            self.out.push('\n');
        }
        self.out.push_str(&header(rule));
        self.out.push_str(" {\n");
        self.end = self.end.max(rule.name.span.end);
        for statement in &rule.statements {
            self.start(statement.span, 2, false);
            let doc = statement_doc(statement);
            self.out.push_str(&doc.render(2));
            self.finish(statement.span);
        }
        self.comments_before(rule.span.end, 2);
        self.out.push('}');
        self.finish(rule.span);
    }
}

fn header(rule: &RuleItem) -> String {
    let mut out = format!("rule {}", rule.name.text);
    if !rule.labels.is_empty() {
        let labels: Vec<_> = rule.labels.iter().map(|label| label.text.as_str()).collect();
        out.push_str(&format!(" [{}]", labels.join(", ")));
    }
    if let Some(benefit) = rule.benefit {
        out.push_str(&format!(" benefit {benefit}"));
    }
    if let Some(priority) = rule.priority {
        out.push_str(&format!(" priority {priority}"));
    }
    if rule.alias {
        out.push_str(" alias");
    }
    if let Some(exactness) = rule.exactness {
        out.push_str(&format!(" {}", exactness.word()));
    }
    if let Some(tolerance) = rule.tolerance {
        out.push_str(&format!(" within {}", float_text(tolerance)));
    }
    out
}

fn statement_doc(statement: &Statement) -> Doc {
    let named = |word: &str, name: &Name, doc| {
        Doc::concat([Doc::text(format!("{word} {} = ", name.text)), doc, Doc::text(";")])
    };
    match &statement.kind {
        StatementKind::Let(name, pat) => named("let", name, pattern(pat, ALT)),
        StatementKind::Attr(name, exp) => named("attr", name, expression(exp, 0)),
        StatementKind::Op(name, choice) => named("op", name, Doc::text(choice_text(choice))),
        StatementKind::Index(names) => {
            listed("index", names.iter().map(|name| Doc::text(&name.text)))
        }
        StatementKind::Match(pats) => listed("match", pats.iter().map(|p| pattern(p, ALT))),
        StatementKind::Where(exps) => listed("where", exps.iter().map(|e| expression(e, 0))),
        StatementKind::Rewrite(pats) => listed("rewrite", pats.iter().map(|p| pattern(p, ALT))),
    }
}

fn listed(word: &str, items: impl Iterator<Item = Doc>) -> Doc {
    let mut inner = Vec::new();
    for (i, item) in items.enumerate() {
        inner.push(if i == 0 { Doc::text(" ") } else { Doc::concat([Doc::text(","), Doc::Line]) });
        inner.push(item);
    }
    // One item indents what it breaks by itself.
    let single = inner.len() <= 2;
    let inner = Doc::Concat(inner);
    let nested = if single { inner } else { Doc::Nest(Box::new(inner)) };
    Doc::concat([Doc::text(word), Doc::Group(Box::new(nested)), Doc::text(";")])
}

fn choice_text(choice: &Choice) -> String {
    match choice {
        Choice::Trait(name) => format!("trait {}", name.text),
        Choice::OneOf(names) => {
            names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(" | ")
        }
    }
}

// How tightly a pattern holds together.
const ALT: u8 = 0;
const MODIFIED: u8 = 1;
const SUM: u8 = 2;
const PRODUCT: u8 = 3;
const UNARY: u8 = 4;
const POSTFIX: u8 = 5;

fn pattern_level(pat: &PatSyntax) -> u8 {
    match pat {
        PatSyntax::Alt(_) => ALT,
        PatSyntax::Not(_) | PatSyntax::Modified(..) | PatSyntax::As(..) => MODIFIED,
        PatSyntax::Variadic(_) | PatSyntax::If(..) | PatSyntax::Case(..) => MODIFIED,
        PatSyntax::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => SUM,
        PatSyntax::Binary(..) => PRODUCT,
        PatSyntax::Neg(_) | PatSyntax::Literal(_) => UNARY,
        _ => POSTFIX,
    }
}

/// Writes a pattern, in parentheses if it holds together less than `level`.
fn pattern(pat: &Pat, level: u8) -> Doc {
    let doc = pattern_form(&pat.kind);
    if pattern_level(&pat.kind) < level { parenthesised(doc) } else { doc }
}

fn parenthesised(doc: Doc) -> Doc {
    Doc::concat([Doc::text("("), doc, Doc::text(")")])
}

fn pattern_form(pat: &PatSyntax) -> Doc {
    match pat {
        PatSyntax::Wildcard => Doc::text("*"),
        PatSyntax::Literal(exp) => expression(exp, 0),
        PatSyntax::Const { value, splat, attrs } => {
            let word = if *splat { "splat " } else { "" };
            let value = value.iter().flat_map(|value| {
                [Doc::text(format!("({word}")), expression(value, 0), Doc::text(")")]
            });
            let head = std::iter::once(Doc::text("const")).chain(value);
            Doc::concat(head.chain([attributes(attrs)]))
        }
        PatSyntax::Variable(attrs) => Doc::concat([Doc::text("variable"), attributes(attrs)]),
        PatSyntax::Name(name) => Doc::text(&name.text),
        PatSyntax::Call { op, args, attrs } => {
            Doc::concat([call(&op.text, args), attributes(attrs)])
        }
        PatSyntax::Native { name, args, attrs } => {
            Doc::concat([call(&format!("native {}", name.text), args), attributes(attrs)])
        }
        PatSyntax::Tuple(fields) if fields.len() == 1 => {
            Doc::concat([Doc::text("("), pattern(&fields[0], ALT), Doc::text(",)")])
        }
        PatSyntax::Tuple(fields) => call("", fields),
        PatSyntax::Proj(tuple, index) => Doc::concat([
            pattern(tuple, POSTFIX),
            Doc::text("["),
            expression(index, 0),
            Doc::text("]"),
        ]),
        PatSyntax::Inst(inst) => instance(inst),
        PatSyntax::Variadic(variadic) => variadic_form(variadic),
        PatSyntax::Alt(options) => joined(options.iter().map(|p| pattern(p, MODIFIED)), " |"),
        PatSyntax::Not(inner) => Doc::concat([Doc::text("not "), pattern(inner, SUM)]),
        PatSyntax::If(condition, then, otherwise) => conditional(
            expression(condition, 0),
            pattern(then, MODIFIED),
            pattern(otherwise, MODIFIED),
        ),
        PatSyntax::Case(subject, arms) => {
            case(subject, arms.iter().map(|(name, p)| (name, pattern(p, ALT))))
        }
        PatSyntax::Binary(op, lhs, rhs) => {
            let level = if matches!(op, BinaryOp::Add | BinaryOp::Sub) { SUM } else { PRODUCT };
            infix(pattern(lhs, level), op.text(), pattern(rhs, level + 1))
        }
        PatSyntax::Neg(operand) => {
            // `-(1)` is a negation, `-1` a literal.
            let level = match &*operand.kind {
                PatSyntax::Literal(_) => POSTFIX,
                _ => UNARY,
            };
            Doc::concat([Doc::text("-"), pattern(operand, level)])
        }
        PatSyntax::Modified(modifiers, inner) => {
            let words = modifiers.iter().map(|m: &Modifier| Doc::text(format!("{} ", m.text())));
            Doc::concat(words.chain([pattern(inner, SUM)]))
        }
        PatSyntax::As(inner, name) => {
            let level = if names_whole(&inner.kind) { MODIFIED } else { SUM };
            Doc::concat([pattern(inner, level), Doc::text(format!(" as {}", name.text))])
        }
    }
}

/// Returns whether `as` behind this names all of it rather than its last part.
fn names_whole(pat: &PatSyntax) -> bool {
    match pat {
        PatSyntax::Modified(_, inner) => !matches!(*inner.kind, PatSyntax::If(..)),
        PatSyntax::Variadic(v) => {
            v.templates.is_some() || v.index.is_some() || v.length.is_some() || v.min.is_some()
        }
        _ => false,
    }
}

fn call(name: &str, args: &[Pat]) -> Doc {
    Doc::list(&format!("{name}("), args.iter().map(|p| pattern(p, ALT)).collect(), ")", false)
}

fn instance(inst: &Inst) -> Doc {
    let steps = inst.steps.iter().flat_map(|(template, index)| {
        [Doc::text(format!("[{}, ", template.text)), expression(index, 0), Doc::text("]")]
    });
    Doc::concat(std::iter::once(Doc::text(&inst.variadic.text)).chain(steps))
}

fn variadic_form(variadic: &VariadicSyntax) -> Doc {
    let mut parts = vec![Doc::text("variadic "), pattern(&variadic.field, SUM)];
    if let Some(templates) = &variadic.templates {
        let template = |(name, first): &(Name, Option<Name>)| match first {
            Some(first) => Doc::text(format!("{} first {}", name.text, first.text)),
            None => Doc::text(&name.text),
        };
        parts.push(Doc::text(" over "));
        parts.push(Doc::list("(", templates.iter().map(template).collect(), ")", false));
    }
    match (&variadic.index, &variadic.length) {
        (Some(index), Some(length)) => {
            parts.push(Doc::text(format!(" for {} < ", index.text)));
            parts.push(expression(length, 0));
        }
        (Some(index), None) => parts.push(Doc::text(format!(" for {}", index.text))),
        (None, Some(length)) => {
            parts.extend([Doc::text(" length "), expression(length, 0)]);
        }
        (None, None) => {}
    }
    parts.extend(variadic.min.map(|min| Doc::text(format!(" min {min}"))));
    Doc::Concat(parts)
}

fn attributes(attrs: &[Attr]) -> Doc {
    if attrs.is_empty() {
        return Doc::Concat(Vec::new());
    }
    let attr = |attr: &Attr| match attr {
        Attr::Field(name, exp) => {
            Doc::concat([Doc::text(format!("{} = ", name.text)), expression(exp, 0)])
        }
        Attr::Copy(from, names) => {
            let names = names.iter().map(|name| Doc::text(&name.text)).collect();
            Doc::list(&format!("{}.{{", from.text), names, "}", false)
        }
        Attr::Rest(name) => Doc::text(format!("..{}", name.text)),
    };
    Doc::concat([Doc::text(" "), Doc::list("{", attrs.iter().map(attr).collect(), "}", true)])
}

fn conditional(condition: Doc, then: Doc, otherwise: Doc) -> Doc {
    let rest = [Doc::Line, Doc::text("then "), then, Doc::Line, Doc::text("else "), otherwise];
    let rest = Doc::Nest(Box::new(Doc::concat(rest)));
    Doc::Group(Box::new(Doc::concat([Doc::text("if "), condition, rest])))
}

fn case<'n>(subject: &Name, arms: impl Iterator<Item = (&'n Name, Doc)>) -> Doc {
    let arm =
        |(name, doc): (&Name, Doc)| Doc::concat([Doc::text(format!("{} => ", name.text)), doc]);
    Doc::list(&format!("case {} {{", subject.text), arms.map(arm).collect(), "}", true)
}

fn joined(items: impl Iterator<Item = Doc>, separator: &str) -> Doc {
    let mut parts = Vec::new();
    for (i, item) in items.enumerate() {
        if i > 0 {
            parts.extend([Doc::text(separator), Doc::Line]);
        }
        parts.push(item);
    }
    Doc::Group(Box::new(Doc::Nest(Box::new(Doc::Concat(parts)))))
}

fn infix(lhs: Doc, op: &str, rhs: Doc) -> Doc {
    let rest = Doc::Nest(Box::new(Doc::concat([Doc::Line, Doc::text(format!("{op} ")), rhs])));
    Doc::Group(Box::new(Doc::concat([lhs, rest])))
}

// How tightly an expression holds together: `if` 0, then the binary levels, then these.
const COMPARISON: u8 = 3;
const EXP_UNARY: u8 = 6;
const EXP_POSTFIX: u8 = 7;

fn binary_level(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 1,
        BinaryOp::And => 2,
        BinaryOp::Add | BinaryOp::Sub => 4,
        BinaryOp::Max | BinaryOp::Min => EXP_POSTFIX,
        BinaryOp::Mul | BinaryOp::Div => 5,
        BinaryOp::FloorDiv | BinaryOp::CeilDiv | BinaryOp::Mod => 5,
        _ => COMPARISON,
    }
}

fn expression_level(exp: &ExpSyntax) -> u8 {
    match exp {
        ExpSyntax::If(..) => 0,
        ExpSyntax::Binary(op, ..) => binary_level(*op),
        ExpSyntax::In(..) => COMPARISON,
        ExpSyntax::Unary(..) => EXP_UNARY,
        ExpSyntax::Int(value) if *value < 0 => EXP_UNARY,
        ExpSyntax::Float(value) if value.is_sign_negative() => EXP_UNARY,
        _ => EXP_POSTFIX,
    }
}

/// Writes an expression.
pub(crate) fn expression_text(exp: &Exp) -> String {
    expression(exp, 0).render(0)
}

fn expression(exp: &Exp, level: u8) -> Doc {
    let doc = expression_form(&exp.kind);
    if expression_level(&exp.kind) < level { parenthesised(doc) } else { doc }
}

fn expressions(open: &str, exps: &[Exp], close: &str) -> Doc {
    Doc::list(open, exps.iter().map(|e| expression(e, 0)).collect(), close, false)
}

fn expression_form(exp: &ExpSyntax) -> Doc {
    match exp {
        ExpSyntax::Int(value) => Doc::text(value.to_string()),
        ExpSyntax::Float(value) => Doc::text(float_text(*value)),
        ExpSyntax::Bool(value) => Doc::text(value.to_string()),
        ExpSyntax::Str(text) => Doc::text(quote(text)),
        ExpSyntax::Any => Doc::text("_"),
        ExpSyntax::Name(name) => Doc::text(&name.text),
        ExpSyntax::Access(base, name) => {
            Doc::concat([expression(base, EXP_POSTFIX), Doc::text(format!(".{}", name.text))])
        }
        ExpSyntax::Inst(inst) => instance(inst),
        ExpSyntax::Unary(op, operand) => {
            let number = matches!(*operand.kind, ExpSyntax::Int(_) | ExpSyntax::Float(_));
            let inner = expression(operand, EXP_UNARY);
            let inner = if number { parenthesised(inner) } else { inner };
            Doc::concat([Doc::text(op.text()), inner])
        }
        ExpSyntax::Binary(op @ (BinaryOp::Max | BinaryOp::Min), lhs, rhs) => {
            let args = vec![expression(lhs, 0), expression(rhs, 0)];
            Doc::list(&format!("{}(", op.text()), args, ")", false)
        }
        ExpSyntax::Binary(op, lhs, rhs) => {
            let level = binary_level(*op);
            let left = level + u8::from(level == COMPARISON);
            infix(expression(lhs, left), op.text(), expression(rhs, level + 1))
        }
        ExpSyntax::In(value, tuple) => {
            infix(expression(value, COMPARISON + 1), "in", expression(tuple, COMPARISON + 1))
        }
        ExpSyntax::Tuple(fields) => expressions("[", fields, "]"),
        ExpSyntax::Comprehension(generator) => {
            Doc::list("[", vec![expression(generator, 0)], "]", false)
        }
        ExpSyntax::Generator(body, name, over) => {
            let (word, bound) = match over {
                Over::Below(bound) => ("<", bound),
                Over::Fields(bound) => ("in", bound),
            };
            let tail = Doc::text(format!(" for {} {word} ", name.text));
            Doc::concat([expression(body, 0), tail, expression(bound, 0)])
        }
        ExpSyntax::Proj(tuple, index) => Doc::concat([
            expression(tuple, EXP_POSTFIX),
            Doc::text("["),
            expression(index, 0),
            Doc::text("]"),
        ]),
        ExpSyntax::Slice(tuple, bounds) => slice(tuple, bounds),
        ExpSyntax::Call(name, args) => expressions(&format!("{}(", name.text), args, ")"),
        ExpSyntax::If(condition, then, otherwise) => {
            conditional(expression(condition, 0), expression(then, 0), expression(otherwise, 0))
        }
        ExpSyntax::Case(subject, arms) => {
            case(subject, arms.iter().map(|(name, e)| (name, expression(e, 0))))
        }
        ExpSyntax::Native(name, args) => expressions(&format!("native {}(", name.text), args, ")"),
    }
}

fn slice(tuple: &Exp, [start, stop, step]: &[Option<Exp>; 3]) -> Doc {
    let bound = |bound: &Option<Exp>| match bound {
        Some(exp) => expression(exp, 0),
        None => Doc::Concat(Vec::new()),
    };
    let mut parts = vec![expression(tuple, EXP_POSTFIX), Doc::text("["), bound(start)];
    parts.extend([Doc::text(":"), bound(stop)]);
    if step.is_some() {
        parts.extend([Doc::text(":"), bound(step)]);
    }
    parts.push(Doc::text("]"));
    Doc::Concat(parts)
}

fn float_text(value: f64) -> String {
    let text = if value.is_infinite() {
        if value > 0.0 { "inf" } else { "-inf" }.to_owned()
    } else {
        format!("{value:?}")
    };
    text.replace("NaN", "nan")
}

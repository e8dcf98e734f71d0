//! Writes abstract syntax as a syntax tree: the way back from [`super::lower`].

use std::collections::{BTreeSet, HashSet};

use super::syntax::{Attr, Choice, Exp, ExpSyntax, Inst, Modifier, Name, Over, Pat, PatSyntax};
use super::syntax::{RuleItem, Statement, StatementKind, VariadicSyntax};
use crate::ast::{
    BinaryOp, ExprId, ExprKind, Field, NativeArg, OpChoice, OpId, PatId, PatternKind, Reference,
    Rule, SymId, TensorFields, default_templates,
};
use crate::diagnostic::Span;

/// Writes a rule as a tree. Recursion is bounded by the depth of a finished rule.
pub(crate) fn raise(rule: &Rule) -> RuleItem {
    let mut raise = Raise::new(rule);
    rule.sources().iter().for_each(|id| raise.define(Node::Pattern(*id)));
    raise.outputs(rule.sources(), StatementKind::Match);
    for &condition in rule.conditions() {
        raise.define(Node::Expr(condition));
        let exp = raise.expression(condition);
        raise.statement(StatementKind::Where(vec![exp]));
    }
    rule.targets().iter().for_each(|id| raise.define(Node::Pattern(*id)));
    for (id, _) in rule.patterns().filter(|(_, p)| p.name.is_some()) {
        raise.define(Node::Pattern(id));
    }
    for (id, _) in rule.exprs().filter(|(_, e)| e.name.is_some()) {
        raise.define(Node::Expr(id));
    }
    raise.outputs(rule.targets(), StatementKind::Rewrite);
    raise.declare_symbols();
    let doc = if rule.doc().is_empty() {
        Vec::new()
    } else {
        rule.doc().split('\n').map(str::to_owned).collect()
    };
    RuleItem {
        doc,
        name: name(rule.name()),
        labels: rule.labels().iter().map(|label| name(label)).collect(),
        benefit: rule.benefit(),
        priority: Some(rule.priority()).filter(|priority| *priority != 0),
        alias: rule.may_alias(),
        statements: raise.statements,
        ..RuleItem::default()
    }
}

fn name(text: &str) -> Name {
    Name { text: text.to_owned(), span: Span::default() }
}

fn pat(kind: PatSyntax) -> Pat {
    Pat::new(kind, Span::default())
}

fn exp(kind: ExpSyntax) -> Exp {
    Exp::new(kind, Span::default())
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Pattern(PatId),
    Expr(ExprId),
    Op(OpId),
}

struct Raise<'r> {
    rule: &'r Rule,
    done: HashSet<Node>,
    /// Symbols whose binder encloses what is being written.
    bound: Vec<SymId>,
    /// Symbols read outside the text of their binder.
    free: BTreeSet<SymId>,
    statements: Vec<Statement>,
}

impl<'r> Raise<'r> {
    fn new(rule: &'r Rule) -> Self {
        // A symbol with two binders is one symbol only if it is declared.
        let patterns = rule.patterns().flat_map(|(_, p)| p.references());
        let exprs = rule.exprs().flat_map(|(_, e)| e.references());
        let mut once = BTreeSet::new();
        let mut free = BTreeSet::new();
        for reference in patterns.chain(exprs) {
            if let Reference::Binder(id) = reference
                && !once.insert(id)
            {
                free.insert(id);
            }
        }
        Self { rule, done: HashSet::new(), bound: Vec::new(), free, statements: Vec::new() }
    }

    fn statement(&mut self, kind: StatementKind) {
        self.statements.push(Statement { span: Span::default(), kind });
    }

    fn outputs(&mut self, ids: &[PatId], kind: impl FnOnce(Vec<Pat>) -> StatementKind) {
        if !ids.is_empty() {
            let pats = ids.iter().map(|id| self.pattern(*id)).collect();
            self.statement(kind(pats));
        }
    }

    /// Writes the named nodes that `node` needs, each once, before it.
    fn define(&mut self, node: Node) {
        if !self.done.insert(node) {
            return;
        }
        let references = match node {
            Node::Pattern(id) => self.rule.pattern(id).references(),
            Node::Expr(id) => self.rule.expr(id).references(),
            Node::Op(_) => Vec::new(),
        };
        for reference in references {
            match reference {
                Reference::Part(id) | Reference::Mention(id) => self.define(Node::Pattern(id)),
                Reference::Expr(id) => self.define(Node::Expr(id)),
                Reference::Op(id) => self.define(Node::Op(id)),
                Reference::Symbol(_) | Reference::Binder(_) => {}
            }
        }
        match node {
            Node::Pattern(id) => {
                if let Some(text) = &self.rule.pattern(id).name {
                    let form = self.pattern_form(id);
                    self.statement(StatementKind::Let(name(text), form));
                }
            }
            Node::Expr(id) => {
                if let Some(text) = &self.rule.expr(id).name {
                    let form = exp(self.expression_form(id));
                    self.statement(StatementKind::Attr(name(text), form));
                }
            }
            Node::Op(id) => self.define_op(id),
        }
    }

    fn define_op(&mut self, id: OpId) {
        let op = self.rule.op(id);
        if let Some(text) = &op.name {
            let choice = match &op.choice {
                OpChoice::Name(op) => Choice::OneOf(vec![name(op)]),
                OpChoice::Trait(op) => Choice::Trait(name(op)),
                OpChoice::OneOf(ops) => Choice::OneOf(ops.iter().map(|op| name(op)).collect()),
            };
            self.statement(StatementKind::Op(name(text), choice));
        }
    }

    fn declare_symbols(&mut self) {
        let names =
            self.free.iter().map(|id| name(&self.rule.symbol(*id).name)).collect::<Vec<_>>();
        if !names.is_empty() {
            let kind = StatementKind::Index(names);
            self.statements.insert(0, Statement { span: Span::default(), kind });
        }
    }

    fn pattern(&mut self, id: PatId) -> Pat {
        match &self.rule.pattern(id).name {
            Some(text) => pat(PatSyntax::Name(name(text))),
            None => self.pattern_form(id),
        }
    }

    fn patterns(&mut self, ids: &[PatId]) -> Vec<Pat> {
        ids.iter().map(|id| self.pattern(*id)).collect()
    }

    /// Returns the name of a pattern that is looked at; every such pattern has one.
    fn pattern_name(&self, id: PatId) -> Name {
        name(self.rule.pattern(id).name.as_deref().unwrap_or_default())
    }

    fn pattern_form(&mut self, id: PatId) -> Pat {
        let pattern = self.rule.pattern(id);
        let mut modifiers = Vec::new();
        modifiers.extend(pattern.only.then_some(Modifier::Only));
        modifiers.extend(pattern.may_alias.then_some(Modifier::Alias));
        if let PatternKind::Call { commutative, associative, .. } = pattern.kind {
            modifiers.extend(commutative.then_some(Modifier::Commutative));
            modifiers.extend(associative.then_some(Modifier::Associative));
        }
        let form = pat(self.pattern_syntax(&pattern.kind));
        if modifiers.is_empty() { form } else { pat(PatSyntax::Modified(modifiers, form)) }
    }

    fn pattern_syntax(&mut self, kind: &PatternKind) -> PatSyntax {
        match kind {
            PatternKind::Wildcard => PatSyntax::Wildcard,
            PatternKind::Const { value, splat, tensor } => self.constant(*value, *splat, tensor),
            PatternKind::Variable(tensor) => PatSyntax::Variable(self.tensor(tensor)),
            PatternKind::Call { op, args, attrs, rest, .. } => self.call(*op, args, attrs, *rest),
            PatternKind::Tuple(fields) => PatSyntax::Tuple(self.patterns(fields)),
            PatternKind::Proj { tuple, index } => {
                PatSyntax::Proj(self.pattern(*tuple), self.expression(*index))
            }
            PatternKind::Variadic { .. } => self.variadic(kind),
            PatternKind::Inst { variadic, template, index } => {
                PatSyntax::Inst(self.instance(*variadic, *template, *index))
            }
            PatternKind::Alt(options) => PatSyntax::Alt(self.patterns(options)),
            PatternKind::Not(inner) => PatSyntax::Not(self.pattern(*inner)),
            PatternKind::Cond { condition, then, otherwise } => PatSyntax::If(
                self.expression(*condition),
                self.pattern(*then),
                self.pattern(*otherwise),
            ),
            PatternKind::Case { subject, arms } => {
                let options = self.options(*subject);
                PatSyntax::Case(
                    self.pattern_name(*subject),
                    options.into_iter().zip(self.patterns(arms)).collect(),
                )
            }
            PatternKind::Native { name: native, args, attrs } => PatSyntax::Native {
                name: name(native),
                args: self.patterns(args),
                attrs: self.attributes(attrs, None),
            },
        }
    }

    /// Returns the names of the options of an alternative.
    fn options(&self, subject: PatId) -> Vec<Name> {
        match &self.rule.pattern(subject).kind {
            PatternKind::Alt(options) => options.iter().map(|id| self.pattern_name(*id)).collect(),
            _ => Vec::new(),
        }
    }

    fn constant(&mut self, value: Option<ExprId>, splat: bool, tensor: &TensorFields) -> PatSyntax {
        let number = value.filter(|id| {
            let expr = self.rule.expr(*id);
            let number = match expr.kind {
                ExprKind::Int(_) => true,
                ExprKind::Float(value) => value.get().is_finite(),
                _ => false,
            };
            number && expr.name.is_none()
        });
        match number {
            Some(id) if splat && *tensor == TensorFields::default() => {
                PatSyntax::Literal(self.expression(id))
            }
            _ => PatSyntax::Const {
                value: value.map(|id| self.expression(id)),
                splat,
                attrs: self.tensor(tensor),
            },
        }
    }

    fn tensor(&mut self, tensor: &TensorFields) -> Vec<Attr> {
        let fields: Vec<_> = tensor.fields().collect();
        let attr = |(key, value)| Attr::Field(name(key), self.expression(value));
        fields.into_iter().map(attr).collect()
    }

    fn call(
        &mut self,
        op: OpId,
        args: &[PatId],
        attrs: &[Field],
        rest: Option<PatId>,
    ) -> PatSyntax {
        let op = self.rule.op(op);
        let plain = attrs.is_empty() && rest.is_none();
        let mut args = self.patterns(args);
        if let (OpChoice::Name(text), None, true) = (&op.choice, &op.name, plain) {
            if let (Some(sign), 2) = (sign_of(text), args.len()) {
                let rhs = args.pop().expect("two operands");
                let lhs = args.pop().expect("two operands");
                return PatSyntax::Binary(sign, lhs, rhs);
            }
            if text == "negative" && args.len() == 1 {
                return PatSyntax::Neg(args.pop().expect("one operand"));
            }
        }
        let text = match (&op.name, &op.choice) {
            (Some(text), _) | (None, OpChoice::Name(text)) => text.as_str(),
            _ => "",
        };
        PatSyntax::Call { op: name(text), args, attrs: self.attributes(attrs, rest) }
    }

    /// Writes attributes; a run of them taken from one call under their own names as `c.{...}`.
    fn attributes(&mut self, fields: &[Field], rest: Option<PatId>) -> Vec<Attr> {
        let mut attrs = Vec::new();
        let mut at = 0;
        while let Some(field) = fields.get(at) {
            let from = self.same_name_source(field);
            let run = fields[at..].iter().take_while(|f| self.same_name_source(f) == from).count();
            match from {
                Some(from) if run > 1 => {
                    let names = fields[at..at + run].iter().map(|f| name(&f.name)).collect();
                    attrs.push(Attr::Copy(self.pattern_name(from), names));
                    at += run;
                }
                _ => {
                    attrs.push(Attr::Field(name(&field.name), self.expression(field.value)));
                    at += 1;
                }
            }
        }
        attrs.extend(rest.map(|from| Attr::Rest(self.pattern_name(from))));
        attrs
    }

    /// Returns `c` if the attribute has the form `l = c.l`.
    fn same_name_source(&self, field: &Field) -> Option<PatId> {
        let expr = self.rule.expr(field.value);
        match &expr.kind {
            ExprKind::Access { pattern, attribute }
                if *attribute == field.name
                    && expr.name.is_none()
                    && self.rule.pattern(*pattern).name.is_some() =>
            {
                Some(*pattern)
            }
            _ => None,
        }
    }

    fn variadic(&mut self, kind: &PatternKind) -> PatSyntax {
        let PatternKind::Variadic { field, templates, index, length, min_len } = kind else {
            return PatSyntax::Wildcard;
        };
        let data = self.rule.data();
        let default = default_templates(&data.patterns, &data.exprs, *field, *index);
        let plain = templates.iter().all(|template| template.first.is_none());
        let written = if plain && templates.iter().map(|template| template.pattern).eq(default) {
            None
        } else {
            let template = |template: &crate::ast::Template| {
                let first = template.first.map(|id| self.pattern_name(id));
                (self.pattern_name(template.pattern), first)
            };
            Some(templates.iter().map(template).collect())
        };
        let length = length.map(|id| self.expression(id));
        let depth = self.bound.len();
        self.bound.extend(*index);
        let field = self.pattern(*field);
        self.bound.truncate(depth);
        let index = index.map(|id| name(&self.rule.symbol(id).name));
        PatSyntax::Variadic(VariadicSyntax {
            field,
            templates: written,
            index,
            length,
            min: *min_len,
        })
    }

    fn instance(&mut self, variadic: PatId, template: PatId, index: ExprId) -> Inst {
        Inst {
            variadic: self.pattern_name(variadic),
            template: self.pattern_name(template),
            index: self.expression(index),
        }
    }

    fn expression(&mut self, id: ExprId) -> Exp {
        match &self.rule.expr(id).name {
            Some(text) => exp(ExpSyntax::Name(name(text))),
            None => exp(self.expression_form(id)),
        }
    }

    fn expressions(&mut self, ids: &[ExprId]) -> Vec<Exp> {
        ids.iter().map(|id| self.expression(*id)).collect()
    }

    fn expression_form(&mut self, id: ExprId) -> ExpSyntax {
        match &self.rule.expr(id).kind {
            ExprKind::Int(value) => ExpSyntax::Int(*value),
            ExprKind::Bool(value) => ExpSyntax::Bool(*value),
            ExprKind::Float(value) => ExpSyntax::Float(value.get()),
            ExprKind::Str(text) => ExpSyntax::Str(text.clone()),
            ExprKind::Any => ExpSyntax::Any,
            ExprKind::Access { pattern, attribute } => {
                ExpSyntax::Access(self.accessed(*pattern), name(attribute))
            }
            ExprKind::Symbol(id) => {
                if !self.bound.contains(id) {
                    self.free.insert(*id);
                }
                ExpSyntax::Name(name(&self.rule.symbol(*id).name))
            }
            ExprKind::Unary { op, operand } => ExpSyntax::Unary(*op, self.expression(*operand)),
            ExprKind::Binary { op, lhs, rhs } => {
                ExpSyntax::Binary(*op, self.expression(*lhs), self.expression(*rhs))
            }
            ExprKind::Tuple(fields) => ExpSyntax::Tuple(self.expressions(fields)),
            ExprKind::Proj { tuple, index } => {
                ExpSyntax::Proj(self.expression(*tuple), self.expression(*index))
            }
            ExprKind::Slice { tuple, start, stop, step } => {
                let bounds = [*start, *stop, *step].map(|b| b.map(|id| self.expression(id)));
                ExpSyntax::Slice(self.expression(*tuple), bounds)
            }
            ExprKind::In { value, tuple } => {
                ExpSyntax::In(self.expression(*value), self.expression(*tuple))
            }
            ExprKind::Map { symbol, tuple, body } => {
                let over = Over::Fields(self.expression(*tuple));
                ExpSyntax::Comprehension(self.generator(*symbol, *body, over))
            }
            ExprKind::Var { symbol, length, body } => {
                let over = Over::Below(self.expression(*length));
                ExpSyntax::Comprehension(self.generator(*symbol, *body, over))
            }
            ExprKind::ReduceRange { op, symbol, length, body } => {
                let over = Over::Below(self.expression(*length));
                let generator = self.generator(*symbol, *body, over);
                ExpSyntax::Call(name(op.text()), vec![generator])
            }
            ExprKind::Cond { condition, then, otherwise } => ExpSyntax::If(
                self.expression(*condition),
                self.expression(*then),
                self.expression(*otherwise),
            ),
            ExprKind::Case { subject, arms } => {
                let options = self.options(*subject);
                let arms = options.into_iter().zip(self.expressions(arms)).collect();
                ExpSyntax::Case(self.pattern_name(*subject), arms)
            }
            ExprKind::Native { name: native, args } => {
                let args = args.iter().map(|arg| self.native_arg(*arg)).collect();
                ExpSyntax::Native(name(native), args)
            }
            other => self.function(other),
        }
    }

    /// The forms that are written as a function of their operands.
    fn function(&mut self, kind: &ExprKind) -> ExpSyntax {
        let (text, args) = match kind {
            ExprKind::Len(tuple) => ("len", vec![*tuple]),
            ExprKind::Reverse(tuple) => ("reverse", vec![*tuple]),
            ExprKind::Zip(tuples) => ("zip", tuples.clone()),
            ExprKind::Remap { source, target } => ("remap", vec![*source, *target]),
            ExprKind::ReduceTuple { op, tuple } => (op.text(), vec![*tuple]),
            ExprKind::Call { function, args } => (function.text(), args.clone()),
            ExprKind::Range { start: None, stop, step: None } => ("range", vec![*stop]),
            ExprKind::Range { start, stop, step } => {
                let zero = Exp::new(ExpSyntax::Int(0), Span::default());
                let start = start.map_or(zero, |id| self.expression(id));
                let mut args = vec![start, self.expression(*stop)];
                args.extend(step.map(|id| self.expression(id)));
                return ExpSyntax::Call(name("range"), args);
            }
            _ => return ExpSyntax::Any,
        };
        ExpSyntax::Call(name(text), self.expressions(&args))
    }

    fn generator(&mut self, symbol: SymId, body: ExprId, over: Over) -> Exp {
        self.bound.push(symbol);
        let body = self.expression(body);
        self.bound.pop();
        exp(ExpSyntax::Generator(body, name(&self.rule.symbol(symbol).name), over))
    }

    /// What stands before the dot of an access: a name, or an instance.
    fn accessed(&mut self, id: PatId) -> Exp {
        let pattern = self.rule.pattern(id);
        match (&pattern.name, &pattern.kind) {
            (None, PatternKind::Inst { variadic, template, index }) => {
                exp(ExpSyntax::Inst(self.instance(*variadic, *template, *index)))
            }
            _ => exp(ExpSyntax::Name(self.pattern_name(id))),
        }
    }

    fn native_arg(&mut self, arg: NativeArg) -> Exp {
        match arg {
            NativeArg::Pattern(id) => exp(ExpSyntax::Name(self.pattern_name(id))),
            NativeArg::Expr(id) => self.expression(id),
        }
    }
}

fn sign_of(op: &str) -> Option<BinaryOp> {
    match op {
        "add" => Some(BinaryOp::Add),
        "subtract" => Some(BinaryOp::Sub),
        "multiply" => Some(BinaryOp::Mul),
        "divide" => Some(BinaryOp::Div),
        _ => None,
    }
}

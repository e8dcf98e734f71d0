//! Patterns: each kind in its form.

use super::super::syntax::{Attr, Inst, Name, PatSyntax, VariadicSyntax};
use super::{Raise, name};
use crate::ast::{
    BinaryOp, ExprId, ExprKind, Field, OpChoice, OpId, PatId, PatternKind, TensorFields,
    default_templates,
};

impl Raise<'_> {
    pub(super) fn pattern_syntax(&mut self, kind: &PatternKind) -> PatSyntax {
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
    pub(super) fn options(&self, subject: PatId) -> Vec<Name> {
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

    pub(super) fn instance(&mut self, variadic: PatId, template: PatId, index: ExprId) -> Inst {
        let (mut variadic, mut steps) = (variadic, vec![(template, index)]);
        while let (None, &PatternKind::Inst { variadic: outer, template, index }) =
            (&self.rule.pattern(variadic).name, &self.rule.pattern(variadic).kind)
        {
            steps.push((template, index));
            variadic = outer;
        }
        let mut step = |(template, index)| (self.pattern_name(template), self.expression(index));
        let steps = steps.into_iter().rev().map(&mut step).collect();
        Inst { variadic: self.pattern_name(variadic), steps }
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

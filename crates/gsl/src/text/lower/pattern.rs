//! From the syntax of patterns to pattern graphs, names resolved.

use rustc_hash::FxHashSet;

use super::{Binding, Diagnostic, Lower, Lowered};
use crate::ast::{
    BinaryOp, ExprId, Field, OpId, PatId, PatternKind, Template, TensorFields, VariadicSpec,
    default_templates,
};
use crate::text::syntax::{Attr, Inst, Modifier, Name, Pat, PatSyntax, VariadicSyntax};

/// The attributes of a call, and whose others it copies.
#[derive(Default)]
struct Attributes {
    fields: Vec<Field>,
    spans: Vec<crate::diagnostic::Span>,
    names: FxHashSet<String>,
    rest: Option<PatId>,
}

impl Lower<'_> {
    pub(super) fn pattern(&mut self, pat: &Pat) -> Lowered<PatId> {
        match &*pat.kind {
            PatSyntax::Name(name) => self.resolve_pattern(name),
            PatSyntax::As(inner, name) => {
                let id = self.pattern(inner)?;
                self.name_pattern(id, name)?;
                Ok(id)
            }
            PatSyntax::Modified(modifiers, inner) => self.modified(modifiers, inner),
            _ => {
                let mut attributes = Attributes::default();
                let kind = self.pattern_kind(pat, &mut attributes)?;
                let id = self.builder.pattern(kind);
                self.spans.patterns.insert(id, pat.span);
                for (field, span) in attributes.fields.iter().zip(attributes.spans) {
                    self.spans.fields.insert((id, field.name.clone()), span);
                }
                Ok(id)
            }
        }
    }

    fn patterns(&mut self, pats: &[Pat]) -> Lowered<Vec<PatId>> {
        pats.iter().map(|pat| self.pattern(pat)).collect()
    }

    fn modified(&mut self, modifiers: &[Modifier], inner: &Pat) -> Lowered<PatId> {
        if let PatSyntax::Name(name) = &*inner.kind {
            let message =
                format!("`{}` is defined elsewhere and cannot be changed here", name.text);
            let error = Diagnostic::error("late-modifier", inner.span, message)
                .hint("write the modifier where the pattern is defined");
            return Err(self.report(error));
        }
        let id = self.pattern(inner)?;
        for modifier in modifiers {
            let pattern = self.builder.pattern_mut(id);
            match (modifier, &mut pattern.kind) {
                (Modifier::Only, _) => pattern.only = true,
                (Modifier::Alias, _) => pattern.may_alias = true,
                (Modifier::Commutative, PatternKind::Call { commutative, .. }) => {
                    *commutative = true;
                }
                (Modifier::Associative, PatternKind::Call { associative, .. }) => {
                    *associative = true;
                }
                _ => {
                    let message = format!("`{}` describes an operator call", modifier.text());
                    let error = Diagnostic::error("modifier-not-call", inner.span, message);
                    return Err(self.report(error));
                }
            }
        }
        Ok(id)
    }

    fn pattern_kind(&mut self, pat: &Pat, attributes: &mut Attributes) -> Lowered<PatternKind> {
        Ok(match &*pat.kind {
            PatSyntax::Wildcard => PatternKind::Wildcard,
            PatSyntax::Literal(exp) => {
                let value = Some(self.expression(exp)?);
                PatternKind::Const { value, splat: true, tensor: TensorFields::default() }
            }
            PatSyntax::Const { value, splat, attrs } => {
                let value = value.as_ref().map(|exp| self.expression(exp)).transpose()?;
                let tensor = self.tensor_fields(attrs, attributes)?;
                PatternKind::Const { value, splat: *splat, tensor }
            }
            PatSyntax::Variable(attrs) => {
                PatternKind::Variable(self.tensor_fields(attrs, attributes)?)
            }
            PatSyntax::Call { op, args, attrs } => {
                let op = self.operator(op)?;
                let args = self.patterns(args)?;
                *attributes = self.attributes(attrs)?;
                call(op, args, attributes)
            }
            PatSyntax::Binary(op, lhs, rhs) => {
                let op = self.builder.op(operator_of(*op));
                let args = vec![self.pattern(lhs)?, self.pattern(rhs)?];
                call(op, args, attributes)
            }
            PatSyntax::Neg(operand) => {
                let op = self.builder.op("negative");
                let args = vec![self.pattern(operand)?];
                call(op, args, attributes)
            }
            PatSyntax::Tuple(fields) => PatternKind::Tuple(self.patterns(fields)?),
            PatSyntax::Proj(tuple, index) => {
                PatternKind::Proj { tuple: self.pattern(tuple)?, index: self.expression(index)? }
            }
            PatSyntax::Inst(inst) => self.instance(inst)?,
            PatSyntax::Variadic(variadic) => self.variadic(variadic)?,
            PatSyntax::Alt(options) => PatternKind::Alt(self.patterns(options)?),
            PatSyntax::Not(inner) => PatternKind::Not(self.pattern(inner)?),
            PatSyntax::If(condition, then, otherwise) => PatternKind::Cond {
                condition: self.expression(condition)?,
                then: self.pattern(then)?,
                otherwise: self.pattern(otherwise)?,
            },
            PatSyntax::Case(subject, arms) => {
                let (subject, arms) = self.arms(subject, arms)?;
                PatternKind::Case { subject, arms: self.patterns(&arms)? }
            }
            PatSyntax::Native { name, args, attrs } => {
                let args = self.patterns(args)?;
                *attributes = self.attributes(attrs)?;
                let attrs = attributes.fields.clone();
                PatternKind::Native { name: name.text.clone(), args, attrs }
            }
            PatSyntax::Name(_) | PatSyntax::As(..) | PatSyntax::Modified(..) => {
                unreachable!("`pattern` handles these")
            }
        })
    }

    pub(super) fn instance(&mut self, inst: &Inst) -> Lowered<PatternKind> {
        let mut variadic = self.resolve_pattern(&inst.variadic)?;
        let mut found = None;
        for (template, index) in &inst.steps {
            if let Some(outer) = found.take() {
                variadic = self.builder.pattern(outer);
                self.spans.patterns.insert(variadic, inst.variadic.span);
            }
            let template = self.resolve_pattern(template)?;
            let index = self.expression(index)?;
            found = Some(PatternKind::Inst { variadic, template, index });
        }
        found.ok_or(super::Stop)
    }

    fn operator(&mut self, name: &Name) -> Lowered<OpId> {
        let id = match self.scope.get(&name.text).copied() {
            Some((Binding::Op(id), _)) => return Ok(id),
            Some((other, _)) => return Err(self.mismatch(name, other, "an operator")),
            None => self.builder.op(&name.text),
        };
        self.spans.ops.entry(id).or_insert(name.span);
        Ok(id)
    }

    fn variadic(&mut self, variadic: &VariadicSyntax) -> Lowered<PatternKind> {
        let (index, field) = match &variadic.index {
            Some(name) => {
                let (id, field) = self.with_symbol(name, |s| s.pattern(&variadic.field))?;
                (Some(id), field)
            }
            None => (None, self.pattern(&variadic.field)?),
        };
        let templates = match &variadic.templates {
            Some(names) => names
                .iter()
                .map(|(template, first)| {
                    let pattern = self.resolve_pattern(template)?;
                    let first = first.as_ref().map(|f| self.resolve_pattern(f)).transpose()?;
                    Ok(Template { pattern, first })
                })
                .collect::<Lowered<_>>()?,
            None => {
                let data = self.builder.data();
                default_templates(&data.patterns, &data.exprs, field, index)
                    .into_iter()
                    .map(|pattern| Template { pattern, first: None })
                    .collect()
            }
        };
        let length = variadic.length.as_ref().map(|exp| self.expression(exp)).transpose()?;
        let VariadicSpec { templates, index, length, min_len } =
            VariadicSpec { templates, index, length, min_len: variadic.min };
        Ok(PatternKind::Variadic { field, templates, index, length, min_len })
    }

    fn attributes(&mut self, attrs: &[Attr]) -> Lowered<Attributes> {
        let mut all = Attributes::default();
        for attr in attrs {
            match attr {
                Attr::Field(name, exp) => {
                    let value = self.expression(exp)?;
                    self.attribute(&mut all, name, value)?;
                }
                Attr::Copy(from, names) => {
                    let pattern = self.resolve_pattern(from)?;
                    for name in names {
                        let value = self.builder.access(pattern, &name.text);
                        self.spans.exprs.entry(value).or_insert(name.span);
                        self.attribute(&mut all, name, value)?;
                    }
                }
                Attr::Rest(name) if all.rest.is_none() => {
                    all.rest = Some(self.resolve_pattern(name)?);
                }
                Attr::Rest(name) => {
                    let message = "the attributes are copied from two calls";
                    return Err(self.report(Diagnostic::error(
                        "duplicate-name",
                        name.span,
                        message,
                    )));
                }
            }
        }
        Ok(all)
    }

    fn attribute(&mut self, all: &mut Attributes, name: &Name, value: ExprId) -> Lowered<()> {
        if !all.names.insert(name.text.clone()) {
            let message = format!("attribute `{}` is given twice", name.text);
            return Err(self.report(Diagnostic::error("duplicate-name", name.span, message)));
        }
        all.fields.push(Field { name: name.text.clone(), value });
        all.spans.push(name.span);
        Ok(())
    }

    fn tensor_fields(&mut self, attrs: &[Attr], all: &mut Attributes) -> Lowered<TensorFields> {
        *all = self.attributes(attrs)?;
        let mut tensor = TensorFields::default();
        for (field, span) in all.fields.iter().zip(&all.spans) {
            let slot = match field.name.as_str() {
                "shape" => &mut tensor.shape,
                "dtype" => &mut tensor.dtype,
                "ndim" => &mut tensor.ndim,
                other => {
                    let message = format!("a tensor has no attribute `{other}`");
                    let error = Diagnostic::error("unknown-attribute", *span, message)
                        .hint("it has `shape`, `dtype` and `ndim`");
                    return Err(self.report(error));
                }
            };
            *slot = Some(field.value);
        }
        Ok(tensor)
    }
}

fn call(op: OpId, args: Vec<PatId>, attributes: &Attributes) -> PatternKind {
    PatternKind::Call {
        op,
        args,
        attrs: attributes.fields.clone(),
        rest: attributes.rest,
        commutative: false,
        associative: false,
    }
}

/// Returns the operator that an arithmetic sign stands for between patterns.
fn operator_of(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "subtract",
        BinaryOp::Mul => "multiply",
        _ => "divide",
    }
}

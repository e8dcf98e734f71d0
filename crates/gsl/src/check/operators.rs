//! Operators, operands and attributes against the schema.

use super::schema::{AttrKind, OpSchema, Results, Schema};
use super::{Checker, suggest};
use crate::ast::{Expr, ExprId, ExprKind, Field, OpChoice, OpId, PatId, PatternKind};
use crate::diagnostic::Diagnostic;
use crate::schema::onnx_names;

impl<'r> Checker<'r> {
    pub(super) fn operators(&mut self) {
        let rule = self.rule;
        rule.ops().for_each(|(id, _)| self.operator_known(id));
        let built = self.built();
        for (id, pattern) in rule.patterns() {
            if let PatternKind::Call { op, args, attrs, rest, .. } = &pattern.kind {
                let Some(schema) = self.single(*op) else { continue };
                self.arity(id, schema, args);
                self.attributes_known(id, schema, attrs);
                if built.contains(&id) && rest.is_none() {
                    self.attributes_given(id, schema, attrs);
                }
            }
        }
        for (id, expr) in rule.exprs() {
            if let ExprKind::Access { pattern, attribute } = &expr.kind {
                self.access(id, *pattern, attribute);
            }
        }
        self.any_in_target(&built);
    }

    fn operator_known(&mut self, id: OpId) {
        let span = self.spans.op(id);
        let schema = self.schema;
        match &self.rule.op(id).choice {
            OpChoice::Name(name) => self.name_known(name, span),
            OpChoice::OneOf(names) => names.iter().for_each(|name| self.name_known(name, span)),
            OpChoice::Trait(name) => {
                let known = || schema.operators().flat_map(|op| op.traits.iter());
                if !known().any(|known| known == name) {
                    let known = known().map(String::as_str);
                    let near = suggest::nearest(name, self.found.len(), known);
                    let hint = near.map(|near| format!("did you mean `{near}`?"));
                    let message = format!("no operator has the trait `{name}`");
                    let found = Diagnostic::error("unknown-trait", span, message);
                    self.found.push(found.maybe_hint(hint));
                }
            }
        }
    }

    fn name_known(&mut self, name: &str, span: crate::diagnostic::Span) {
        if self.schema.operator(name).is_none() && !is_foreign(name, self.schema) {
            let schema = self.schema;
            let names = || schema.operators().map(|op| op.name.as_str());
            let near = || suggest::nearest(name, self.found.len(), names());
            let of_onnx = onnx_names::hint(name, &|name| schema.operator(name).is_some());
            let hint = of_onnx.or_else(|| Some(format!("did you mean `{}`?", near()?)));
            let message = format!("unknown operator `{name}`");
            let found = Diagnostic::error("unknown-operator", span, message);
            self.found.push(found.maybe_hint(hint));
        }
    }

    /// Returns the definition of an operator that is not a choice.
    fn single(&self, op: OpId) -> Option<&'r OpSchema> {
        match &self.rule.op(op).choice {
            OpChoice::Name(name) => self.schema.operator(name),
            _ => None,
        }
    }

    fn arity(&mut self, id: PatId, schema: &OpSchema, args: &[PatId]) {
        // A tuple or variadic stands for any number of operands.
        let spread = args.iter().any(|arg| {
            let kind = &self.rule.pattern(*arg).kind;
            matches!(kind, PatternKind::Variadic { .. } | PatternKind::Tuple(_))
        });
        let (least, most) = schema.arity();
        let enough = args.len() >= least;
        if spread || (enough && most.is_none_or(|most| args.len() <= most)) {
            return;
        }
        let names: Vec<_> = schema.operands.iter().map(|o| o.name.as_str()).collect();
        let expected = match most {
            Some(most) if most == least => least.to_string(),
            Some(most) => format!("{least} to {most}"),
            None => format!("at least {least}"),
        };
        let message =
            format!("`{}` takes {expected} operands, {} are given", schema.name, args.len());
        let hint = format!("its operands are: {}", names.join(", "));
        self.error("wrong-arity", self.spans.pattern(id), message, &hint);
    }

    fn attributes_known(&mut self, id: PatId, schema: &OpSchema, attrs: &[Field]) {
        for field in attrs {
            let span = self.spans.field(id, &field.name);
            match schema.attribute(&field.name) {
                None => self.unknown_attribute(span, schema, &field.name),
                Some(attr) => {
                    if let Some(found) = self.wrong_kind(field.value, attr.kind) {
                        let message = format!(
                            "attribute `{}` of `{}` is {}, this is {found}",
                            attr.name,
                            schema.name,
                            kind_name(attr.kind),
                        );
                        self.found.push(Diagnostic::error("attribute-type", span, message));
                    }
                }
            }
        }
    }

    fn unknown_attribute(&mut self, span: crate::diagnostic::Span, schema: &OpSchema, name: &str) {
        let names = || schema.attributes.iter().map(|attr| attr.name.as_str());
        let hint = match suggest::nearest(name, self.found.len(), names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has: {}", names().collect::<Vec<_>>().join(", ")),
        };
        let message = format!("`{}` has no attribute `{name}`", schema.name);
        self.error("unknown-attribute", span, message, &hint);
    }

    fn attributes_given(&mut self, id: PatId, schema: &OpSchema, attrs: &[Field]) {
        for attr in schema.attributes.iter().filter(|attr| attr.required) {
            if !attrs.iter().any(|field| field.name == attr.name) {
                let message = format!("a new `{}` needs attribute `{}`", schema.name, attr.name);
                let hint = format!("write `{{ {} = ... }}`, or copy all with `..c`", attr.name);
                self.error("missing-attribute", self.spans.pattern(id), message, &hint);
            }
        }
    }

    /// Returns what a constant expression is, if no value of `kind` can be.
    fn wrong_kind(&self, value: ExprId, kind: AttrKind) -> Option<&'static str> {
        let (found, fits) = match &self.rule.expr(value).kind {
            ExprKind::Int(_) => ("an integer", matches!(kind, AttrKind::Int | AttrKind::Float)),
            ExprKind::Float(_) => ("a float", kind == AttrKind::Float),
            ExprKind::Bool(_) => ("a truth value", kind == AttrKind::Bool),
            ExprKind::Str(_) => ("a string", matches!(kind, AttrKind::Str | AttrKind::TupleOrStr)),
            ExprKind::Tuple(_) => {
                ("a tuple", matches!(kind, AttrKind::Tuple | AttrKind::TupleOrStr))
            }
            _ => return None,
        };
        (!fits && kind != AttrKind::Any).then_some(found)
    }

    fn access(&mut self, id: ExprId, pattern: PatId, attribute: &str) {
        let tensor = matches!(attribute, "shape" | "dtype" | "ndim" | "value");
        let kind = &self.rule.pattern(pattern).kind;
        let known = match kind {
            PatternKind::Variadic { .. } | PatternKind::Tuple(_) => attribute == "length" || tensor,
            PatternKind::Proj { .. } => tensor || attribute == "index",
            PatternKind::Call { op, .. } => {
                if let Some(schema) = self.single(*op)
                    && !tensor
                    && !(attribute == "length" && schema.results != Results::Fixed(1))
                    && schema.attribute(attribute).is_none()
                {
                    self.unknown_attribute(self.spans.expr(id), schema, attribute);
                }
                true
            }
            PatternKind::Wildcard | PatternKind::Const { .. } | PatternKind::Variable(_) => tensor,
            _ => true,
        };
        if !known {
            let message = format!("{} has no attribute `{attribute}`", self.describe(pattern));
            let hint = "values have `shape`, `dtype` and `ndim`; variadic patterns `length`";
            self.error("unknown-attribute", self.spans.expr(id), message, hint);
        }
    }

    /// `_` has no value, so nothing can be made from it.
    fn any_in_target(&mut self, built: &[PatId]) {
        let rule = self.rule;
        let mut stack = Vec::new();
        for id in built {
            stack.extend(rule.pattern(*id).references());
        }
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(reference) = stack.pop() {
            if let crate::ast::Reference::Expr(id) = reference
                && seen.insert(id)
            {
                let Expr { kind, .. } = rule.expr(id);
                if *kind == ExprKind::Any {
                    let message = "`_` has no value to make something of".to_owned();
                    let hint = "give the value, or take it from a matched pattern";
                    self.error("any-in-target", self.spans.expr(id), message, hint);
                }
                stack.extend(rule.expr(id).references());
            }
        }
    }
}

/// Returns whether a name is that of an operator of one's own, `acme.ScaledTanh`: it has a domain
/// which no operation has that is known. What it takes and computes is not known.
pub(crate) fn is_foreign(name: &str, schema: &dyn Schema) -> bool {
    let Some((domain, operator)) = name.rsplit_once('.') else { return false };
    let knows = |known: &str| known.rsplit_once('.').is_some_and(|(other, _)| other == domain);
    let known = matches!(domain, "nn" | "onnx")
        || schema.operators().any(|op| !op.is_defined && knows(&op.name));
    !known && !operator.is_empty()
}

fn kind_name(kind: AttrKind) -> &'static str {
    match kind {
        AttrKind::Int => "an integer",
        AttrKind::Float => "a float",
        AttrKind::Bool => "a truth value",
        AttrKind::Str => "a string",
        AttrKind::Tuple => "a tuple",
        AttrKind::TupleOrStr => "a tuple or a string",
        AttrKind::Any => "of any kind",
    }
}

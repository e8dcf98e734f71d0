//! Attribute dictionaries of new operations.

use tangram_dialects::{constant, dtype};
use tangram_ir::{Attr, AttrKind, Context, Diagnostic, FloatKind, Module, OpDef, Str, Value};
use tangram_tensor::DType;

use super::build::Builder;
use super::tensor;
use crate::ast::{ExprId, ExprKind, PatId, PatternKind};
use crate::eval::AttrValue;
use crate::matching::{Frame, show};

impl Builder<'_, '_> {
    /// Makes the dictionary of a call: what it copies, then what it gives.
    ///
    /// Numbers of attributes have 32 bits. Beside operands of 64 bits one that does not fit would be
    /// another number.
    pub(super) fn attributes(
        &mut self,
        frame: Frame,
        id: PatId,
        def: Option<&'static OpDef>,
        operands: &[Value],
    ) -> Result<Attr, Diagnostic> {
        let plan = self.plan;
        let PatternKind::Call { attrs, rest, .. } = &plan.rule().pattern(id).kind else {
            return Ok(Attr::EMPTY_DICT);
        };
        let mut entries: Vec<(Str, Attr)> = Vec::new();
        if let Some(rest) = rest {
            let target = self.bindings.target(plan, frame, *rest);
            let Some(op) = target.and_then(|target| target.op(self.module())) else {
                return Err(self.refuse("not-matched", "attributes are copied from nothing"));
            };
            let context = self.module().context();
            let copied = context.entries(self.module().attrs(op)).iter().copied();
            let given = |name: Str| attrs.iter().any(|f| f.name == context.text(name));
            entries.extend(copied.filter(|(name, _)| !given(*name)));
        }
        for field in attrs {
            let attr = match self.copied(frame, &field.name, field.value) {
                Some(attr) => attr,
                None => {
                    let value = self.evaluate(frame, field.value)?;
                    let kind = def.and_then(|def| def.attr(&field.name));
                    let kind = kind.map_or(AttrKind::Any, |attr| attr.kind);
                    let wide = || operands.iter().any(|v| self.dtype(*v) == Some(DType::F64));
                    if loses_digits(kind, &value) && wide() {
                        let value = show(&value);
                        let message = format!(
                            "attribute `{}` has 32 bits and does not hold {value}, which counts \
                             beside operands of float64",
                            field.name
                        );
                        return Err(self.refuse("attribute", &message));
                    }
                    Some(self.attribute(&field.name, kind, &value)?)
                }
            };
            let name = self.module().context().str(&field.name);
            entries.extend(attr.map(|attr| (name, attr)));
        }
        Ok(self.module().context().dict(entries))
    }

    /// The attribute of the same name of a matched call is copied as it is, or left out as there.
    fn copied(&self, frame: Frame, name: &str, expr: ExprId) -> Option<Option<Attr>> {
        let rule = self.plan.rule();
        let ExprKind::Access { pattern, attribute } = &rule.expr(expr).kind else { return None };
        let tensor = matches!(name, "shape" | "dtype" | "ndim" | "value");
        if attribute != name || tensor {
            return None;
        }
        let PatternKind::Call { .. } = rule.pattern(*pattern).kind else { return None };
        let op = self.bindings.target(self.plan, frame, *pattern)?.op(self.module())?;
        Some(self.module().attr(op, name))
    }

    fn attribute(
        &mut self,
        name: &str,
        kind: AttrKind,
        value: &AttrValue,
    ) -> Result<Attr, Diagnostic> {
        let found = match kind {
            AttrKind::Tensor => {
                let dtype = tensor::natural_dtype(value);
                let made = tensor::from_value(value, dtype, None).ok();
                made.map(|made| self.tensor_attr(&made))
            }
            _ => to_attr(self.module(), kind, value),
        };
        let message = || format!("attribute `{name}` cannot be {}", show(value));
        found.ok_or_else(|| self.refuse("attribute", &message()))
    }

    /// Stores a tensor; a key that this makes is dropped when the rewrite is refused.
    pub(super) fn tensor_attr(&mut self, tensor: &tangram_tensor::Tensor) -> Attr {
        // The number of operations so far never repeats, so that the key is free.
        let key = format!("made.{}", self.module().op_capacity());
        let known = self.module().context().str(&key);
        let fresh = self.module().resources().find(known).is_none();
        let attr = constant::computed_attr(self.rewriter.module_mut_unheard(), tensor, &key);
        if fresh && self.module().resources().find(known).is_some() {
            self.keys.push(known);
        }
        attr
    }
}

/// Returns a value as an attribute of a kind; none if it is not one.
pub(crate) fn to_attr(module: &Module, kind: AttrKind, value: &AttrValue) -> Option<Attr> {
    let context = module.context();
    match (kind, value.plain()) {
        (AttrKind::Int | AttrKind::Any, AttrValue::Int(n)) => Some(context.i64_attr(*n)),
        (AttrKind::Float, _) => Some(single(context, number(value)?)),
        (AttrKind::Any, AttrValue::Float(x) | AttrValue::Single(x)) => Some(single(context, *x)),
        (AttrKind::Bool | AttrKind::Any, AttrValue::Bool(b)) => Some(context.bool_attr(*b)),
        (AttrKind::Str | AttrKind::Any, AttrValue::Str(text)) => Some(context.str_attr(text)),
        (AttrKind::Enum(names) | AttrKind::IntsOr(names), AttrValue::Str(text)) => {
            names.contains(&text.as_str()).then(|| context.str_attr(text))
        }
        (AttrKind::DType | AttrKind::Type, AttrValue::Str(text)) => {
            let named = DType::ALL.into_iter().find(|dtype| dtype.name() == text)?;
            Some(context.type_attr(dtype::type_of(context, named)))
        }
        (AttrKind::Ints | AttrKind::IntsOr(_), AttrValue::Tuple(fields)) => {
            integers(context, fields)
        }
        (AttrKind::Floats, AttrValue::Tuple(fields)) => {
            let item = |x| Some(single(context, number(x)?));
            Some(context.array_attr(&fields.iter().map(item).collect::<Option<Vec<_>>>()?))
        }
        (AttrKind::Any, AttrValue::Tuple(fields)) => integers(context, fields).or_else(|| {
            // One level, as attributes have.
            let flat = fields.iter().all(|field| !matches!(field, AttrValue::Tuple(_)));
            let items = fields.iter().filter(|_| flat).map(|f| to_attr(module, kind, f));
            flat.then(|| Some(context.array_attr(&items.collect::<Option<Vec<_>>>()?)))?
        }),
        (AttrKind::Strs, AttrValue::Tuple(fields)) => {
            let item = |field: &AttrValue| to_attr(module, AttrKind::Str, field);
            Some(context.array_attr(&fields.iter().map(item).collect::<Option<Vec<_>>>()?))
        }
        _ => None,
    }
}

/// Whether a number of 32 bits is another one.
fn loses_digits(kind: AttrKind, value: &AttrValue) -> bool {
    // Of attributes of 32 bits too a product has more.
    let other = |value: &AttrValue| match value.plain() {
        AttrValue::Float(x) | AttrValue::Single(x) => !x.is_nan() && f64::from(*x as f32) != *x,
        _ => false,
    };
    match (kind, value) {
        (AttrKind::Float, value) => other(value),
        (AttrKind::Floats, AttrValue::Tuple(fields)) => fields.iter().any(other),
        _ => false,
    }
}

/// An attribute of 32 bits: the number nearest to `x`, as in a model that is read.
fn single(context: &Context, x: f64) -> Attr {
    context.float_attr(f64::from(x as f32), FloatKind::F32)
}

fn integers(context: &Context, fields: &[AttrValue]) -> Option<Attr> {
    let integer = |field: &AttrValue| match field.plain() {
        AttrValue::Int(n) => Some(*n),
        _ => None,
    };
    Some(context.i64s_attr(&fields.iter().map(integer).collect::<Option<Vec<_>>>()?))
}

fn number(value: &AttrValue) -> Option<f64> {
    match value.plain() {
        AttrValue::Int(n) => Some(*n as f64),
        AttrValue::Float(x) | AttrValue::Single(x) => Some(*x),
        _ => None,
    }
}

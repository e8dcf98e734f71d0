//! Attributes against the kinds that a definition asks for.

use super::Check;
use crate::attributes::{Attr, AttrData};
use crate::context::Context;
use crate::module::Op;
use crate::op_def::{AttrKind, OpDef};
use crate::text;
use crate::types::{Type, TypeData};

impl Check<'_> {
    pub(super) fn attributes(&mut self, op: Op, def: &OpDef) {
        for attr in def.attrs {
            match self.module.attr(op, attr.name) {
                None if attr.required => {
                    let kind = describe(attr.kind);
                    let message =
                        format!("expected {kind} as attribute `{}`, found none", attr.name);
                    self.error(op, "missing-attribute", message);
                }
                Some(value) if !accepts(self.module.context(), attr.kind, value) => {
                    let kind = describe(attr.kind);
                    let found = text::attr_text_elided(self.module, value);
                    let found: String = found.chars().take(80).collect();
                    let message =
                        format!("expected {kind} as attribute `{}`, found {found}", attr.name);
                    self.error(op, "attribute-kind", message);
                }
                _ => {}
            }
        }
    }
}

fn describe(kind: AttrKind) -> String {
    match kind {
        AttrKind::Int => "an integer".into(),
        AttrKind::Ints => "a list of integers".into(),
        AttrKind::IntsOr(names) => format!("a list of integers or one of {names:?}"),
        AttrKind::Float => "a number".into(),
        AttrKind::Floats => "a list of numbers".into(),
        AttrKind::Bool => "`true` or `false`".into(),
        AttrKind::Str => "a text".into(),
        AttrKind::Strs => "a list of texts".into(),
        AttrKind::Enum(names) => format!("one of {names:?}"),
        AttrKind::DType => "an element type".into(),
        AttrKind::Tensor => "a constant tensor".into(),
        AttrKind::Type => "a type".into(),
        AttrKind::Any => "an attribute".into(),
    }
}

impl AttrKind {
    /// Returns whether an attribute of this kind may be `attr`.
    pub fn accepts(self, context: &Context, attr: Attr) -> bool {
        accepts(context, self, attr)
    }
}

fn accepts(context: &Context, kind: AttrKind, attr: Attr) -> bool {
    let data = context.attr_data(attr);
    let items = |accepts: fn(&AttrData) -> bool| match data {
        AttrData::Array(items) => items.iter().all(|&item| accepts(context.attr_data(item))),
        _ => false,
    };
    match kind {
        AttrKind::Int => is_int(data),
        AttrKind::Ints => match data {
            AttrData::I64s(_) => true,
            AttrData::DenseArray { element, .. } => is_int_type(context, *element),
            _ => items(is_int),
        },
        AttrKind::IntsOr(names) => {
            accepts(context, AttrKind::Ints, attr) || accepts(context, AttrKind::Enum(names), attr)
        }
        AttrKind::Float => is_number(data),
        AttrKind::Floats => match data {
            AttrData::I64s(_) | AttrData::DenseArray { .. } => true,
            _ => items(is_number),
        },
        AttrKind::Bool => matches!(data, AttrData::Bool(_) | AttrData::Integer { .. }),
        AttrKind::Str => is_text(data),
        AttrKind::Strs => items(is_text),
        AttrKind::Enum(names) => context.as_text(attr).is_some_and(|text| names.contains(&text)),
        AttrKind::DType | AttrKind::Type => matches!(data, AttrData::Type(_)),
        AttrKind::Tensor => match data {
            AttrData::Dense { .. } | AttrData::Resource { .. } => true,
            // The type of the result says the shape.
            _ => items(is_text),
        },
        AttrKind::Any => true,
    }
}

fn is_int(data: &AttrData) -> bool {
    matches!(data, AttrData::Integer { .. })
}

fn is_number(data: &AttrData) -> bool {
    matches!(data, AttrData::Integer { .. } | AttrData::Float { .. } | AttrData::WideFloat { .. })
}

fn is_text(data: &AttrData) -> bool {
    matches!(data, AttrData::String(_) | AttrData::Bytes(_))
}

fn is_int_type(context: &Context, ty: Type) -> bool {
    matches!(context.type_data(ty), TypeData::Integer { .. } | TypeData::Index)
}

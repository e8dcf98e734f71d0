//! Attributes of nodes as attributes of operations.

use tangram_dialects::dtype;
use tangram_ir::{Attr, AttrData, FloatKind};

use super::Importer;
use super::node::is_default;
use crate::error::Result;
use crate::operators::{self, AttrRow, Default, Kind};
use crate::proto::{AttributeProto, AttributeType, NodeProto};
use crate::types;

/// The attribute `name` of `node`.
pub(super) fn find<'a>(node: &'a NodeProto, name: &str) -> Option<&'a AttributeProto> {
    node.attribute.iter().find(|attribute| attribute.name() == name)
}

/// The integer `name` of `node`.
pub(super) fn int(node: &NodeProto, name: &str) -> Option<i64> {
    find(node, name)?.i
}

/// The integers `name` of `node`.
pub(super) fn ints(node: &NodeProto, name: &str) -> Option<Vec<i64>> {
    find(node, name).map(|attribute| attribute.ints.clone())
}

/// The text `name` of `node`.
pub(super) fn text<'a>(node: &'a NodeProto, name: &str) -> Option<&'a str> {
    std::str::from_utf8(find(node, name)?.s.as_deref()?).ok()
}

/// A flag of `node` that is neither 0 nor 1. Operators, and runtimes, differ in what such a number
/// means: some compare it with 0, some with 1.
pub(super) fn odd_flag(node: &NodeProto) -> Option<&AttributeProto> {
    let domain = if is_default(node) { "" } else { node.domain() };
    let row = operators::by_onnx(domain, node.op_type());
    let is_flag = |name: &str| {
        let of_row = |attr: &AttrRow| attr.kind == Kind::Flag && attr.onnx == name;
        SPECIAL_FLAGS.contains(&name) || row.is_some_and(|row| row.attrs.iter().any(of_row))
    };
    node.attribute.iter().find(|a| !matches!(a.i, None | Some(0 | 1)) && is_flag(a.name()))
}

/// The flags of operators that `special` imports; no operator has a number of these names.
const SPECIAL_FLAGS: &[&str] = &[
    "align_corners",
    "ceil_mode",
    "count_include_pad",
    "storage_order",
    "training_mode",
    "transA",
    "transB",
];

/// The kind of an attribute, also where old models leave the field empty.
fn kind_of(attribute: &AttributeProto) -> AttributeType {
    let written = AttributeType::try_from(attribute.r#type()).unwrap_or(AttributeType::Undefined);
    if written != AttributeType::Undefined {
        return written;
    }
    match attribute {
        a if a.i.is_some() => AttributeType::Int,
        a if a.f.is_some() => AttributeType::Float,
        a if a.s.is_some() => AttributeType::String,
        a if a.t.is_some() => AttributeType::Tensor,
        a if a.g.is_some() => AttributeType::Graph,
        a if !a.floats.is_empty() => AttributeType::Floats,
        a if !a.strings.is_empty() => AttributeType::Strings,
        _ => AttributeType::Ints,
    }
}

impl Importer {
    fn text_attr(&self, bytes: &[u8]) -> Attr {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.context.str_attr(text),
            Err(_) => self.context.attr(AttrData::Bytes(bytes.into())),
        }
    }

    fn float_attr(&self, value: f32) -> Attr {
        self.context.float_attr(f64::from(value), FloatKind::F32)
    }

    /// The attribute as it is. Graphs become regions elsewhere; what IR has no form for is
    /// opaque here and stays with the node.
    pub(super) fn plain_attr(&mut self, attribute: &AttributeProto) -> Result<Attr> {
        let context = self.context.clone();
        Ok(match kind_of(attribute) {
            AttributeType::Int => context.i64_attr(attribute.i()),
            AttributeType::Float => self.float_attr(attribute.f()),
            AttributeType::String => self.text_attr(attribute.s.as_deref().unwrap_or_default()),
            AttributeType::Ints => context.i64s_attr(&attribute.ints),
            AttributeType::Floats => {
                let items: Vec<Attr> =
                    attribute.floats.iter().map(|&f| self.float_attr(f)).collect();
                context.array_attr(&items)
            }
            AttributeType::Strings => {
                let items: Vec<Attr> =
                    attribute.strings.iter().map(|s| self.text_attr(s)).collect();
                context.array_attr(&items)
            }
            AttributeType::Tensor => match &attribute.t {
                Some(tensor) => self.tensor_attr(tensor)?,
                None => Attr::UNIT,
            },
            _ => context.attr(AttrData::Opaque(context.str("onnx.attribute"))),
        })
    }

    /// The attribute of `row` in its normal form; `None` if it is absent and has no default.
    pub(super) fn row_attr(&mut self, node: &NodeProto, row: &AttrRow) -> Result<Option<Attr>> {
        let context = self.context.clone();
        let Some(attribute) = find(node, row.onnx) else {
            return Ok(self.default_attr(row.default, row.kind));
        };
        Ok(Some(match row.kind {
            Kind::Flag => context.bool_attr(attribute.i() != 0),
            // Number 0 is no element type: the operator chooses.
            Kind::DType if attribute.i() == 0 => return Ok(None),
            Kind::DType => self.dtype_attr(attribute.i()),
            _ => self.plain_attr(attribute)?,
        }))
    }

    /// What an absent attribute of `kind` means, if a value says that.
    pub(super) fn default_attr(&self, default: Default, kind: Kind) -> Option<Attr> {
        Some(match (default, kind) {
            (Default::None, _) => return None,
            (Default::Int(n), Kind::Flag) => self.context.bool_attr(n != 0),
            (Default::Int(n), Kind::DType) => self.dtype_attr(n),
            (Default::Int(n), _) => self.context.i64_attr(n),
            (Default::Float(f), _) => self.float_attr(f),
            (Default::Text(text), _) => self.context.str_attr(text),
        })
    }

    pub(super) fn dtype_attr(&self, number: i64) -> Attr {
        let ty = match types::dtype_of(number) {
            Some(dtype) => dtype::type_of(&self.context, dtype),
            None => types::element(&self.context, number as i32),
        };
        self.context.type_attr(ty)
    }
}

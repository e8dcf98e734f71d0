//! Operations written anew.

use tangram_ir::{Attr, AttrData, Op, Value};
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor, bf16, f16};

use super::Exporter;
use crate::declared;
use crate::error::{Error, Result, Unsaid};
use crate::operators::{self, AttrRow, Default, Kind, Row};
use crate::proto::{AttributeProto, AttributeType, NodeProto, TypeProto};
use crate::types;

/// The first operator set in which every list of axes may count from the back, in any order.
const ANY_AXES: i64 = 13;

/// An attribute `name` of one kind.
fn attribute(name: &str, kind: AttributeType) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(kind as i32),
        ..AttributeProto::default()
    }
}

pub(super) fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto { i: Some(value), ..attribute(name, AttributeType::Int) }
}

pub(super) fn float(name: &str, value: f64) -> AttributeProto {
    AttributeProto { f: Some(value as f32), ..attribute(name, AttributeType::Float) }
}

pub(super) fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto { ints: values.to_vec(), ..attribute(name, AttributeType::Ints) }
}

pub(super) fn text(name: &str, value: &str) -> AttributeProto {
    let s = Some(bytes::Bytes::copy_from_slice(value.as_bytes()));
    AttributeProto { s, ..attribute(name, AttributeType::String) }
}

pub(super) fn type_proto(name: &str, ty: TypeProto) -> AttributeProto {
    AttributeProto { tp: Some(Box::new(ty)), ..attribute(name, AttributeType::TypeProto) }
}

pub(super) fn floats(name: &str, values: Vec<f32>) -> AttributeProto {
    AttributeProto { floats: values, ..attribute(name, AttributeType::Floats) }
}

impl Exporter<'_> {
    /// Writes `op`; where it cannot be said in the wanted operator set, notes that and goes on.
    pub(super) fn op(&mut self, op: Op) -> Result<()> {
        match self.written(op) {
            Err(Error::Inexpressible { op: operation, reason, .. }) if !self.same_opset => {
                let name = self.module.results(op).next().map(|value| self.name(value));
                let at = format!("`{}`", name.unwrap_or_default());
                self.unsaid.push(Unsaid { at, reason: format!("{operation}: {reason}") });
                Ok(())
            }
            other => other,
        }
    }

    fn written(&mut self, op: Op) -> Result<()> {
        let name = self.module.name_text(op);
        let silent = matches!(
            name,
            "nn.none" | "nn.constant" | "nn.yield" | "func.return" | "onnx.sparse_initializer"
        );
        if name == "onnx.constant" {
            let value = self.module.result(op, 0);
            self.use_constant(value);
            return Ok(());
        }
        if silent || self.covered.contains(&op) {
            return Ok(());
        }
        if let Some(origin) = self.intact(op) {
            return self.give_back(origin, op);
        }
        if self.special(op)? {
            return Ok(());
        }
        match operators::by_nn(name) {
            Some(row) if row.since <= self.opset => self.by_row(op, row),
            Some(row) => {
                Err(self.inexpressible(op, &format!("it needs operator set {}", row.since)))
            }
            None if !self.module.regions(op).is_empty() => {
                Err(self.inexpressible(op, "its inputs or attributes are others there"))
            }
            None if name.starts_with("onnx.") => {
                Err(self.inexpressible(op, "the operator means something else there, or is none"))
            }
            None => match super::foreign(name) {
                Some((domain, operator)) if self.module.def(op).is_none_or(declared::is_ours) => {
                    let (domain, operator) = (domain.to_owned(), operator.to_owned());
                    self.foreign(op, &domain, &operator);
                    Ok(())
                }
                _ => Err(self.inexpressible(op, "no operator says what it does")),
            },
        }
    }

    /// Writes an operator of a domain that is not known here, as it is.
    fn foreign(&mut self, op: Op, domain: &str, operator: &str) {
        let inputs = self.inputs(op);
        let entries = self.context.entries(self.module.attrs(op)).iter();
        let attributes =
            entries.filter_map(|(name, value)| self.plain_attr(self.context.text(*name), *value));
        let attributes = attributes.collect();
        self.needs(domain);
        self.write_in(domain, op, operator, inputs, attributes);
    }

    pub(super) fn inexpressible(&self, op: Op, reason: &str) -> Error {
        let name = self.module.name_text(op);
        Error::Inexpressible {
            // By the name that the operator has in ONNX, where it has one.
            op: operators::by_nn(name).map_or(name, |row| row.onnx).to_owned(),
            opset: self.opset,
            reason: reason.to_owned(),
        }
    }

    fn by_row(&mut self, op: Op, row: &Row) -> Result<()> {
        let mut inputs = self.inputs(op);
        let mut attributes = Vec::new();
        for &(name, value) in self.context.entries(self.module.attrs(op)) {
            let name = self.context.text(name);
            if row.absorbed.iter().any(|entry| entry.nn == name) {
                continue;
            }
            match row.attrs.iter().find(|attr| attr.nn == name) {
                Some(attr) => attributes.extend(self.row_attr(attr, value)),
                None => attributes.extend(self.plain_attr(name, value)),
            }
        }
        self.absorbed(op, row, &mut inputs, &mut attributes)?;
        if !self.source.opsets.contains_key(row.domain) && !row.domain.is_empty() {
            let reason = format!("the model does not use the domain {}", row.domain);
            return Err(self.inexpressible(op, &reason));
        }
        self.write_in(row.domain, op, row.onnx, inputs, attributes);
        Ok(())
    }

    /// The names of the operands of `op`.
    pub(super) fn inputs(&mut self, op: Op) -> Vec<String> {
        let operands: Vec<Value> = self.module.operands(op).collect();
        operands.into_iter().map(|value| self.input(value)).collect()
    }

    /// Appends a node for `op` with the names of its results.
    pub(super) fn write(
        &mut self,
        op: Op,
        op_type: &str,
        inputs: Vec<String>,
        attributes: Vec<AttributeProto>,
    ) {
        self.write_in("", op, op_type, inputs, attributes);
    }

    fn write_in(
        &mut self,
        domain: &str,
        op: Op,
        op_type: &str,
        mut inputs: Vec<String>,
        mut attributes: Vec<AttributeProto>,
    ) {
        if domain.is_empty() && self.opset < ANY_AXES {
            self.count_from_front(op, op_type, &mut attributes);
        }
        while inputs.last().is_some_and(String::is_empty) {
            inputs.pop();
        }
        let results: Vec<Value> = self.module.results(op).collect();
        let mut outputs: Vec<String> = results
            .into_iter()
            .enumerate()
            .map(|(i, value)| {
                // Only a first output may stay unnamed without a change of meaning.
                if i > 0 && !self.module.has_uses(value) { String::new() } else { self.name(value) }
            })
            .collect();
        while outputs.len() > 1 && outputs.last().is_some_and(String::is_empty) {
            outputs.pop();
        }
        let name = self.node_name(outputs.first());
        self.push(NodeProto {
            name,
            op_type: Some(op_type.to_owned()),
            domain: (!domain.is_empty()).then(|| domain.to_owned()),
            input: inputs,
            output: outputs,
            attribute: attributes,
            ..NodeProto::default()
        });
    }

    /// Makes axes that are counted from the back what they are counted from the front, in order
    /// where they are a set.
    fn count_from_front(&self, op: Op, op_type: &str, attributes: &mut [AttributeProto]) {
        let inserts = matches!(op_type, "Unsqueeze" | "OneHot");
        let of =
            if inserts { self.module.results(op).next() } else { self.module.operands(op).next() };
        let ty = of.and_then(|value| self.context.as_tensor(self.module.value_type(value)));
        let Some((dims, _)) = ty else { return };
        let rank = dims.len() as i64;
        let axes = |attribute: &&mut AttributeProto| matches!(attribute.name(), "axis" | "axes");
        for attribute in attributes.iter_mut().filter(axes) {
            for axis in attribute.i.iter_mut().chain(&mut attribute.ints) {
                *axis += if *axis < 0 { rank } else { 0 };
            }
            if op_type != "Slice" {
                attribute.ints.sort_unstable();
            }
        }
    }

    fn row_attr(&self, row: &AttrRow, value: Attr) -> Option<AttributeProto> {
        let context = self.context;
        let is_default = match row.default {
            Default::None => false,
            Default::Int(n) if row.kind == Kind::DType => self.dtype_number(value) == Some(n),
            Default::Int(n) => context.as_i64(value) == Some(n),
            Default::Float(f) => context.as_f64(value) == Some(f64::from(f)),
            Default::Text(text) => context.as_text(value) == Some(text),
        };
        if is_default {
            return None;
        }
        match row.kind {
            Kind::DType => Some(int(row.onnx, self.dtype_number(value)?)),
            Kind::Flag => Some(int(row.onnx, i64::from(context.as_bool(value)?))),
            _ => self.plain_attr(row.onnx, value),
        }
    }

    fn dtype_number(&self, value: Attr) -> Option<i64> {
        match self.context.attr_data(value) {
            AttrData::Type(ty) => {
                let dtype = tangram_dialects::dtype::dtype_of(self.context, *ty)?;
                Some(types::number_of(dtype).into())
            }
            _ => None,
        }
    }

    /// An attribute by the kind of its value; `None` for what ONNX has no form for.
    pub(super) fn plain_attr(&self, name: &str, value: Attr) -> Option<AttributeProto> {
        let context = self.context;
        Some(match context.attr_data(value) {
            AttrData::Bool(b) => int(name, i64::from(*b)),
            AttrData::Integer { .. } => int(name, context.as_i64(value)?),
            AttrData::Float { .. } => float(name, context.as_f64(value)?),
            AttrData::String(s) => text(name, context.text(*s)),
            AttrData::Bytes(bytes) => AttributeProto {
                s: Some(bytes::Bytes::copy_from_slice(bytes)),
                ..attribute(name, AttributeType::String)
            },
            AttrData::I64s(list) => ints(name, list),
            AttrData::Array(items) => self.list_attr(name, items)?,
            AttrData::Dense { ty, .. } | AttrData::Resource { ty, .. } => {
                let tensor = tangram_dialects::constant::attr_tensor(self.module, value, *ty)?;
                let t = Some(Box::new(super::tensor::to_proto(&tensor, "")));
                AttributeProto { t, ..attribute(name, AttributeType::Tensor) }
            }
            _ => return None,
        })
    }

    fn list_attr(&self, name: &str, items: &[Attr]) -> Option<AttributeProto> {
        let context = self.context;
        let texts: Option<Vec<&str>> = items.iter().map(|&i| context.as_text(i)).collect();
        if let (Some(texts), false) = (texts, items.is_empty()) {
            let copy = |t: &&str| bytes::Bytes::copy_from_slice(t.as_bytes());
            let strings = texts.iter().map(copy).collect();
            return Some(AttributeProto { strings, ..attribute(name, AttributeType::Strings) });
        }
        let list: Option<Vec<f32>> =
            items.iter().map(|&i| context.as_f64(i).map(|f| f as f32)).collect();
        Some(floats(name, list?))
    }

    /// Writes attributes that are inputs in this operator set as constants.
    fn absorbed(
        &mut self,
        op: Op,
        row: &Row,
        inputs: &mut Vec<String>,
        attributes: &mut Vec<AttributeProto>,
    ) -> Result<()> {
        for entry in row.absorbed {
            let Some(value) = self.module.attr(op, entry.nn) else {
                let operand = inputs.get(entry.input).is_some_and(|name| !name.is_empty());
                if operand && self.opset < entry.since {
                    let since = entry.since;
                    let reason = format!("a computed input needs operator set {since}");
                    return Err(self.inexpressible(op, &reason));
                }
                if let (Some(name), true) = (entry.onnx, self.opset < entry.since) {
                    attributes.extend(default_attribute(name, entry.after));
                }
                continue;
            };
            if let (Some(name), true) = (entry.onnx, self.opset < entry.since) {
                attributes.extend(self.plain_attr(name, value).map(as_float_if(entry.kind)));
                continue;
            }
            if self.opset < entry.since {
                return Err(
                    self.inexpressible(op, &format!("it needs operator set {}", entry.since))
                );
            }
            let tensor = self.absorbed_tensor(op, row, entry.kind, value);
            let tensor =
                tensor.ok_or_else(|| self.inexpressible(op, "an attribute has no value"))?;
            while inputs.len() < entry.input {
                inputs.push(String::new());
            }
            let name = self.pooled(&tensor, entry.nn);
            inputs.push(name);
        }
        Ok(())
    }

    fn absorbed_tensor(&self, op: Op, row: &Row, kind: Kind, value: Attr) -> Option<Tensor> {
        let context = self.context;
        match kind {
            Kind::Ints => Some(Tensor::vector(context.as_i64s(value)?)),
            // The number of elements to take is a list of one; other numbers are scalars.
            Kind::Int if row.nn == "nn.topk" => Some(Tensor::vector(vec![context.as_i64(value)?])),
            Kind::Int => Some(Tensor::scalar(context.as_i64(value)?)),
            _ => {
                let ty =
                    context.element_type(self.module.value_type(self.module.operand(op, 0)))?;
                let dtype = tangram_dialects::dtype::dtype_of(context, ty)?;
                match context.attr_data(value) {
                    AttrData::Integer { .. } => int_scalar(dtype, context.as_i64(value)?),
                    _ => float_scalar(dtype, context.as_f64(value)?),
                }
            }
        }
    }
}

/// An attribute that says what the absence of an input means.
fn default_attribute(name: &str, default: Default) -> Option<AttributeProto> {
    match default {
        Default::None => None,
        Default::Int(n) => Some(int(name, n)),
        Default::Float(f) => Some(float(name, f.into())),
        Default::Text(value) => Some(text(name, value)),
    }
}

/// Old operator sets write some bounds as floats, whatever the element type.
fn as_float_if(kind: Kind) -> impl Fn(AttributeProto) -> AttributeProto {
    move |proto| match (kind, proto.i) {
        (Kind::Float, Some(n)) => float(&proto.name.unwrap_or_default(), n as f64),
        _ => proto,
    }
}

fn float_scalar(dtype: DType, value: f64) -> Option<Tensor> {
    Some(match dtype {
        DType::F64 => Tensor::scalar(value),
        DType::F32 => Tensor::scalar(value as f32),
        DType::F16 => Tensor::scalar(f16::from_f64(value)),
        DType::BF16 => Tensor::scalar(bf16::from_f64(value)),
        _ if dtype.is_float() => return cast(&Tensor::scalar(value), dtype).ok(),
        _ if value.fract() == 0.0 => return int_scalar(dtype, value as i64),
        _ => return None,
    })
}

fn int_scalar(dtype: DType, value: i64) -> Option<Tensor> {
    Some(match dtype {
        DType::I64 => Tensor::scalar(value),
        DType::I32 => Tensor::scalar(i32::try_from(value).ok()?),
        DType::I16 => Tensor::scalar(i16::try_from(value).ok()?),
        DType::I8 => Tensor::scalar(i8::try_from(value).ok()?),
        DType::U64 => Tensor::scalar(u64::try_from(value).ok()?),
        DType::U32 => Tensor::scalar(u32::try_from(value).ok()?),
        DType::U16 => Tensor::scalar(u16::try_from(value).ok()?),
        DType::U8 => Tensor::scalar(u8::try_from(value).ok()?),
        DType::Bool => Tensor::scalar(value != 0),
        _ if dtype.is_float() => return float_scalar(dtype, value as f64),
        // The types of a few bits.
        _ if dtype.is_int() => {
            let made = cast(&Tensor::scalar(value), dtype).ok()?;
            return made.i64s().is_ok_and(|list| list == [value]).then_some(made);
        }
        _ => return None,
    })
}

//! What entries propose for their operations, as the verification of rules tries them.

use fastrand::Rng;
use tangram_dialects::dtype::type_of;
use tangram_dialects::nn::sample::{self, Call, Extents, Tried, Value, Wanted};
use tangram_dialects::nn::{self, NnOp};
use tangram_ir::{Arity, AttrDef, AttrKind, Context, OpDef};
use tangram_tensor::DType;

use super::{Generator, constants, line};
use crate::support::element_text;

/// One application of each operation that has loops and a kernel.
pub fn proposed(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let context = tangram_dialects::context();
    let is_compared = |op: &&NnOp| op.eval.is_some() && op.structured.is_some();
    for op in nn::ops().filter(is_compared) {
        lines.extend(application(&context, &op.def, g.random));
    }
}

/// Operands that have to be there, and attributes, some of them absent.
fn application(context: &Context, def: &'static OpDef, rng: &mut Rng) -> Option<String> {
    let needed = def.operands.iter().rposition(|operand| operand.arity != Arity::Optional)?;
    let count: usize = def.operands[..=needed].iter().map(|operand| least(operand.arity)).sum();
    let base = *rng.choice(&[DType::F32, DType::F32, DType::F64, DType::F16, DType::I64])?;
    let cap = rng.usize(2..=5);
    let text = |dtype| element_text(context, type_of(context, dtype));
    let mut known: Vec<Option<Extents>> = vec![None; count];
    let mut operands = Vec::new();
    for index in 0..count {
        let wanted =
            Wanted { def, index, known: &known, want: None, axis: None, groups: None, cap };
        let extents = sample::extents(&wanted, rng);
        let listed = sample::listed(&wanted, rng);
        let dtype = sample::dtype(def, index, (base, DType::U8), cap).unwrap_or(base);
        let dims: Vec<String> = extents.iter().map(usize::to_string).collect();
        let shape = format!("{}[{}]", text(dtype), dims.join(","));
        operands.push(listed.map_or(shape, |list| constants(&list)));
        known[index] = Some(extents);
    }
    let shapes: Vec<Extents> = known.into_iter().flatten().collect();
    let style = rng.u8(0..8);
    let call = Call { def, shapes: &shapes, want: None, results: 1, style, base };
    let mut attrs = Vec::new();
    for attr in def.attrs {
        if sample::is_operand(def, attr.name, count) || !attr.required && rng.u8(0..20) < 8 {
            continue;
        }
        if let Tried::Value(value) = sample::attribute(&call, attr, rng) {
            attrs.push(format!("{}={}", attr.name, written(&value, attr, &text)?));
        }
    }
    Some(line(def.name.strip_prefix("nn.")?, &operands, &attrs, 1))
}

fn least(arity: Arity) -> usize {
    if arity == Arity::Variadic { 2 } else { 1 }
}

/// A value in the notation of the spec files; none of one that is no plain value.
fn written(value: &Value, attr: &AttrDef, text: &dyn Fn(DType) -> String) -> Option<String> {
    Some(match value {
        Value::Int(n) => n.to_string(),
        Value::Float(x) => format!("{x:?}"),
        Value::Bool(flag) => flag.to_string(),
        Value::Str(name) if attr.kind == AttrKind::DType => {
            text(DType::ALL.into_iter().find(|dtype| dtype.name() == name)?)
        }
        Value::Str(name) => format!("\"{name}\""),
        Value::List(items) => {
            let items = items.iter().map(|item| written(item, attr, text));
            format!("[{}]", items.collect::<Option<Vec<_>>>()?.join(", "))
        }
        Value::Element => return None,
    })
}

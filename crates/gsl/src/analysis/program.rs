//! Programs as text: for people, and to be compared.

use std::fmt::Write;

use rustc_hash::FxHashMap;
use tangram_dialects::constant;
use tangram_ir::{Module, Op, Value, ValueDef};

use crate::matching::{from_attr, show, type_text};

/// Writes what the outputs of a program are computed from, one operation a line. Programs that
/// differ in the order of operations only, or in what nobody uses, are written alike.
pub(super) fn lines(module: &Module) -> Vec<String> {
    let mut names: FxHashMap<Value, String> = FxHashMap::default();
    let mut out = Vec::new();
    for (i, value) in module.args(module.body()).iter().enumerate() {
        names.insert(*value, format!("x{i}"));
    }
    let Some(last) = module.last_op(module.body()) else { return out };
    let mut stack: Vec<(Op, bool)> = vec![(last, false)];
    while let Some((op, ready)) = stack.pop() {
        if !ready {
            stack.push((op, true));
            let makers = module.operands(op).filter(|value| !names.contains_key(value));
            let makers = makers.filter_map(|value| module.def_op(value));
            stack.extend(makers.collect::<Vec<_>>().into_iter().rev().map(|op| (op, false)));
            continue;
        }
        if module.results(op).any(|value| names.contains_key(&value)) {
            continue;
        }
        let number = out.len();
        out.push(line(module, op, number, &names));
        for (j, value) in module.results(op).enumerate() {
            let name = if j == 0 { format!("v{number}") } else { format!("v{number}[{j}]") };
            names.insert(value, name);
        }
    }
    out
}

/// The same as one text, with the elements of constants.
pub(super) fn fingerprint(module: &Module) -> String {
    lines(module).join("\n")
}

fn line(module: &Module, op: Op, number: usize, names: &FxHashMap<Value, String>) -> String {
    let name = module.name_text(op).trim_start_matches("nn.");
    if name == "func.return" {
        let values: Vec<&str> = module.operands(op).map(|value| &*names[&value]).collect();
        return format!("return {}", values.join(", "));
    }
    let mut text = format!("v{number} = {name}");
    if let Some(tensor) = module.results(op).next().and_then(|v| constant_of(module, v)) {
        let _ = write!(text, " {tensor}");
        return text;
    }
    let operands: Vec<&str> = module.operands(op).map(|value| &*names[&value]).collect();
    let _ = write!(text, "({})", operands.join(", "));
    let entries = module.context().entries(module.attrs(op)).iter().filter_map(|(name, attr)| {
        let value = from_attr(module, *attr)?;
        Some(format!("{} = {}", module.context().text(*name), show(&value)))
    });
    let entries: Vec<String> = entries.collect();
    if !entries.is_empty() {
        let _ = write!(text, " {{{}}}", entries.join(", "));
    }
    let types = module.results(op).map(|v| type_text(module.context(), module.value_type(v)));
    let _ = write!(text, ": {}", types.collect::<Vec<_>>().join(", "));
    text
}

/// Type and elements of a constant.
fn constant_of(module: &Module, value: Value) -> Option<String> {
    let ValueDef::Result(op, _) = module.value_def(value) else { return None };
    constant::is_constant(module, op).then_some(())?;
    let tensor = constant::constant_tensor(module, value)?;
    let ty = type_text(module.context(), module.value_type(value));
    Some(format!("{ty} {:?}", tensor.f64s().unwrap_or_default()))
}

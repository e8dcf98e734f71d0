//! What the graph says of the types of its values.
//!
//! A runtime plans memory by these types: where the extents of two values are known to be equal,
//! one may take the place of the other. Exporters leave extents open that inference here knows, so
//! what they declared is made exact; a graph that declares the types of some values gets those of
//! all that have a name. One that declares none is left alone.

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_ir::{Block, Type, Value};

use super::Exporter;
use crate::proto::{Dimension, DimensionValue, GraphProto, TypeProto, TypeValue, ValueInfoProto};
use crate::types;

impl Exporter<'_> {
    /// Makes the declared types of the values in `block` those that are inferred; what is said of
    /// values that are gone goes.
    pub(super) fn annotate(&self, block: Block, proto: &mut GraphProto) {
        let declared = std::mem::take(&mut proto.value_info);
        if declared.is_empty() {
            return;
        }
        let inferred = self.inferred(block);
        let outputs: FxHashSet<&str> = proto.output.iter().map(ValueInfoProto::name).collect();
        let made = proto.node.iter().flat_map(|node| &node.output).map(String::as_str);
        let around = proto.input.iter().map(ValueInfoProto::name);
        let defined: FxHashSet<&str> =
            made.clone().chain(around).chain(proto.initializer.iter().map(|t| t.name())).collect();
        let mut told = FxHashSet::default();
        let mut infos: Vec<ValueInfoProto> = Vec::new();
        for mut info in declared {
            if !defined.contains(info.name()) || outputs.contains(info.name()) {
                continue;
            }
            if let Some(&ty) = inferred.get(info.name()) {
                refine(&mut info.r#type, types::annotation(self.context, ty));
            }
            told.insert(info.name().to_owned());
            infos.push(info);
        }
        for name in made.filter(|name| !outputs.contains(name) && !told.contains(*name)) {
            let ty = inferred.get(name).and_then(|&ty| types::annotation(self.context, ty));
            if ty.is_some() {
                let name = Some(name.to_owned());
                infos.push(ValueInfoProto { name, r#type: ty, ..ValueInfoProto::default() });
            }
        }
        proto.value_info = infos;
    }

    /// Puts what is inferred of the outputs in the place of declarations that contradict it. A
    /// runtime, and the checker, refuse a graph whose declarations are wrong.
    pub(super) fn correct(&self, outputs: &mut [ValueInfoProto], values: &[Value]) {
        for (info, &value) in outputs.iter_mut().zip(values) {
            let inferred = types::annotation(self.context, self.module.value_type(value));
            if contradicts(info.r#type.as_ref(), inferred.as_ref()) {
                info.r#type = inferred;
            }
        }
    }

    /// The types of the values that operations of `block` give, by name.
    fn inferred(&self, block: Block) -> FxHashMap<&str, Type> {
        let results = self.module.ops(block).flat_map(|op| self.module.results(op));
        let named = results.filter_map(|value| {
            let name = self.names[value]?;
            Some((self.context.text(name), self.module.value_type(value)))
        });
        named.collect()
    }
}

/// Whether a declared type of a tensor has another element type, rank or extent than is inferred.
pub(crate) fn contradicts(declared: Option<&TypeProto>, inferred: Option<&TypeProto>) -> bool {
    let tensor = |of: Option<&TypeProto>| match of?.value.as_ref()? {
        TypeValue::TensorType(tensor) => Some(tensor.clone()),
        _ => None,
    };
    let (Some(theirs), Some(ours)) = (tensor(declared), tensor(inferred)) else { return false };
    let known = theirs.elem_type() != 0 && ours.elem_type() != 0;
    if known && theirs.elem_type() != ours.elem_type() {
        return true;
    }
    let (Some(theirs), Some(ours)) = (theirs.shape, ours.shape) else { return false };
    let number = |dim: &Dimension| match dim.value {
        Some(DimensionValue::DimValue(n)) if n >= 0 => Some(n),
        _ => None,
    };
    let differ = |(a, b): (&Dimension, &Dimension)| {
        number(a).zip(number(b)).is_some_and(|(a, b)| a != b && a > 0)
    };
    theirs.dim.len() != ours.dim.len()
        || theirs.dim.iter().zip(&ours.dim).any(differ)
        || names_two_numbers(&theirs.dim, &ours.dim)
}

/// Whether one name stands for two numbers: `[n, n]` for what is 2 by 3.
fn names_two_numbers(theirs: &[Dimension], ours: &[Dimension]) -> bool {
    let mut named: FxHashMap<&str, i64> = FxHashMap::default();
    for (theirs, ours) in theirs.iter().zip(ours) {
        let (Some(DimensionValue::DimParam(name)), Some(DimensionValue::DimValue(found))) =
            (&theirs.value, &ours.value)
        else {
            continue;
        };
        if !name.is_empty() && named.insert(name, *found).is_some_and(|before| before != *found) {
            return true;
        }
    }
    false
}

/// Puts what is inferred in the place of what is declared; extents that are not inferred stay.
fn refine(declared: &mut Option<TypeProto>, inferred: Option<TypeProto>) {
    let Some(mut inferred) = inferred else { return };
    let (Some(ours), Some(theirs)) = (extents(&mut inferred), declared.as_mut().and_then(extents))
    else {
        // A rank that only one of them knows is better than none.
        let known = extents(&mut inferred).is_some();
        if declared.is_none() || known {
            *declared = Some(inferred);
        }
        return;
    };
    if ours.len() == theirs.len() {
        for (ours, theirs) in ours.iter_mut().zip(theirs) {
            if ours.value.is_none() && is_told(theirs) {
                *ours = theirs.clone();
            }
        }
    }
    *declared = Some(inferred);
}

fn is_told(dim: &Dimension) -> bool {
    match &dim.value {
        Some(DimensionValue::DimValue(n)) => *n > 0,
        Some(DimensionValue::DimParam(name)) => !name.is_empty(),
        None => false,
    }
}

/// The extents of a tensor, if their number is known.
fn extents(ty: &mut TypeProto) -> Option<&mut Vec<Dimension>> {
    match ty.value.as_mut()? {
        TypeValue::TensorType(tensor) => tensor.shape.as_mut().map(|shape| &mut shape.dim),
        _ => None,
    }
}

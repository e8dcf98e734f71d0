//! Sizes of inputs and of named dimensions.

use std::collections::{BTreeMap, BTreeSet};

use super::{EditError, Edits};
use crate::proto::{
    Dimension, DimensionValue, GraphProto, ModelProto, TensorShapeProto, TensorType, TypeProto,
    TypeValue, ValueInfoProto,
};

/// Gives inputs and named dimensions the sizes of `edits`, in all graphs.
pub(super) fn set(model: &mut ModelProto, edits: &Edits) -> Result<(), EditError> {
    let Some(graph) = &mut model.graph else { return Ok(()) };
    let mut sizes = BTreeMap::new();
    for (name, size) in &edits.dims {
        bind(&mut sizes, name, *size)?;
    }
    known_dims(graph, edits)?;
    for (name, extents) in &edits.input_shapes {
        let input = find(graph, name)?;
        freeze(input, extents, &mut sizes)?;
    }
    for (name, (least, greatest)) in &edits.ranges {
        match sizes.get(name) {
            Some(size) if !(least..=greatest).contains(&size) => {
                let (name, size) = (name.clone(), size.to_string());
                return Err(EditError::Range { name, size, least: *least, greatest: *greatest });
            }
            None if least == greatest => bind(&mut sizes, name, *least)?,
            _ => {}
        }
    }
    if !sizes.is_empty() {
        substitute(graph, &sizes);
    }
    if edits.name_open {
        name_open(graph);
    }
    Ok(())
}

/// Gives each extent that an input shares by its name with an earlier one a name of its own; returns
/// whether there was such an extent.
pub(super) fn apart(graph: &mut GraphProto) -> bool {
    let (mut known, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for at in given(graph) {
        let input = &mut graph.input[at];
        let name = input.name().to_owned();
        let shape = input.r#type.as_mut().and_then(tensor_type).and_then(|of| of.shape.as_mut());
        let Some(shape) = shape else { continue };
        // Extents of one input stay as equal as they are.
        let mut own: BTreeMap<String, String> = BTreeMap::new();
        for (axis, dim) in shape.dim.iter_mut().enumerate() {
            let Some(DimensionValue::DimParam(symbol)) = &mut dim.value else { continue };
            if !is_symbol(symbol) {
                continue;
            }
            if known.contains(symbol) {
                shared.insert(symbol.clone());
                let renamed = || format!("?{name}.{axis}");
                *symbol = own.entry(symbol.clone()).or_insert_with(renamed).clone();
            } else {
                own.insert(symbol.clone(), symbol.clone());
            }
        }
        known.extend(own.into_keys());
    }
    let is_shared = |text: &str| words(text).any(|word| shared.contains(word));
    in_all_graphs(graph, &mut |tensor, is_input| {
        let dims = tensor.shape.iter_mut().flat_map(|shape| &mut shape.dim);
        for dim in dims.filter(|_| !is_input) {
            // Which of the inputs it is that inference says.
            if matches!(&dim.value, Some(DimensionValue::DimParam(text)) if is_shared(text)) {
                dim.value = None;
            }
        }
    });
    !shared.is_empty()
}

/// Names the extents of inputs that are neither known nor named.
fn name_open(graph: &mut GraphProto) {
    for at in given(graph) {
        let input = &mut graph.input[at];
        let name = input.name().to_owned();
        let shape = input.r#type.as_mut().and_then(tensor_type).and_then(|of| of.shape.as_mut());
        let Some(shape) = shape else { continue };
        for (axis, dim) in shape.dim.iter_mut().enumerate() {
            let says = match &dim.value {
                Some(DimensionValue::DimValue(size)) => *size > 0,
                Some(DimensionValue::DimParam(symbol)) => is_symbol(symbol),
                None => false,
            };
            if !says {
                dim.value = Some(DimensionValue::DimParam(format!("?{name}.{axis}")));
            }
        }
    }
}

fn bind(sizes: &mut BTreeMap<String, i64>, name: &str, size: i64) -> Result<(), EditError> {
    match sizes.insert(name.to_owned(), size) {
        Some(first) if first != size => {
            Err(EditError::Conflict { name: name.to_owned(), first, second: size })
        }
        _ => Ok(()),
    }
}

/// Inputs that a caller gives: an initializer of the same name is a default.
fn given(graph: &GraphProto) -> Vec<usize> {
    let is_default = |name: &str| graph.initializer.iter().any(|tensor| tensor.name() == name);
    (0..graph.input.len()).filter(|&at| !is_default(graph.input[at].name())).collect()
}

fn find<'a>(graph: &'a mut GraphProto, name: &str) -> Result<&'a mut ValueInfoProto, EditError> {
    let given = given(graph);
    let at = match (name, &given[..]) {
        ("", &[only]) => Some(only),
        _ => graph.input.iter().position(|input| input.name() == name && !name.is_empty()),
    };
    if let Some(at) = at {
        return Ok(&mut graph.input[at]);
    }
    let known: Vec<String> =
        given.iter().map(|&at| format!("`{}`", graph.input[at].name())).collect();
    Err(EditError::NoInput { name: name.to_owned(), known: known.join(", ") })
}

/// Gives `input` the extents that are asked for; names that stood there are bound in `sizes`.
fn freeze(
    input: &mut ValueInfoProto,
    extents: &[Option<i64>],
    sizes: &mut BTreeMap<String, i64>,
) -> Result<(), EditError> {
    let name = input.name().to_owned();
    let Some(tensor) = input.r#type.as_mut().and_then(tensor_type) else {
        return Err(EditError::NoTensor(name));
    };
    let open = || vec![Dimension::default(); extents.len()];
    let shape = tensor.shape.get_or_insert_with(|| TensorShapeProto { dim: open() });
    let fits = |dim: &Dimension, size: Option<i64>| match (&dim.value, size) {
        (Some(DimensionValue::DimValue(own)), Some(size)) => *own <= 0 || *own == size,
        _ => true,
    };
    let same_rank = shape.dim.len() == extents.len();
    if !same_rank || !shape.dim.iter().zip(extents).all(|(dim, &size)| fits(dim, size)) {
        let wanted = extents.iter().map(|size| size.map_or("?".to_owned(), |n| n.to_string()));
        return Err(EditError::Shape {
            name,
            declared: shape.dim.iter().map(shown).collect::<Vec<_>>().join(", "),
            wanted: wanted.collect::<Vec<_>>().join(", "),
        });
    }
    for (dim, size) in shape.dim.iter_mut().zip(extents) {
        let Some(size) = *size else { continue };
        if let Some(DimensionValue::DimParam(symbol)) = &dim.value
            && is_symbol(symbol)
        {
            bind(sizes, symbol, size)?;
        }
        dim.value = Some(DimensionValue::DimValue(size));
    }
    Ok(())
}

fn shown(dim: &Dimension) -> String {
    match &dim.value {
        Some(DimensionValue::DimValue(n)) => n.to_string(),
        Some(DimensionValue::DimParam(name)) => name.clone(),
        None => "?".to_owned(),
    }
}

/// Whether the text of a dimension is a name, and not empty or a sign for "unknown".
fn is_symbol(text: &str) -> bool {
    !matches!(text.trim(), "" | "?")
}

fn tensor_type(of: &mut TypeProto) -> Option<&mut TensorType> {
    match &mut of.value {
        Some(TypeValue::TensorType(tensor)) => Some(tensor),
        _ => None,
    }
}

/// Says which named dimensions of `edits` no input has.
fn known_dims(graph: &GraphProto, edits: &Edits) -> Result<(), EditError> {
    let mut known: Vec<&str> = Vec::new();
    for input in &graph.input {
        let value = input.r#type.as_ref().and_then(|of| of.value.as_ref());
        let Some(TypeValue::TensorType(TensorType { shape: Some(shape), .. })) = value else {
            continue;
        };
        known.extend(shape.dim.iter().filter_map(|dim| match &dim.value {
            Some(DimensionValue::DimParam(name)) if is_symbol(name) => Some(name.as_str()),
            _ => None,
        }));
    }
    known.sort_unstable();
    known.dedup();
    let ranges = edits.ranges.iter().map(|(name, _)| name);
    let mut named = edits.dims.iter().map(|(name, _)| name).chain(ranges);
    match named.find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let shown: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            let known = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
            Err(EditError::NoDim { name: name.clone(), known })
        }
    }
}

/// Puts sizes in the place of names, in the graph and in those of its nodes.
fn substitute(graph: &mut GraphProto, sizes: &BTreeMap<String, i64>) {
    in_all_graphs(graph, &mut |tensor, _| {
        let dims = tensor.shape.iter_mut().flat_map(|shape| &mut shape.dim);
        dims.for_each(|dim| resolve(dim, sizes));
    });
}

/// Calls `each` with the declared type of each tensor of the graph and of those of its nodes, and
/// whether it is that of an input of the whole.
fn in_all_graphs(graph: &mut GraphProto, each: &mut dyn FnMut(&mut TensorType, bool)) {
    let mut open = vec![(graph, true)];
    while let Some((graph, whole)) = open.pop() {
        for tensor in graph.input.iter_mut().filter_map(typed) {
            each(tensor, whole);
        }
        let infos = graph.output.iter_mut().chain(&mut graph.value_info);
        infos.filter_map(typed).for_each(|tensor| each(tensor, false));
        for attribute in graph.node.iter_mut().flat_map(|node| &mut node.attribute) {
            open.extend(attribute.g.as_deref_mut().map(|graph| (graph, false)));
            open.extend(attribute.graphs.iter_mut().map(|graph| (graph, false)));
        }
    }
}

fn resolve(dim: &mut Dimension, sizes: &BTreeMap<String, i64>) {
    let Some(DimensionValue::DimParam(text)) = &dim.value else { return };
    if let Some(&size) = sizes.get(text) {
        dim.value = Some(DimensionValue::DimValue(size));
        return;
    }
    // `past + batch` is another name than before once `batch` is a number: inference says which.
    if words(text).any(|part| sizes.contains_key(part)) {
        dim.value = None;
    }
}

/// The names in the text of a dimension.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

fn typed(info: &mut ValueInfoProto) -> Option<&mut TensorType> {
    info.r#type.as_mut().and_then(tensor_type)
}

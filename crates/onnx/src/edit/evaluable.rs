//! A model in a form that can be evaluated and compared, whatever it is written with.
//!
//! ```text
//! y = local.F(x)                     the body of F
//! sparse w                           dense w
//! n = RandomNormal()                 n copies an input: two models are given the same numbers
//! If { r = RandomNormal() }          r is one too, read from outside; so is each draw of a loop,
//!                                    which takes the same numbers in every iteration
//! ```

use rustc_hash::FxHashSet;
use tangram_dialects::dims;
use tangram_ir::{Block, Module, Order, Traits, Value, walk};

use super::{inline_functions, reimport};
use crate::error::{Error, Result};
use crate::export::{ExportOptions, export};
use crate::file::{Elements, tensor_bytes};
use crate::model::{Model, Source};
use crate::proto::{
    GraphProto, ModelProto, NodeProto, SparseTensorProto, TensorProto, ValueInfoProto,
};
use crate::types;

/// The most bytes of a sparse tensor made dense.
const MOST_BYTES: i64 = 1 << 30;

/// Returns `model` without calls of local functions, sparse initialisers and operators that draw
/// numbers: these become inputs, after the others. `None` if it has nothing of that.
///
/// An input is named after the value that was drawn, so that two models are given the same numbers
/// where they draw values of the same names. A value whose shape only a body knows is drawn still.
///
/// # Errors
/// As [`super::edit`] for functions; what the import says.
pub fn evaluable(model: &Model) -> Result<Option<Model>> {
    let calls = !model.source.proto.functions.is_empty();
    let inlined = if calls { Some(inline_functions(model)?) } else { None };
    let from = inlined.as_ref().unwrap_or(model);
    let drawn = drawn(from);
    let block = from.graph().and_then(|block| from.source.graphs.get(&block));
    let sparse = block.is_some_and(|graph| !graph.sparse_initializer.is_empty());
    if drawn.is_empty() && !sparse {
        return Ok(inlined);
    }
    let mut proto: ModelProto = export(from, ExportOptions::default())?;
    if let Some(graph) = &mut proto.graph {
        densify(graph, &from.source)?;
        give(graph, drawn);
    }
    reimport(proto, from, Vec::new()).map(Some)
}

/// What operators draw: all of the main graph, and those in bodies whose shapes are known outside.
fn drawn(model: &Model) -> Vec<ValueInfoProto> {
    let module = &model.module;
    let main = model.graph();
    let outside = known_outside(module, main);
    let ops = walk(module, module.root(), Order::Pre).into_iter();
    let random = ops.filter(|&op| module.has_traits(op, Traits::RANDOM));
    let values = random.flat_map(|op| module.results(op).map(move |value| (op, value)));
    let known =
        values.filter(|&(op, value)| module.block(op) == main || is_known(module, value, &outside));
    let mut found: Vec<ValueInfoProto> =
        known.filter_map(|(_, value)| described(module, value)).collect();
    // Two bodies may draw values of one name, which are two values.
    let names: Vec<String> = found.iter().map(|info| info.name().to_owned()).collect();
    found.retain(|info| names.iter().filter(|name| *name == info.name()).count() == 1);
    found
}

/// Returns whether the extents of a tensor are numbers, or made of `symbols`.
fn is_known(module: &Module, value: Value, symbols: &FxHashSet<String>) -> bool {
    let context = module.context();
    let Some((extents, _)) = context.as_tensor(module.value_type(value)) else { return false };
    extents.iter().all(|&extent| {
        let known = dims::expr(context, extent);
        known.is_some_and(|expr| expr.symbols().iter().all(|name| symbols.contains(*name)))
    })
}

/// The symbols in the extents of the model's inputs.
fn known_outside(module: &Module, main: Option<Block>) -> FxHashSet<String> {
    let context = module.context();
    let mut names = FxHashSet::default();
    for &value in main.iter().flat_map(|&block| module.args(block)) {
        let dims = context.as_tensor(module.value_type(value)).map_or(&[][..], |(dims, _)| dims);
        for expr in dims.iter().filter_map(|&dim| dims::expr(context, dim)) {
            names.extend(expr.symbols().into_iter().map(str::to_owned));
        }
    }
    names
}

fn described(module: &Module, value: Value) -> Option<ValueInfoProto> {
    let name = module.context().text(module.value_name(value)?).to_owned();
    let ty = types::export(module.context(), module.value_type(value));
    Some(ValueInfoProto { name: Some(name), r#type: ty, ..ValueInfoProto::default() })
}

/// Makes `values` inputs; the nodes that made them become copies of these, since a body has to make
/// what it gives.
fn give(graph: &mut GraphProto, values: Vec<ValueInfoProto>) {
    let outer = |name: &str| format!("drawn:{name}");
    let copy = |name: &String| NodeProto {
        op_type: Some("Identity".to_owned()),
        input: vec![outer(name)],
        output: vec![name.clone()],
        ..NodeProto::default()
    };
    let mut bodies = vec![&mut *graph];
    while let Some(body) = bodies.pop() {
        for node in std::mem::take(&mut body.node) {
            let is_given = |name: &&String| values.iter().any(|info| info.name() == *name);
            let copies: Vec<NodeProto> = node.output.iter().filter(is_given).map(copy).collect();
            if copies.is_empty() { body.node.push(node) } else { body.node.extend(copies) }
        }
        bodies.extend(inner_graphs(body));
    }
    let renamed = values.into_iter().map(|info| {
        let name = outer(info.name());
        ValueInfoProto { name: Some(name), ..info }
    });
    graph.input.extend(renamed);
}

/// The bodies of the nodes of a graph.
fn inner_graphs(graph: &mut GraphProto) -> impl Iterator<Item = &mut GraphProto> {
    let attributes = graph.node.iter_mut().flat_map(|node| &mut node.attribute);
    attributes
        .flat_map(|attribute| attribute.g.iter_mut().map(|g| &mut **g).chain(&mut attribute.graphs))
}

fn densify(graph: &mut GraphProto, source: &Source) -> Result<()> {
    for sparse in std::mem::take(&mut graph.sparse_initializer) {
        match dense(&sparse, source)? {
            Some(tensor) => graph.initializer.push(tensor),
            None => graph.sparse_initializer.push(sparse),
        }
    }
    Ok(())
}

/// The elements of a sparse tensor in their places, 0 in the others; `None` for what has no form.
fn dense(sparse: &SparseTensorProto, source: &Source) -> Result<Option<TensorProto>> {
    let (Some(values), Some(indices)) = (&sparse.values, &sparse.indices) else { return Ok(None) };
    let read = |tensor: &TensorProto| {
        let name = values.name().to_owned();
        let wrong = |error| Error::Tensor { name, source: Box::new(error) };
        tensor_bytes(tensor, &source.files).map_err(wrong)
    };
    let (held, places) = (read(values)?, read(indices)?);
    let (Elements::Bytes(held_bytes), Elements::Bytes(places)) = (&held.elements, &places.elements)
    else {
        return Ok(None);
    };
    let count: usize = held.dims.iter().product();
    let total = sparse.dims.iter().try_fold(1i64, |total, &n| total.checked_mul(n.max(0)));
    let bits = types::dtype_of(held.data_type as i64).map(tangram_tensor::DType::size_bits);
    let (Some(total), Some(width)) = (total, bits.filter(|bits| bits % 8 == 0)) else {
        return Ok(None);
    };
    let width = width / 8;
    if count == 0 || width == 0 || total.saturating_mul(width as i64) > MOST_BYTES {
        return Ok(None);
    }
    let places: Vec<i64> = places
        .chunks_exact(8)
        .map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap_or_default()))
        .collect();
    let mut data = vec![0u8; total as usize * width];
    let coordinates = (places.len() / count).max(1);
    for (place, element) in places.chunks(coordinates).zip(held_bytes.chunks_exact(width)) {
        let next = |at: i64, (&i, &n): (&i64, &i64)| at.saturating_mul(n).saturating_add(i);
        let linear = match place {
            [linear] => *linear,
            _ => place.iter().zip(&sparse.dims).fold(0, next),
        };
        let start = usize::try_from(linear).unwrap_or(usize::MAX).saturating_mul(width);
        let Some(to) = data.get_mut(start..start.saturating_add(width)) else { return Ok(None) };
        to.copy_from_slice(element);
    }
    Ok(Some(TensorProto {
        name: values.name.clone(),
        dims: sparse.dims.clone(),
        data_type: values.data_type,
        raw_data: Some(data.into()),
        ..TensorProto::default()
    }))
}

//! A model in a form that can be evaluated and compared, whatever it is written with.
//!
//! ```text
//! y = local.F(x)                     the body of F
//! sparse w                           dense w
//! n = RandomNormal()                 n is an input: two models are given the same numbers
//! ```

use tangram_ir::Traits;

use super::{inline_functions, reimport};
use crate::error::{Error, Result};
use crate::export::{ExportOptions, export};
use crate::file::{Elements, tensor_bytes};
use crate::model::{Model, Source};
use crate::proto::{GraphProto, ModelProto, SparseTensorProto, TensorProto, ValueInfoProto};
use crate::types;

/// The most bytes of a sparse tensor made dense.
const MOST_BYTES: i64 = 1 << 30;

/// Returns `model` without calls of local functions, sparse initialisers and, in its main graph,
/// operators that draw numbers: these become inputs of the same names, after the others. `None` if
/// it has nothing of that.
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

/// What operators of the main graph draw.
fn drawn(model: &Model) -> Vec<ValueInfoProto> {
    let module = &model.module;
    let ops = model.graph().into_iter().flat_map(|block| module.ops(block));
    let random = ops.filter(|&op| module.has_traits(op, Traits::RANDOM));
    let values = random.flat_map(|op| module.results(op));
    let info = |value| {
        let name = module.context().text(module.value_name(value)?).to_owned();
        let ty = types::export(module.context(), module.value_type(value));
        Some(ValueInfoProto { name: Some(name), r#type: ty, ..ValueInfoProto::default() })
    };
    values.filter_map(info).collect()
}

/// Makes `values` inputs, in the place of the nodes that make them.
fn give(graph: &mut GraphProto, values: Vec<ValueInfoProto>) {
    let is_given = |name: &String| values.iter().any(|info| info.name() == name);
    graph.node.retain(|node| !node.output.iter().any(is_given));
    graph.input.extend(values);
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

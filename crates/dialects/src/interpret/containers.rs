//! Operations on sequences, optional values and maps.

use tangram_ir::{Module, Op};
use tangram_tensor::Tensor;
use tangram_tensor::shape::{concatenate, expand_dims, split, squeeze};

use super::{
    Datum, InterpretError, MAX_NESTING, Result, extent, integer, malformed, refused, tensor,
};
use crate::attrs::Attrs;
use crate::nn::evaluate_maps;

/// Operations on sequences and optional values; `None` for any other.
pub(super) fn evaluate(module: &Module, op: Op, operands: &[Datum]) -> Result<Option<Vec<Datum>>> {
    let wrong = || malformed(module, op, "operand of the kind that it takes");
    let sequence = || match operands.first() {
        Some(Datum::Sequence(items)) => Ok(items.clone()),
        _ => Err(wrong()),
    };
    let place = |i: usize, count: usize, default: i64| {
        let place = integer(operands.get(i)).unwrap_or(default);
        let place = if place < 0 { place + count as i64 } else { place };
        usize::try_from(place).map_err(|_| wrong())
    };
    let one = match module.name_text(op) {
        "nn.identity" => operands.first().cloned().ok_or_else(wrong)?,
        "nn.sequence_construct" => {
            let deep = operands.iter().any(|operand| depth(operand) >= MAX_NESTING);
            if deep {
                return Err(InterpretError::Nesting);
            }
            Datum::Sequence(operands.to_vec())
        }
        "nn.sequence_empty" => Datum::Sequence(Vec::new()),
        "nn.sequence_length" => Datum::Tensor(Tensor::scalar(sequence()?.len() as i64)),
        "nn.sequence_at" => {
            let items = sequence()?;
            items.get(place(1, items.len(), 0)?).cloned().ok_or_else(wrong)?
        }
        "nn.sequence_erase" => {
            let mut items = sequence()?;
            let at = place(1, items.len(), -1)?;
            if at >= items.len() {
                return Err(wrong());
            }
            items.remove(at);
            Datum::Sequence(items)
        }
        "nn.sequence_insert" => {
            let mut items = sequence()?;
            let at = place(2, items.len(), items.len() as i64)?;
            if at > items.len() {
                return Err(wrong());
            }
            let item = operands.get(1).cloned().ok_or_else(wrong)?;
            if depth(&item) >= MAX_NESTING {
                return Err(InterpretError::Nesting);
            }
            items.insert(at, item);
            Datum::Sequence(items)
        }
        "nn.split_to_sequence" => {
            let data = operands.first().and_then(tensor).ok_or_else(wrong)?;
            let attrs = Attrs::new(module.context(), module.attrs(op));
            let sizes = operands.get(1).and_then(tensor);
            let keep = attrs.bool("keepdims").unwrap_or(true);
            let parts = parts(data, attrs.int("axis").unwrap_or(0), sizes, keep)?;
            Datum::Sequence(parts.into_iter().map(Datum::Tensor).collect())
        }
        "nn.concat_from_sequence" => {
            let items = sequence()?;
            let attrs = Attrs::new(module.context(), module.attrs(op));
            let axis = attrs.int("axis").ok_or_else(wrong)?;
            let parts: Vec<Tensor> = items.iter().filter_map(tensor).cloned().collect();
            let parts = match attrs.flag("new_axis") {
                true => parts
                    .iter()
                    .map(|p| expand_dims(p, &[axis]))
                    .collect::<std::result::Result<Vec<_>, _>>()?,
                false => parts,
            };
            Datum::Tensor(concatenate(&parts.iter().collect::<Vec<_>>(), axis)?)
        }
        "nn.optional" => {
            let held = operands.first().filter(|datum| !matches!(datum, Datum::None));
            if held.is_some_and(|held| depth(held) >= MAX_NESTING) {
                return Err(InterpretError::Nesting);
            }
            Datum::Optional(held.cloned().map(Box::new))
        }
        "nn.optional_has_element" => {
            let held =
                !matches!(operands.first(), None | Some(Datum::None | Datum::Optional(None)));
            Datum::Tensor(Tensor::scalar(held))
        }
        "nn.optional_get_element" => match operands.first() {
            Some(Datum::Optional(Some(held))) => (**held).clone(),
            Some(Datum::Optional(None) | Datum::None) | None => return Err(wrong()),
            Some(plain) => plain.clone(),
        },
        _ => return maps(module, op, operands),
    };
    Ok(Some(vec![one]))
}

/// How deep values are in values.
fn depth(datum: &Datum) -> usize {
    let (mut open, mut deepest) = (vec![(datum, 0)], 0);
    while let Some((datum, depth)) = open.pop() {
        deepest = deepest.max(depth);
        match datum {
            Datum::Sequence(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Datum::Optional(Some(held)) => open.push((held, depth + 1)),
            _ => {}
        }
    }
    deepest
}

/// Operations on maps; `None` for any other.
fn maps(module: &Module, op: Op, operands: &[Datum]) -> Result<Option<Vec<Datum>>> {
    let failed = |source| refused(module, op, source);
    let outcome = evaluate_maps(module, op, operands).transpose().map_err(failed)?;
    Ok(outcome.map(|datum| vec![datum]))
}

/// Cuts `data` along `axis`: into parts of 1, of one size, the last one smaller if need be, or of
/// the listed sizes. Without sizes, parts lose the dimension unless `keep` says otherwise.
fn parts(data: &Tensor, axis: i64, sizes: Option<&Tensor>, keep: bool) -> Result<Vec<Tensor>> {
    let extent = usize::try_from(extent(data, axis).unwrap_or(0)).unwrap_or(0);
    let given = match sizes {
        Some(sizes) => sizes.i64s()?,
        None => vec![1],
    };
    let given: Vec<usize> = given.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
    let sizes_of = |size: usize| {
        let size = size.max(1);
        (0..extent).step_by(size).map(|start| size.min(extent - start)).collect::<Vec<_>>()
    };
    let listed = sizes.is_some_and(|sizes| sizes.rank() == 1);
    let parts = match given[..] {
        [size] if !listed => split(data, axis, &sizes_of(size))?,
        _ => split(data, axis, &given)?,
    };
    if sizes.is_some() || keep {
        return Ok(parts);
    }
    Ok(parts
        .iter()
        .map(|part| squeeze(part, Some(&[axis])))
        .collect::<std::result::Result<_, _>>()?)
}

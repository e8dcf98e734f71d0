//! What prepares features, each column for itself or each row.

use tangram_ir::Value;
use tangram_rewrite::NoMatch;
use tangram_tensor::learned::Norm;
use tangram_tensor::{DType, Tensor};

use super::super::features::{imputed, norm, offset_and_scale};
use super::{Made, beside, choose, row, rows, with_number};
use crate::nn::decompose::Parts;

pub(in super::super) fn scaler(parts: &mut Parts<'_, '_>) -> Made<Vec<Value>> {
    let (offset, scale) = parts.read(|cx| Ok(offset_and_scale(cx)))?;
    let (x, columns) = rows(parts, DType::F32)?;
    if scale.len() != offset.len() || offset.len() != 1 && offset.len() != columns {
        return Err(NoMatch::because("there is not a scale for each feature"));
    }
    let (offset, scale) = (row(parts, &offset), row(parts, &scale));
    let moved = parts.make("nn.subtract", &[x, offset], &[])?;
    Ok(vec![parts.make("nn.multiply", &[moved, scale], &[])?])
}

pub(in super::super) fn normalizer(parts: &mut Parts<'_, '_>) -> Made<Vec<Value>> {
    let norm = parts.read(norm)?;
    let (x, _) = rows(parts, DType::F32)?;
    let length = match norm {
        Norm::Max => {
            // A NaN is greater than nothing.
            let absent = parts.make("nn.isnan", &[x], &[])?;
            let least = parts.number(DType::F32, f64::NEG_INFINITY)?;
            let numbers = choose(parts, absent, least, x)?;
            parts.reduce("nn.max", numbers, 1, true)?
        }
        Norm::L1 => {
            let sizes = parts.make("nn.abs", &[x], &[])?;
            parts.reduce("nn.sum", sizes, 1, true)?
        }
        Norm::L2 => {
            let squares = parts.make("nn.multiply", &[x, x], &[])?;
            let sum = parts.reduce("nn.sum", squares, 1, true)?;
            parts.make("nn.sqrt", &[sum], &[])?
        }
    };
    let divided = parts.make("nn.divide", &[x, length], &[])?;
    let none = with_number(parts, "nn.equal", length, 0.0)?;
    Ok(vec![choose(parts, none, x, divided)?])
}

pub(in super::super) fn imputer(parts: &mut Parts<'_, '_>) -> Made<Vec<Value>> {
    let x = parts.operand(0)?;
    let element = parts.typed(x)?.1;
    let (x, columns) = rows(parts, element)?;
    let (mut values, replaced) = parts.read(|cx| Ok(imputed(cx, element)))?;
    let cast = |tensor: &Tensor| {
        let cast = tangram_tensor::elementwise::cast(tensor, element);
        cast.map_err(|error| NoMatch::because(error.to_string()))
    };
    if values.is_empty() {
        return Err(NoMatch::because("there are no values"));
    }
    if values.len() != columns {
        let first = tangram_tensor::index::take(&values, &Tensor::vector(vec![0i64]), 0);
        values = first.map_err(|error| NoMatch::because(error.to_string()))?;
    }
    let (values, replaced) = (cast(&values)?, cast(&replaced)?);
    let is_nan = replaced.f64s().is_ok_and(|number| number[0].is_nan());
    let missing = match is_nan {
        true => parts.make("nn.isnan", &[x], &[])?,
        false => {
            let replaced = parts.constant(&replaced);
            parts.make("nn.equal", &[x, replaced], &[])?
        }
    };
    let values = parts.constant(&values);
    Ok(vec![choose(parts, missing, values, x)?])
}

pub(in super::super) fn binarizer(parts: &mut Parts<'_, '_>) -> Made<Vec<Value>> {
    let threshold = parts.read(|cx| Ok(cx.attrs().float("threshold").unwrap_or(0.0) as f32))?;
    let x = parts.operand(0)?;
    let element = parts.typed(x)?.1;
    let compared = if element == DType::F32 { DType::F32 } else { DType::F64 };
    let wide = parts.cast(x, compared)?;
    let flags = with_number(parts, "nn.greater", wide, f64::from(threshold))?;
    Ok(vec![parts.cast(flags, element)?])
}

pub(in super::super) fn extractor(parts: &mut Parts<'_, '_>) -> Made<Vec<Value>> {
    let (x, places) = (parts.operand(0)?, parts.operand(1)?);
    let element = parts.typed(x)?.1;
    let (x, columns) = rows(parts, element)?;
    // None is counted from the back, as a pick by index would.
    let known = parts.constant_of(places).and_then(|places| places.i64s().ok());
    let known = known.filter(|list| list.iter().all(|&i| i >= 0 && (i as usize) < columns));
    let known = known.ok_or_else(|| NoMatch::because("places are not known"))?;
    let places = parts.constant(&Tensor::vector(known));
    let axis = parts.int(1);
    Ok(vec![parts.make("nn.take", &[x, places], &[("axis", axis)])?])
}

pub(in super::super) fn vectorizer(parts: &mut Parts<'_, '_>) -> Made<Vec<Value>> {
    let widths = parts.read(|cx| Ok(cx.attrs().ints("inputdimensions").unwrap_or_default()))?;
    let inputs = parts.operands();
    let mut columns = Vec::new();
    for (&input, &width) in inputs.iter().zip(&widths) {
        let (dims, _) = parts.typed(input)?;
        if dims.len() != 2 || dims[1].as_static() != Some(width) {
            return Err(NoMatch::because("not all features of an input are taken"));
        }
        columns.push(parts.cast(input, DType::F32)?);
    }
    if columns.is_empty() || widths.len() != inputs.len() {
        return Err(NoMatch::because("there is not a width for each input"));
    }
    Ok(vec![beside(parts, &columns)?])
}

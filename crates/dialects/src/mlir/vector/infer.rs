//! Types of results that the text does not say.

use tangram_ir::{InferCx, InferError, Inferred, Type, TypeData};

/// The most elements that a vector is taken apart into.
const MAX_ELEMENTS: i64 = 1 << 20;

type Answer = Result<Inferred, InferError>;

/// Extents and elements of operand 0.
fn vector<'a>(cx: &InferCx<'a>) -> Result<(&'a [i64], &'a [bool], Type), InferError> {
    match cx.operand_type(0).map(|ty| cx.context().type_data(ty)) {
        Some(TypeData::Vector { dims, scalable, element }) => Ok((dims, scalable, *element)),
        _ => Err(InferError::mismatch("expected a vector as operand 0")),
    }
}

/// A row for each place of the mask.
pub(super) fn shuffled(cx: &InferCx<'_>) -> Answer {
    let context = cx.context();
    let (dims, scalable, element) = vector(cx)?;
    let mask = cx.attr("mask").and_then(|attr| context.as_i64s(attr));
    let mask = mask.ok_or_else(|| InferError::mismatch("expected attribute `mask`, found none"))?;
    let rest = dims.get(1..).unwrap_or(&[]);
    let flags = scalable.get(1..).unwrap_or(&[]);
    let data = TypeData::Vector {
        dims: [mask.len() as i64].iter().chain(rest).copied().collect(),
        scalable: [false].iter().chain(flags).copied().collect(),
        element,
    };
    Ok(Inferred { types: [context.ty(data)].into_iter().collect(), ..Inferred::default() })
}

/// One result for each element.
pub(super) fn elements(cx: &InferCx<'_>) -> Answer {
    let (dims, _, element) = vector(cx)?;
    let count = dims.iter().try_fold(1i64, |n, &dim| n.checked_mul(dim));
    let count = count.filter(|&count| (0..=MAX_ELEMENTS).contains(&count));
    let count = count.ok_or_else(|| InferError::mismatch("expected a vector of fewer elements"))?;
    Ok(Inferred { types: (0..count).map(|_| element).collect(), ..Inferred::default() })
}

//! Result types that follow from operands and attributes.

use tangram_ir::{
    AttrData, Context, Dim, InferCx, InferError, Inferred, TensorType, Traits, Type, TypeData,
};

type Answer = Result<Inferred, InferError>;

fn one(ty: Type) -> Answer {
    Ok(Inferred { types: [ty].into_iter().collect(), ..Inferred::default() })
}

fn operand(cx: &InferCx<'_>, i: usize) -> Result<Type, InferError> {
    cx.operand_type(i).ok_or_else(|| {
        InferError::mismatch(format!("expected operand {i}, found {}", cx.operands.len()))
    })
}

/// The type of operand 0.
pub(super) fn like_first(cx: &InferCx<'_>) -> Answer {
    one(operand(cx, 0)?)
}

/// The type of operand 1.
pub(super) fn like_second(cx: &InferCx<'_>) -> Answer {
    one(operand(cx, 1)?)
}

/// Two results of the type of operand 0.
pub(super) fn twice_first(cx: &InferCx<'_>) -> Answer {
    let ty = operand(cx, 0)?;
    Ok(Inferred { types: [ty, ty].into_iter().collect(), ..Inferred::default() })
}

/// `i1`, in the shape of operand 0.
pub(super) fn boolean_like_first(cx: &InferCx<'_>) -> Answer {
    one(boolean_like(cx.context(), operand(cx, 0)?))
}

/// The type of operand 0, and `i1` in its shape.
pub(super) fn first_and_boolean(cx: &InferCx<'_>) -> Answer {
    let ty = operand(cx, 0)?;
    let boolean = boolean_like(cx.context(), ty);
    Ok(Inferred { types: [ty, boolean].into_iter().collect(), ..Inferred::default() })
}

pub(super) fn boolean_like(context: &Context, ty: Type) -> Type {
    let boolean = context.int_type(1);
    let data = match context.type_data(ty) {
        TypeData::Tensor(tensor) => {
            TypeData::Tensor(TensorType { element: boolean, ..tensor.clone() })
        }
        TypeData::UnrankedTensor(_) => TypeData::UnrankedTensor(boolean),
        TypeData::Vector { dims, scalable, .. } => {
            let (dims, scalable) = (dims.clone(), scalable.clone());
            TypeData::Vector { dims, scalable, element: boolean }
        }
        _ => return boolean,
    };
    context.ty(data)
}

/// `index`.
pub(super) fn index(cx: &InferCx<'_>) -> Answer {
    one(cx.context().ty(TypeData::Index))
}

/// The type of attribute `value`.
pub(super) fn of_value(cx: &InferCx<'_>) -> Answer {
    let context = cx.context();
    let attr = cx
        .attr("value")
        .ok_or_else(|| InferError::mismatch("expected attribute `value`, found none"))?;
    match context.attr_data(attr) {
        AttrData::Bool(_) => one(context.int_type(1)),
        AttrData::Integer { ty, .. }
        | AttrData::Float { ty, .. }
        | AttrData::WideFloat { ty, .. }
        | AttrData::Dense { ty, .. }
        | AttrData::Resource { ty, .. } => one(*ty),
        AttrData::Opaque(text) => match context.text_type(*text) {
            Some(ty) => one(ty),
            None => Err(InferError::mismatch("expected a constant whose type is known")),
        },
        _ => Err(InferError::mismatch("expected a constant with a type as attribute `value`")),
    }
}

/// The element type of operand 0, a buffer, tensor or vector.
pub(super) fn element_of_first(cx: &InferCx<'_>) -> Answer {
    let ty = operand(cx, 0)?;
    match cx.context().type_data(ty) {
        TypeData::MemRef { element, .. }
        | TypeData::UnrankedMemRef { element, .. }
        | TypeData::UnrankedTensor(element)
        | TypeData::Vector { element, .. } => one(*element),
        TypeData::Tensor(tensor) => one(tensor.element),
        _ => Err(InferError::mismatch("expected a type with elements as operand 0")),
    }
}

/// The types of the operands from number 3 on: what a loop carries.
pub(super) fn carried(cx: &InferCx<'_>) -> Answer {
    let types = (3..cx.operands.len()).filter_map(|i| cx.operand_type(i)).collect();
    Ok(Inferred { types, ..Inferred::default() })
}

/// The types of the tensors among the outputs, which are the second segment of the operands.
pub(super) fn tensor_outputs(cx: &InferCx<'_>) -> Answer {
    let context = cx.context();
    let inputs = match cx.attr("operandSegmentSizes").map(|attr| context.attr_data(attr)) {
        Some(AttrData::DenseArray { bytes, .. }) => match **bytes {
            [a, b, c, d, ..] => u32::from_le_bytes([a, b, c, d]) as usize,
            _ => 0,
        },
        Some(AttrData::I64s(sizes)) => sizes.first().map_or(0, |&n| n.max(0) as usize),
        _ => {
            return Err(InferError::mismatch(
                "expected attribute `operandSegmentSizes`, found none",
            ));
        }
    };
    let is_tensor = |ty: &Type| {
        matches!(context.type_data(*ty), TypeData::Tensor(_) | TypeData::UnrankedTensor(_))
    };
    let types = (inputs..cx.operands.len()).filter_map(|i| cx.operand_type(i)).filter(is_tensor);
    Ok(Inferred { types: types.collect(), ..Inferred::default() })
}

/// The types of the tensors among what is written: the second half of the operands where both have
/// one size, the last one otherwise.
pub(super) fn tensor_inits(cx: &InferCx<'_>) -> Answer {
    let count = cx.operands.len();
    let inputs = if cx.def.traits.contains(Traits::SAME_SIZES) {
        count / 2
    } else {
        count.saturating_sub(1)
    };
    let is_tensor = |ty: &Type| {
        matches!(cx.context().type_data(*ty), TypeData::Tensor(_) | TypeData::UnrankedTensor(_))
    };
    let types = (inputs..count).filter_map(|i| cx.operand_type(i)).filter(is_tensor).collect();
    Ok(Inferred { types, ..Inferred::default() })
}

/// The type of operand 1 if it is a tensor; no result otherwise.
pub(super) fn second_if_tensor(cx: &InferCx<'_>) -> Answer {
    let ty = operand(cx, 1)?;
    match cx.context().type_data(ty) {
        TypeData::Tensor(_) | TypeData::UnrankedTensor(_) => one(ty),
        _ => Ok(Inferred::default()),
    }
}

/// The tensor that joins the operands along dimension `dim`.
pub(super) fn concatenated(cx: &InferCx<'_>) -> Answer {
    let context = cx.context();
    let first = operand(cx, 0)?;
    let TypeData::Tensor(tensor) = context.type_data(first) else {
        return Err(InferError::mismatch("expected ranked tensors as operands"));
    };
    let dim = cx.attr("dim").and_then(|attr| context.as_i64(attr));
    let Some(at) = dim.and_then(|n| usize::try_from(n).ok()).filter(|&n| n < tensor.dims.len())
    else {
        return Err(InferError::mismatch("expected attribute `dim` to name a dimension"));
    };
    let mut total = Some(0i64);
    for i in 0..cx.operands.len() {
        let extent =
            context.as_tensor(operand(cx, i)?).and_then(|(dims, _)| dims.get(at)?.as_static());
        total = total.zip(extent).and_then(|(a, b)| a.checked_add(b));
    }
    let mut dims = tensor.dims.clone();
    dims[at] = total.map_or(Dim::UNKNOWN, Dim::fixed);
    one(context.ty(TypeData::Tensor(TensorType { dims, ..tensor.clone() })))
}

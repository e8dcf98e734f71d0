//! Constants, and the value that stands for an absent operand.

use smallvec::smallvec;
use tangram_ir::{AttrData, AttrKind, InferCx, Inferred, OpDef, Traits, TypeData};
use tangram_tensor::DType;

use super::{NnOp, Numbers, needed, result};
use crate::dtype;
use crate::infer::{InferExt, Result};
use crate::infer_error;

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    NnOp::new(OpDef {
        results: &[result("output", "the value")],
        attrs: &[needed(
            "value",
            AttrKind::Tensor,
            "the tensor: `dense` when small, a resource of the module when big, a list of texts",
        )],
        traits: Traits::PURE.union(Traits::CONSTANT_LIKE),
        infer: Some(infer_constant),
        ..OpDef::new("nn.constant", "a constant tensor")
    }),
    NnOp::new(OpDef {
        results: &[result("output", "a value of type `none`")],
        traits: Traits::PURE,
        infer: Some(infer_none),
        ..OpDef::new("nn.none", "the value of an absent operand")
    })
    .numbers(Numbers::CHOSEN),
];

fn infer_constant(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let value = cx.attrs().find("value").ok_or_else(|| infer_error!("a constant needs `value`"))?;
    match context.attr_data(value) {
        AttrData::Dense { ty, .. } | AttrData::Resource { ty, .. } => {
            Ok(Inferred { types: smallvec![*ty], ..Inferred::default() })
        }
        // A list of texts says how many there are, not their shape.
        AttrData::Array(_) => {
            let text = dtype::type_of(context, DType::String);
            let ty = context.ty(TypeData::UnrankedTensor(text));
            Ok(Inferred { types: smallvec![ty], ..Inferred::default() })
        }
        _ => Err(infer_error!("the type of this constant is not written in its value")),
    }
}

fn infer_none(cx: &InferCx<'_>) -> Result {
    Ok(Inferred { types: smallvec![cx.context().ty(TypeData::None)], ..Inferred::default() })
}

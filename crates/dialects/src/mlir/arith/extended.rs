//! Folders and patterns of sums with their overflow and products with their high half.

use tangram_ir::{Attr, Fold, FoldCx, Folded};

use crate::mlir::fold::number::{self, Number, unsigned, wrap};
use crate::mlir::fold::{Cx, Look, Rewrite};
use crate::mlir::infer::boolean_like;

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] =
    &[("signed-product-with-one", &["arith.mulsi_extended"], signed_product_with_one)];

pub(super) fn addui(cx: &FoldCx<'_>) -> Option<Fold> {
    both(cx, |a, b, width| {
        let sum = unsigned(a, width) + unsigned(b, width);
        (wrap(sum, width), -i128::from(sum >> width != 0))
    })
}

pub(super) fn mulsi(cx: &FoldCx<'_>) -> Option<Fold> {
    both(cx, |a, b, width| (wrap(a * b, width), wrap((a * b) >> width, width)))
}

pub(super) fn mului(cx: &FoldCx<'_>) -> Option<Fold> {
    if cx.int(1).is_some_and(|one| one == 1) {
        let zero = number::int_attr(cx.context(), cx.ty(), 0)?;
        let results = [Folded::Value(cx.operand(0)), Folded::Attr(zero)];
        return Some(Fold::Results(results.into_iter().collect()));
    }
    both(cx, |a, b, width| {
        let product = unsigned(a, width) as u128 * unsigned(b, width) as u128;
        (wrap(product as i128, width), wrap((product >> width) as i128, width))
    })
}

/// Both results of `f` of two constants.
fn both(cx: &FoldCx<'_>, f: impl Fn(i128, i128, u32) -> (i128, i128)) -> Option<Fold> {
    let args: [Attr; 2] = [cx.constant(0)?, cx.constant(1)?];
    let width = number::int_width(cx.context(), cx.ty())?;
    let pair = |row: &[Number]| match row {
        &[Number::Int(a), Number::Int(b)] => Some(f(a, b, width)),
        _ => None,
    };
    let types = [0, 1].map(|i| cx.module.value_type(cx.module.result(cx.op, i)));
    let low = |row: &[Number]| Some(Number::Int(pair(row)?.0));
    let high = |row: &[Number]| Some(Number::Int(pair(row)?.1));
    let low = number::map(cx.context(), types[0], &args, low)?;
    let high = number::map(cx.context(), types[1], &args, high)?;
    Some(Fold::Results([low, high].map(Folded::Attr).into_iter().collect()))
}

/// The product of `x` and 1 is `x`, and its high half repeats the sign of `x`.
fn signed_product_with_one(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (x, ty) = (cx.operand(0), cx.ty());
    if cx.int(cx.operand(1)) != Some(1) {
        return None;
    }
    let boolean = boolean_like(cx.context, ty);
    let zero = cx.int_constant(0, ty)?;
    let less = cx.i64_attr(2);
    let predicate = cx.context.dict([(cx.known.predicate, less)]);
    let negative = cx.make(cx.known.cmpi, &[x, zero], predicate, &[boolean]);
    let negative = cx.module().result(negative, 0);
    let high = cx.value(cx.known.extsi, &[negative], ty);
    cx.replace(&[x, high])
}

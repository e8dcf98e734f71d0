//! Vectors made of elements and taken apart, in order; numbers in order beside a number.

use tangram_ir::Value;

use super::shape::{Shape, reshaped};
use crate::mlir::extents::list;
use crate::mlir::fold::number::{self, Number};
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(super) const REWRITES: &[Rewrite] = &[
    ("elements-of-elements", &["vector.to_elements"], elements_of_elements),
    ("vector-of-its-elements", &["vector.from_elements"], vector_of_its_elements),
    ("vector-of-one-scalar", &["vector.from_elements"], vector_of_one_scalar),
    ("shuffle-in-order", &["vector.shuffle"], shuffle_in_order),
    ("compare-numbers-in-order", &["arith.cmpi"], compare_in_order),
];

/// What a vector was made of is what it is taken apart into.
fn elements_of_elements(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let def = module.def_op(cx.operand(0)).filter(|&def| def != cx.op)?;
    let count = module.result_count(cx.op);
    let values: Vec<Value> = match module.name_text(def) {
        "vector.from_elements" => module.operands(def).collect(),
        "vector.broadcast" => {
            let source = module.operand(def, 0);
            if Shape::of_value(cx, source).vector {
                return None;
            }
            vec![source; count]
        }
        _ => return None,
    };
    cx.replace(&values)
}

/// All elements of a vector, in their order, are the vector.
fn vector_of_its_elements(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let operands: Vec<Value> = module.operands(cx.op).collect();
    let def = cx.def_of(*operands.first()?, cx.context.name("vector.to_elements"))?;
    if !module.results(def).eq(operands) {
        return None;
    }
    let (source, ty) = (module.operand(def, 0), cx.ty());
    let value = reshaped(cx, source, ty);
    cx.replace(&[value])
}

fn vector_of_one_scalar(cx: &mut Cx<'_, '_>) -> Option<()> {
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let &first = operands.first()?;
    let same = operands.iter().all(|&value| value == first);
    same.then(|| cx.become_op(cx.context.name("vector.broadcast"), &[first]))?
}

/// All of one vector, in its order, is the vector.
fn shuffle_in_order(cx: &mut Cx<'_, '_>) -> Option<()> {
    let mask = list(cx.module(), cx.op, "mask")?;
    let (first, second) = (cx.operand(0), cx.operand(1));
    let &count = Shape::of_value(cx, first).dims.first()?;
    let follows = |start: i64| mask.iter().enumerate().all(|(i, &n)| n == start + i as i64);
    let ty = cx.ty();
    if cx.type_of(first) == ty && follows(0) {
        cx.replace(&[first])
    } else if cx.type_of(second) == ty && follows(count) {
        cx.replace(&[second])
    } else {
        None
    }
}

/// What holds of 0, 1, 2 and so on up to a number beside another number, if it is one thing.
fn compare_in_order(cx: &mut Cx<'_, '_>) -> Option<()> {
    cx.def(0, cx.context.name("vector.step"))?;
    let last = Shape::of_value(cx, cx.operand(0)).count()?.checked_sub(1)? as i128;
    let other = number::unsigned(cx.int(cx.operand(1))?, 64);
    let predicate = cx.module().attr(cx.op, "predicate")?;
    let known = match cx.context.as_i64(predicate)? {
        0 if other > last => false,
        1 if other > last => true,
        6 if last < other => true,
        6 if other == 0 => false,
        7 if last <= other => true,
        8 if last <= other => false,
        9 if other == 0 => true,
        9 if last < other => false,
        _ => return None,
    };
    let ty = cx.ty();
    let attr = number::constant(cx.context, ty, Number::Int(-i128::from(known)))?;
    let value = cx.constant(attr, ty)?;
    cx.replace(&[value])
}

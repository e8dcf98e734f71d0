//! Extents that an operation on a buffer or tensor was given as operands.

use tangram_ir::{Dim, Module, Op, Value};

/// Stands for an entry of a list that an operand gives.
pub(super) const DYNAMIC: i64 = i64::MIN;

/// The operand of `def` that says extent `at` of its result, which has `rank` dimensions and whose
/// type does not say that extent. `before` is how many extents before it the type does not say.
pub(super) fn operand_of_extent(
    module: &Module,
    def: Op,
    (at, rank): (usize, usize),
    before: usize,
) -> Option<Value> {
    match module.name_text(def) {
        "tensor.extract_slice" | "memref.subview" | "memref.reinterpret_cast" => {
            let sizes = list(module, def, "static_sizes")?;
            // Where dimensions are dropped, extents have other numbers.
            if sizes.len() != rank || sizes.get(at) != Some(&DYNAMIC) {
                return None;
            }
            let segments = module.int_list(module.attr(def, "operandSegmentSizes")?)?;
            let offsets = usize::try_from(*segments.get(1)?).ok()?;
            module.operands(def).nth(1 + offsets + dynamic_before(&sizes, at))
        }
        "tensor.expand_shape" | "memref.expand_shape" => {
            let shape = list(module, def, "static_output_shape")?;
            let known = shape.get(at) == Some(&DYNAMIC);
            known.then(|| module.operands(def).nth(1 + dynamic_before(&shape, at)))?
        }
        "tensor.empty" | "tensor.generate" => module.operands(def).nth(before),
        "tensor.splat" => module.operands(def).nth(1 + before),
        "memref.view" => module.operands(def).nth(2 + before),
        _ => None,
    }
}

/// Returns whether no part that is known lies outside of `dims`; such a part is undefined where
/// numbers are operands, and an error where they are written.
pub(super) fn in_bounds(dims: &[Dim], offsets: &[i64], sizes: &[i64], strides: &[i64]) -> bool {
    let known = |n: i64| (n != DYNAMIC).then_some(n);
    let lists = offsets.iter().zip(sizes).zip(strides);
    dims.iter().zip(lists).all(|(dim, ((&offset, &size), &stride))| {
        let (Some(extent), Some(offset)) = (dim.as_static(), known(offset)) else { return true };
        let last = known(size).zip(known(stride)).map(|(size, stride)| {
            offset.saturating_add(size.saturating_sub(1).saturating_mul(stride))
        });
        (0..extent).contains(&offset) && last.is_none_or(|last| last < extent)
    })
}

/// The numbers of attribute `name`.
pub(super) fn list(module: &Module, op: Op, name: &str) -> Option<Vec<i64>> {
    module.context().as_i64s(module.attr(op, name)?)
}

fn dynamic_before(list: &[i64], at: usize) -> usize {
    list[..at].iter().filter(|&&n| n == DYNAMIC).count()
}

//! Reads and writes of parts of tensors and buffers as vectors.

use tangram_ir::{AttrData, Dim, Op, TypeData, Value};

use super::reductions::is_all_set;
use super::shape::Shape;
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(super) const REWRITES: &[Rewrite] = &[
    ("transfer-stays-inside", TRANSFERS, stays_inside),
    ("transfer-of-all", TRANSFERS, without_mask),
    ("read-what-was-written", &["vector.transfer_read"], read_what_was_written),
    ("write-what-was-read", &["vector.transfer_write"], write_what_was_read),
];

const TRANSFERS: &[&str] = &["vector.transfer_read", "vector.transfer_write"];
const MAX_STEPS: usize = 64;

/// The operands of a transfer.
struct Transfer {
    base: Value,
    indices: Vec<Value>,
    mask: Option<Value>,
    vector: Shape,
}

impl Transfer {
    fn of(cx: &Cx<'_, '_>, op: Op) -> Option<Transfer> {
        let module = cx.module();
        let sizes = module.int_list(module.attr(op, "operandSegmentSizes")?)?;
        let sizes: Option<Vec<usize>> =
            sizes.into_iter().map(|n| usize::try_from(n).ok()).collect();
        let operands: Vec<Value> = module.operands(op).collect();
        let (base, count, rest, vector) = match (module.name_text(op), &sizes?[..]) {
            ("vector.transfer_read", &[1, n, 1, _]) => (0, n, n + 2, module.result(op, 0)),
            ("vector.transfer_write", &[1, 1, n, _]) => (1, n, n + 2, *operands.first()?),
            _ => return None,
        };
        Some(Transfer {
            base: *operands.get(base)?,
            indices: operands.get(base + 1..base + 1 + count)?.to_vec(),
            mask: operands.get(rest).copied(),
            vector: Shape::of_value(cx, vector),
        })
    }
}

/// For each dimension of the vector, whether it stays inside for sure.
fn inside(cx: &Cx<'_, '_>, op: Op) -> Option<Vec<bool>> {
    match cx.context.attr_data(cx.module().attr(op, "in_bounds")?) {
        AttrData::Array(items) => items.iter().map(|&item| cx.context.as_bool(item)).collect(),
        _ => None,
    }
}

/// A transfer whose place and size are known may be known to stay inside.
fn stays_inside(cx: &mut Cx<'_, '_>) -> Option<()> {
    let transfer = Transfer::of(cx, cx.op)?;
    let dims: &[Dim] = match cx.context.type_data(cx.type_of(transfer.base)) {
        TypeData::Tensor(tensor) => &tensor.dims,
        TypeData::MemRef { dims, .. } => dims,
        _ => return None,
    };
    let map = cx.context.as_affine_map(cx.module().attr(cx.op, "permutation_map")?)?;
    let mut flags = inside(cx, cx.op)?;
    let before = flags.clone();
    for (i, flag) in flags.iter_mut().enumerate().take(transfer.vector.rank()) {
        let Some(along) = map.as_operand(i).filter(|&along| along < map.dims()) else { continue };
        let (Some(extent), false) = (dims.get(along)?.as_static(), transfer.vector.scalable[i])
        else {
            continue;
        };
        let Some(start) = transfer.indices.get(along).and_then(|&value| cx.int(value)) else {
            continue;
        };
        *flag |= start >= 0 && start + i128::from(transfer.vector.dims[i]) <= i128::from(extent);
    }
    if flags == before {
        return None;
    }
    let items: Vec<_> = flags.iter().map(|&flag| cx.context.bool_attr(flag)).collect();
    let list = cx.context.array_attr(&items);
    cx.set_attr(cx.context.str("in_bounds"), Some(list));
    Some(())
}

/// A mask that is set everywhere says nothing.
fn without_mask(cx: &mut Cx<'_, '_>) -> Option<()> {
    let mask = Transfer::of(cx, cx.op)?.mask?;
    if !is_all_set(cx, mask) {
        return None;
    }
    let module = cx.module();
    let sizes = module.int_list(module.attr(cx.op, "operandSegmentSizes")?)?;
    let (_, others) = sizes.split_last()?;
    let others = others.iter().map(|&n| usize::try_from(n).unwrap_or_default());
    let sizes = module.i32s_attr(others.chain([0]));
    // The mask is the last operand, and may be the vector as well.
    let count = module.operand_count(cx.op) - 1;
    let operands: Vec<Value> = module.operands(cx.op).take(count).collect();
    let key = cx.context.str("operandSegmentSizes");
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&operands);
        edit.set_attr(key, Some(sizes));
    });
    Some(())
}

/// Two transfers of one place, without a mask, that stay inside.
fn same_place(cx: &Cx<'_, '_>, a: (Op, &Transfer), b: (Op, &Transfer)) -> bool {
    let module = cx.module();
    let map = |op| module.attr(op, "permutation_map");
    a.1.indices == b.1.indices
        && a.1.vector == b.1.vector
        && a.1.mask.is_none()
        && b.1.mask.is_none()
        && map(a.0) == map(b.0)
        && [a.0, b.0]
            .iter()
            .all(|&op| inside(cx, op).is_some_and(|flags| flags.iter().all(|&flag| flag)))
}

/// Two transfers whose places lie apart along a dimension.
fn apart(cx: &Cx<'_, '_>, a: (Op, &Transfer), b: (Op, &Transfer)) -> bool {
    let module = cx.module();
    let map = module.attr(a.0, "permutation_map");
    let Some(map) = map.filter(|&map| module.attr(b.0, "permutation_map") == Some(map)) else {
        return false;
    };
    let Some(map) = cx.context.as_affine_map(map) else { return false };
    let extent = |transfer: &Transfer, along: usize| {
        let at = (0..transfer.vector.rank()).find(|&i| map.as_operand(i) == Some(along));
        at.map_or(Some(1), |i| (!transfer.vector.scalable[i]).then(|| transfer.vector.dims[i]))
    };
    a.1.indices.iter().zip(&b.1.indices).enumerate().any(|(along, (&i, &j))| {
        let (Some(i), Some(j)) = (cx.int(i), cx.int(j)) else { return false };
        let (Some(m), Some(n)) = (extent(a.1, along), extent(b.1, along)) else { return false };
        i + i128::from(m) <= j || j + i128::from(n) <= i
    })
}

fn is_tensor(cx: &Cx<'_, '_>, value: Value) -> bool {
    matches!(cx.context.type_data(cx.type_of(value)), TypeData::Tensor(_))
}

/// What a tensor was given in this place is read; what was written elsewhere does not matter.
fn read_what_was_written(cx: &mut Cx<'_, '_>) -> Option<()> {
    let read = Transfer::of(cx, cx.op)?;
    if !is_tensor(cx, read.base) {
        return None;
    }
    let name = cx.context.name("vector.transfer_write");
    let mut at = read.base;
    for _ in 0..MAX_STEPS {
        let def = cx.def_of(at, name)?;
        let write = Transfer::of(cx, def)?;
        if same_place(cx, (cx.op, &read), (def, &write)) {
            return cx.replace(&[cx.module().operand(def, 0)]);
        }
        if !apart(cx, (cx.op, &read), (def, &write)) {
            return None;
        }
        at = write.base;
    }
    None
}

/// What is written back where it was read from changes nothing.
fn write_what_was_read(cx: &mut Cx<'_, '_>) -> Option<()> {
    let write = Transfer::of(cx, cx.op)?;
    let def = cx.def(0, cx.context.name("vector.transfer_read"))?;
    let read = Transfer::of(cx, def)?;
    let same = is_tensor(cx, write.base)
        && read.base == write.base
        && same_place(cx, (cx.op, &write), (def, &read));
    same.then(|| cx.replace(&[write.base]))?
}

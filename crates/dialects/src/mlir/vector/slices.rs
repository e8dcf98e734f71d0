//! Parts of vectors of their rank, taken out and put in.

use tangram_ir::Value;

use super::shape::{Shape, numbers};
use crate::mlir::extents::list;
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(super) const REWRITES: &[Rewrite] = &[
    ("slice-of-inserted-slice", &["vector.extract_strided_slice"], slice_of_inserted),
    ("slice-of-repeated-vector", &["vector.extract_strided_slice"], slice_of_repeated),
    ("insert-whole-slice", &["vector.insert_strided_slice"], insert_whole),
    (
        "insert-what-is-there",
        &["vector.insert_strided_slice", "vector.insert"],
        insert_what_is_there,
    ),
    ("shuffle-of-one-scalar", &["vector.shuffle"], shuffle_of_one_scalar),
];

const MAX_STEPS: usize = 64;

/// Offsets, sizes and strides of the part that is taken out, for each dimension.
fn region(cx: &Cx<'_, '_>) -> Option<(Vec<i64>, Vec<i64>)> {
    let module = cx.module();
    let dims = Shape::of_value(cx, cx.operand(0)).dims;
    let (mut offsets, mut sizes) = (list(module, cx.op, "offsets")?, list(module, cx.op, "sizes")?);
    if list(module, cx.op, "strides")?.iter().any(|&stride| stride != 1) {
        return None;
    }
    offsets.resize(dims.len(), 0);
    sizes.extend(dims.get(sizes.len()..)?);
    Some((offsets, sizes))
}

/// Changes the operation to one that takes out a part of `source`.
fn take(cx: &mut Cx<'_, '_>, source: Value, offsets: &[i64], sizes: &[i64]) -> Option<()> {
    if cx.type_of(source) == cx.ty() {
        return cx.replace(&[source]);
    }
    let strides = vec![1; offsets.len()];
    let lists = [("offsets", offsets), ("sizes", sizes), ("strides", &strides)];
    let lists = lists.map(|(name, list)| (cx.context.str(name), numbers(cx, list)));
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&[source]);
        for (name, list) in lists {
            edit.set_attr(name, Some(list));
        }
    });
    Some(())
}

/// What was put in is taken from there; what was put elsewhere does not matter.
fn slice_of_inserted(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (offsets, sizes) = region(cx)?;
    let name = cx.context.name("vector.insert_strided_slice");
    let (mut at, mut passed) = (cx.operand(0), false);
    for _ in 0..MAX_STEPS {
        let Some(def) = cx.def_of(at, name) else { break };
        let module = cx.module();
        let (source, dest) = (module.operand(def, 0), module.operand(def, 1));
        let (inner, rank) = (Shape::of_value(cx, source).dims, offsets.len());
        let places = list(module, def, "offsets")?;
        if inner.len() != rank || list(module, def, "strides")?.iter().any(|&s| s != 1) {
            break;
        }
        let starts = (0..rank).map(|i| offsets[i] - places[i]);
        let inside = (0..rank)
            .all(|i| offsets[i] >= places[i] && offsets[i] + sizes[i] <= places[i] + inner[i]);
        let apart = (0..rank)
            .any(|i| offsets[i] + sizes[i] <= places[i] || places[i] + inner[i] <= offsets[i]);
        if inside {
            return take(cx, source, &starts.collect::<Vec<i64>>(), &sizes);
        }
        if !apart {
            break;
        }
        (at, passed) = (dest, true);
    }
    passed.then(|| take(cx, at, &offsets, &sizes))?
}

/// A part of repeated vectors is a part of the vector, repeated.
fn slice_of_repeated(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (offsets, sizes) = region(cx)?;
    let broadcast = cx.context.name("vector.broadcast");
    let def = cx.def(0, broadcast)?;
    let source = cx.module().operand(def, 0);
    let (from, to) = (Shape::of_value(cx, source), Shape::of_value(cx, cx.operand(0)));
    let skipped = to.rank().checked_sub(from.rank())?;
    if !from.vector || from.rank() == 0 {
        return cx.become_op(broadcast, &[source]);
    }
    let (mut places, mut lengths) = (Vec::new(), Vec::new());
    for (i, &dim) in from.dims.iter().enumerate() {
        // What is stretched stays whole.
        let stretched = dim != to.dims[skipped + i];
        places.push(if stretched { 0 } else { offsets[skipped + i] });
        lengths.push(if stretched { dim } else { sizes[skipped + i] });
    }
    let part = if lengths == from.dims {
        source
    } else {
        let shape = Shape { dims: lengths.clone(), ..from.clone() };
        let ty = shape.with_dims(cx, 0..lengths.len());
        let ones = vec![1; lengths.len()];
        let lists = [("offsets", &places), ("sizes", &lengths), ("strides", &ones)];
        let lists = lists.map(|(name, list)| (cx.context.str(name), numbers(cx, list)));
        let attrs = cx.context.dict(lists);
        let made =
            cx.make(cx.context.name("vector.extract_strided_slice"), &[source], attrs, &[ty]);
        cx.module().result(made, 0)
    };
    if cx.type_of(part) == cx.ty() {
        return cx.replace(&[part]);
    }
    cx.become_op(broadcast, &[part])
}

fn insert_whole(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    (cx.type_of(source) == cx.ty()).then(|| cx.replace(&[source]))?
}

/// The scalar that `value` repeats.
fn one_scalar(cx: &Cx<'_, '_>, value: Value) -> Option<Value> {
    let broadcast = cx.def_of(value, cx.context.name("vector.broadcast"))?;
    let source = cx.module().operand(broadcast, 0);
    (!Shape::of_value(cx, source).vector).then_some(source)
}

/// What stands in a place already changes nothing there.
fn insert_what_is_there(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (value, dest) = (cx.operand(0), cx.operand(1));
    let scalar = one_scalar(cx, dest);
    if scalar.is_some() && (scalar == one_scalar(cx, value) || scalar == Some(value)) {
        return cx.replace(&[dest]);
    }
    let slice = cx.context.name("vector.extract_strided_slice");
    let def = cx.def(0, slice)?;
    let module = cx.module();
    let same = |name| list(module, def, name) == list(module, cx.op, name);
    let out = module.name_text(cx.op) == "vector.insert_strided_slice"
        && module.operand(def, 0) == dest
        && same("offsets")
        && same("strides");
    out.then(|| cx.replace(&[dest]))?
}

fn shuffle_of_one_scalar(cx: &mut Cx<'_, '_>) -> Option<()> {
    let scalar = one_scalar(cx, cx.operand(0))?;
    let same = one_scalar(cx, cx.operand(1)) == Some(scalar);
    same.then(|| cx.become_op(cx.context.name("vector.broadcast"), &[scalar]))?
}

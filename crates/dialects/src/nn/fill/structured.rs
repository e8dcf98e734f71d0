//! Tensors made, and fixed schemes, as loops.

use tangram_affine::symbolic::Expr;
use tangram_tensor::Tensor;

use super::super::index::{constant_number, only_element};
use crate::structured::{
    Comparison, Loops, Number, Stage, Structured, StructuredCx, TensorRef, number_of,
};

pub(super) fn full(cx: &StructuredCx<'_>) -> Option<Structured> {
    let out = cx.result(0)?;
    let value = match cx.tensor_attr("value") {
        Some(tensor) => number_of(&tensor)?,
        None => number_of(&Tensor::scalar(0f32))?,
    };
    let mut stage = Stage::over(&out.extents);
    let value = stage.constant(value);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// `start + i * delta`; floats of 16 bits, which the kernel rounds after the product, are left out.
pub(super) fn arange(cx: &StructuredCx<'_>) -> Option<Structured> {
    let out = cx.result(0)?;
    (out.element.size_bits() >= 32 || !out.element.is_float()).then_some(())?;
    let mut stage = Stage::over(&out.extents);
    let mut scalar = |i: usize| match constant_number(cx, i) {
        Some(number) => Some(stage.constant(number)),
        None => only_element(&mut stage, &cx.operand(i)?),
    };
    let (start, delta) = (scalar(0)?, scalar(2)?);
    let index = stage.index(0);
    let index = stage.cast(out.element, index);
    let steps = stage.mul(index, delta);
    let value = stage.add(start, steps);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

pub(super) fn trilu(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let row = x.rank().checked_sub(2)?;
    let mut stage = Stage::over(&out.extents);
    let k = match (cx.attrs().int("k"), cx.has(1)) {
        (Some(k), _) => stage.int(k),
        (None, false) => stage.int(0),
        (None, true) => only_element(&mut stage, &cx.operand(1)?)?,
    };
    let k = stage.cast(tangram_tensor::DType::I64, k);
    let at = stage.all(0..x.rank());
    let value = stage.load_exact(&x, &at);
    let zero = stage.constant(Number::zero(x.element));
    let (row, column) = (stage.index(row), stage.index(row + 1));
    let diagonal = stage.add(row, k);
    let upper = cx.attrs().bool("upper").unwrap_or(true);
    let by = if upper { Comparison::Ge } else { Comparison::Le };
    let kept = stage.compare(by, column, diagonal);
    let value = stage.select(kept, value, zero);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

pub(super) fn eye_like(cx: &StructuredCx<'_>) -> Option<Structured> {
    let out = cx.result(0).filter(|out| out.rank() == 2)?;
    let mut stage = Stage::over(&out.extents);
    let k = stage.int(cx.attrs().int("k").unwrap_or(0));
    let (row, column) = (stage.index(0), stage.index(1));
    let diagonal = stage.add(row, k);
    let one = stage.compare(Comparison::Eq, column, diagonal);
    let value = stage.cast(out.element, one);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// The two sides of a rearrangement of channels into blocks of pixels: `deep` has the channels.
pub(super) fn blocks(cx: &StructuredCx<'_>, to_space: bool) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let block = cx.attrs().int("block_size").filter(|&n| n > 0)?;
    let (deep, flat) = if to_space { (&x, &out) } else { (&out, &x) };
    (deep.rank() == 4 && flat.rank() == 4).then_some(())?;
    let channels = &flat.extents[1];
    let by_block = cx.attrs().text("mode") != Some("CRD");
    let side = Expr::int(block);
    let list = [&deep.extents[0], channels, &deep.extents[2], &side, &deep.extents[3], &side];
    let mut stage = Stage::over(&list.map(Expr::clone));
    let loops = stage.all(0..6);
    let [n, c, h, down, w, across] = loops[..] else { return None };
    let row = stage.times(down, block);
    let place = stage.sum(row, across);
    let channel = if by_block {
        let first = stage.times(place, channels.as_int()?);
        stage.sum(first, c)
    } else {
        let first = stage.times(c, block.checked_mul(block)?);
        stage.sum(first, place)
    };
    let (rows, columns) = (stage.times(h, block), stage.times(w, block));
    let (y, z) = (stage.sum(rows, down), stage.sum(columns, across));
    let (deep, flat) = ([n, channel, h, w], [n, c, y, z]);
    let (from, to) = if to_space { (deep, flat) } else { (flat, deep) };
    let value = stage.load_exact(&x, &from);
    Some(Structured::one(stage.store(&out, &to, value)))
}

/// One element for each extent that is asked for.
pub(in crate::nn) fn listed(extents: &[Expr], out: &TensorRef) -> Structured {
    let mut loops = Loops::default();
    for (i, extent) in extents.iter().enumerate() {
        let mut stage = Stage::over(&[]);
        let value = stage.extent(extent);
        let at: Vec<_> = (0..out.rank()).map(|_| stage.fixed(&Expr::int(i as i64))).collect();
        loops.push(stage.store(out, &at, value));
    }
    loops.finish()
}

/// The first steps of each batch from the last one down.
pub(super) fn reverse_sequence(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, lengths, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    let axis = |name, default| usize::try_from(cx.attrs().int(name).unwrap_or(default)).ok();
    let (batch, time) = (axis("batch_axis", 1)?, axis("time_axis", 0)?);
    (batch != time && batch < x.rank() && time < x.rank() && lengths.rank() == 1).then_some(())?;
    let mut stage = Stage::over(&out.extents);
    let at = stage.at(batch);
    let length = stage.load_exact(&lengths, &[at]);
    let length = stage.cast(tangram_tensor::DType::I64, length);
    let (here, one) = (stage.index(time), stage.int(1));
    let last = stage.sub(length, one);
    let back = stage.sub(last, here);
    let turned = stage.compare(Comparison::Lt, here, length);
    let mut place: Vec<_> = (0..x.rank()).map(|i| stage.index(i)).collect();
    place[time] = stage.select(turned, back, here);
    let value = stage.lookup(&x, place);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

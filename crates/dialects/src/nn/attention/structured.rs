//! Attention and rotary embeddings as loops.
//!
//! Heads that share keys and values are two loops: over what is shared, and over who shares it.
//! Scores, their exponentials and sums are of the type of arithmetic, where the kernel has `f64`.

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_tensor::DType;

use crate::structured::{
    Comparison, Loops, Reducing, ScalarId, Stage, Structured, StructuredCx, TensorRef, Unary,
    equal, scalars, wide,
};

/// An operand by batch, head, step and feature: of rank 4, or of rank 3 with the features of all
/// heads side by side.
struct Heads {
    tensor: TensorRef,
    heads: Expr,
    width: Expr,
    /// The number of features of a head, for operands of rank 3.
    side_by_side: Option<i64>,
}

impl Heads {
    fn new(tensor: TensorRef, heads: Option<i64>) -> Option<Heads> {
        match (&tensor.extents[..], heads) {
            ([_, heads, _, width], _) => {
                let (heads, width) = (heads.clone(), width.clone());
                Some(Heads { tensor, heads, width, side_by_side: None })
            }
            ([_, _, all], Some(heads)) if heads > 0 => {
                let all = all.as_int().filter(|all| all % heads == 0)?;
                let width = all / heads;
                let (heads, features) = (Expr::int(heads), Expr::int(width));
                Some(Heads { tensor, heads, width: features, side_by_side: Some(width) })
            }
            _ => None,
        }
    }

    fn batch(&self) -> &Expr {
        &self.tensor.extents[0]
    }

    fn steps(&self) -> &Expr {
        &self.tensor.extents[if self.side_by_side.is_some() { 1 } else { 2 }]
    }

    fn index(
        &self,
        stage: &mut Stage,
        [batch, head, step, feature]: [AffineExpr; 4],
    ) -> Vec<AffineExpr> {
        match self.side_by_side {
            None => vec![batch, head, step, feature],
            Some(width) => {
                let first = stage.times(head, width);
                vec![batch, step, stage.sum(first, feature)]
            }
        }
    }

    /// Writes all elements to `out`, by batch, head, step and feature from step `start` on.
    fn copy(&self, loops: &mut Loops, out: &TensorRef, start: &Expr) {
        let extents =
            [self.batch().clone(), self.heads.clone(), self.steps().clone(), self.width.clone()];
        let mut stage = Stage::over(&extents);
        let loop_indices = stage.all(0..4);
        let [batch, head, step, feature] = loop_indices[..] else { return };
        let from = self.index(&mut stage, [batch, head, step, feature]);
        let value = stage.load_exact(&self.tensor, &from);
        let later = stage.plus(step, start);
        loops.push(stage.store(out, &[batch, head, later, feature], value));
    }
}

/// All keys or values: those of the past, then those of this call; a present result if it is asked
/// for.
fn present(
    cx: &StructuredCx<'_>,
    loops: &mut Loops,
    now: Heads,
    past: usize,
    result: usize,
) -> Option<Heads> {
    let asked = cx.result_count() > result;
    if !cx.has(past) {
        if asked {
            now.copy(loops, &cx.result(result)?, &Expr::int(0));
        }
        return Some(now);
    }
    let past = Heads::new(cx.operand(past).filter(|past| past.rank() == 4)?, None)?;
    let fits = equal(&past.heads, &now.heads) && equal(&past.width, &now.width);
    (fits && equal(past.batch(), now.batch()) && past.tensor.element == now.tensor.element)
        .then_some(())?;
    let total = past.steps().try_add(now.steps())?;
    let extents = [now.batch().clone(), now.heads.clone(), total, now.width.clone()];
    let all = loops.temporary(now.tensor.element, &extents);
    past.copy(loops, &all, &Expr::int(0));
    now.copy(loops, &all, past.steps());
    if asked {
        loops.copy(&all, &cx.result(result)?);
    }
    Heads::new(all, None)
}

/// Loops over batches, shared heads, who shares them, and steps, then over keys or features.
struct Nest {
    extents: Vec<Expr>,
    shared: i64,
}

impl Nest {
    fn over(&self, last: &Expr) -> Stage {
        Stage::over(&[&self.extents[..], std::slice::from_ref(last)].concat())
    }

    /// Batch, head of the queries, head of the keys, step, and the last loop.
    fn at(&self, stage: &mut Stage) -> Option<[AffineExpr; 5]> {
        let list = stage.all(0..5);
        let [batch, served, own, step, last] = list[..] else { return None };
        let first = stage.times(served, self.shared);
        Some([batch, stage.sum(first, own), served, step, last])
    }
}

pub(super) fn attention(cx: &StructuredCx<'_>) -> Option<Structured> {
    (cx.result_count() <= 3).then_some(())?;
    let (q_heads, kv_heads) = (cx.attrs().int("q_num_heads"), cx.attrs().int("kv_num_heads"));
    let queries = Heads::new(cx.operand(0)?, q_heads)?;
    let element = queries.tensor.element;
    let keys = Heads::new(cx.operand(1)?, kv_heads)?;
    let values = Heads::new(cx.operand(2)?, kv_heads)?;
    (element.is_float() && [&keys, &values].iter().all(|x| x.tensor.element == element))
        .then_some(())?;
    (cx.has(4) == cx.has(5) && !(cx.has(4) && cx.has(6))).then_some(())?;
    let past = if cx.has(4) { cx.operand(4)?.extents.get(2)?.clone() } else { Expr::int(0) };
    let mut loops = Loops::default();
    let keys = present(cx, &mut loops, keys, 4, 1)?;
    let values = present(cx, &mut loops, values, 5, 2)?;
    let fits = equal(queries.batch(), keys.batch())
        && equal(&queries.width, &keys.width)
        && equal(keys.steps(), values.steps())
        && equal(&keys.heads, &values.heads);
    fits.then_some(())?;
    let shared = match (queries.heads.as_int(), keys.heads.as_int()) {
        (Some(all), Some(own)) if own > 0 && all % own == 0 => all / own,
        _ if equal(&queries.heads, &keys.heads) => 1,
        _ => return None,
    };
    let extents = vec![
        queries.batch().clone(),
        keys.heads.clone(),
        Expr::int(shared),
        queries.steps().clone(),
    ];
    let nest = Nest { extents, shared };
    let scores = scores(&mut loops, &nest, &queries, &keys)?;
    let masked = masked(cx, &mut loops, &nest, &scores, &queries, &past)?;
    let weights = weights(&mut loops, &masked)?;
    combine(cx, &mut loops, &nest, &weights, &values)?;
    Some(loops.finish())
}

/// The products of queries and keys.
fn scores(loops: &mut Loops, nest: &Nest, queries: &Heads, keys: &Heads) -> Option<TensorRef> {
    let mut stage = nest.over(keys.steps());
    let feature = stage.reduce_over(&queries.width);
    let [batch, head, served, step, key] = nest.at(&mut stage)?;
    let feature = stage.at(feature);
    let q_at = queries.index(&mut stage, [batch, head, step, feature]);
    let k_at = keys.index(&mut stage, [batch, served, key, feature]);
    let (q, k) = (stage.load(&queries.tensor, &q_at), stage.load(&keys.tensor, &k_at));
    let product = stage.mul(q, k);
    let extents = [&nest.extents[..], std::slice::from_ref(keys.steps())].concat();
    let scores = loops.temporary(stage.type_of(product), &extents);
    loops.push(stage.store_sum(&scores, product));
    Some(scores)
}

/// Scores scaled, capped, and minus infinity where a key is not seen.
fn masked(
    cx: &StructuredCx<'_>,
    loops: &mut Loops,
    nest: &Nest,
    scores: &TensorRef,
    queries: &Heads,
    past: &Expr,
) -> Option<TensorRef> {
    let scale = match (cx.attrs().float("scale"), queries.width.as_int()) {
        (Some(scale), _) => scale,
        (None, Some(width)) => 1.0 / (width as f64).sqrt(),
        (None, None) => return None,
    };
    let mut stage = Stage::over(&scores.extents);
    let value = stage.broadcast(scores)?;
    let scale = stage.number(value, scale);
    let mut value = stage.mul(value, scale);
    let cap = cx.attrs().float("softcap").unwrap_or(0.0);
    if cap > 0.0 {
        let cap = stage.number(value, cap);
        let part = stage.div(value, cap);
        let part = stage.unary(Unary::Tanh, part);
        value = stage.mul(cap, part);
    }
    let hidden = stage.number(value, f64::NEG_INFINITY);
    if cx.has(3) {
        let mask = mask(cx, &mut stage, nest, scores)?;
        value = match stage.type_of(mask) {
            DType::Bool => {
                let zero = stage.number(value, 0.0);
                let bias = stage.select(mask, zero, hidden);
                stage.add(value, bias)
            }
            _ => {
                let bias = stage.cast(stage.type_of(value), mask);
                stage.add(value, bias)
            }
        };
    }
    for seen in seen(cx, &mut stage, queries, past)? {
        value = stage.select(seen, value, hidden);
    }
    let out = loops.temporary(scores.element, &scores.extents);
    loops.push(stage.store_parallel(&out, value));
    Some(out)
}

/// The element of the mask, which broadcasts to batch, heads, steps and keys.
fn mask(
    cx: &StructuredCx<'_>,
    stage: &mut Stage,
    nest: &Nest,
    scores: &TensorRef,
) -> Option<ScalarId> {
    let mask = cx.operand(3)?;
    let [batch, head, _, step, key] = nest.at(stage)?;
    let heads = nest.extents[1].try_mul(&Expr::int(nest.shared))?;
    let whole = [&nest.extents[0], &heads, &nest.extents[3], scores.extents.last()?];
    let lead = 4usize.checked_sub(mask.rank())?;
    // A mask that ends before the last key hides the keys behind it.
    let last = mask.extents.last()?;
    equal(last, whole[3]).then_some(())?;
    let places = [batch, head, step, key];
    let mut at = Vec::new();
    for (i, extent) in mask.extents.iter().enumerate() {
        at.push(match extent.as_int() {
            Some(1) => stage.fixed(&Expr::int(0)),
            _ if equal(extent, whole[lead + i]) => places[lead + i],
            _ => return None,
        });
    }
    Some(stage.load(&mask, &at))
}

/// The conditions under which a query sees a key: what goes by their places.
fn seen(
    cx: &StructuredCx<'_>,
    stage: &mut Stage,
    queries: &Heads,
    past: &Expr,
) -> Option<Vec<ScalarId>> {
    let reach = |name| cx.attrs().int(name).filter(|&n| n >= 0);
    let left = reach("left_window_size");
    let right = if cx.attrs().flag("is_causal") { Some(0) } else { reach("right_window_size") };
    let mut all = Vec::new();
    let (step, key) = (stage.index(3), stage.index(4));
    let mut first = stage.extent(past);
    if cx.has(6) {
        let valid = cx.operand(6).filter(|valid| valid.rank() == 1)?;
        let batch = stage.at(0);
        let valid = stage.load_exact(&valid, &[batch]);
        let valid = stage.cast(DType::I64, valid);
        let steps = stage.extent(queries.steps());
        first = stage.sub(valid, steps);
        all.push(stage.compare(Comparison::Lt, key, valid));
    }
    let place = stage.add(first, step);
    let distance = stage.sub(key, place);
    if let Some(left) = left {
        let least = stage.int(-left);
        all.push(stage.compare(Comparison::Ge, distance, least));
    }
    if let Some(right) = right {
        let most = stage.int(right);
        all.push(stage.compare(Comparison::Le, distance, most));
    }
    Some(all)
}

/// Exponentials by their sum; zeros where every score is minus infinity.
fn weights(loops: &mut Loops, scores: &TensorRef) -> Option<TensorRef> {
    let reducing = Reducing::new(&[-1], scores.rank())?;
    let kept = reducing.kept_loops();
    let greatest = reducing.greatest(loops, scores);
    let shift = loops.map(&greatest, |s, top| {
        let (zero, lowest) = (s.number(top, 0.0), s.number(top, f64::NEG_INFINITY));
        let none = s.compare(Comparison::Eq, top, lowest);
        s.select(none, zero, top)
    });
    let mut stage = Stage::over(&scores.extents);
    let (score, shift) = (stage.broadcast(scores)?, stage.broadcast_over(&shift, &kept)?);
    let distance = stage.sub(score, shift);
    let power = stage.unary(Unary::Exp, distance);
    let powers = loops.temporary(scores.element, &scores.extents);
    loops.push(stage.store_parallel(&powers, power));
    let sum = reducing.sum(loops, &powers, |_, x| x);
    let norm = loops.map(&sum, |s, sum| {
        let zero = s.number(sum, 0.0);
        let none = s.compare(Comparison::Eq, sum, zero);
        let inverse = scalars::reciprocal(s, sum);
        s.select(none, zero, inverse)
    });
    let mut stage = Stage::over(&scores.extents);
    let (power, norm) = (stage.broadcast(&powers)?, stage.broadcast_over(&norm, &kept)?);
    let weight = stage.mul(power, norm);
    let weights = loops.temporary(scores.element, &scores.extents);
    loops.push(stage.store_parallel(&weights, weight));
    Some(weights)
}

/// The values, weighted and added up.
fn combine(
    cx: &StructuredCx<'_>,
    loops: &mut Loops,
    nest: &Nest,
    weights: &TensorRef,
    values: &Heads,
) -> Option<()> {
    let result = cx.result(0)?;
    let out = loops.accumulator(&result, weights.element);
    let layout = Heads::new(out.clone(), cx.attrs().int("q_num_heads"))?;
    let mut stage = nest.over(&values.width);
    let key = stage.reduce_over(values.steps());
    let [batch, head, served, step, feature] = nest.at(&mut stage)?;
    let at = stage.all([0, 1, 2, 3, key]);
    let key = stage.at(key);
    let v_at = values.index(&mut stage, [batch, served, key, feature]);
    let (weight, value) = (stage.load(weights, &at), stage.load(&values.tensor, &v_at));
    let product = stage.mul(weight, value);
    let to = layout.index(&mut stage, [batch, head, step, feature]);
    loops.push(stage.store_sum_at(&out, &to, product));
    loops.convert(&out, &result);
    Some(())
}

/// One nest for the first features of pairs, one for the second, one for features that stay.
pub(super) fn rotary(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0).filter(|x| x.element.is_float())?, cx.result(0)?);
    let heads = cx.attrs().int("num_heads").filter(|&heads| heads > 0);
    let (data, out) = (Heads::new(x, heads)?, Heads::new(out, heads)?);
    let width = data.width.as_int()?;
    let rotated = match cx.attrs().int("rotary_embedding_dim").unwrap_or(0) {
        0 => width,
        rotated => rotated,
    };
    (0..=width).contains(&rotated).then_some(())?;
    (rotated % 2 == 0).then_some(())?;
    let mut loops = Loops::default();
    for second in [false, true] {
        loops.push(rotate(cx, &data, &out, rotated / 2, second)?);
    }
    if rotated < width {
        let mut stage = data.stage(width - rotated);
        let list = stage.all(0..4);
        let [batch, head, step, feature] = list[..] else { return None };
        let feature = stage.plus(feature, &Expr::int(rotated));
        let at = data.index(&mut stage, [batch, head, step, feature]);
        let value = stage.load_exact(&data.tensor, &at);
        loops.push(stage.store(&out.tensor, &at, value));
    }
    Some(loops.finish())
}

impl Heads {
    /// Loops over batches, heads, steps, and `last`.
    fn stage(&self, last: i64) -> Stage {
        let steps = self.steps().clone();
        Stage::over(&[self.batch().clone(), self.heads.clone(), steps, Expr::int(last)])
    }
}

fn rotate(
    cx: &StructuredCx<'_>,
    data: &Heads,
    out: &Heads,
    half: i64,
    second: bool,
) -> Option<crate::structured::Generic> {
    let mut stage = data.stage(half);
    let list = stage.all(0..4);
    let [batch, head, step, pair] = list[..] else { return None };
    let places = if cx.attrs().flag("interleaved") {
        let first = stage.times(pair, 2);
        [first, stage.plus(first, &Expr::int(1))]
    } else {
        [pair, stage.plus(pair, &Expr::int(half))]
    };
    let [a_at, b_at] = places.map(|place| data.index(&mut stage, [batch, head, step, place]));
    let (a, b) = (stage.load(&data.tensor, &a_at), stage.load(&data.tensor, &b_at));
    let angle = |stage: &mut Stage, i: usize| {
        let table = cx.operand(i).filter(|table| table.element == data.tensor.element)?;
        if !cx.has(3) {
            let fits = table.rank() == 3 && table.extents[2].as_int() == Some(half);
            return fits.then(|| stage.load(&table, &[batch, step, pair]));
        }
        (table.rank() == 2 && table.extents[1].as_int() == Some(half)).then_some(())?;
        let positions = cx.operand(3).filter(|positions| positions.rank() == 2)?;
        let position = stage.load_exact(&positions, &[batch, step]);
        let position = stage.cast(DType::I64, position);
        let (zero, extent) = (stage.int(0), stage.extent(&table.extents[0]));
        let negative = stage.compare(Comparison::Lt, position, zero);
        let wrapped = stage.add(position, extent);
        let position = stage.select(negative, wrapped, position);
        let pair = stage.index(3);
        let value = stage.lookup(&table, vec![position, pair]);
        Some(stage.cast(wide(table.element), value))
    };
    let (cos, sin) = (angle(&mut stage, 1)?, angle(&mut stage, 2)?);
    let (to, value) = match second {
        false => {
            let (x, y) = (stage.mul(cos, a), stage.mul(sin, b));
            (a_at, stage.sub(x, y))
        }
        true => {
            let (x, y) = (stage.mul(sin, a), stage.mul(cos, b));
            (b_at, stage.add(x, y))
        }
    };
    Some(stage.store(&out.tensor, &to, value))
}

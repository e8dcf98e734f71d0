//! Proposing attribute values for operations whose operands are there.

use fastrand::Rng;
use tangram_ir::{AttrDef, AttrKind};
use tangram_tensor::DType;

use super::shapes::Extents;
use crate::eval::AttrValue;

/// What the value of an attribute may depend on.
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) shapes: &'a [Extents],
    pub(super) want: Option<&'a Extents>,
    /// How many results are wanted.
    pub(super) results: usize,
    /// The same for all attributes of a call: which special case they make together, if any.
    pub(super) style: u8,
    /// The element type of data.
    pub(super) base: DType,
}

/// Whether an operand says what an attribute of the name would say.
pub(super) fn is_operand(call: &Call<'_>, attr: &str) -> bool {
    let count = call.shapes.len();
    match (call.name, attr) {
        ("full", "shape") => count >= 1,
        ("reshape", "newshape") | ("broadcast_to", "shape") | ("tile", "reps") => count >= 2,
        ("expand_dims" | "squeeze" | "cumsum" | "cumprod", "axis") => count >= 2,
        ("sum" | "mean" | "max" | "min" | "prod", "axis") => count >= 2,
        ("topk", "k") | ("split", "indices_or_sections") => count >= 2,
        ("pad", "pad_width") | ("clip", "a_min") => count >= 2,
        ("pad", "pad_value") | ("clip", "a_max") | ("strided_slice", "begin" | "end") => count >= 3,
        _ => false,
    }
}

/// Whether one of the attributes that are given says what the attribute would say, in another way:
/// an operation has one of the two.
pub(super) fn is_excluded(op: &str, attr: &str, given: &[(String, AttrValue)]) -> bool {
    let other = match (op, attr) {
        ("resize", "scales") => "sizes",
        ("resize", "sizes") => "scales",
        _ => return false,
    };
    given.iter().any(|(name, _)| name == other)
}

/// Proposes a value; none for an absent one.
pub(super) fn propose(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Option<AttrValue> {
    let x: &[usize] = call.shapes.first().map_or(&[], Vec::as_slice);
    if call.name.ends_with("quantize") && attr.name != "axis" {
        return quantised(call, attr, x, rng);
    }
    let spatial = x.len().saturating_sub(2);
    Some(match attr.name {
        "groups" => AttrValue::Int(groups(call)),
        "direction" if directions(call) == 2 => "bidirectional".into(),
        "direction" => (*rng.choice(&["forward", "reverse"])?).into(),
        // One for each gate that has one, in each direction.
        "activations" => {
            let gates = match call.name {
                "rnn" => 1,
                "gru" => 2,
                _ => 3,
            };
            let one = |_| Some(AttrValue::Str((*rng.choice(&ACTIVATIONS)?).to_owned()));
            AttrValue::Tuple((0..gates * directions(call)).map(one).collect::<Option<_>>()?)
        }
        "activation" => (*rng.choice(&ACTIVATIONS)?).into(),
        "auto_pad" => (*rng.choice(&["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])?).into(),
        "num_groups" => AttrValue::Int(divisor(*x.get(1)? as i64, rng)),
        "strides" | "dilation" if spatial_op(call.name) => {
            let high = if attr.name == "strides" { 4 } else { 3 };
            let (one, all) = (rng.i64(1..=high), rng.u8(0..4));
            ints((0..spatial).map(|_| match all {
                0 => 1,
                1 => one,
                _ if rng.bool() => 1,
                _ => rng.i64(1..=high),
            }))
        }
        "padding" => {
            // Most windows say numbers.
            if let (AttrKind::IntsOr(modes), 0) = (attr.kind, rng.u8(0..8)) {
                return Some(AttrValue::Str((*rng.choice(modes)?).to_owned()));
            }
            let same = rng.u8(0..3) == 0;
            let half = |i: usize| {
                let w = call.shapes.get(1).and_then(|w| w.get(2 + i % spatial));
                w.map_or(0, |&k| (k as i64 - 1) / 2)
            };
            let zero = rng.u8(0..3) == 0;
            ints((0..2 * spatial).map(|i| match (same, zero) {
                (true, _) => half(i),
                (_, true) => 0,
                _ => rng.i64(0..=2),
            }))
        }
        // Now and then one window for all of the operand.
        "pool_size" if rng.u8(0..10) == 0 => ints(x.iter().skip(2).map(|&n| n.max(1) as i64)),
        "pool_size" => ints((0..spatial).map(|_| rng.i64(1..=5))),
        "pad_width" => {
            let (spatial_only, least) = (rng.bool(), if rng.u8(0..4) == 0 { -1 } else { 0 });
            ints((0..2 * x.len()).map(|i| match spatial_only && i % x.len() < 2 {
                true => 0,
                false => rng.i64(least..=2),
            }))
        }
        "pad_value" => AttrValue::Float(*rng.choice(&[0.0, 0.0, 2.0, -1.0])?),
        "pad_mode" if rng.u8(0..4) > 0 => "constant".into(),
        "newshape" => newshape(x, call.want, rng),
        "shape" => ints(broadcast(x, call.want, rng).into_iter()),
        "reps" => ints(x.iter().map(|_| rng.i64(1..=3))),
        "indices_or_sections" => sections(call, x, rng),
        "begin" | "end" | "axes" | "strides" if call.name == "strided_slice" => {
            slice(call.style, attr.name, x, rng)
        }
        "axes" => permutation(x.len(), rng),
        "axis" => axis(call, attr, x, rng)?,
        // One of the two says how large the result is; both to less and to more.
        "scales" | "sizes" if call.name == "resize" => {
            if (attr.name == "scales") == call.style.is_multiple_of(2) {
                return None;
            }
            AttrValue::Tuple(x.iter().map(|&n| grown(attr.kind, n, rng)).collect())
        }
        "block_size" => AttrValue::Int(block_size(call.name, x, rng)),
        "layout" | "storage_order" => AttrValue::Int(rng.i64(0..=1)),
        "left_window_size" | "right_window_size" => AttrValue::Int(rng.i64(-1..=2)),
        // Operands of rank 3 hold an even number of features.
        "num_heads" if call.name.ends_with("attention") => {
            AttrValue::Int(1 + i64::from(call.style % 2))
        }
        "q_num_heads" | "kv_num_heads" if call.name.ends_with("attention") => {
            AttrValue::Int(if x.len() == 3 {
                1 + i64::from(call.style % 2)
            } else {
                *x.get(1)? as i64
            })
        }
        "epsilon" => AttrValue::Float(*rng.choice(&[0.5, 0.25, 1.0])?),
        "a_min" => AttrValue::Float(*rng.choice(&[-4.0, -2.0, 0.0, 1.0, 0.5, -100.0])?),
        "a_max" => AttrValue::Float(*rng.choice(&[-3.0, 0.0, 2.0, 6.0, 0.5, 100.0])?),
        // What a type loses is seen where numbers come back.
        "dtype" if call.name == "cast" && rng.u8(0..4) == 0 => call.base.name().into(),
        "equation" => {
            AttrValue::Str((*rng.choice(&["ij,jk->ik", "bij,bjk->bik", "ij->ji"])?).into())
        }
        // A number may matter only where it is as large as an extent: `k` of a triangle.
        _ if attr.kind == AttrKind::Int && rng.u8(0..3) == 0 => {
            let most = call.shapes.iter().flatten().max().map_or(1, |&n| n as i64);
            AttrValue::Int(rng.i64(-most..=most))
        }
        // Of an operator of the caller's nobody says what an attribute is: most are numbers.
        _ if attr.kind == AttrKind::Any && call.name.contains('.') => {
            let kinds = [AttrKind::Float, AttrKind::Int];
            by_kind(*rng.choice(&kinds)?, rng)?
        }
        _ => by_kind(attr.kind, rng)?,
    })
}

/// Functions of recurrent cells and of fused operations.
const ACTIVATIONS: [&str; 5] = ["Tanh", "Sigmoid", "Relu", "LeakyRelu", "HardSigmoid"];

/// In how many directions a recurrent operation goes: as many as its weights have.
fn directions(call: &Call<'_>) -> usize {
    call.shapes.get(1).and_then(|w| w.first().copied()).unwrap_or(1)
}

/// Other attributes of quantisation. Types follow from the operands where they say them.
fn quantised(call: &Call<'_>, attr: &AttrDef, x: &[usize], rng: &mut Rng) -> Option<AttrValue> {
    const TYPES: [&str; 5] = ["uint8", "int8", "int16", "uint16", "float8_e4m3fn"];
    match attr.name {
        "saturate" => Some(AttrValue::Bool(rng.bool())),
        "block_size" => {
            let (at, scales) = blocked(call, x)?;
            Some(AttrValue::Int(x[at].div_ceil(scales.max(1)) as i64))
        }
        // Most say nothing, so that a rule that reads what it wrote is tried.
        "output_dtype"
            if call.name == "quantize" && call.shapes.len() == 2 && rng.u8(0..6) == 0 =>
        {
            Some(AttrValue::Str((*rng.choice(&TYPES)?).to_owned()))
        }
        _ => None,
    }
}

/// Along which dimension places share a scale, and how many scales there are.
fn blocked(call: &Call<'_>, x: &[usize]) -> Option<(usize, usize)> {
    let scale = call.shapes.get(1).filter(|scale| scale.len() == x.len() && x.len() > 1)?;
    let at = scale.iter().zip(x).position(|(a, b)| a != b).unwrap_or(0);
    Some((at, scale[at]))
}

/// The name of an element type: most of the time one that models are made of.
fn element_type(rng: &mut Rng) -> Option<&'static str> {
    const USUAL: [&str; 9] =
        ["float64", "float32", "int64", "int32", "bool", "float16", "int8", "uint8", "bfloat16"];
    if rng.u8(0..3) > 0 {
        return rng.choice(&USUAL).copied();
    }
    let real = |dtype: &DType| dtype.is_float() || dtype.is_int();
    let others = DType::ALL.iter().filter(|d| real(d)).map(|d| d.name());
    let others: Vec<&str> = others.filter(|name| !USUAL.contains(name)).collect();
    rng.choice(&others).copied()
}

fn by_kind(kind: AttrKind, rng: &mut Rng) -> Option<AttrValue> {
    Some(match kind {
        AttrKind::Int => AttrValue::Int(rng.i64(-2..=3)),
        AttrKind::Bool => AttrValue::Bool(rng.bool()),
        AttrKind::Float => AttrValue::Float(*rng.choice(&[0.5, 1.0, 2.0, -1.0, 0.0, 0.1])?),
        AttrKind::Enum(names) => AttrValue::Str((*rng.choice(names)?).to_owned()),
        AttrKind::DType => AttrValue::Str(element_type(rng)?.to_owned()),
        AttrKind::Ints | AttrKind::IntsOr(_) => ints((0..rng.usize(1..=3)).map(|_| rng.i64(0..=2))),
        AttrKind::Floats => {
            let one = |_| Some(AttrValue::Float(*rng.choice(&[0.5, 1.0, 2.0, 0.0])?));
            AttrValue::Tuple((0..3).map(one).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// How large an extent becomes, or how many times as large.
fn grown(kind: AttrKind, n: usize, rng: &mut Rng) -> AttrValue {
    match kind {
        AttrKind::Floats => {
            // Most dimensions keep their extents.
            let factors = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 0.5, 1.5, 3.0, 0.75];
            let factor = *rng.choice(&factors).unwrap_or(&1.0);
            AttrValue::Float(factor)
        }
        _ => AttrValue::Int(if rng.bool() { n as i64 } else { rng.i64(1..=2 * n.max(1) as i64) }),
    }
}

fn ints(list: impl Iterator<Item = i64>) -> AttrValue {
    AttrValue::Tuple(list.map(AttrValue::Int).collect())
}

fn spatial_op(name: &str) -> bool {
    name.starts_with("conv") || name.contains("pool")
}

/// The number of groups that fits the operands.
fn groups(call: &Call<'_>) -> i64 {
    let [Some(x), Some(w)] = [0, 1].map(|i| call.shapes.get(i).and_then(|s| s.get(1))) else {
        return 1;
    };
    if call.name.contains("transpose") { 1 } else { (*x as i64 / (*w).max(1) as i64).max(1) }
}

/// The side of a block that fits the operand, most of the time more than 1.
fn block_size(name: &str, x: &[usize], rng: &mut Rng) -> i64 {
    let fits = |n: usize| match (name, x) {
        ("depth_to_space", [_, channels, ..]) => channels % (n * n) == 0,
        ("space_to_depth", [_, _, spatial @ ..]) => spatial.iter().all(|extent| extent % n == 0),
        _ => n <= 3,
    };
    let sides: Vec<usize> = (2..=4).filter(|&n| fits(n)).collect();
    if rng.u8(0..6) == 0 { 1 } else { rng.choice(&sides).map_or(1, |&n| n as i64) }
}

fn divisor(n: i64, rng: &mut Rng) -> i64 {
    let all: Vec<i64> = (1..=n).filter(|d| n % d == 0).collect();
    rng.choice(&all).copied().unwrap_or(1)
}

/// A shape with as many elements, now and then with an extent to be computed or copied.
fn newshape(x: &[usize], want: Option<&Extents>, rng: &mut Rng) -> AttrValue {
    let count: usize = x.iter().product();
    if let Some(want) = want.filter(|want| want.iter().product::<usize>() == count) {
        return ints(want.iter().map(|&n| n as i64));
    }
    let mut left = count as i64;
    let mut out = Vec::new();
    for _ in 0..rng.usize(0..=3) {
        let part = divisor(left, rng);
        out.push(part);
        left /= part;
    }
    if left > 1 || out.is_empty() && !x.is_empty() {
        out.push(left);
    }
    match rng.u8(0..6) {
        0 if !out.is_empty() => {
            let at = rng.usize(0..out.len());
            out[at] = -1;
        }
        1 => {
            let same: Vec<usize> =
                (0..out.len().min(x.len())).filter(|&at| x[at] as i64 == out[at]).collect();
            if let Some(&at) = rng.choice(&same) {
                out[at] = 0;
            }
        }
        _ => {}
    }
    ints(out.into_iter())
}

fn broadcast(x: &[usize], want: Option<&Extents>, rng: &mut Rng) -> Vec<i64> {
    if let Some(want) = want.filter(|want| want.len() >= x.len()) {
        return want.iter().map(|&n| n as i64).collect();
    }
    let lead = if rng.bool() { vec![rng.i64(1..=2)] } else { Vec::new() };
    let grown = x.iter().map(|&n| if n == 1 { rng.i64(1..=3) } else { n as i64 });
    lead.into_iter().chain(grown.collect::<Vec<_>>()).collect()
}

/// Equal parts, or where to cut.
fn sections(call: &Call<'_>, x: &[usize], rng: &mut Rng) -> AttrValue {
    let parts = call.results.max(1);
    let longest = x.iter().copied().max().unwrap_or(1);
    let equal = x.iter().any(|n| n % parts == 0) && rng.bool();
    if equal || parts == 1 || longest < parts {
        return AttrValue::Int(parts as i64);
    }
    let mut cuts: Vec<i64> = (1..longest as i64).collect();
    rng.shuffle(&mut cuts);
    cuts.truncate(parts - 1);
    cuts.sort_unstable();
    ints(cuts.into_iter())
}

/// A slice along one or two dimensions: from either end, beyond both, with steps of either sign.
/// All four lists are as long: how long follows from the operand alone.
fn slice(style: u8, name: &str, x: &[usize], rng: &mut Rng) -> AttrValue {
    let rank = x.len().max(1) as i64;
    let count = if x.len() > 1 && x.iter().sum::<usize>().is_multiple_of(3) { 2 } else { 1 };
    let longest = x.iter().copied().max().unwrap_or(1) as i64;
    let first = rng.i64(0..rank);
    let mut one = |i: i64| match (style, name) {
        // All of a dimension, backwards or as it is.
        (0, "begin") => -1,
        (0, "end") => i64::MIN,
        (0, "strides") => -1,
        (1, "begin") => 0,
        (1, "end") => i64::MAX,
        (1, "strides") => 1,
        _ => one_bound(name, i, (first, rank, longest), rng),
    };
    ints((0..count).map(&mut one).collect::<Vec<_>>().into_iter())
}

/// A bound, axis or step by itself.
fn one_bound(name: &str, i: i64, (first, rank, longest): (i64, i64, i64), rng: &mut Rng) -> i64 {
    match name {
        "begin" => *rng.choice(&[0, 0, 0, 1, 1, 2, -1, -2, -longest, longest]).unwrap_or(&0),
        "end" => *rng
            .choice(&[1, 2, 3, -1, longest, longest + 1, longest - 1, 64, i64::MAX, i64::MIN])
            .unwrap_or(&2),
        "axes" => match rng.u8(0..5) {
            0 => (first + i) % rank - rank,
            _ => (first + i) % rank,
        },
        _ => *rng.choice(&[1, 1, 1, 2, 3, 4, 5, -1, -2, -3, -4]).unwrap_or(&1),
    }
}

fn permutation(rank: usize, rng: &mut Rng) -> AttrValue {
    let mut axes: Vec<i64> = (0..rank as i64).collect();
    rng.shuffle(&mut axes);
    ints(axes.into_iter())
}

fn axis(call: &Call<'_>, attr: &AttrDef, x: &[usize], rng: &mut Rng) -> Option<AttrValue> {
    if let Some((at, _)) = blocked(call, x).filter(|_| call.name.ends_with("quantize")) {
        return Some(AttrValue::Int(at as i64));
    }
    let rank = x.len() as i64 + i64::from(call.name == "expand_dims");
    let one = |rng: &mut Rng| {
        let at = rng.i64(0..rank.max(1));
        if rng.u8(0..4) == 0 { at - rank.max(1) } else { at }
    };
    if attr.kind == AttrKind::Int {
        return Some(AttrValue::Int(match (call.name, rng.bool()) {
            ("bias_add", true) => 1,
            _ => one(rng),
        }));
    }
    let count = if rng.u8(0..4) == 0 { 2 } else { 1 };
    let candidates: Vec<i64> = match call.name {
        "squeeze" => (0..rank).filter(|&i| x.get(i as usize) == Some(&1)).collect(),
        _ => (0..rank).collect(),
    };
    if candidates.is_empty() {
        return None;
    }
    let mut chosen: Vec<i64> = candidates;
    rng.shuffle(&mut chosen);
    chosen.truncate(count);
    let negative = rng.u8(0..5) == 0;
    Some(ints(chosen.into_iter().map(|a| if negative { a - rank } else { a })))
}

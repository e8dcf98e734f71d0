//! Quantised products, attention.

use super::windows::sliding;
use super::{Extents, FLOATS, Generator, line, tensor};

pub(super) fn quantised(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    const BYTES: &[&str] = &["i8", "ui8"];
    let shape = g.shape(1, 3);
    let rank = shape.len();
    let along = g.random.usize(..rank);
    let extent = g.int(1, 6);
    let mut shape: Extents = shape;
    shape[along] = extent.to_string();
    let block = g.int(2, 3);
    let (scales, mut attrs) = match g.random.u8(..3) {
        0 => (vec![], vec![]),
        1 => (vec![shape[along].clone()], vec![format!("axis={along}")]),
        _ => {
            let mut scales = shape.clone();
            scales[along] = ((extent + block - 1) / block).to_string();
            (scales, vec![format!("axis={along}"), format!("block_size={block}")])
        }
    };
    let (real, small) = (g.pick(FLOATS), g.pick(&["i8", "ui8", "i16", "ui16"]));
    let operands = [tensor(real, &shape), tensor(real, &scales), tensor(small, &scales)];
    lines.push(line("quantize", &operands, &attrs, 1));
    let operands = [tensor(small, &shape), tensor(real, &scales), tensor(small, &scales)];
    if g.chance(3) {
        attrs.push(format!("output_dtype={}", g.pick(FLOATS)));
    }
    lines.push(line("dequantize", &operands, &attrs, 1));
    lines.push(line("dynamic_quantize", &[tensor("f32", &shape)], &[], 3));
    products(g, lines);

    let groups = g.int(1, 2);
    let (channels, filters) = (g.int(1, 2), g.int(1, 2));
    let x = [g.extent(), (channels * groups).to_string(), g.int(3, 6).to_string()];
    let w = [(filters * groups).to_string(), channels.to_string(), g.int(1, 3).to_string()];
    let (left, right) = (g.pick(BYTES), g.pick(BYTES));
    let per_filter = if g.flag() { vec![w[0].clone()] } else { vec![] };
    let mut attrs = sliding(g, 1, true);
    attrs.push(format!("groups={groups}"));
    let all = [tensor(left, &x), tensor(right, &w), tensor(left, &[]), tensor(right, &per_filter)];
    let count = g.random.usize(2..5);
    lines.push(line("conv_integer", &all[..count], &attrs, 1));
    let out = g.pick(BYTES);
    let mut all = vec![
        tensor(left, &x),
        tensor("f32", &[]),
        tensor(left, &[]),
        tensor(right, &w),
        tensor("f32", &per_filter),
        tensor(right, &per_filter),
        tensor("f32", &[]),
        tensor(out, &[]),
    ];
    if g.flag() {
        all.push(tensor("i32", &w[..1]));
    }
    lines.push(line("qlinear_conv", &all, &attrs, 1));
}

fn products(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    const BYTES: &[&str] = &["i8", "ui8"];
    let [m, k, n] = [(); 3].map(|()| g.extent());
    let batch = g.shape(0, 1);
    let (left, right) = (g.pick(BYTES), g.pick(BYTES));
    let a = [batch, vec![m.clone(), k.clone()]].concat();
    let b = [k, n.clone()];
    let rows = if g.flag() { vec![m] } else { vec![] };
    let columns = if g.flag() { vec![n] } else { vec![] };
    let all = [tensor(left, &a), tensor(right, &b), tensor(left, &rows), tensor(right, &columns)];
    let count = g.random.usize(2..5);
    lines.push(line("matmul_integer", &all[..count], &[], 1));
    let all = [
        tensor(left, &a),
        tensor("f32", &rows),
        tensor(left, &rows),
        tensor(right, &b),
        tensor("f32", &columns),
        tensor(right, &columns),
        tensor("f32", &[]),
        tensor(g.pick(BYTES), &[]),
    ];
    lines.push(line("qlinear_matmul", &all, &[], 1));
}

pub(super) fn attention(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let element = g.pick(FLOATS);
    let (batch, steps, keys, past) = (g.extent(), g.extent(), g.extent(), g.int(1, 3));
    let (shared, own, width, v_width) = (g.int(1, 3), g.int(1, 2), g.int(1, 4), g.int(1, 4));
    let flat = g.flag();
    let heads = |count: i64, steps: &String, width: i64| match flat {
        true => vec![batch.clone(), steps.clone(), (count * width).to_string()],
        false => vec![batch.clone(), count.to_string(), steps.clone(), width.to_string()],
    };
    let mut operands = vec![
        tensor(element, &heads(shared * own, &steps, width)),
        tensor(element, &heads(own, &keys, width)),
        tensor(element, &heads(own, &keys, v_width)),
    ];
    let with_past = g.chance(3);
    let total = if with_past { format!("{past} + {keys}") } else { keys.clone() };
    let mask = [batch.clone(), (shared * own).to_string(), steps.clone(), total.clone()];
    let cut = g.random.usize(0..4);
    let mut mask: Extents = mask[cut..].to_vec();
    let last = mask.len() - 1;
    for extent in &mut mask[..last] {
        if g.chance(3) {
            *extent = "1".to_owned();
        }
    }
    let kind = if g.flag() { "i1" } else { element };
    operands.push(if g.flag() { tensor(kind, &mask) } else { "none".to_owned() });
    if with_past {
        for width in [width, v_width] {
            let shape = [batch.clone(), own.to_string(), past.to_string(), width.to_string()];
            operands.push(tensor(element, &shape));
        }
    } else if g.chance(3) {
        let lengths: Extents = vec![batch.clone()];
        operands.extend(["none".to_owned(), "none".to_owned(), tensor("i64", &lengths)]);
    }
    let mut attrs = vec![format!("is_causal={}", g.flag())];
    if flat {
        attrs.push(format!("q_num_heads={}", shared * own));
        attrs.push(format!("kv_num_heads={own}"));
    }
    for (name, value) in
        [("scale", 0.3), ("softcap", 1.5), ("left_window_size", 1.0), ("right_window_size", 2.0)]
    {
        if g.chance(3) {
            attrs.push(format!("{name}={value}"));
        }
    }
    let results = if with_past { 3 } else { g.random.usize(1..4) };
    lines.push(line("attention", &operands, &attrs, results));
    rotary(g, lines);
}

fn rotary(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let element = g.pick(FLOATS);
    let (batch, steps) = (g.extent(), g.extent());
    let (heads, half, rest) = (g.int(1, 3), g.int(1, 3), g.int(0, 2));
    let width = 2 * half + rest;
    let mut attrs =
        vec![format!("interleaved={}", g.flag()), format!("rotary_embedding_dim={}", 2 * half)];
    let x = if g.flag() {
        attrs.push(format!("num_heads={heads}"));
        vec![batch.clone(), steps.clone(), (heads * width).to_string()]
    } else {
        vec![batch.clone(), heads.to_string(), steps.clone(), width.to_string()]
    };
    let half = half.to_string();
    let mut operands = vec![tensor(element, &x)];
    if g.flag() {
        let table = [batch, steps, half];
        operands.extend([tensor(element, &table), tensor(element, &table)]);
    } else {
        // Positions are any numbers: a table of every small one, counted from either end.
        let table = ["12".to_owned(), half];
        operands.extend([tensor(element, &table), tensor(element, &table)]);
        operands.push("i64[2,3] = (0, 11, -12, 5, -1, 3)".to_owned());
        operands[0] = match x.len() {
            3 => tensor(element, &["2".to_owned(), "3".to_owned(), x[2].clone()]),
            _ => tensor(element, &["2".to_owned(), x[1].clone(), "3".to_owned(), x[3].clone()]),
        };
    }
    lines.push(line("rotary_embedding", &operands, &attrs, 1));
}

/// Recurrent layers: all directions, layouts, functions of gates.
pub(super) fn recurrent(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    const FUNCTIONS: &[&str] = &[
        "Relu",
        "Tanh",
        "Sigmoid",
        "Affine",
        "LeakyRelu",
        "ThresholdedRelu",
        "ScaledTanh",
        "HardSigmoid",
        "Elu",
        "Softsign",
        "Softplus",
    ];
    for (name, gates, functions) in [("lstm", 4, 3), ("gru", 3, 2), ("rnn", 1, 1)] {
        let element = g.pick(&["f32", "f64"]);
        let (steps, mut batch, width) = (g.extent(), g.extent(), g.extent());
        let mut lengths = "none".to_owned();
        if g.flag() {
            let count = g.int(1, 3);
            // A symbol may be any size, 1 at least.
            let most = steps.parse().unwrap_or(1);
            let each: Vec<String> = (0..count).map(|_| g.int(0, most).to_string()).collect();
            (batch, lengths) = (count.to_string(), format!("i32[{count}] = ({})", each.join(", ")));
        }
        let hidden = g.int(1, 4);
        let direction = g.pick(&["forward", "reverse", "bidirectional"]);
        let directions: i64 = if direction == "bidirectional" { 2 } else { 1 };
        let layout = i64::from(g.flag());
        let mut attrs = vec![format!("direction=\"{direction}\""), format!("layout={layout}")];
        if g.flag() {
            let names: Vec<String> =
                (0..functions * directions).map(|_| format!("\"{}\"", g.pick(FUNCTIONS))).collect();
            attrs.push(format!("activations=[{}]", names.join(",")));
        }
        if g.chance(3) {
            attrs.push("clip=0.75".to_owned());
        }
        match name {
            "lstm" if g.flag() => attrs.push("input_forget=true".to_owned()),
            "gru" if g.flag() => attrs.push("linear_before_reset=true".to_owned()),
            _ => {}
        }
        let of = |extents: &[i64]| {
            tensor(element, &extents.iter().map(i64::to_string).collect::<Vec<_>>())
        };
        let (sides, states) = match layout {
            1 => ([&batch, &steps, &width], [batch.clone(), directions.to_string()]),
            _ => ([&steps, &batch, &width], [directions.to_string(), batch.clone()]),
        };
        let state = tensor(element, &[&states[..], &[hidden.to_string()]].concat());
        let w = [directions.to_string(), (gates * hidden).to_string(), width.clone()];
        let mut operands = vec![
            tensor(element, &sides.map(String::clone)),
            tensor(element, &w),
            of(&[directions, gates * hidden, hidden]),
            of(&[directions, 2 * gates * hidden]),
            lengths,
            state.clone(),
        ];
        let mut results = g.random.usize(1..3);
        if name == "lstm" {
            operands.extend([state, of(&[directions, 3 * hidden])]);
            results = g.random.usize(1..4);
        }
        operands.truncate(g.random.usize(3..=operands.len()));
        lines.push(line(name, &operands, &attrs, results));
    }
}

/// A recurrent layer whose weights are bytes, one scale for each direction or each of its columns.
pub(super) fn recurrent_of_bytes(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let direction = g.pick(&["forward", "reverse", "bidirectional"]);
    let directions = if direction == "bidirectional" { "2" } else { "1" }.to_owned();
    let (hidden, width) = (g.int(1, 4), g.extent());
    let (state, gates) = (hidden.to_string(), (4 * hidden).to_string());
    let (steps, batch) = (g.extent(), g.extent());
    let bytes = g.pick(&["i8", "ui8"]);
    let mut scales = vec![directions.clone()];
    if g.flag() {
        scales.push(gates.clone());
    }
    let of = |element: &str, extents: &[&String]| {
        tensor(element, &extents.iter().map(|extent| (*extent).clone()).collect::<Vec<_>>())
    };
    let initial = of("f32", &[&directions, &batch, &state]);
    let operands = [
        of("f32", &[&steps, &batch, &width]),
        of(bytes, &[&directions, &width, &gates]),
        of(bytes, &[&directions, &state, &gates]),
        of("f32", &[&directions, &(8 * hidden).to_string()]),
        "none".to_owned(),
        initial.clone(),
        initial,
        of("f32", &[&directions, &(3 * hidden).to_string()]),
        tensor("f32", &scales),
        tensor(bytes, &scales),
        tensor("f32", &scales),
        tensor(bytes, &scales),
    ];
    let attrs = [format!("direction=\"{direction}\"")];
    lines.push(line("contrib_dynamic_quantize_lstm", &operands, &attrs, 3));
}

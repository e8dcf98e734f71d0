//! Fused operations of onnxruntime's domain.

use super::{Extents, FLOATS, Generator, line, list, tensor};

pub fn fused(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    elementwise(g, lines);
    products(g, lines);
    convolution(g, lines);
    norms(g, lines);
    quantised(g, lines);
}

fn quantised(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let (byte, shape) = (g.pick(&["i8", "ui8"]), g.shape(1, 3));
    let scaled = |shape: &[String]| [tensor(byte, shape), tensor("f32", &[]), tensor(byte, &[])];
    let [_, scale, zero] = scaled(&[]);
    for name in ["add", "multiply"] {
        let operands = [scaled(&shape), scaled(&shape)].concat();
        let operands = [operands, vec![scale.clone(), zero.clone()]].concat();
        lines.push(line(&format!("contrib_qlinear_{name}"), &operands, &[], 1));
    }
    for name in ["sigmoid", "leaky_relu"] {
        let operands = [scaled(&shape).to_vec(), vec![scale.clone(), zero.clone()]].concat();
        lines.push(line(&format!("contrib_qlinear_{name}"), &operands, &[], 1));
    }
    let [x, scale, zero] = scaled(&shape);
    lines.push(line("contrib_dequantize", &[x, scale.clone(), zero.clone()], &[], 1));
    lines.push(line("contrib_quantize", &[tensor("f32", &shape), scale, zero], &[], 1));
}

fn elementwise(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    for (name, terms) in
        [("gelu", 0), ("quick_gelu", 0), ("fast_gelu", g.random.usize(..2)), ("bias_gelu", 1)]
    {
        let (element, shape) = (g.pick(FLOATS), g.shape(1, 3));
        let last = [shape[shape.len() - 1].clone()];
        let mut operands = vec![tensor(element, &shape)];
        operands.extend((0..terms).map(|_| tensor(element, &last)));
        let attrs: &[String] = if name == "quick_gelu" { &["alpha=0.5".to_owned()] } else { &[] };
        lines.push(line(&format!("contrib_{name}"), &operands, attrs, 1));
    }
    let (element, shape) = (g.pick(FLOATS), g.shape(1, 3));
    let last = [shape[shape.len() - 1].clone()];
    let x = tensor(element, &shape);
    lines.push(line("contrib_bias_add", &[x.clone(), tensor(element, &last), x], &[], 1));
}

fn products(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    for name in ["contrib_fused_matmul", "contrib_transpose_matmul"] {
        let (element, batch) = (g.pick(FLOATS), g.shape(0, 2));
        let (m, k, n) = (g.extent(), g.int(1, 5).to_string(), g.extent());
        let turned = [g.flag(), g.flag()];
        let mut side = |rows: &String, columns: &String, turned: bool| {
            let pair = if turned { [columns, rows] } else { [rows, columns] };
            let mut shape: Extents = if g.chance(3) { Vec::new() } else { batch.clone() };
            shape.extend(pair.map(String::clone));
            tensor(element, &shape)
        };
        let operands = [side(&m, &k, turned[0]), side(&k, &n, turned[1])];
        let mut attrs = vec![format!("alpha={}", g.pick(&["1.0", "0.5"]))];
        attrs.extend(["a", "b"].iter().zip(turned).map(|(s, on)| format!("transpose_{s}={on}")));
        lines.push(line(name, &operands, &attrs, 1));
    }
}

fn convolution(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let element = g.pick(FLOATS);
    let groups = g.int(1, 2);
    let (filters, channels) = (groups * g.int(1, 3), g.int(1, 3));
    let batch = g.pick(&["1", "2", "N"]);
    let x = [batch.to_owned(), (channels * groups).to_string(), "6".to_owned(), "7".to_owned()];
    let window = [g.int(1, 3), g.int(1, 3)];
    let w = [filters, channels, window[0], window[1]].map(|n| n.to_string());
    let mut operands = vec![tensor(element, &x), tensor(element, &w)];
    if g.flag() {
        operands.push(tensor(element, &[filters.to_string()]));
        if g.flag() {
            let out = [6 - window[0] + 1, 7 - window[1] + 1].map(|n| n.to_string());
            let shape = [batch.to_owned(), filters.to_string(), out[0].clone(), out[1].clone()];
            operands.push(tensor(element, &shape));
        }
    }
    let mut attrs = vec![format!("groups={groups}")];
    if operands.len() < 4 {
        attrs.push(format!("strides={}", list(&[g.int(1, 2), g.int(1, 2)])));
        attrs.push(format!("padding={}", list(&[1, 0, 0, 1])));
    }
    attrs.push(
        g.pick(&[
            "activation=\"Relu\"",
            "activation=\"Tanh\"",
            "activation=\"Sigmoid\"",
            "activation=\"LeakyRelu\", activation_params=[0.25]",
            "activation=\"HardSigmoid\", activation_params=[0.25, 0.5]",
            "activation=\"Clip\", activation_params=[-0.5, 0.5]",
        ])
        .to_owned(),
    );
    lines.push(line("contrib_fused_conv", &operands, &attrs, 1));
}

fn norms(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let epsilon = ["epsilon=0.01".to_owned()];
    for (name, optional) in [("contrib_skip_layer_norm", 2), ("contrib_skip_rms_norm", 1)] {
        let element = g.pick(FLOATS);
        let mut shape = g.shape(2, 2);
        shape.push(g.int(1, 6).to_string());
        let last = tensor(element, &shape[2..]);
        let x = tensor(element, &shape);
        let mut operands = vec![x.clone(), x, last.clone()];
        operands.extend((0..g.random.usize(..=optional)).map(|_| last.clone()));
        lines.push(line(name, &operands, &epsilon, 1));
    }
}

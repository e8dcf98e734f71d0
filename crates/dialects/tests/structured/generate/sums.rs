//! Products, reductions, normalisations.

use super::{ALL, Extents, FLOATS, Generator, NUMBERS, constants, line, list, tensor};

pub(super) fn linear(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let element = g.pick(NUMBERS);
    let [m, k, n] = [(); 3].map(|()| g.extent());
    let batch = g.shape(0, 2);
    let part = g.part(&batch);
    let mut a: Extents = batch.clone();
    let mut b: Extents = part;
    a.extend([m.clone(), k.clone()]);
    b.extend([k.clone(), n.clone()]);
    if g.chance(5) {
        a = vec![k.clone()];
    }
    if g.chance(5) {
        b = vec![k.clone()];
    }
    lines.push(line("matmul", &[tensor(element, &a), tensor(element, &b)], &[], 1));
    let shapes = [vec![m.clone(), k.clone()], vec![n.clone(), k.clone()]];
    lines.push(line("dense", &shapes.map(|shape| tensor(element, &shape)), &[], 1));
    let first = g.extent();
    let second = if g.chance(3) { "1".to_owned() } else { first.clone() };
    let shapes = [vec![first, m.clone(), k.clone()], vec![second, n.clone(), k.clone()]];
    lines.push(line("batch_matmul", &shapes.map(|shape| tensor(element, &shape)), &[], 1));
    let (ta, tb) = (g.flag(), g.flag());
    let turned = |turned: bool, a: &String, b: &String| match turned {
        true => vec![b.clone(), a.clone()],
        false => vec![a.clone(), b.clone()],
    };
    let c = g.part(&[m.clone(), n.clone()]);
    let mut operands =
        vec![tensor(element, &turned(ta, &m, &k)), tensor(element, &turned(tb, &k, &n))];
    if g.flag() {
        operands.push(tensor(element, &c));
    }
    let mut attrs = vec![format!("transpose_a={ta}"), format!("transpose_b={tb}")];
    if g.flag() {
        attrs.push("alpha=0.75".to_owned());
    }
    if g.flag() {
        attrs.push("beta=1.25".to_owned());
    }
    lines.push(line("gemm", &operands, &attrs, 1));
    einsum(g, lines);
    let shape = g.shape(1, 4);
    let axis = g.random.usize(..shape.len());
    let bias = tensor(element, &[shape[axis].clone()]);
    let written = if g.flag() { axis as i64 } else { axis as i64 - shape.len() as i64 };
    lines.push(line("bias_add", &[tensor(element, &shape), bias], &[format!("axis={written}")], 1));
}

fn einsum(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let extents: Vec<(char, String)> = "abcd".chars().map(|c| (c, g.extent())).collect();
    let element = g.pick(NUMBERS);
    let dots = g.chance(3);
    let outer = g.shape(0, 2);
    let mut terms = Vec::new();
    let mut operands = Vec::new();
    for _ in 0..g.random.usize(1..3) {
        let count = g.random.usize(1..4);
        let letters: Vec<&(char, String)> =
            (0..count).filter_map(|_| g.random.choice(&extents)).collect();
        let mut shape = if dots { g.part(&outer) } else { Vec::new() };
        shape.extend(letters.iter().map(|(_, extent)| extent.clone()));
        operands.push(tensor(element, &shape));
        let text: String = letters.iter().map(|(letter, _)| *letter).collect();
        terms.push(format!("{}{text}", if dots { "..." } else { "" }));
    }
    let all: String = terms.concat();
    let mut kept: Vec<char> = "abcd".chars().filter(|&letter| all.contains(letter)).collect();
    g.random.shuffle(&mut kept);
    kept.truncate(g.random.usize(..=kept.len()));
    let kept: String = kept.into_iter().collect();
    let out = format!("{}{kept}", if dots { "..." } else { "" });
    let arrow = if g.chance(4) { String::new() } else { format!("->{out}") };
    let equation = format!("equation=\"{}{arrow}\"", terms.join(","));
    lines.push(line("einsum", &operands, &[equation], 1));
}

/// Transforms of real numbers along any dimension, of fewer or more points than there are.
pub(super) fn transforms(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let element = g.pick(&["f32", "f64"]);
    let mut shape = g.shape(1, 3);
    let along = g.random.usize(..shape.len());
    shape[along] = g.int(1, 9).to_string();
    shape.push("1".to_owned());
    let x = tensor(element, &shape);
    let attrs = [format!("axis={along}"), format!("onesided={}", g.flag())];
    lines.push(line("dft", std::slice::from_ref(&x), &attrs, 1));
    let length = format!("i64[] = ({})", g.int(1, 12));
    lines.push(line("dft", &[x, length], &attrs, 1));
    let points = g.int(1, 7);
    let mut signal = vec![g.extent(), (points + g.int(0, 9)).to_string()];
    if g.flag() {
        signal.push("1".to_owned());
    }
    let scalar = |n: i64| format!("i64[] = ({n})");
    let operands = [
        tensor(element, &signal),
        scalar(g.int(1, 4)),
        tensor(element, &[points.to_string()]),
        scalar(points),
    ];
    let given = if g.flag() { 3 } else { 4 };
    let attrs = [format!("onesided={}", g.flag())];
    lines.push(line("stft", &operands[..given], &attrs, 1));
}

pub(super) fn reductions(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    for name in [
        "sum",
        "mean",
        "max",
        "min",
        "prod",
        "reduce_l1",
        "reduce_l2",
        "reduce_log_sum",
        "reduce_log_sum_exp",
        "reduce_sum_square",
    ] {
        let shape = g.shape(0, 4);
        let types = if matches!(name, "max" | "min") { ALL } else { NUMBERS };
        let element = g.pick(types);
        let rank = shape.len() as i64;
        let axes: Vec<i64> = (0..rank)
            .filter(|_| g.flag())
            .collect::<Vec<_>>()
            .into_iter()
            .map(|a| if g.flag() { a } else { a - rank })
            .collect();
        let mut operands = vec![tensor(element, &shape)];
        let mut attrs = Vec::new();
        match g.random.u8(..3) {
            0 => operands.push(constants(&axes)),
            1 => attrs.push(format!("axis={}", list(&axes))),
            _ => {}
        }
        if g.flag() {
            attrs.push(format!("keepdims={}", g.flag()));
        }
        if g.chance(3) {
            attrs.push("noop_with_empty_axes=true".to_owned());
        }
        lines.push(line(name, &operands, &attrs, 1));
    }
    let shape = g.shape(1, 4);
    let part = g.part(&shape);
    let element = g.pick(NUMBERS);
    let operands = [tensor(element, &shape), tensor(element, &part)];
    lines.push(line("collapse_sum_like", &operands, &[], 1));
    for name in ["softmax", "log_softmax", "hardmax"] {
        let shape = g.shape(1, 4);
        let axis = g.random.usize(..shape.len()) as i64;
        let axis = if g.flag() { axis } else { axis - shape.len() as i64 };
        let mut attrs = vec![format!("axis={axis}")];
        if g.chance(3) {
            attrs.push("flatten=true".to_owned());
        }
        let element = g.pick(FLOATS);
        lines.push(line(name, &[tensor(element, &shape)], &attrs, 1));
    }
}

pub(super) fn norms(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let element = g.pick(FLOATS);
    let mut shape = g.shape(2, 4);
    let groups = g.int(1, 3);
    shape[1] = (groups * g.int(1, 3)).to_string();
    let x = tensor(element, &shape);
    let statistics = if g.chance(3) { "f32" } else { element };
    let one = tensor(statistics, &[shape[1].clone()]);
    let operands = [x.clone(), one.clone(), one.clone(), one.clone(), one.clone()];
    let epsilon = ["epsilon=0.01".to_owned()];
    lines.push(line("batch_norm", &operands, &epsilon, 1));
    lines.push(line("instance_norm", &operands[..3], &epsilon, 1));
    let grouping = [format!("num_groups={groups}"), epsilon[0].clone()];
    let each = if g.flag() { one } else { tensor(element, &[groups.to_string()]) };
    lines.push(line("group_norm", &[x.clone(), each.clone(), each], &grouping, 1));
    let attrs = [format!("size={}", g.int(1, 4)), "alpha=0.2".to_owned()];
    lines.push(line("lrn", std::slice::from_ref(&x), &attrs, 1));
    let attrs = [format!("p={}", g.int(1, 2)), format!("axis={}", g.int(0, 1))];
    lines.push(line("lp_norm", std::slice::from_ref(&x), &attrs, 1));
    let axes = [format!("axes={}", g.pick(&["[0]", "[1]", "[0,1]", "[]"]))];
    lines.push(line("mean_variance_norm", std::slice::from_ref(&x), &axes, 1));
    let from = g.random.usize(..shape.len());
    let attrs = [format!("axis={}", from as i64 - shape.len() as i64), epsilon[0].clone()];
    let scale = g.part(&shape[from..]);
    let mut operands = vec![x.clone(), tensor(element, &scale)];
    lines.push(line("rms_norm", &operands, &attrs, 1));
    if g.flag() {
        let shift = g.part(&shape[from..]);
        operands.push(tensor(element, &shift));
    }
    lines.push(line("layer_norm", &operands, &attrs, g.random.usize(1..4)));
}

//! Functions of elements.

use super::{ALL, FLOATS, Generator, INTS, NUMBERS, SIGNED, line, tensor};

pub(super) fn elementwise(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let one = |g: &mut Generator<'_>, types: &[&str]| {
        let shape = g.shape(0, 4);
        tensor(g.pick(types), &shape)
    };
    for name in [
        "sqrt",
        "exp",
        "log",
        "erf",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "sigmoid",
        "softplus",
        "softsign",
        "mish",
        "floor",
        "ceil",
        "round",
        "reciprocal",
        "hard_swish",
        "isnan",
    ] {
        let x = one(g, FLOATS);
        lines.push(line(name, &[x], &[], 1));
    }
    for (name, types) in [
        ("abs", NUMBERS),
        ("sign", NUMBERS),
        ("relu", NUMBERS),
        ("negative", SIGNED),
        ("identity", ALL),
        ("logical_not", &["i1"][..]),
        ("bitwise_not", INTS),
    ] {
        let x = one(g, types);
        lines.push(line(name, &[x], &[], 1));
    }
    for (name, attrs) in [
        ("leaky_relu", &["alpha"][..]),
        ("elu", &["alpha"]),
        ("selu", &["alpha", "gamma"]),
        ("celu", &["alpha"]),
        ("thresholded_relu", &["alpha"]),
        ("hard_sigmoid", &["alpha", "beta"]),
        ("swish", &["alpha"]),
        ("shrink", &["bias", "lambd"]),
    ] {
        let x = one(g, FLOATS);
        let attrs: Vec<String> = attrs
            .iter()
            .filter(|_| g.flag())
            .collect::<Vec<_>>()
            .into_iter()
            .map(|name| format!("{name}={:.3}", g.random.f64() + 0.1))
            .collect();
        lines.push(line(name, &[x], &attrs, 1));
    }
    let x = one(g, FLOATS);
    let mode = g.pick(&["none", "tanh"]);
    lines.push(line("gelu", &[x], &[format!("approximate=\"{mode}\"")], 1));
    let x = one(g, FLOATS);
    let signs = [("detect_negative", g.flag()), ("detect_positive", g.flag())];
    lines.push(line("isinf", &[x], &signs.map(|(name, on)| format!("{name}={on}")), 1));
    let x = one(g, ALL);
    lines.push(line("cast", &[x], &[format!("dtype={}", g.pick(ALL))], 1));
    let (x, y) = (one(g, ALL), one(g, ALL));
    lines.push(line("cast_like", &[x, y], &[], 1));
    clip(g, lines);
    let x = one(g, FLOATS);
    let count = if g.flag() { 1 } else { 2 };
    lines.push(line("dropout", &[x], &[], count));
    binaries(g, lines);
}

fn clip(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let shape = g.shape(0, 4);
    let element = g.pick(NUMBERS);
    let x = tensor(element, &shape);
    if g.flag() {
        let attrs = [format!("a_min={}", g.int(-2, 0)), format!("a_max={}.5", g.int(0, 3))];
        let some: Vec<String> = attrs.into_iter().filter(|_| g.flag()).collect();
        lines.push(line("clip", &[x], &some, 1));
    } else {
        let low = if g.flag() { tensor(element, &[]) } else { "none".to_owned() };
        lines.push(line("clip", &[x, low, tensor(element, &[])], &[], 1));
    }
}

fn binaries(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let two = |g: &mut Generator<'_>, types: &[&str]| {
        let shape = g.shape(0, 4);
        let element = g.pick(types);
        let part = g.part(&shape);
        let (x, y) = (tensor(element, &shape), tensor(element, &part));
        if g.flag() { [x, y] } else { [y, x] }
    };
    for name in [
        "add",
        "subtract",
        "multiply",
        "divide",
        "maximum",
        "minimum",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
    ] {
        let operands = two(g, NUMBERS);
        lines.push(line(name, &operands, &[], 1));
    }
    let operands = two(g, ALL);
    lines.push(line("equal", &operands, &[], 1));
    for name in ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"] {
        let operands = two(g, INTS);
        lines.push(line(name, &operands, &[], 1));
    }
    for name in ["logical_and", "logical_or", "logical_xor"] {
        let operands = two(g, &["i1"]);
        lines.push(line(name, &operands, &[], 1));
    }
    let operands = two(g, NUMBERS);
    let sign = g.flag();
    lines.push(line("mod", &operands, &[format!("fmod={sign}")], 1));
    let shape = g.shape(0, 3);
    let part = g.part(&shape);
    let operands = [tensor(g.pick(NUMBERS), &shape), tensor(g.pick(NUMBERS), &part)];
    lines.push(line("power", &operands, &[], 1));
    let exponent = format!("f32[] = ({})", g.int(-1, 4));
    lines.push(line("power", &[tensor("f32", &shape), exponent], &[], 1));
    let operands = [tensor("f16", &shape), tensor("f16", &part)];
    lines.push(line("prelu", &operands, &[], 1));
    let element = g.pick(NUMBERS);
    lines.push(line("prelu", &[tensor(element, &shape), tensor(element, &part)], &[], 1));
    let element = g.pick(FLOATS);
    let operands = [tensor(element, &shape), tensor(element, &shape)];
    lines.push(line("swiglu", &operands, &["alpha=1.5".to_owned()], 1));
    for (name, types) in
        [("add_n", NUMBERS), ("mean_n", FLOATS), ("max_n", NUMBERS), ("min_n", NUMBERS)]
    {
        let element = g.pick(types);
        let count = g.random.usize(1..5);
        let operands: Vec<String> = (0..count)
            .map(|_| {
                let part = g.part(&shape);
                tensor(element, &part)
            })
            .collect();
        lines.push(line(name, &operands, &[], 1));
    }
    let element = g.pick(ALL);
    let (c, y) = (g.part(&shape), g.part(&shape));
    lines.push(line(
        "where",
        &[tensor("i1", &c), tensor(element, &shape), tensor(element, &y)],
        &[],
        1,
    ));
}

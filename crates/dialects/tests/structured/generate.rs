//! Random applications of operations, as lines of a spec file.

use fastrand::Rng;

/// One line for each operation of the table.
pub fn lines(random: &mut Rng) -> Vec<String> {
    let mut g = Generator { random };
    let mut lines = Vec::new();
    elementwise(&mut g, &mut lines);
    linear(&mut g, &mut lines);
    windows(&mut g, &mut lines);
    reductions(&mut g, &mut lines);
    norms(&mut g, &mut lines);
    views(&mut g, &mut lines);
    picks(&mut g, &mut lines);
    quantised(&mut g, &mut lines);
    attention(&mut g, &mut lines);
    images(&mut g, &mut lines);
    made(&mut g, &mut lines);
    lines
}

const FLOATS: &[&str] = &["f32", "f32", "f16", "bf16", "f64"];
const INTS: &[&str] = &["i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"];
const SIGNED: &[&str] = &["i8", "i16", "i32", "i64", "f32", "f16", "f64", "bf16"];
const NUMBERS: &[&str] =
    &["f32", "f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"];
const ALL: &[&str] = &["f32", "f16", "bf16", "f64", "i8", "i32", "i64", "ui8", "ui64", "i1"];

struct Generator<'a> {
    random: &'a mut Rng,
}

type Extents = Vec<String>;

impl Generator<'_> {
    fn pick<'b>(&mut self, list: &[&'b str]) -> &'b str {
        list[self.random.usize(..list.len())]
    }

    fn int(&mut self, from: i64, to: i64) -> i64 {
        self.random.i64(from..=to)
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.random.usize(..one_in) == 0
    }

    fn flag(&mut self) -> bool {
        self.random.bool()
    }

    /// An extent: mostly small, sometimes 1, rarely 0, or a symbol.
    fn extent(&mut self) -> String {
        match self.random.u8(..20) {
            0 => "0".to_owned(),
            1..4 => "1".to_owned(),
            4..7 => self.pick(&["N", "M", "K"]).to_owned(),
            _ => self.int(2, 6).to_string(),
        }
    }

    fn shape(&mut self, least: usize, most: usize) -> Extents {
        let rank = self.random.usize(least..=most);
        (0..rank).map(|_| self.extent()).collect()
    }

    /// A shape that broadcasts to `shape`.
    fn part(&mut self, shape: &[String]) -> Extents {
        let kept = self.random.usize(..=shape.len());
        let cut = if self.chance(2) { 0 } else { shape.len() - kept };
        let one = |e: &String| if self.chance(4) { "1".to_owned() } else { e.clone() };
        shape[cut..].iter().map(one).collect()
    }
}

fn tensor(element: &str, shape: &[String]) -> String {
    format!("{element}[{}]", shape.join(","))
}

fn list(numbers: &[i64]) -> String {
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("[{}]", texts.join(","))
}

fn constants(numbers: &[i64]) -> String {
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("i64[{}] = ({})", numbers.len(), texts.join(", "))
}

fn line(name: &str, operands: &[String], attrs: &[String], results: usize) -> String {
    let attrs = if attrs.is_empty() { String::new() } else { format!(" {{{}}}", attrs.join(", ")) };
    format!("{name}({}){attrs} -> {}", operands.join(", "), vec!["f32[]"; results].join(", "))
}

fn elementwise(g: &mut Generator<'_>, lines: &mut Vec<String>) {
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

fn linear(g: &mut Generator<'_>, lines: &mut Vec<String>) {
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

/// Strides, dilations and padding of windows, `rank` of each.
fn sliding(g: &mut Generator<'_>, rank: usize, negative: bool) -> Vec<String> {
    let mut attrs = Vec::new();
    let numbers = |g: &mut Generator<'_>, n, low, high| -> Vec<i64> {
        (0..n).map(|_| g.int(low, high)).collect()
    };
    if g.flag() {
        attrs.push(format!("strides={}", list(&numbers(g, rank, 1, 3))));
    }
    if g.flag() {
        attrs.push(format!("dilation={}", list(&numbers(g, rank, 1, 2))));
    }
    match g.random.u8(..5) {
        0 => attrs.push(format!("padding=\"{}\"", g.pick(&["SAME_UPPER", "SAME_LOWER", "VALID"]))),
        1..4 => {
            let low = if negative && g.chance(4) { -1 } else { 0 };
            attrs.push(format!("padding={}", list(&numbers(g, 2 * rank, low, 2))));
        }
        _ => {}
    }
    attrs
}

fn windows(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    for (suffix, fixed) in [("1d", 1), ("2d", 2), ("3d", 3), ("", 0)] {
        let rank = if fixed == 0 { g.random.usize(1..4) } else { fixed };
        let element = g.pick(FLOATS);
        let extent = |g: &mut Generator<'_>| match g.chance(6) {
            true => ["H", "W"][g.random.usize(..2)].to_owned(),
            false => g.int(3, 7).to_string(),
        };
        let spatial: Extents = (0..rank).map(|_| extent(g)).collect();
        let groups = *g.random.choice(&[1, 1, 2, 3]).unwrap();
        let (channels, filters) = (g.int(1, 3), g.int(1, 2));
        let kernel: Vec<i64> = (0..rank).map(|_| g.int(1, 3)).collect();
        let batch = g.extent();
        let mut x = vec![batch, (channels * groups).to_string()];
        x.extend(spatial.clone());
        let mut w = vec![(filters * groups).to_string(), channels.to_string()];
        w.extend(kernel.iter().map(i64::to_string));
        let mut attrs = sliding(g, rank, true);
        attrs.push(format!("groups={groups}"));
        lines.push(line(
            &format!("conv{suffix}"),
            &[tensor(element, &x), tensor(element, &w)],
            &attrs,
            1,
        ));
        let mut turned = w.clone();
        turned[0] = (channels * groups).to_string();
        turned[1] = filters.to_string();
        if g.flag() {
            let extra: Vec<i64> = (0..rank).map(|_| g.int(0, 1)).collect();
            attrs.push(format!("output_padding={}", list(&extra)));
        } else if g.flag() {
            let sizes: Vec<i64> = (0..rank).map(|_| g.int(4, 12)).collect();
            attrs.push(format!("output_shape={}", list(&sizes)));
        }
        lines.push(line(
            &format!("conv{suffix}_transpose"),
            &[tensor(element, &x), tensor(element, &turned)],
            &attrs,
            1,
        ));
        let mut attrs = sliding(g, rank, false);
        attrs.push(format!("pool_size={}", list(&kernel)));
        attrs.push(format!("ceil_mode={}", g.flag()));
        let include = [format!("count_include_pad={}", g.flag())];
        let all = [&attrs[..], &include].concat();
        lines.push(line(&format!("avg_pool{suffix}"), &[tensor(element, &x)], &all, 1));
        let order = [format!("storage_order={}", g.int(0, 1))];
        let all = [&attrs[..], &order].concat();
        let element = g.pick(NUMBERS);
        let results = if g.flag() { 1 } else { 2 };
        lines.push(line(&format!("max_pool{suffix}"), &[tensor(element, &x)], &all, results));
        if suffix.is_empty() {
            let power = [format!("p={}", g.int(1, 3))];
            let all = [&attrs[..], &power].concat();
            lines.push(line("lp_pool", &[tensor("f32", &x)], &all, 1));
            lines.push(line("global_max_pool", &[tensor(element, &x)], &[], 1));
            let element = g.pick(FLOATS);
            lines.push(line("global_avg_pool", &[tensor(element, &x)], &[], 1));
            lines.push(line("global_lp_pool", &[tensor(element, &x)], &power, 1));
        }
    }
}

fn reductions(g: &mut Generator<'_>, lines: &mut Vec<String>) {
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

fn norms(g: &mut Generator<'_>, lines: &mut Vec<String>) {
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

fn views(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let shape = g.shape(1, 4);
    let rank = shape.len();
    let element = g.pick(ALL);
    let x = [tensor(element, &shape)];
    lines.push(line("batch_flatten", &x, &[], 1));
    let axis = g.random.usize(..=rank);
    lines.push(line("flatten", &x, &[format!("axis={axis}")], 1));
    lines.push(line("reshape", &x, &["newshape=[0,-1]".to_owned()], 1));
    lines.push(line("expand_dims", &[x[0].clone(), constants(&[0, -1])], &[], 1));
    let units = [vec!["1".to_owned()], shape.clone(), vec!["1".to_owned()]].concat();
    lines.push(line("squeeze", &[tensor(element, &units)], &["axis=[0,-1]".to_owned()], 1));
    let mut order: Vec<i64> = (0..rank as i64).collect();
    g.random.shuffle(&mut order);
    let attrs = if g.chance(4) { vec![] } else { vec![format!("axes={}", list(&order))] };
    lines.push(line("transpose", &x, &attrs, 1));
    let along = g.random.usize(..rank);
    let count = g.random.usize(1..4);
    let operands: Vec<String> = (0..count)
        .map(|_| {
            let mut part = shape.clone();
            part[along] = g.extent();
            tensor(element, &part)
        })
        .collect();
    let written = if g.flag() { along as i64 } else { along as i64 - rank as i64 };
    lines.push(line("concatenate", &operands, &[format!("axis={written}")], 1));
    splits(g, lines);
    slices(g, lines);
}

fn splits(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let mut shape = g.shape(1, 3);
    let along = g.random.usize(..shape.len());
    let parts: Vec<i64> = (0..g.int(1, 3)).map(|_| g.int(0, 3)).collect();
    let element = g.pick(ALL);
    let axis = format!("axis={along}");
    shape[along] = parts.iter().sum::<i64>().to_string();
    let results = parts.len();
    lines.push(line(
        "split",
        &[tensor(element, &shape), constants(&parts)],
        std::slice::from_ref(&axis),
        results,
    ));
    let starts: Vec<i64> = parts[..results - 1]
        .iter()
        .scan(0, |sum, part| {
            *sum += part;
            Some(*sum)
        })
        .collect();
    let starts = format!("indices_or_sections={}", list(&starts));
    lines.push(line("split", &[tensor(element, &shape)], &[axis.clone(), starts], results));
    shape[along] = if g.chance(3) { "3*N".to_owned() } else { g.int(0, 8).to_string() };
    let sections = "indices_or_sections=3".to_owned();
    lines.push(line("split", &[tensor(element, &shape)], &[axis, sections], 3));
}

fn slices(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let shape = g.shape(1, 4);
    let x = tensor(g.pick(ALL), &shape);
    let mut axes: Vec<i64> = (0..shape.len() as i64).collect();
    g.random.shuffle(&mut axes);
    axes.truncate(g.random.usize(1..=shape.len()));
    let numbers = |g: &mut Generator<'_>| -> Vec<i64> {
        axes.iter()
            .map(|_| {
                if g.chance(8) {
                    [i64::MAX, i64::MIN + 1][g.random.usize(..2)]
                } else {
                    g.int(-7, 7)
                }
            })
            .collect()
    };
    let (begin, end) = (numbers(g), numbers(g));
    let steps: Vec<i64> = axes.iter().map(|_| [1, 1, 2, 3, -1, -2][g.random.usize(..6)]).collect();
    if g.flag() {
        let attrs = [
            format!("begin={}", list(&begin)),
            format!("end={}", list(&end)),
            format!("axes={}", list(&axes)),
            format!("strides={}", list(&steps)),
        ];
        lines.push(line("strided_slice", &[x], &attrs, 1));
    } else {
        let lists = [&begin, &end, &axes, &steps].map(|numbers| constants(numbers));
        lines.push(line("strided_slice", &[vec![x], lists.to_vec()].concat(), &[], 1));
    }
}

/// Indices of a dimension of extent `extent`, negative ones too, as constants or free elements.
fn indices(g: &mut Generator<'_>, extent: i64, shape: &[i64]) -> String {
    let count: i64 = shape.iter().product();
    let texts: Vec<String> = shape.iter().map(i64::to_string).collect();
    let list: Vec<String> = match g.random.u8(..3) {
        0 => (0..count).map(|i| i.min(extent - 1).to_string()).collect(),
        1 => (0..count).map(|i| (-1 - i).max(-extent).to_string()).collect(),
        _ => (0..count).map(|_| g.int(-extent, extent - 1).to_string()).collect(),
    };
    format!("i64[{}] = ({})", texts.join(","), list.join(", "))
}

fn picks(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let mut shape = g.shape(1, 3);
    let rank = shape.len();
    let along = g.random.usize(..rank);
    let extent = g.int(1, 5);
    shape[along] = extent.to_string();
    let element = g.pick(ALL);
    let x = tensor(element, &shape);
    let axis = [format!("axis={along}")];
    let at: Vec<i64> = (0..g.random.usize(..3)).map(|_| g.int(1, 3)).collect();
    let picked = indices(g, extent, &at);
    lines.push(line("take", &[x.clone(), picked], &axis, 1));
    let fixed: Vec<i64> = (0..rank).map(|_| g.int(1, 4)).collect();
    let texts: Vec<String> = fixed.iter().map(i64::to_string).collect();
    let picked = indices(g, fixed[along], &fixed);
    lines.push(line("gather_elements", &[tensor(element, &texts), picked], &axis, 1));
    let depth = g.random.usize(1..=rank) as i64;
    let count = g.int(1, 3);
    let picked = indices(g, 1, &[count, depth]);
    let whole: Extents = (0..rank).map(|_| g.int(1, 4).to_string()).collect();
    lines.push(line("gather_nd", &[tensor(element, &whole), picked], &[], 1));
    let picked = indices(g, 1, &[2, 2, 1]);
    let batched = ["2".to_owned(), "3".to_owned(), "N".to_owned()];
    let attrs = ["batch_dims=1".to_owned()];
    lines.push(line("gather_nd", &[tensor(element, &batched), picked], &attrs, 1));
    for name in ["argmax", "argmin"] {
        let attrs = [
            axis[0].clone(),
            format!("keepdims={}", g.flag()),
            format!("select_last_index={}", g.flag()),
        ];
        let element = g.pick(NUMBERS);
        lines.push(line(name, &[tensor(element, &shape)], &attrs, 1));
    }
    let depth = g.int(1, 5);
    let types = ["i64", "i32", "f32"];
    let at = g.random.usize(..=rank);
    let operands = [
        tensor(g.pick(&types), &shape),
        format!("i64[] = ({depth})"),
        tensor(g.pick(ALL), &["2".to_owned()]),
    ];
    lines.push(line("one_hot", &operands, &[format!("axis={at}")], 1));
}

fn made(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let shape = g.shape(1, 4);
    let rank = shape.len();
    let element = g.pick(ALL);
    let x = tensor(element, &shape);
    let sizes: Vec<i64> = (0..g.random.usize(..3)).map(|_| g.int(0, 4)).collect();
    let value = format!("value=dense {}[1] {}", "i64", g.int(0, 9));
    lines.push(line("full", &[], &[format!("shape={}", list(&sizes)), value], 1));
    let (first, step) = (g.int(-5, 5), g.int(1, 3));
    let limit = g.int(-5, 12);
    let scalars = [first, limit, step].map(|n| format!("{}[] = ({n})", "i64"));
    lines.push(line("arange", &scalars, &[], 1));
    let mut square = g.shape(0, 2);
    square.extend([g.extent(), g.extent()]);
    let attrs = [format!("k={}", g.int(-2, 2)), format!("upper={}", g.flag())];
    lines.push(line("trilu", &[tensor(element, &square)], &attrs, 1));
    let pair = [g.extent(), g.extent()];
    let attrs = [format!("k={}", g.int(-2, 2)), format!("dtype={}", g.pick(NUMBERS))];
    lines.push(line("eye_like", &[tensor(element, &pair)], &attrs, 1));
    let block = g.int(1, 3);
    let mode = format!("mode=\"{}\"", g.pick(&["DCR", "CRD"]));
    let attrs = [format!("block_size={block}"), mode];
    let (c, h, w) = (g.int(1, 3), g.int(1, 3), g.extent());
    let deep = [g.extent(), (c * block * block).to_string(), h.to_string(), w.clone()];
    lines.push(line("depth_to_space", &[tensor(element, &deep)], &attrs, 1));
    let flat = [g.extent(), c.to_string(), (h * block).to_string(), format!("{block}*{w}")];
    lines.push(line("space_to_depth", &[tensor(element, &flat)], &attrs, 1));
    lines.push(line("shape_of", std::slice::from_ref(&x), &["start=-2".to_owned()], 1));
    lines.push(line("ndarray_size", std::slice::from_ref(&x), &[], 1));
    let part = g.part(&shape);
    let wanted = format!("i64[{rank}] = ({})", shape.join(", "));
    lines.push(line("broadcast_to", &[tensor(element, &part), wanted], &[], 1));
    let copies: Vec<i64> = (0..rank).map(|_| g.int(0, 3)).collect();
    lines.push(line("tile", &[x.clone(), constants(&copies)], &[], 1));
    let mode = g.pick(&["constant", "constant", "edge", "reflect", "wrap"]);
    let low = if mode == "constant" { -2 } else { 0 };
    let widths: Vec<i64> = (0..2 * rank).map(|_| g.int(low, 3)).collect();
    let mut attrs = vec![format!("pad_mode=\"{mode}\"")];
    let mut operands = vec![x.clone()];
    if g.flag() {
        attrs.push(format!("pad_width={}", list(&widths)));
        if g.flag() {
            attrs.push(format!("pad_value={}", g.int(-3, 3)));
        }
    } else {
        operands.extend([constants(&widths), tensor(element, &[])]);
    }
    lines.push(line("pad", &operands, &attrs, 1));
}

fn quantised(g: &mut Generator<'_>, lines: &mut Vec<String>) {
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

fn attention(g: &mut Generator<'_>, lines: &mut Vec<String>) {
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

fn images(g: &mut Generator<'_>, lines: &mut Vec<String>) {
    let element = g.pick(ALL);
    let shape = [g.extent(), g.int(1, 3).to_string(), g.int(1, 7).to_string()];
    let x = tensor(element, &shape);
    let transform = g.pick(&["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]);
    let nearest = g.pick(&["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]);
    let modes = [
        "mode=\"nearest\"".to_owned(),
        format!("coordinate_transformation_mode=\"{transform}\""),
        format!("nearest_mode=\"{nearest}\""),
    ];
    let size = g.int(1, 12);
    let target = match g.flag() {
        true => vec![format!("sizes=[{size}]"), "axes=[2]".to_owned()],
        false => vec![format!("scales=[1.0,1.0,{}.0]", g.int(1, 3))],
    };
    lines.push(line("resize", std::slice::from_ref(&x), &[&modes[..], &target].concat(), 1));
    let sizes = [g.int(1, 5), g.int(1, 9)];
    let operands = [x, constants(&sizes)];
    lines.push(line("center_crop_pad", &operands, &["axes=[1,2]".to_owned()], 1));

    let (batch, steps) = (g.int(1, 3), g.int(2, 5));
    let lengths: Vec<i64> = (0..batch).map(|_| g.int(0, steps)).collect();
    let x = [steps.to_string(), batch.to_string(), g.extent()];
    lines.push(line("reverse_sequence", &[tensor(element, &x), constants(&lengths)], &[], 1));
    let written = g.int(1, steps);
    let circular = g.flag();
    let most = if circular { 2 * steps } else { steps - written };
    let starts: Vec<i64> = (0..batch).map(|_| g.int(0, most)).collect();
    let cache = [batch.to_string(), g.extent(), steps.to_string(), g.extent()];
    let mut update = cache.clone();
    update[2] = written.to_string();
    let mode = if circular { "circular" } else { "linear" };
    let operands = [tensor(element, &cache), tensor(element, &update), constants(&starts)];
    lines.push(line("tensor_scatter", &operands, &[format!("mode=\"{mode}\"")], 1));
}

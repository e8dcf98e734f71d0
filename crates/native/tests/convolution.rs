//! Random convolutions and pools, alone and in chains: windows, strides, dilations, pads, groups,
//! whatever way they are computed.

mod support;

use fastrand::Rng;
use support::{Graph, Side, agree, attribute_ints, same_bits, session_with};
use tangram_dialects::interpret::Datum;
use tangram_tensor::Tensor;

/// What Winograd's algorithm and sums in another order may change, over the largest magnitude.
const TOLERANCE: f64 = 1e-4;

fn values(random: &mut Rng, count: usize) -> Vec<f32> {
    (0..count).map(|_| random.f32() * 2.0 - 1.0).collect()
}

/// A picture: its name, channels, height and width.
struct Picture {
    name: String,
    channels: i64,
    sides: [i64; 2],
}

/// Windows that fit, as attributes, and the extents of the result.
struct Windows {
    kernel: [i64; 2],
    attributes: Vec<(&'static str, support::Attribute)>,
    sides: [i64; 2],
}

fn windows(random: &mut Rng, sides: [i64; 2], is_pool: bool) -> Option<Windows> {
    // Most often 3 by 3 with steps of one, which has an algorithm of its own.
    let usual = random.u8(0..3) > 0;
    let kernel = if usual { [3, 3] } else { [random.i64(1..6), random.i64(1..6)] };
    let stride = if usual { [1, 1] } else { [random.i64(1..4), random.i64(1..4)] };
    let dilation = if usual || is_pool { [1, 1] } else { [random.i64(1..3), random.i64(1..3)] };
    let mut pad = |at: usize| random.i64(0..kernel[at].min(3));
    let pads = [pad(0), pad(1), pad(0), pad(1)];
    let of = |at: usize| {
        let extent = sides[at] + pads[at] + pads[at + 2] - dilation[at] * (kernel[at] - 1) - 1;
        (extent >= 0).then(|| extent / stride[at] + 1)
    };
    let mut attributes = vec![
        ("kernel_shape", attribute_ints(kernel)),
        ("strides", attribute_ints(stride)),
        ("pads", attribute_ints(pads)),
    ];
    if !is_pool {
        attributes.push(("dilations", attribute_ints(dilation)));
    }
    Some(Windows { kernel, attributes, sides: [of(0)?, of(1)?] })
}

fn convolution(random: &mut Rng, graph: &mut Graph, x: &Picture) -> Option<Picture> {
    let Windows { kernel, mut attributes, sides } = windows(random, x.sides, false)?;
    let channels = [1, 3, 4, 8, 12, 16, 24, 31, 32, 48][random.usize(0..10)];
    let (group, channels) = match random.u8(0..4) {
        0 => (x.channels, x.channels),
        1 if x.channels % 2 == 0 && channels % 2 == 0 => (2, channels),
        _ => (1, channels),
    };
    let inputs = x.channels / group;
    let extents = [channels, inputs, kernel[0], kernel[1]];
    let weights = values(random, extents.iter().product::<i64>() as usize);
    let weights = graph.floats(&extents, weights);
    let bias = values(random, channels as usize);
    let bias = graph.floats(&[channels], bias);
    attributes.push(("group", group.into()));
    let operands = [x.name.as_str(), &weights, &bias];
    let operands = &operands[..random.usize(2..4)];
    let name = graph.node("Conv", operands, attributes);
    Some(Picture { name, channels, sides })
}

/// What follows a convolution in networks.
fn epilogue(random: &mut Rng, graph: &mut Graph, x: &Picture, y: &Picture) -> Picture {
    let same = (x.channels, x.sides) == (y.channels, y.sides);
    let name = match random.u8(0..7) {
        6 => {
            let part = graph.node("Sigmoid", &[&y.name], Vec::new());
            graph.node("Mul", &[&y.name, &part], Vec::new())
        }
        0 => graph.node("Relu", &[&y.name], Vec::new()),
        1 => graph.node("Sigmoid", &[&y.name], Vec::new()),
        2 if same => graph.node("Add", &[&y.name, &x.name], Vec::new()),
        3 if x.sides == y.sides => {
            let both = [x.name.as_str(), &y.name];
            let name = graph.node("Concat", &both, vec![("axis", 1.into())]);
            return Picture { name, channels: x.channels + y.channels, sides: y.sides };
        }
        _ => y.name.clone(),
    };
    Picture { name, channels: y.channels, sides: y.sides }
}

fn check(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let mut graph = Graph::default();
    let channels = [1, 3, 8, 16, 32][random.usize(0..5)];
    let sides = [random.i64(1..30), random.i64(1..30)];
    let mut side = |name, extent| match random.u8(0..3) {
        0 => Side::Name(name),
        _ => Side::Number(extent),
    };
    let (height, width) = (side("height", sides[0]), side("width", sides[1]));
    let (is_open, images) = (random.bool(), random.i64(1..3));
    let batch = if is_open { Side::Name("batch") } else { Side::Number(images) };
    let input = graph.input(&[batch, Side::Number(channels), height, width]);
    let mut x = Picture { name: input.clone(), channels, sides };
    for _ in 0..random.usize(1..4) {
        let made = match random.u8(0..4) {
            0 => {
                windows(&mut random, x.sides, true).map(|Windows { attributes, sides, .. }| {
                    let operator = if random.bool() { "MaxPool" } else { "AveragePool" };
                    let name = graph.node(operator, &[&x.name], attributes);
                    Picture { name, channels: x.channels, sides }
                })
            }
            _ => convolution(&mut random, &mut graph, &x),
        };
        let Some(made) = made else { continue };
        x = epilogue(&mut random, &mut graph, &x, &made);
    }
    if x.name == input {
        return;
    }
    graph.output(&x.name);
    let bytes = graph.bytes();
    let with = |interpret: bool, exact: bool, parts: bool| {
        session_with(&bytes, |options| {
            (options.interpret, options.exact) = (interpret, exact);
            if parts {
                (options.threads, options.grain) = (3, 1);
            }
        })
    };
    let (reference, compiled) = (with(true, false, false), with(false, false, false));
    let (exact, parts) = (with(false, true, false), with(false, false, true));
    for batch in if is_open { vec![1, 3] } else { vec![images as usize] } {
        let extents = [batch, channels as usize, sides[0] as usize, sides[1] as usize];
        let tensor = Tensor::from_vec(extents, values(&mut random, extents.iter().product()));
        let feed = [(input.as_str(), Datum::Tensor(tensor.expect("fits")))];
        let run = |session: &tangram_native::Session| {
            session.run(&feed).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
        };
        let (expected, found) = (run(&reference), run(&compiled));
        agree(&format!("seed {seed}"), &found[0], &expected[0], TOLERANCE);
        agree(&format!("seed {seed}, exact"), &run(&exact)[0], &expected[0], TOLERANCE);
        assert!(same_bits(&found[0], &run(&parts)[0]), "seed {seed}: parts differ");
    }
}

#[test]
fn convolutions_agree_with_the_reference_kernels() {
    (0..24).for_each(check);
}

/// A pool or a convolution of each channel by itself, over images as they come: results lie side by
/// side along the lines.
fn check_steps_of_two(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let sides = [random.i64(1..40), random.i64(1..70)];
    let kernel = [random.i64(1..6), random.i64(1..6)];
    let pads = [0, 1, 0, 1].map(|at| random.i64(0..kernel[at].min(3)));
    if (0..2).any(|at| sides[at] + pads[at] + pads[at + 2] < kernel[at]) {
        return;
    }
    let mut graph = Graph::default();
    let open = random.bool();
    let named = |name, extent| if open { Side::Name(name) } else { Side::Number(extent) };
    let [height, width] = [named("height", sides[0]), named("width", sides[1])];
    let input = graph.input(&[Side::Number(2), Side::Number(3), height, width]);
    let mut attributes = vec![
        ("kernel_shape", attribute_ints(kernel)),
        ("strides", attribute_ints([random.i64(1..3), 2])),
        ("pads", attribute_ints(pads)),
    ];
    let operator = ["MaxPool", "AveragePool", "Conv"][random.usize(0..3)];
    let output = if operator == "Conv" {
        let weights = values(&mut random, 3 * (kernel[0] * kernel[1]) as usize);
        let weights = graph.floats(&[3, 1, kernel[0], kernel[1]], weights);
        attributes.push(("group", 3.into()));
        graph.node(operator, &[&input, &weights], attributes)
    } else {
        graph.node(operator, &[&input], attributes)
    };
    graph.output(&output);
    let bytes = graph.bytes();
    let extents = [2, 3, sides[0] as usize, sides[1] as usize];
    let tensor = Tensor::from_vec(extents, values(&mut random, extents.iter().product()));
    let feed = [(input.as_str(), Datum::Tensor(tensor.expect("fits")))];
    let run = |interpret: bool, threads: usize| {
        let session = session_with(&bytes, |options| {
            (options.interpret, options.threads, options.grain) = (interpret, threads, 1);
        });
        assert_eq!(session.coverage().calls > 0, !interpret, "seed {seed}");
        let found = session.run(&feed).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        found[0].clone()
    };
    let (expected, found) = (run(true, 1), run(false, 1));
    agree(&format!("seed {seed}, {operator}"), &found, &expected, 1e-6);
    assert!(operator != "MaxPool" || same_bits(&found, &expected), "seed {seed}");
    assert!(same_bits(&found, &run(false, 3)), "seed {seed}: parts differ");
}

#[test]
fn windows_with_steps_of_two_agree_with_the_reference_kernels() {
    (0..60).for_each(check_steps_of_two);
}

#[test]
#[ignore = "as many as TANGRAM_CASES says; seconds each"]
fn many_convolutions_agree_with_the_reference_kernels() {
    let count = std::env::var("TANGRAM_CASES").ok().and_then(|text| text.parse().ok());
    let first = fastrand::u64(..1 << 32);
    println!("from seed {first}");
    (first..first + count.unwrap_or(200)).for_each(check);
}

//! Products of quantised numbers in tiles of integers: the bits of the definition where sums are
//! integers, on every machine; within rounding where they were floats.

mod support;

use fastrand::Rng;
use support::{Graph, Side, agree, attribute_ints, same_bits, session_of, session_with};
use tangram_dialects::interpret::Datum;
use tangram_machine::{Isa, Machine};
use tangram_onnx::Model;
use tangram_tensor::Tensor;

/// What three roundings of `float` may change, over the largest magnitude, and as many of the
/// definition's own sums.
const TOLERANCE: f64 = 2e-6;

/// A graph with an input of floats, quantised to bytes without a sign and back.
struct Quantised {
    graph: Graph,
    bytes: String,
    zero: String,
    scale: String,
}

fn quantised(shape: &[Side], zero: u8) -> Quantised {
    let mut graph = Graph::default();
    let x = graph.input(shape);
    let scale = graph.floats(&[], vec![0.02]);
    let zero = graph.short(2, &[], &[zero.into()]);
    let bytes = graph.node("QuantizeLinear", &[&x, &scale, &zero], Vec::new());
    Quantised { graph, bytes, zero, scale }
}

fn signed(random: &mut Rng, graph: &mut Graph, extents: &[i64]) -> String {
    let count = extents.iter().product::<i64>();
    let values: Vec<i32> = (0..count).map(|_| random.i32(-128..128)).collect();
    graph.short(3, extents, &values)
}

fn floats(random: &mut Rng, shape: &[usize]) -> Datum {
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| random.f32() * 6.0 - 3.0).collect();
    Datum::Tensor(Tensor::from_vec(shape, values).expect("a tensor"))
}

/// Runs a model compiled for two machines, and checks it against the reference kernels.
fn check(what: &str, bytes: &[u8], input: &Datum, tolerance: Option<f64>) {
    let run = |session: &tangram_native::Session| {
        let name = session.inputs()[0].name.clone();
        let mut outputs = session.run(&[(&name, input.clone())]).expect("a run");
        outputs.remove(0)
    };
    let expected = run(&session_of(bytes, true));
    for isa in [Isa::Avx2, Isa::Scalar] {
        if isa == Isa::Avx2 && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let for_machine = |exact: bool| {
            session_with(bytes, |options| {
                options.machine = Machine::of(isa);
                options.exact = exact;
            })
        };
        let found = run(&for_machine(false));
        match tolerance {
            None => assert!(same_bits(&found, &expected), "{what} on {isa}"),
            Some(tolerance) => {
                agree(&format!("{what} on {isa}"), &found, &expected, tolerance);
                let exact = run(&for_machine(true));
                agree(&format!("{what}, exact, on {isa}"), &exact, &expected, tolerance);
            }
        }
    }
}

#[test]
fn integer_products_have_the_bits_of_the_definition() {
    let mut random = Rng::with_seed(3);
    for (rows, depth, columns) in [(1, 5, 7), (13, 64, 33), (5, 1201, 9)] {
        let side = Side::Name("rows");
        let Quantised { mut graph, bytes, zero, .. } = quantised(&[side, Side::Number(depth)], 131);
        let weights = signed(&mut random, &mut graph, &[depth, columns]);
        let zeros = signed(&mut random, &mut graph, &[columns]);
        let operands = [bytes.as_str(), &weights, &zero, &zeros];
        let y = graph.node("MatMulInteger", &operands, Vec::new());
        graph.output(&y);
        let input = floats(&mut random, &[rows, depth as usize]);
        check(&format!("{rows} by {depth} by {columns}"), &graph.bytes(), &input, None);
    }
}

/// The greatest sums that there are: 255 * 255 more often than 31 bits hold wrap around.
#[test]
fn sums_wrap_around_as_the_definition_does() {
    let depth = 40_000;
    let Quantised { mut graph, bytes, zero, .. } =
        quantised(&[Side::Number(2), Side::Number(depth)], 0);
    let weights = graph.short(2, &[depth, 4], &vec![255; 4 * depth as usize]);
    let y = graph.node("MatMulInteger", &[&bytes, &weights, &zero], Vec::new());
    graph.output(&y);
    let input = vec![100.0_f32; 2 * depth as usize];
    let input = Datum::Tensor(Tensor::from_vec([2, depth as usize], input).expect("a tensor"));
    check("a long sum", &graph.bytes(), &input, None);
}

#[test]
fn integer_convolutions_have_the_bits_of_the_definition() {
    let mut random = Rng::with_seed(4);
    // Channels, filters, groups, windows, steps: channels of a group that are odd, one, and even.
    for (channels, filters, groups, window, step) in
        [(3, 16, 1, 3, 2), (8, 12, 2, 3, 1), (6, 6, 6, 3, 1), (6, 8, 2, 1, 1), (16, 17, 1, 5, 1)]
    {
        let shape = [Side::Name("n"), Side::Number(channels), Side::Number(11), Side::Number(13)];
        let Quantised { mut graph, bytes, zero, .. } = quantised(&shape, 77);
        let extents = [filters, channels / groups, window, window];
        let weights = signed(&mut random, &mut graph, &extents);
        let zeros = signed(&mut random, &mut graph, &[filters]);
        let attributes = vec![
            ("pads", attribute_ints([1, 0, 1, 2])),
            ("strides", attribute_ints([step, step])),
            ("group", groups.into()),
        ];
        let operands = [bytes.as_str(), &weights, &zero, &zeros];
        let y = graph.node("ConvInteger", &operands, attributes);
        graph.output(&y);
        let input = floats(&mut random, &[2, channels as usize, 11, 13]);
        let what = format!("{channels} to {filters} in {groups}, {window} by {window}");
        check(&what, &graph.bytes(), &input, None);
    }
}

/// A product of what was dequantised, with scales of its columns, a bias, and quantised again or not.
fn dequantised(random: &mut Rng, depth: i64, again: bool) -> Vec<u8> {
    let columns = 24;
    let shape = [Side::Name("rows"), Side::Number(depth)];
    let Quantised { mut graph, bytes, zero, scale } = quantised(&shape, 120);
    let x = graph.node("DequantizeLinear", &[&bytes, &scale, &zero], Vec::new());
    let weights = signed(random, &mut graph, &[depth, columns]);
    let scales = (0..columns).map(|_| random.f32() * 0.01 + 0.001).collect();
    let scales = graph.floats(&[columns], scales);
    let zeros = graph.short(3, &[columns], &vec![0; columns as usize]);
    let axis = vec![("axis", 1.into())];
    let weights = graph.node("DequantizeLinear", &[&weights, &scales, &zeros], axis);
    let product = graph.node("MatMul", &[&x, &weights], Vec::new());
    let bias = (0..columns).map(|_| random.f32()).collect();
    let bias = graph.floats(&[columns], bias);
    let mut y = graph.node("Add", &[&product, &bias], Vec::new());
    if again {
        let scale = graph.floats(&[], vec![0.4]);
        y = graph.node("QuantizeLinear", &[&y, &scale, &zero], Vec::new());
        y = graph.node("Cast", &[&y], vec![("to", 6.into())]);
    }
    graph.output(&y);
    graph.bytes()
}

#[test]
fn products_of_dequantised_numbers_are_within_rounding() {
    let mut random = Rng::with_seed(5);
    for depth in [7, 64] {
        let model = dequantised(&mut random, depth, false);
        let input = floats(&mut random, &[9, depth as usize]);
        check(&format!("a sum of {depth}"), &model, &input, Some(TOLERANCE));
        // One step of some 255, where both sides of a tie are met.
        let model = dequantised(&mut random, depth, true);
        check(&format!("a quantised sum of {depth}"), &model, &input, Some(1.0 / 50.0));
    }
}

/// Sums of integers are what runs, not those of floats; `exact` keeps the definition's.
#[test]
fn products_of_dequantised_numbers_run_on_integers() {
    let mut random = Rng::with_seed(6);
    let source = |model: &[u8], exact: bool| {
        let model = Model::decode(model.to_vec().into(), tangram_dialects::context());
        let mut options = tangram_native::Options::default();
        options.machine = Machine::of(Isa::Scalar);
        options.exact = exact;
        let model = model.expect("imported");
        tangram_native::emit(&model, "m", &options).expect("emitted").source
    };
    let model = dequantised(&mut random, 64, true);
    let (fast, exact) = (source(&model, false), source(&model, true));
    assert!(fast.contains("tg_tile_pairs_") && !fast.contains("tg_tile_f32_"), "{fast}");
    assert!(!exact.contains("tg_tile_pairs_") && exact.contains("tg_tile_f32_"));
    // 255 * 255 so often may not fit into 32 bits.
    let long = source(&dequantised(&mut random, 34_000, true), false);
    assert!(!long.contains("tg_tile_pairs_"));
}

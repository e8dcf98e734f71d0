//! Recurrent layers whose weights are bytes: their states are multiplied as integers.

mod support;

use fastrand::Rng;
use support::{Graph, Side, agree, session_of, session_with};
use tangram_dialects::interpret::Datum;
use tangram_machine::{Isa, Machine};
use tangram_onnx::Model;
use tangram_tensor::Tensor;

/// A state that is at another side of a tie differs by a step of 255, and what follows by as much.
const TOLERANCE: f64 = 1.0 / 64.0;

/// The weights of a layer.
#[derive(Clone, Copy)]
struct Weights {
    /// The number of the type of bytes in ONNX: 2 without a sign, 3 with one.
    ty: i32,
    zero: i32,
    /// Whether each column has a scale and a zero point.
    by_column: bool,
    /// Whether all are the least there is.
    extreme: bool,
}

/// Small weights with a sign and no zero point.
const PLAIN: Weights = Weights { ty: 3, zero: 0, by_column: false, extreme: false };

#[derive(Clone, Copy)]
struct Layer {
    inputs: i64,
    hidden: i64,
    directions: i64,
    weights: Weights,
}

impl Layer {
    /// Bytes, scales and zero points of weights with so many rows.
    fn weights(&self, random: &mut Rng, graph: &mut Graph, rows: i64) -> [String; 3] {
        let Weights { ty, zero, by_column, extreme } = self.weights;
        let (columns, least) = (4 * self.hidden, if ty == 3 { -128 } else { 0 });
        let count = self.directions * rows * columns;
        let one = |random: &mut Rng| if extreme { least } else { least + random.i32(0..256) };
        let values: Vec<i32> = (0..count).map(|_| one(random)).collect();
        let extents = match by_column {
            true => vec![self.directions, columns],
            false => vec![self.directions],
        };
        let places = extents.iter().product::<i64>();
        let scales = (0..places).map(|_| random.f32() * 0.004 + 0.001).collect();
        let zero_of = |at: i64| (zero + (at % 3) as i32 * i32::from(zero != 0)).min(least + 255);
        let zeros: Vec<i32> = (0..places).map(zero_of).collect();
        [
            graph.short(ty, &[self.directions, rows, columns], &values),
            graph.floats(&extents, scales),
            graph.short(ty, &extents, &zeros),
        ]
    }

    fn model(&self, random: &mut Rng, batch: Side) -> Vec<u8> {
        let mut graph = Graph::default();
        let x = graph.input(&[Side::Name("steps"), batch, Side::Number(self.inputs)]);
        let [w, w_scale, w_zero] = self.weights(random, &mut graph, self.inputs);
        let [r, r_scale, r_zero] = self.weights(random, &mut graph, self.hidden);
        let count = self.directions * 8 * self.hidden;
        let bias = (0..count).map(|_| random.f32() - 0.5).collect();
        let bias = graph.floats(&[self.directions, 8 * self.hidden], bias);
        let inputs = [&x, &w, &r, &bias, "", "", "", "", &w_scale, &w_zero, &r_scale, &r_zero];
        let direction = if self.directions == 2 { "bidirectional" } else { "reverse" };
        let attributes = vec![("hidden_size", self.hidden.into()), ("direction", direction.into())];
        let results: [String; 3] = graph.node_of("DynamicQuantizeLSTM", &inputs, attributes);
        graph.is_vendors();
        results.iter().for_each(|result| graph.output(result));
        graph.bytes()
    }
}

fn input(random: &mut Rng, shape: [usize; 3], scale: f32) -> Datum {
    let count = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|_| (random.f32() * 2.0 - 1.0) * scale).collect();
    Datum::Tensor(Tensor::from_vec(shape, values).expect("a tensor"))
}

/// Runs a layer on two machines and as it is defined, and compares with the reference kernels.
fn check(what: &str, layer: Layer, [steps, batch]: [usize; 2], is_open: bool) {
    let mut random = Rng::with_seed(layer.hidden as u64);
    let side = if is_open { Side::Name("batch") } else { Side::Number(batch as i64) };
    let model = layer.model(&mut random, side);
    let scale = if layer.weights.extreme { 40.0 } else { 1.0 };
    let input = input(&mut random, [steps, batch, layer.inputs as usize], scale);
    let run = |session: &tangram_native::Session| {
        let name = session.inputs()[0].name.clone();
        session.run(&[(&name, input.clone())]).expect("a run")
    };
    let expected = run(&session_of(&model, true));
    for (isa, exact) in [(Isa::Avx2, false), (Isa::Scalar, false), (Isa::Scalar, true)] {
        if isa == Isa::Avx2 && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let session = session_with(&model, |options| {
            options.machine = Machine::of(isa);
            options.exact = exact;
        });
        for (found, expected) in run(&session).iter().zip(&expected) {
            agree(&format!("{what} on {isa}, exact {exact}"), found, expected, TOLERANCE);
        }
    }
}

#[test]
fn layers_agree_with_their_definition() {
    let layer = Layer { inputs: 10, hidden: 24, directions: 2, weights: PLAIN };
    check("bytes with a sign", layer, [5, 1], false);
    check("a batch", layer, [3, 7], true);
    check("one step", layer, [1, 1], true);
    let odd = Layer { hidden: 7, inputs: 5, ..layer };
    check("an odd state", odd, [4, 2], false);
    let long = Layer { hidden: 130, directions: 1, ..layer };
    check("a long state", long, [6, 1], false);
}

#[test]
fn zero_points_and_scales_may_be_of_columns() {
    let layer = Layer { inputs: 12, hidden: 16, directions: 2, weights: PLAIN };
    for (ty, zero, by_column) in
        [(3, 0, true), (3, -128, false), (3, 120, true), (2, 0, false), (2, 250, true)]
    {
        let weights = Weights { ty, zero, by_column, extreme: false };
        let what = format!("type {ty}, zero point {zero}, by column {by_column}");
        check(&what, Layer { weights, ..layer }, [4, 2], false);
    }
}

/// The greatest products that there are: states at their bounds, weights at theirs.
#[test]
fn sums_do_not_saturate() {
    for (ty, zero) in [(3, 0), (3, 127), (2, 255)] {
        let weights = Weights { ty, zero, by_column: false, extreme: true };
        let layer = Layer { inputs: 4, hidden: 64, directions: 1, weights };
        check(&format!("type {ty}, zero point {zero}"), layer, [4, 1], false);
    }
}

/// What multiplies states, by the type of the weights.
#[test]
fn states_are_multiplied_as_integers() {
    let source = |layer: Layer, exact: bool| {
        let model = layer.model(&mut Rng::with_seed(1), Side::Number(1));
        let model = Model::decode(model.into(), tangram_dialects::context()).expect("imported");
        let mut options = tangram_native::Options::default();
        (options.machine, options.exact) = (Machine::of(Isa::Scalar), exact);
        tangram_native::emit(&model, "m", &options).expect("emitted").source
    };
    let layer = Layer { inputs: 8, hidden: 32, directions: 1, weights: PLAIN };
    let has = |source: &str, kind: &str| source.contains(&format!("tg_tile_{kind}_"));
    let plain = source(layer, false);
    assert!(has(&plain, "bytes") && !has(&plain, "f32"), "{plain}");
    let weights = Weights { ty: 2, zero: 128, ..PLAIN };
    let shifted = source(Layer { weights, ..layer }, false);
    assert!(has(&shifted, "pairs") && !has(&shifted, "bytes") && !has(&shifted, "f32"));
    let exact = source(layer, true);
    assert!(has(&exact, "f32") && !has(&exact, "pairs") && !has(&exact, "bytes"));
}

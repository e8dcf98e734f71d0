//! Forms of operators that are compiled: floats of 16 bits, elements chosen one after the other, and
//! extents of which only a run says whether they are repeated.

mod support;

use fastrand::Rng;
use support::{Attribute, Graph, Side, agree, same_bits, session_of, session_with};
use tangram_dialects::interpret::Datum;
use tangram_tensor::Tensor;

const FLOAT: i64 = 1;
const INT64: i64 = 7;
const FLOAT16: i64 = 10;
const BFLOAT16: i64 = 16;

/// Numbers, some of them special, and some that occur more than once.
fn numbers(random: &mut Rng, extents: &[usize]) -> Datum {
    const SPECIAL: [f32; 6] = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1.0];
    let count = extents.iter().product();
    let number = |random: &mut Rng| match random.u8(..8) {
        0 => SPECIAL[random.usize(..SPECIAL.len())],
        1..4 => f32::from(random.i8(-3..4)),
        _ => random.f32() * 8.0 - 4.0,
    };
    let values: Vec<f32> = (0..count).map(|_| number(random)).collect();
    Datum::Tensor(Tensor::from_vec(extents, values).expect("fits"))
}

fn converted(graph: &mut Graph, value: &str, to: i64) -> String {
    graph.node("Cast", &[value], vec![("to", to.into())])
}

/// Runs a model compiled, compiled in parts, and on the reference kernels, for inputs of some
/// extents; where the kernels refuse, so does compiled code.
fn check(what: &str, graph: Graph, inputs: &[String], runs: &[Vec<Vec<usize>>], tolerance: f64) {
    let bytes = graph.bytes();
    let (compiled, reference) = (session_of(&bytes, false), session_of(&bytes, true));
    let parts = session_with(&bytes, |options| (options.threads, options.grain) = (3, 1));
    let counts = &compiled.coverage().operations;
    assert!(counts.values().all(|counts| counts.1 == 0), "{what}: {counts:?}");
    let mut random = Rng::with_seed(11);
    for extents in runs {
        let what = format!("{what} of {extents:?}");
        let pairs = inputs.iter().zip(extents);
        let feed: Vec<(&str, Datum)> =
            pairs.map(|(name, extents)| (&name[..], numbers(&mut random, extents))).collect();
        match (compiled.run(&feed), reference.run(&feed), parts.run(&feed)) {
            (Ok(found), Ok(expected), Ok(again)) => {
                for ((found, expected), again) in found.iter().zip(&expected).zip(&again) {
                    agree(&what, found, expected, tolerance);
                    assert!(same_bits(found, again), "{what}, in parts");
                }
            }
            (Err(found), Err(expected), Err(_)) => {
                assert_eq!(found.to_string(), expected.to_string(), "{what}");
            }
            (found, expected, _) => panic!("{what}: {found:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn arithmetic_of_16_bits_is_rounded_as_the_kernels_round_it() {
    let runs = [0, 1, 2, 7, 33].map(|n| vec![vec![3, n]; 2]);
    for half in [FLOAT16, BFLOAT16] {
        for operator in ["Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "Equal", "Mod"] {
            let mut graph = Graph::default();
            let inputs = [(); 2].map(|()| graph.input(&[Side::Number(3), Side::Name("n")]));
            let halves = inputs.each_ref().map(|input| converted(&mut graph, input, half));
            let fmod = if operator == "Mod" { vec![("fmod", 1.into())] } else { Vec::new() };
            let made = graph.node(operator, &[&halves[0], &halves[1]], fmod);
            graph.output(&made);
            check(operator, graph, &inputs, &runs, 0.0);
        }
        for operator in ["Neg", "Abs", "Sqrt", "Relu", "Sign", "Floor", "Round", "Not"] {
            let mut graph = Graph::default();
            let inputs = [graph.input(&[Side::Number(3), Side::Name("n")])];
            let mut value = converted(&mut graph, &inputs[0], half);
            if operator == "Not" {
                value = converted(&mut graph, &value, 9);
            }
            let made = graph.node(operator, &[&value], Vec::new());
            // And back, by way of integers.
            let ints = converted(&mut graph, &made, INT64);
            let back = converted(&mut graph, &ints, half);
            graph.output(&made);
            graph.output(&back);
            check(operator, graph, &inputs, &runs, 0.0);
        }
    }
}

#[test]
fn sums_of_16_bits_are_taken_in_float() {
    for half in [FLOAT16, BFLOAT16] {
        let unit = if half == FLOAT16 { 1e-3 } else { 8e-3 };
        for operator in ["ReduceSum", "ReduceMax", "Softmax", "MatMul"] {
            let mut graph = Graph::default();
            let shape = [Side::Number(5), Side::Number(24)];
            let weights = graph.floats(&[24, 6], (0..144).map(|at| at as f32 / 99.0).collect());
            let small = graph.floats(&[], vec![0.125]);
            let inputs = [graph.input(&shape)];
            let bounded = graph.node("Tanh", &[&inputs[0]], Vec::new());
            let defined = graph.node("Max", &[&bounded, &small], Vec::new());
            let value = converted(&mut graph, &defined, half);
            let made = match operator {
                "MatMul" => {
                    let weights = converted(&mut graph, &weights, half);
                    graph.node(operator, &[&value, &weights], Vec::new())
                }
                "Softmax" => graph.node(operator, &[&value], vec![("axis", 1.into())]),
                _ => {
                    let axes = graph.ints(&[1]);
                    graph.node(operator, &[&value, &axes], Vec::new())
                }
            };
            let wide = converted(&mut graph, &made, FLOAT);
            graph.output(&wide);
            check(operator, graph, &inputs, &[vec![vec![5, 24]]], unit);
        }
    }
}

#[test]
fn running_sums_go_from_either_end() {
    let runs = [[2, 0, 3], [2, 1, 3], [0, 4, 3], [2, 5, 3], [1, 17, 3]].map(|e| vec![e.to_vec()]);
    for axis in [0, 1, 2, -1, -2] {
        for (exclusive, reverse) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mut graph = Graph::default();
            let shape = [Side::Name("b"), Side::Name("n"), Side::Number(3)];
            let inputs = [graph.input(&shape)];
            let along = graph.ints(&[axis]);
            let attributes = vec![("exclusive", exclusive.into()), ("reverse", reverse.into())];
            let sum = graph.node("CumSum", &[&inputs[0], &along], attributes);
            let end = graph.node("Abs", &[&sum], Vec::new());
            graph.output(&end);
            check(&format!("CumSum along {axis}"), graph, &inputs, &runs, 0.0);
        }
    }
}

#[test]
fn the_greatest_and_the_least_are_found_in_order() {
    let runs = [[2, 0, 3], [2, 1, 3], [3, 4, 3], [1, 19, 3], [0, 5, 3]].map(|e| vec![e.to_vec()]);
    for to in [FLOAT, INT64, FLOAT16] {
        for (axis, k) in [(1, 0), (1, 1), (-2, 4), (2, 3), (-1, 2)] {
            for largest in [0, 1] {
                let mut graph = Graph::default();
                let shape = [Side::Name("b"), Side::Name("n"), Side::Number(3)];
                let inputs = [graph.input(&shape)];
                let value = converted(&mut graph, &inputs[0], to);
                let count = graph.ints(&[k]);
                let attributes: Vec<(&str, Attribute)> =
                    vec![("axis", axis.into()), ("largest", largest.into())];
                let [values, places] = graph.node_of("TopK", &[&value, &count], attributes);
                graph.output(&values);
                graph.output(&places);
                let what = format!("{k} along {axis}, largest {largest}, of type {to}");
                check(&what, graph, &inputs, &runs, 0.0);
            }
        }
    }
}

#[test]
fn what_flags_keep_is_copied() {
    for (axis, flags) in [
        (Some(1), vec![1, 0, 1, 1, 0]),
        (Some(-1), vec![0, 1]),
        (Some(0), vec![0, 0]),
        (Some(0), vec![1]),
        (None, vec![0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1]),
    ] {
        let mut graph = Graph::default();
        let first = if axis.is_some() { Side::Name("b") } else { Side::Number(2) };
        let inputs = [graph.input(&[first, Side::Number(5), Side::Number(3)])];
        let condition = graph.flags(&flags);
        let attributes = axis.map(|axis: i64| ("axis", axis.into())).into_iter().collect();
        let kept = graph.node("Compress", &[&inputs[0], &condition], attributes);
        let end = graph.node("Relu", &[&kept], Vec::new());
        graph.output(&end);
        check(&format!("{flags:?} along {axis:?}"), graph, &inputs, &[vec![vec![2, 5, 3]]], 0.0);
    }
}

/// An extent of 1 is repeated, that of the other operand is not, and all others are refused.
#[test]
fn an_open_extent_is_repeated_if_it_is_one() {
    let runs = [1, 4, 2, 0, 5].map(|n| vec![vec![3, n]]);
    for operator in ["Add", "Max", "PRelu", "Expand", "Where"] {
        let mut graph = Graph::default();
        let inputs = [graph.input(&[Side::Number(3), Side::Name("n")])];
        let other = graph.floats(&[3, 4], (0..12).map(|at| at as f32 - 5.0).collect());
        let made = match operator {
            "Expand" => {
                let shape = graph.ints(&[2, 3, 4]);
                graph.node(operator, &[&inputs[0], &shape], Vec::new())
            }
            "Where" => {
                let positive = graph.node("Less", &[&inputs[0], &other], Vec::new());
                graph.node(operator, &[&positive, &inputs[0], &other], Vec::new())
            }
            "PRelu" => graph.node("PRelu", &[&other, &inputs[0]], Vec::new()),
            _ => graph.node(operator, &[&inputs[0], &other], Vec::new()),
        };
        graph.output(&made);
        check(operator, graph, &inputs, &runs, 0.0);
    }
}

#[test]
fn copies_of_open_extents_stand_side_by_side() {
    let runs = [[1, 1, 2], [3, 2, 2], [2, 0, 2], [4, 5, 2]].map(|e| vec![e.to_vec()]);
    for copies in [[1, 1, 1], [2, 1, 3], [1, 3, 2], [2, 2, 1], [0, 1, 1]] {
        let mut graph = Graph::default();
        let inputs = [graph.input(&[Side::Name("b"), Side::Name("n"), Side::Number(2)])];
        let counts = graph.ints(&copies);
        let tiled = graph.node("Tile", &[&inputs[0], &counts], Vec::new());
        let end = graph.node("Neg", &[&tiled], Vec::new());
        graph.output(&end);
        check(&format!("{copies:?}"), graph, &inputs, &runs, 0.0);
    }
}

#[test]
fn elements_of_open_extents_are_repeated() {
    let runs = [[1, 1], [3, 2], [7, 0], [4, 19]].map(|e| vec![vec![2, e[0], e[1]]]);
    for (mode, nearest) in [
        ("asymmetric", "floor"),
        ("half_pixel", "round_prefer_floor"),
        ("half_pixel", "round_prefer_ceil"),
    ] {
        for scales in [[1.0, 2.0, 1.0], [1.0, 3.0, 8.0], [1.0, 1.0, 4.0]] {
            let mut graph = Graph::default();
            let inputs = [graph.input(&[Side::Number(2), Side::Name("h"), Side::Name("w")])];
            let scales = graph.floats(&[3], scales.to_vec());
            let attributes = vec![
                ("mode", "nearest".into()),
                ("coordinate_transformation_mode", mode.into()),
                ("nearest_mode", nearest.into()),
            ];
            let resized = graph.node("Resize", &[&inputs[0], "", &scales], attributes);
            let end = graph.node("Neg", &[&resized], Vec::new());
            graph.output(&end);
            check(&format!("{mode} {nearest}"), graph, &inputs, &runs, 0.0);
        }
    }
}

/// `n` and twice the half of it are one extent where `n` is even; other runs are refused.
#[test]
fn what_is_concatenated_has_extents_that_a_run_compares() {
    let runs = [2, 8, 3, 0, 1, 34].map(|n| vec![vec![2, n]]);
    let mut graph = Graph::default();
    let inputs = [graph.input(&[Side::Number(2), Side::Name("n")])];
    let bounds = [0, i64::MAX, 1, 2].map(|number| graph.ints(&[number]));
    let [start, end, axis, step] = bounds.each_ref().map(String::as_str);
    let half = graph.node("Slice", &[&inputs[0], start, end, axis, step], Vec::new());
    let scales = graph.floats(&[2], vec![1.0, 2.0]);
    let mode = vec![("mode", "nearest".into())];
    let twice = graph.node("Resize", &[&half, "", &scales], mode);
    let joined = graph.node("Concat", &[&inputs[0], &twice], vec![("axis", 0.into())]);
    let end = graph.node("Neg", &[&joined], Vec::new());
    graph.output(&end);
    check("Concat", graph, &inputs, &runs, 0.0);
}

/// All that is computed before a run may be there for steps on the reference kernels.
#[test]
fn what_is_prepared_for_reference_kernels_is_compiled() {
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Number(2), Side::Number(3)]);
    let ints = graph.ints(&[0, 1, 1]);
    let condition = converted(&mut graph, &ints, 9);
    let kept = graph.node("Compress", &[&x, &condition], vec![("axis", 1.into())]);
    graph.output(&kept);
    let bytes = graph.bytes();
    let (compiled, reference) = (session_of(&bytes, false), session_of(&bytes, true));
    let feed = [(&x[..], numbers(&mut Rng::with_seed(3), &[2, 3]))];
    let (found, expected) = (compiled.run(&feed), reference.run(&feed));
    agree("Compress", &found.expect("a run")[0], &expected.expect("a run")[0], 0.0);
}

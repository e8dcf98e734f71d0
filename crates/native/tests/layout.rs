//! The order of coordinates that products give to what lies between them.

mod support;

use support::{Graph, Side, agree, attribute_ints, session_of, session_with};
use tangram_dialects::interpret::Datum;
use tangram_tensor::Tensor;

fn weights(graph: &mut Graph, extents: &[i64]) -> String {
    let count = extents.iter().product::<i64>();
    graph.floats(extents, (0..count).map(|at| (at * 5 % 11) as f32 / 4.0 - 1.25).collect())
}

fn compare(graph: Graph, x: &str, shape: &[usize], calls: usize) {
    let bytes = graph.bytes();
    let (compiled, reference) = (session_of(&bytes, false), session_of(&bytes, true));
    assert_eq!(compiled.coverage().calls, calls, "{:?}", compiled.coverage());
    let count = shape.iter().product::<usize>();
    let values = (0..count).map(|at| (at * 7 % 19) as f32 / 8.0 - 1.0).collect();
    let feed = [(x, Datum::Tensor(Tensor::from_vec(shape, values).expect("fits")))];
    let (found, expected) = (compiled.run(&feed), reference.run(&feed));
    agree("layout", &found.expect("it runs")[0], &expected.expect("it runs")[0], 1e-5);
}

/// Products with constants over positions keep features last: the constants are what is packed,
/// before the first run, and nothing is copied between them.
#[test]
fn features_of_a_sequence_stay_last() {
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Name("b"), Side::Name("s"), Side::Number(24)]);
    let (wide, narrow) = (weights(&mut graph, &[24, 40]), weights(&mut graph, &[40, 24]));
    let hidden = graph.node("MatMul", &[&x, &wide], Vec::new());
    let hidden = graph.node("Tanh", &[&hidden], Vec::new());
    let y = graph.node("MatMul", &[&hidden, &narrow], Vec::new());
    graph.output(&y);
    compare(graph, &x, &[2, 7, 24], 2);
}

/// Between convolutions channels are last: what comes first pads and reorders the input, the first
/// convolution writes what the second one reads, a product where the window has one place, and that
/// what the pool reads.
#[test]
fn channels_of_convolutions_are_last() {
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Name("b"), Side::Number(8), Side::Number(9), Side::Number(9)]);
    let (windowed, pointwise) =
        (weights(&mut graph, &[16, 8, 3, 3]), weights(&mut graph, &[8, 16, 1, 1]));
    let pads = vec![("pads", attribute_ints([1, 1, 1, 1]))];
    let hidden = graph.node("Conv", &[&x, &windowed], pads);
    let hidden = graph.node("Relu", &[&hidden], Vec::new());
    let y = graph.node("Conv", &[&hidden, &pointwise], Vec::new());
    let y = graph.node("GlobalAveragePool", &[&y], Vec::new());
    graph.output(&y);
    compare(graph, &x, &[2, 8, 9, 9], 4);
}

/// A bias, what a branch adds and the function after it are computed where a convolution writes
/// its result, for one image as for several: no pass of their own.
#[test]
fn what_follows_a_convolution_finishes_it() {
    for (batch, images) in [(Side::Name("b"), 2), (Side::Number(1), 1), (Side::Number(2), 2)] {
        for ends_in_product in [false, true] {
            let mut graph = Graph::default();
            let sides = [batch.clone(), Side::Number(8), Side::Number(9), Side::Number(9)];
            let x = graph.input(&sides);
            let windowed = weights(&mut graph, &[16, 8, 3, 3]);
            let pads = vec![("pads", attribute_ints([1, 1, 1, 1]))];
            let hidden = graph.node("Conv", &[&x, &windowed], pads);
            let hidden = graph.node("Relu", &[&hidden], Vec::new());
            let (narrow, branch) =
                (weights(&mut graph, &[8, 16, 1, 1]), weights(&mut graph, &[8, 16, 1, 1]));
            let bias = weights(&mut graph, &[8]);
            let y = graph.node("Conv", &[&hidden, &narrow, &bias], Vec::new());
            let z = graph.node("Conv", &[&hidden, &branch], Vec::new());
            let y = graph.node("Add", &[&y, &z], Vec::new());
            let y = match ends_in_product {
                false => graph.node("Relu", &[&y], Vec::new()),
                true => {
                    let part = graph.node("Sigmoid", &[&y], Vec::new());
                    graph.node("Mul", &[&y, &part], Vec::new())
                }
            };
            let y = graph.node("GlobalAveragePool", &[&y], Vec::new());
            graph.output(&y);
            // The input's reorder, three convolutions, the pool.
            compare(graph, &x, &[images, 8, 9, 9], 5);
        }
    }
}

/// Rows of several blocks, shared out in the middle of a block: the same bits for any number of
/// threads.
#[test]
fn parts_of_blocks_make_the_same_bits() {
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Name("b"), Side::Name("s"), Side::Number(96)]);
    let wide = weights(&mut graph, &[96, 40]);
    let y = graph.node("MatMul", &[&x, &wide], Vec::new());
    let y = graph.node("Tanh", &[&y], Vec::new());
    graph.output(&y);
    let bytes = graph.bytes();
    let alone = session_with(&bytes, |options| options.threads = 1);
    for extent in [1, 13, 1_500, 4_001] {
        let shape = [1, extent, 96];
        let values = (0..extent * 96).map(|at| (at * 7 % 19) as f32 / 8.0 - 1.0).collect();
        let feed = [(x.as_str(), Datum::Tensor(Tensor::from_vec(shape, values).expect("fits")))];
        let expected = alone.run(&feed).expect("it runs");
        for threads in [2, 3, 5] {
            let team =
                session_with(&bytes, |options| (options.threads, options.grain) = (threads, 1));
            assert_eq!(team.run(&feed).expect("it runs"), expected, "{extent} on {threads}");
        }
    }
}

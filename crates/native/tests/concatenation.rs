//! Results that are written where a concatenation wants them.

mod support;

use support::{Graph, Side, agree, session_of};
use tangram_dialects::interpret::Datum;
use tangram_tensor::Tensor;

/// Sums of products, a reduction and an element by element function, side by side: each writes its
/// part, and nothing is copied.
#[test]
fn parts_of_a_concatenation_are_not_copied() {
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Name("b"), Side::Name("s"), Side::Number(12)]);
    let weights = |graph: &mut Graph, columns: i64| {
        graph.floats(&[12, columns], (0..12 * columns).map(|at| (at % 7) as f32 - 3.0).collect())
    };
    let (narrow, wide) = (weights(&mut graph, 5), weights(&mut graph, 40));
    let first = graph.node("MatMul", &[&x, &narrow], Vec::new());
    let second = graph.node("MatMul", &[&x, &wide], Vec::new());
    let second = graph.node("Relu", &[&second], Vec::new());
    let axes = graph.ints(&[2]);
    let third = graph.node("ReduceMax", &[&x, &axes], Vec::new());
    let fourth = graph.node("Neg", &[&x], Vec::new());
    let parts = [first.as_str(), &second, &third, &fourth];
    let whole = graph.node("Concat", &parts, vec![("axis", 2.into())]);
    graph.output(&whole);
    let bytes = graph.bytes();
    let (compiled, reference) = (session_of(&bytes, false), session_of(&bytes, true));
    assert_eq!(compiled.coverage().calls, 4, "{:?}", compiled.coverage());
    for (b, s) in [(1, 1), (2, 3), (3, 19)] {
        let values = (0..b * s * 12).map(|at| (at * 5 % 23) as f32 / 8.0 - 1.0).collect();
        let tensor = Tensor::from_vec([b, s, 12], values).expect("fits");
        let feed = [(x.as_str(), Datum::Tensor(tensor))];
        let (found, expected) = (compiled.run(&feed), reference.run(&feed));
        let what = format!("{b} by {s}");
        agree(&what, &found.expect("it runs")[0], &expected.expect("it runs")[0], 1e-5);
    }
}
